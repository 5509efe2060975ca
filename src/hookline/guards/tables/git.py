"""Guard against changes of git's history: on the remote, and here."""

from hookline.guards.spec import GuardedCommand, GuardSpec

_DRY = "-n --dry-run"
_OVERWRITES = "overwrites the branch on the remote"
_REMOVES = "deletes a branch or a tag on the remote"

#: The path of a repository without files, as a remote on this machine is one.
_BARE = r"^(?:--git-dir=)?(?![\w.+-]+(?:://|@))[^\s:]*[^/\s:]\.git/?$"

#: Branches that others build on.
_MAIN = r"^(?:refs/heads/)?(?:main|master|trunk|develop|production)$"

FORCE_PUSH = GuardSpec(
    name="force-push",
    title="Pushes that overwrite commits on the remote",
    instead="Push to a branch of your own, or ask the user.",
    rows=(
        GuardedCommand(
            run="git|hub push",
            does=_OVERWRITES,
            given="-f --force",
            unless=_DRY,
            example="git push -uf origin main",
        ),
        GuardedCommand(
            run="git|hub push",
            does=_OVERWRITES,
            given="--force-with-lease",
            unless=_DRY,
            part="lease",
            example="git push --force-with-lease origin topic",
        ),
        GuardedCommand(
            run="git|hub push",
            does=_OVERWRITES,
            operand=r"^\+",
            unless=_DRY,
            example="git push origin +main:main",
        ),
        GuardedCommand(
            run="git|hub push",
            does="makes the remote a copy of this repository, and all branches that are not here are lost",
            given="--mirror",
            unless=_DRY,
            example="git push --mirror backup",
        ),
        GuardedCommand(
            run="git|hub push",
            does=_REMOVES,
            given="-d --delete --prune",
            unless=_DRY,
            part="delete",
            example="git push origin --delete topic",
        ),
        GuardedCommand(
            run="git|hub push",
            does=_REMOVES,
            operand="^:.",
            unless=_DRY,
            part="delete",
            example="git push origin :topic",
        ),
        GuardedCommand(
            run="git|hub push",
            does=_OVERWRITES,
            text=r"(?:^|\s)remote\.\S+\.(?:mirror(?:=(?:true|yes|on|1)\b|\s|$)|push=\+)|"
            r"--config-env[= ]remote\.\S+\.(?:push|mirror)=",
            unless=_DRY,
            part="config",
            example="git -c remote.origin.push=+main push",
        ),
        GuardedCommand(
            run="git remote add",
            does="makes every push to that remote overwrite it",
            given="--mirror",
            value="push",
            part="config",
            example="git remote add --mirror=push backup url",
        ),
        GuardedCommand(
            run="git send-pack|http-push",
            does=_OVERWRITES,
            given="-f --force --mirror",
            example="git send-pack --force origin main",
        ),
        GuardedCommand(
            run="git send-pack",
            does=_OVERWRITES,
            operand=r"^\+",
            unless=_DRY,
            example="git send-pack ../x.git +main",
        ),
        GuardedCommand(
            run="git|hub push",
            does="deletes the main branch on the remote",
            given="-d --delete",
            operand=_MAIN,
            unless=_DRY,
            example="git push origin --delete main",
        ),
        GuardedCommand(
            run="git|hub push",
            does="deletes the main branch on the remote",
            operand=f"^:(?:refs/heads/)?{_MAIN[1:]}",
            unless=_DRY,
            example="git push origin :main",
        ),
        GuardedCommand(run="hg push", does=_OVERWRITES, given="-f --force", example="hg push --force"),
        GuardedCommand(
            run="bzr|brz push", does=_OVERWRITES, given="--overwrite", example="bzr push --overwrite"
        ),
        GuardedCommand(
            run="gt submit|ss|s|stack",
            does=_OVERWRITES,
            given="-f --force",
            unless="--dry-run",
            example="gt submit --force",
        ),
        GuardedCommand(
            run="gh|glab api",
            does=_OVERWRITES,
            operand=r"\bgit/refs/|repository/branches/",
            which="first",
            text=r"^force=(?:true|1)|^-X?(?:DELETE)$|^DELETE$",
            example="gh api -X PATCH repos/o/r/git/refs/heads/main -F force=true -f sha=1",
        ),
        GuardedCommand(
            run="curl|http|https|xh",
            does=_OVERWRITES,
            operand=r"/git/refs/",
            text=r"['\"]force['\"]\s{0,9}:\s{0,9}true|^force:?=true|^(?:-X)?DELETE$",
            example="curl -X PATCH https://api.github.com/repos/o/r/git/refs/heads/main -d '{\"force\":true}'",
        ),
        GuardedCommand(
            run="git config|remote",
            does="makes every push to that remote overwrite it",
            operand=r"^\+refs/.*:(?!refs/remotes/)|^remote\..*\.mirror$",
            part="config",
            example="git config remote.origin.push '+refs/heads/*:refs/heads/*'",
        ),
        GuardedCommand(
            run="git config",
            does="makes every push to that remote overwrite it",
            text=r"remote\.[^\s=]{1,200}\.push\s{1,9}\+",
            part="config",
            example="git config remote.origin.push +main",
        ),
        GuardedCommand(
            run="git config",
            does="makes git obey the settings of another file, which may force every push",
            operand=r"^include(?:if\..*)?\.path$",
            unless="--get --get-all --get-regexp --unset --unset-all -l --list",
            part="config",
            example="git config include.path ../x.cfg",
        ),
        GuardedCommand(
            run="git config",
            does="gives `push` another name, by which it can be forced unseen",
            text=r"alias\.\S{1,100}\s{1,9}!?(?:git\s{1,9})?push\s*$",
            part="config",
            example="git config alias.p push",
        ),
        GuardedCommand(
            run="git fetch|pull",
            does="overwrites a branch of another repository",
            operand=r"^\+[^:]*:",
            text=_BARE,
            example="git -C ~/remote.git fetch . +main:main",
        ),
        GuardedCommand(
            run="git fetch|pull",
            does="overwrites a branch of another repository",
            given="-f --force",
            operand=r"^[^:]+:.",
            text=_BARE,
            example="git -C ~/remote.git fetch -f ../x main:main",
        ),
        GuardedCommand(
            run="git branch",
            does="overwrites a branch of another repository",
            given="-f --force -M -C -D",
            text=_BARE,
            example="git -C ~/remote.git branch -f main topic",
        ),
        GuardedCommand(
            run="git update-ref|symbolic-ref|fast-import|replace|reset",
            does="overwrites a branch of another repository",
            text=_BARE,
            example="git --git-dir=/srv/x.git update-ref refs/heads/main topic",
        ),
        GuardedCommand(
            run="git subtree push",
            does=_OVERWRITES,
            operand=r"^\+",
            example="git subtree push --prefix docs origin +gh-pages",
        ),
        GuardedCommand(
            run="gh repo sync", does=_OVERWRITES, given="--force", example="gh repo sync owner/fork --force"
        ),
    ),
    written=r"\.git/(?:config(?:\.worktree)?|packed-refs|refs/(?:heads|tags)/[^\n]{1,300}|(?:remotes|branches)/[^/]+)$",
    by_programs=True,
    written_does="changes what git pushes, or its branches, behind its back",
    code=r"\.push\([^\n)]{0,200}(?:force\s*=\s*True|force_with_lease|['\"](?:--force|-f|\+[\w/]+:?)['\"])",
    started=r"\bpush\b[^\n]{0,200}?['\"\s](?:--force|-\w*f\w*|\+[\w/]+:)['\"\s)\],;]?",
    code_does="looks like a push that overwrites the remote",
    parts={
        "lease": "`--force-with-lease`, which overwrites only what you have seen",
        "config": "settings that force",
    },
    more={"delete": "deleting branches and tags on the remote: `--delete`, `--prune`, `:branch`"},
    catches=(
        "cd app && git push -uf",
        "git -C app push --forc",
        "git -c alias.p='push -f' p origin main",
        "cd app && sudo git push origin main -f",
        "bash -euo pipefail -c 'git push -qf'",
        "git push origin HEAD:main --force-with-lease=main:abc123",
    ),
    leaves=(
        "git push -u origin topic",
        "git push --follow-tags",
        "git push -n -f",
        'git push origin "$BRANCH"',
    ),
    cannot=(
        "A script that was changed more than an hour ago, and settings by variables that the line does not set.",
        "A whole option that comes from the environment: `git push $FLAGS`, unless the line itself sets it.",
    ),
)

