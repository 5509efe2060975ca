"""git and the sub-commands of it that run programs."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_CONFIG = OptionSpec(
    "-l -z -e -f: -t: --global --system --local --worktree --file: --blob: --get --get-all "
    "--get-regexp --get-urlmatch --list --add "
    "--replace-all --unset --unset-all --rename-section --remove-section --edit --type: --bool "
    "--int --bool-or-int --path "
    "--expiry-date --null --name-only --show-origin --show-scope --includes --no-includes "
    "--default: --fixed-value --all "
    "--value: --append --comment: --no-type --get-color --get-colorbool --url: --regexp"
)
_READS = frozenset(
    (
        "-l",
        "--list",
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--unset",
        "--unset-all",
        "--show-origin",
        "--get-color",
        "--get-colorbool",
    )
)
_VERBS = frozenset(("set", "get", "unset", "list", "edit", "rename-section", "remove-section", "get-all"))


def _written(rest: Words) -> str | None:
    """`KEY=VALUE` of the setting that `git config` writes; None when it only reads."""
    read = read_options(rest, _CONFIG)
    operands = read.operands
    verb = operands[0] if operands and operands[0] in _VERBS and "." not in operands[0] else ""
    if verb in {"get", "list", "unset", "get-all"} or read.has(*_READS):
        return None
    named = operands[1:] if verb else operands
    if len(named) < 2 and not verb and not read.has("--add", "--replace-all"):
        return None
    return f"{named[0]}={' '.join(named[1:2])}" if named else None


def _config_ordered(rest: Words) -> Words:
    """A setting that is written is like one given by -c."""
    setting = _written(rest)
    return rest if setting is None else (f"--written={setting}", *rest)


def _gh_clone(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """What follows `--` is for git."""
    if "--" in rest:
        yield Inner(("git", "clone", *rest[rest.index("--") + 1 :], *rest[: rest.index("--")]))


_LOG = (
    "-p -u -s -n: -S: -G: -L: -M:: -C:: -U: -i -E -F -P -q -z -w -b -a --oneline --stat:: "
    "--graph --all --author: --grep: --since: "
    "--until: --format: --pretty:: --color:: --patch --name-only --name-status --cached --staged "
    "--reverse --no-color"
)
_REMOTE = (
    "-v -q -f -a -p -t -n -u -4 -6 -j: -k -d --depth: --all --tags --prune --force --dry-run "
    "--verbose --quiet --progress"
)
_CLONE = (
    "-b: -o: -s -l --branch: --origin: --reference: --recurse-submodules:: --single-branch "
    "--bare --mirror --filter: "
    "--shallow-since: --server-option: --jobs:"
)
_COMMIT = (
    "-m: -F: -C: -c: -a -s -S:: -v -q -n -e -i -o -p -u:: -t: -z --message: --amend --no-edit --all "
    "--author: --date:"
)

_HISTORY = "git init -q; for i in 1 2 3; do git commit -q --allow-empty -m $i; done"
#: A file that could not be merged.
_UNMERGED = (
    "git init -q; b=$(echo x | git hash-object -w --stdin); "
    'printf "100644 $b 1\\tf\\n100644 $b 2\\tf\\n" | git update-index --index-info'
)

ROWS = (
    Program(
        "git",
        "keeps versions of files, by its own sub-commands and hooks",
        "-p -P -v -h --paginate --no-pager --namespace: --bare "
        "--no-replace-objects --no-lazy-fetch "
        "--no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs "
        "--icase-pathspecs "
        "--html-path --man-path --info-path --super-prefix: --attr-source: --list-cmds:",
        {
            "git setting": "-c:",
            "git variable": "--config-env:",
            # A directory inside the project may be a repository of its own, with settings that run programs.
            "beyond": "--git-dir:",
            "place": "-C: --work-tree:",
            "settings": "--exec-path:",
        },
        style="posix",
        quiet="--help --version --html-path --man-path --info-path",
        others="git url",
        here=True,
        examples=(
            "git init -q; git -c alias.x='!rm y' x",
            "git init -q; X='!rm y' git --config-env=alias.x=X x",
            "git init -q; echo a > a; git add a; git -c core.fsmonitor='rm y' status",
            "git init -q; echo a > a; git add a; echo b > a; git -c diff.external='rm y' diff",
            "git init -q; git -c core.editor='rm y' commit --allow-empty",
            "git -c core.sshCommand='rm y' ls-remote ssh://h/x",
            "git -c protocol.ext.allow=always ls-remote 'ext::rm y'",
            "git init -q; git -c credential.helper='!rm y' credential fill <<< 'protocol=https\nhost=h\n'",
            "git init -q; git -c alias.x='grep -Orm' x || true; git -c alias.z='!rm y' z",
        ),
    ),
    Program(
        "git grep",
        "searches the files of a project",
        "-a -i -I -w -v -h -H -E -G -F -P -n -l -L -z -o -c -p -W -q -r -e: -f: -A: -B: -C: -m: "
        "--max-depth: --threads: --cached "
        "--no-index --untracked --and --or --not --color:: --break --heading --column --name-only",
        {"usual line": "-O:: --open-files-in-pager::"},
        appended=True,
        examples=(
            "git init -q; echo x > f; git add f; git grep -Orm x",
            "git init -q; echo x > f; git add f; git grep --open-files='rm y #' x",
            "git init -q; echo x > f; git add f; git grep -lO'rm y #' x",
        ),
    ),
    Program(
        "git bisect, git submodule, git remote, git stash, git worktree, git notes, git lfs, git flow",
        "keeps versions of files",
        "-q -v -p -u -a -k -S -m: -f --quiet --verbose --cached --patch --keep-index --include-untracked "
        "--all --staged "
        "--message: --ref:",
        others="git url",
    ),
    Program(
        "git bisect run",
        "looks for the change that broke a command",
        style="posix",
        command=0,
        examples=(f"{_HISTORY}; git bisect start HEAD HEAD~2; git bisect run rm y",),
    ),
    Program(
        "git submodule foreach",
        "runs a line in every submodule",
        "-q --quiet --recursive",
        style="posix",
        command=0,
        joined=True,
        examples=(),
    ),
    Program(
        "git submodule add, git submodule update",
        "fetches projects inside a project",
        "-b: -f -q --name: --reference: --depth: --init --recursive --remote",
        others="git url",
    ),
    Program(
        "git for-each-repo", "runs git in every project", "--config: --keep-going", style="posix", always=True
    ),
    Program(
        "git rebase",
        "puts commits onto others",
        "-i -q -v -n -f -r:: -k -m -p -s: -X: -S:: -C: --onto: --strategy: --strategy-option: "
        "--interactive --continue --abort --skip "
        "--autosquash --autostash --root --keep-base --rebase-merges:: --whitespace: --no-verify "
        "--edit-todo --quit --empty:",
        {"line": "-x: --exec:"},
        untried=(
            f"{_HISTORY}; git rebase -x 'rm y' HEAD~1",
            f"{_HISTORY}; git rebase --ex='rm y' HEAD~1",
        ),
    ),
    Program(
        "git filter-branch",
        "rewrites all commits by lines of shell",
        "-f --force -d: --original: --prune-empty --remap-to-ancestor --subdirectory-filter: --state-branch:",
        {
            "line": "--setup: --env-filter: --tree-filter: --index-filter: --parent-filter: "
            "--msg-filter: "
            "--commit-filter: --tag-name-filter:"
        },
        untried=(
            f"{_HISTORY}; export FILTER_BRANCH_SQUELCH_WARNING=1; git filter-branch -f --msg-filter 'rm y; cat'",
        ),
    ),
    Program(
        "git filter-repo",
        "rewrites all commits",
        "",
        {
            "python": "--filename-callback: --message-callback: --blob-callback: --commit-callback: "
            "--tag-callback: --reset-callback: --refname-callback: --name-callback: "
            "--email-callback: --file-info-callback:"
        },
    ),
    Program(
        "git difftool, git mergetool",
        "shows differences by another program",
        "-d -g -y -t: -O: --dir-diff --gui --prompt --no-prompt --tool: --symlinks --trust-exit-code",
        {"line": "-x: --extcmd:"},
        always=True,
        examples=(
            "git init -q; echo a > a; git add a; echo b > a; git difftool -yx 'rm y' a",
            "git init -q; echo a > a; git add a; echo b > a; git difftool -y --extcmd='rm y' a",
        ),
    ),
    Program(
        "git fetch, git pull, git ls-remote, git fetch-pack",
        "fetches from another repository",
        f"{_REMOTE} {_CLONE} --rebase:: --ff-only --heads --symref --sort: --format: --prefix: --remote:",
        {"line": "--upload-pack: --exec:", "written": "--output:"},
        appended=True,
        others="git url",
        examples=(
            "git init -q a; git ls-remote --upload='rm y' ./a",
            "git init -q; git fetch --upload-pack 'rm y' .",
            "git init -q; git ls-remote --upload-pack=make SHELL=rm",
        ),
    ),
    Program(
        "git clone",
        "fetches a repository",
        f"{_REMOTE.replace('-u ', '')} {_CLONE}",
        {
            "git setting": "-c: --config:",
            "line": "-u: --upload-pack:",
            "settings": "--template: --separate-git-dir:",
        },
        appended=True,
        first="git url",
        others="output",
        examples=(
            "git init -q a; git clone -q --upload-pack='rm y' a b",
            "git init -q a; git clone -qu 'rm y' a b",
            "git clone -q -c core.sshCommand='rm y' ssh://h/x b",
        ),
    ),
    Program(
        "git push, git send-pack",
        "sends to another repository",
        "-u -f -v -q -n -d -o: -4 -6 --all --tags --force --force-with-lease:: --set-upstream "
        "--delete --mirror --prune --dry-run "
        "--porcelain --no-verify --atomic --push-option: --repo: --signed:: "
        "--recurse-submodules: --follow-tags",
        {"line": "--receive-pack: --exec:"},
        appended=True,
        others="git url",
        examples=("git init -q; git commit -q --allow-empty -m 1; git push --receive-pack='rm y' . HEAD:x",),
    ),
    Program(
        "git remote add, git remote set-url",
        "names another repository",
        "-f -t: -m: --tags --no-tags --mirror:: --push --add --delete",
        others="git url",
    ),
    Program(
        "git config",
        "reads settings, and writes those that run nothing",
        _CONFIG.text.replace("-e ", "")
        .replace("-f:", "")
        .replace("--file:", "")
        .replace("--edit ", "")
        .replace("--blob:", ""),
        {
            "kept git setting": "--written:",
            "beyond": "-f: --file: -e --edit --blob: --rename-section --remove-section",
        },
        ordered=_config_ordered,
        examples=(
            "git init -q; git config alias.x '!rm y'; git x",
            "git init -q; git config --local --add alias.x '!rm y' && git x",
        ),
    ),
    Program(
        "git init, git init-db",
        "makes a repository",
        "-q -b: --bare --initial-branch: --object-format: --shared::",
        {"settings": "--template: --separate-git-dir:"},
        others="output",
    ),
    Program(
        "git log, git show, git diff, git shortlog, git stash show, git "
        "range-diff, git whatchanged, git blame, git diff-files, git diff-index, git diff-tree, git rev-list",
        "shows changes",
        _LOG,
        {"written": "--output:", "beyond": "--ext-diff"},
    ),
    Program(
        "git format-patch",
        "writes commits as mails",
        _LOG,
        {"written": "--output:", "output": "-o: --output-directory:", "beyond": "--ext-diff"},
    ),
    Program(
        "git worktree add",
        "makes another directory to work in",
        "-f -q -d -b: -B: --force --detach --checkout --no-checkout --lock --reason: --orphan --quiet --track "
        "--guess-remote",
        first="output",
    ),
    Program(
        "git checkout-index, git mailsplit, git bugreport, git diagnose, git read-tree, git index-pack, git repack, "
        "git apply",
        "writes files",
        "-a -b -f -i -m -n -q -u -v -z -d: -s: -p: -C: --all --force --quiet --index --stage: --stdin --strict "
        "--exclude: --include: --check --stat --numstat --summary --reverse --cached --reject --suffix: -R -N",
        {
            "output": "-o: --output-directory: --prefix: --index-output: --expire-to: --build-fake-ancestor:",
            "beyond": "--unsafe-paths",
        },
    ),
    Program(
        "git commit-graph, git multi-pack-index, git pack-objects",
        "keeps objects",
        "-q --stdout --revs --all --progress --no-progress",
        {"output": "--object-dir:"},
    ),
    Program(
        "git mailinfo, git merge-file, git worktree move",
        "writes the files it names",
        "-p -q -f -L: --stdout --force",
        others="output",
    ),
    Program(
        "git interpret-trailers",
        "adds lines to a message",
        "--trailer: --parse --only-trailers",
        {"beyond": "--in-place"},
    ),
    Program(
        "git merge-index",
        "runs a program for each file that cannot be merged",
        "-o -q",
        first="program",
        examples=(f"{_UNMERGED}; git merge-index rm -a",),
    ),
    Program(
        "git commit, git merge, git tag, git cherry-pick, git revert, git am", "records changes", _COMMIT
    ),
    Program(
        "git help",
        "shows a page of the manual",
        "-a -g -c -i -m --all --guides --config --info --man",
        {"beyond": "-w --web"},
    ),
    Program(
        "git send-email",
        "sends mails",
        "",
        {"line": "--to-cmd: --cc-cmd: --header-cmd: --sendmail-cmd: --smtp-server:"},
        always=True,
        examples=(),
    ),
    Program(
        "git imap-send, git instaweb, git web--browse, git daemon, git hook, git p4, git svn, "
        "git cvsserver, git cvsimport, "
        "git credential, git credential-store, git credential-cache, git receive-pack, git "
        "upload-archive, "
        "git http-backend, git shell, git maintenance, git gui, git citool, git quiltimport, git "
        "archimport",
        "runs other programs",
        "",
        {"line": "--access-hook: --shell-path:"},
        always=True,
    ),
    Program("git upload-pack", "serves a repository", always=True),
    Program(
        "git remote-ext, git remote-fd",
        "talks to a program",
        always=True,
        others="line",
        examples=("echo 'connect git-upload-pack' | git remote-ext x 'rm y'",),
    ),
    Program("gh, hub", "works with a forge", "-R: --repo: --hostname:", style="posix"),
    Program("gh repo, gh gist, gh run, gh release", "works with a forge", "-R: --repo:", style="posix"),
    Program(
        "gh repo clone, gh repo fork, gh gist clone",
        "fetches a repository by git, with options of git behind `--`",
        "-u: --upstream-remote-name: --clone --remote --remote-name: --org: --fork-name: --default-branch-only",
        others="git flag",
        reader=_gh_clone,
        untried=("gh repo clone a/b -- -u 'rm y'",),
    ),
    Program(
        "gh run download, gh release download",
        "fetches files",
        "-n: -p: -A: -R: --name: --pattern: --archive: --repo: --clobber --skip-existing",
        {"output": "-D: --dir: -O: --output:"},
    ),
    Program("gh pr, gh issue", "works with a forge", "-R: --repo:", style="posix"),
    Program(
        "gh pr create, gh pr view, gh pr list, gh issue create, gh issue view, gh issue list, gh pr edit, gh pr diff, "
        "gh pr comment, gh pr review, gh issue comment, gh pr checks",
        "looks at and makes requests",
        "-R: -t: -b: -F: -B: -H: -l: -a: -r: -m: -p: -q: -L: -s: -S: -A: -T: -d -f -c --title: --body: --body-file: "
        "--base: --head: --label: --assignee: --reviewer: --json: --jq: --limit: --state: --search: --author: "
        "--template: --repo: --draft --fill --fill-first --fill-verbose --comments --watch --name-only --patch",
        {"beyond": "-w --web -e --editor"},
    ),
    Program(
        "gh alias, gh extension, gh config, gh codespace, hub alias",
        "changes what gh runs",
        others="line",
        always=True,
    ),
    Program(
        "git archive",
        "packs files",
        "-l -v -0 -1 -9 --format: --prefix: --remote: --list --verbose --add-file: --worktree-attributes",
        {"written": "-o: --output:", "completed line": "--exec:"},
        others="git url",
    ),
    Program(
        "git fast-export, git fast-import",
        "writes out all commits",
        "--all --import-marks: --import-marks-if-exists: --date-format: --force --quiet",
        {"written": "--export-marks: --export-pack-edges:", "beyond": "--allow-unsafe-features"},
    ),
    Program("git bundle", "packs commits", style="posix"),
    Program("git bundle create", "packs commits into a file", always=True),
)