_REWRITES = "rewrites commits"
_LEAVES = "moves the branch, and may leave commits on no branch"

HISTORY_REWRITE = GuardSpec(
    name="history-rewrite",
    title="Commands that rewrite or drop commits",
    instead="Add a new commit (git revert, git commit), or ask the user.",
    rows=(
        GuardedCommand(
            run="git filter-branch|filter-repo",
            does="rewrites every commit of the history",
            example="git filter-branch --tree-filter 'true' HEAD",
        ),
        GuardedCommand(
            run="git-filter-repo|bfg",
            does="rewrites every commit of the history",
            example="bfg --delete-files secrets.txt",
        ),
        GuardedCommand(
            run="java",
            does="rewrites every commit of the history",
            text=r"\bbfg[\w.-]{0,80}\.jar\b",
            example="java -jar bfg.jar --strip-blobs-bigger-than 1M",
        ),
        GuardedCommand(
            run="rm",
            does="deletes a repository with all its commits",
            given="-r -R --recursive",
            operand=r"(?:^|/)\.git/?$",
            example="rm -rf .git",
        ),
        GuardedCommand(
            run="git commit",
            does="replaces the last commit",
            given="--amend",
            unless="--dry-run",
            part="amend",
            example="git commit --amend --no-edit",
        ),
        GuardedCommand(
            run="git rebase",
            does=_REWRITES,
            unless="--continue --abort --skip --quit --edit-todo --show-current-patch",
            part="rebase",
            example="git rebase -i HEAD~3",
        ),
        GuardedCommand(
            run="git reset",
            does=_LEAVES,
            given="--hard --soft --mixed --merge --keep",
            operand=r"^(?!(?:HEAD|@)$)",
            example="git reset --hard HEAD~2",
        ),
        GuardedCommand(
            run="git reset",
            does=_LEAVES,
            operand=r"^(?:HEAD|@|[\w./-]+)(?:[~^]|@\{)|^[\da-f]{7,40}$|^(?:origin|upstream)/",
            which="only",
            example="git reset HEAD~1",
        ),
        GuardedCommand(
            run="git branch",
            does="deletes or moves a branch whose commits may be nowhere else",
            given="-D -f --force",
            example="git branch -D topic",
        ),
        GuardedCommand(
            run="git update-ref",
            does="moves or deletes a branch without any check",
            example="git update-ref -d refs/heads/main",
        ),
        GuardedCommand(
            run="git reflog expire|delete",
            does="removes the log by which lost commits can be found",
            unless=_DRY,
            example="git reflog expire --expire=now --all",
        ),
        GuardedCommand(
            run="git gc|prune",
            does="deletes commits that are on no branch",
            given="--prune",
            value="now|all|^0",
            example="git gc --prune=now --aggressive",
        ),
        GuardedCommand(
            run="git prune", does="deletes commits that are on no branch", unless=_DRY, example="git prune"
        ),
        GuardedCommand(
            run="git replace",
            does="makes git show another commit instead of one",
            given="-f --force -e --edit -g --graft",
            example="git replace --graft HEAD",
        ),
        GuardedCommand(
            run="git fast-import", does=_REWRITES, given="--force", example="git fast-import --force"
        ),
        GuardedCommand(
            run="git checkout|switch",
            does="moves a branch to another commit",
            given="-B -C --force-create",
            part="branches",
            example="git switch -C main origin/main",
        ),
        GuardedCommand(
            run="git branch",
            does="replaces one branch by another",
            given="-M -C",
            part="branches",
            example="git branch -M topic main",
        ),
        GuardedCommand(
            run="git fetch",
            does="moves a branch to another commit",
            operand=r"^\+[^:]+:(?!refs/(?!heads/))",
            part="branches",
            example="git fetch origin +main:main",
        ),
        GuardedCommand(
            run="git tag",
            does="deletes or moves a tag",
            given="-d -f --delete --force",
            part="tags",
            example="git tag -f v1.0",
        ),
        GuardedCommand(
            run="git pull",
            does="rewrites the commits that are not pushed yet",
            given="-r --rebase",
            part="pull",
            example="git pull --rebase origin main",
        ),
        GuardedCommand(
            run="git stash drop|clear",
            does="deletes changes that were put aside",
            part="discard",
            example="git stash clear",
        ),
        GuardedCommand(
            run="git reset",
            does="throws away changes that are not committed",
            given="--hard --merge",
            part="discard",
            example="git reset --hard",
        ),
        GuardedCommand(
            run="git restore|checkout",
            does="throws away changes that are not committed",
            operand=r"^(?:\.|:/|\*)$",
            part="discard",
            example="git checkout -- .",
        ),
    ),
    started=r"\bgit\b[^\n]{0,100}?(?:filter-branch|filter-repo|--amend|\brebase\b|reset['\",\s]+--hard)",
    code_does="looks like a command of git that rewrites commits",
    parts={"amend": "`git commit --amend`", "rebase": "`git rebase`"},
    more={
        "branches": "branches that are set to another commit: `git checkout -B`, `git switch -C`, `git branch -M`",
        "tags": "tags that are deleted or moved",
        "pull": "`git pull --rebase`",
        "discard": "changes that are thrown away: `git reset --hard`, `git checkout .`, `git stash drop`",
    },
    catches=(
        "git -C app rebase --onto main old topic",
        "git commit -a --ame --no-edit",
        "git -c alias.x='reset --hard' x HEAD^",
        "git reset --hard origin/main",
    ),
    leaves=(
        "git rebase --abort",
        "git reset HEAD file.py",
        "git branch -d merged",
        "git commit -m 'rebase notes'",
    ),
    cannot=("Commands that a GUI, a hook of git or a script in a file runs.",),
)
