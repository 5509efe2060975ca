"""What writes to a protected file is asked about, whatever allows it; what only reads is not."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bench.soak_protected import random_lines, unseen_writes
from hookline.config.protected import protected_in
from hookline.dialects.registry import home_dialect
from hookline.model.diagnostics import Where
from hookline.model.hook import Hook
from hookline.permissions.decide import answered, decide
from hookline.permissions.facts import CallFacts, category_of
from hookline.permissions.modes import MODES
from hookline.permissions.rules import RuleReader
from hookline.permissions.state import Permissions
from tests.permissions.permission_cases import PATTERNS, SHELL, rules, vote
from tests.permissions.test_page import table

FILES = (
    ".hookline/hooks.toml", ".hookline/guard.sh", ".claude/settings.json", ".claude/agents/x.md", ".mcp.json",
    "agent.yaml", "src/a.py", "src/deep/b.py", "notes.md", "build/out.txt", "sub/.git/HEAD", "evil.toml", ".git/HEAD",
    "other/.hookline/hooks.toml",
)  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    made = home / "proj"
    for name in FILES:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("x")
    for name in (
        ".claude/settings.json",
        ".config/hookline/hooks.toml",
        ".config/cagent/config.yaml",
        "own/settings.json",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x")
    (made / "link").symlink_to(".hookline")
    (made / "deeper").symlink_to(made / ".hookline" / "..")
    (made / "src" / "alias.toml").symlink_to("../.hookline/hooks.toml")
    (made / "harmless").symlink_to("src")
    return made


def _permissions(project: Path, **state: Any) -> Permissions:
    home = str(project.parent)
    env = {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": f"{home}/own",
        "REASONIX_HOME": f"{home}/rx",
        "CODEX_HOME": f"{home}/cx",
    }
    return Permissions(
        rules(("Bash", "Write", "Edit", "mcp__*")),
        root=str(project),
        reader=RuleReader(PATTERNS, SHELL, home),
        protected=protected_in([str(project)], env),
        **state,
    )


@pytest.fixture(scope="module")
def permissions(project: Path) -> Permissions:
    return _permissions(project)


def _facts(project: Path, tool: str, arguments: dict[str, Any]) -> CallFacts:
    return CallFacts(tool, arguments, category_of(tool), str(project))


def _step(permissions: Permissions, tool: str, **arguments: Any) -> str:
    """Everything allows the call: rules, and a hook."""
    return decide(_facts(Path(permissions.root), tool, arguments), permissions, vote("allow")).step


WRITES = r"""
echo x > .hookline/hooks.toml
echo x >> .hookline/hooks.toml
echo x >| .hookline/hooks.toml
echo x &> .hookline/hooks.toml
: > ./.hookline/hooks.toml
> .hookline/hooks.toml
cat evil.toml > .hookline/hooks.toml
printf x | tee .hookline/hooks.toml
printf x | tee -a notes.md .claude/settings.json
printf x | sudo tee .claude/settings.json
cp evil.toml .hookline/hooks.toml
cp evil.toml .hookline/
cp -t .hookline evil.toml
cp -r /tmp/x/.hookline .
cp /tmp/agent.yaml .
mv .hookline .hl
mv evil.toml .hookline/hooks.toml
mv .claude/settings.json /tmp/x
rm .hookline/hooks.toml
rm -rf .hookline
rm -rf .claude/agents
rm -f -- .mcp.json
rm agent.yaml
rm .HOOKLINE/Hooks.toml
rm src/../.hookline/hooks.toml
rm src/../../proj/.hookline/hooks.toml
rm link/hooks.toml
rm deeper/.hookline/hooks.toml
echo x > src/alias.toml
truncate -s 0 .hookline/hooks.toml
truncate --size=0 src/alias.toml
sed -i s/deny/allow/ .hookline/hooks.toml
sed -i.bak -e s/a/b/ .claude/settings.json
sed --in-place s/a/b/ link/hooks.toml
sed -n 'w .hookline/hooks.toml' notes.md
awk '{ print > ".hookline/hooks.toml" }' notes.md
perl -pi -e 's/a/b/' .claude/settings.json
dd if=/dev/null of=.hookline/hooks.toml
install -m 644 evil.toml .hookline/hooks.toml
ln -sf /tmp/x .hookline/hooks.toml
ln .hookline/hooks.toml other.toml
ln -s .hookline here && rm here/hooks.toml
chmod -x .hookline/guard.sh
chmod 000 .hookline
touch .claude/settings.local.json
mkdir -p .claude/skills/mine
git checkout -- .hookline/hooks.toml
git checkout HEAD~1 -- .hookline
git checkout .
git restore .hookline/hooks.toml
git -C .hookline checkout hooks.toml
git rm -r .hookline
git mv .hookline/hooks.toml x
git clean -fdx
git stash push .claude/settings.json
cd .hookline && rm hooks.toml
cd .hookline; echo x > hooks.toml
(cd .hookline && truncate -s 0 hooks.toml)
cd src && cd ../.hookline && rm guard.sh
cd src && rm ../.hookline/hooks.toml
pushd .claude && tee settings.json < /dev/null
cd link && rm hooks.toml
rm .hook*
rm -rf .[h]*
rm .hookline/*
rm -rf .hook{line,ed}
rm *.yaml
rm -rf .
rm -rf "$PWD/.hookline"
rm -rf ..
rm "$HOME/.claude/settings.json"
rm ~/.claude/settings.json
echo '{}' > ~/.config/hookline/hooks.toml
rm -rf ~/.config/hookline
rm -rf ~/.config
rm ~/.config/cagent/config.yaml
echo '{}' > ~/own/settings.json
rm -rf ~/rx/settings.json
sed -i s/trusted_hash/x/ ~/.codex/config.toml
echo '{}' > ~/cx/hooks.json
rm -rf ~/.local/state/hookline/trust
find . -name hooks.toml -delete
find . -name '*.toml' -delete
find . -type f -delete
find .hookline -type f -exec rm {} +
find . -name guard.sh -exec chmod -x {} \;
find . -path './.claude/*' -delete
find . -name hooks.toml | xargs rm
find . -name '*.json' -print0 | xargs -0 sed -i s/a/b/
ls .hookline | while read f; do rm ".hookline/$f"; done
for f in .hookline/*; do rm $f; done
F=.hookline/hooks.toml; rm $F
D=.hook; rm ${D}line/hooks.toml .hookline
rm $(ls -d .hook*)
bash -c 'rm .hookline/hooks.toml'
bash -c "$X .hookline/hooks.toml"
sh -c 'cd .hookline && rm hooks.toml'
eval rm .hookline/hooks.toml
env A=1 rm .hookline/hooks.toml
sudo -u root rm .hookline/hooks.toml
timeout 5 rm .hookline/hooks.toml
nohup rm .hookline/hooks.toml &
xargs rm .hookline/hooks.toml
rm .hook''line/hooks.toml
rm .h\ookline/hooks.toml
rm $'.hook\x6cine/hooks.toml'
python3 -c "open('.hookline/hooks.toml','w')"
node -e "require('fs').writeFileSync('.claude/settings.json','{}')"
python3 fix.py .claude/settings.json
prettier --write .claude/settings.json
vim .hookline/hooks.toml
curl -o .hookline/hooks.toml http://127.0.0.1/x
curl -s http://127.0.0.1/x --output=.claude/settings.json
curl -o.claude/settings.json http://127.0.0.1/x
cp -t.claude evil.toml
sort -osrc/alias.toml evil.toml
git -C .claude checkout settings.json
wget -O .mcp.json http://127.0.0.1/x
sort -o .hookline/hooks.toml evil.toml
tar xf evil.tar .claude
tar -C .claude -xf evil.tar settings.json
unzip -d .claude evil.zip
rsync -a evil/ .claude/
yq -i .a=1 .claude/settings.json
patch .hookline/hooks.toml < x.diff
cat() { rm "$@"; }; cat .hookline/hooks.toml
rm $PWD/link/hooks.toml
rm "$PWD"/agent.yaml
rm ~+/agent.yaml
rm ${D:-.hookline}/hooks.toml
ls link/hooks.toml | xargs rm
F=link/hooks.toml; rm $F
bash -c 'A=(agent.yaml); rm ${A[0]}'
eval 'for f in ~/.claude/settings.json; do rm $f; done'
env A=1 rm "$HOME/own/settings.json"
find $HOME/own/settings.json -delete
find .hook*/hooks.toml -delete
echo y >> sr[c]/alias.toml
echo y | tee -a src/ali*
dd if=evil.toml of=.hookline/hook?.toml
awk 'BEGIN{printf "" > "src/alias.toml"}'
git diff --no-index --output=.hookline/hook?.toml notes.md evil.toml
alias cat=rm; cat .hookline/hooks.toml; rm $X
set -- .hookline/hooks.toml; rm "$@"
export F=.hookline/hooks.toml; rm $F
printf -v F .hookline/hooks.toml; rm $F
cd .hookline; rm $F
cp -r evil/.* .
script .claude/settings.json
socat - OPEN:.claude/settings.json,creat
vim -c 'w! .claude/settings.json' notes.md
sqlite3 db ".output .claude/settings.json"
tree -o .claude/settings.json
pytest --junitxml=.claude/settings.json
ruff check --fix .claude
prettier --write .claude
git restore --staged --worktree .
git archive -o .claude/x.tar HEAD
hookline trust --list --yes
rm -rf /
true && false || rm .hookline/hooks.toml
if true; then rm .hookline/hooks.toml; fi
f() { rm .hookline/hooks.toml; }; f
cat notes.md | tee >(cat > .hookline/hooks.toml)
hookline trust
yes | hookline trust
python -m hookline trust
hookline init
python3 -P -m hookline trust
hookline --color never trust
H=hookline; $H trust
echo '{"hook_event_name": "SessionStart"}' | hookline hook --dialect claude-code
cp -r other/. .
cp -aT other .
rsync -a other/ .
rsync -a --delete-after empty .
rsync -a --del empty .
rm -rf $PWD
rm -rf "${PWD}"
rm -rf ~
wget -P .claude http://localhost/settings.json
cd $(echo .claude) && cp /tmp/x settings.json
""".strip().split("\n")

HERE_DOCUMENTS = [
    "cat > .hookline/hooks.toml <<'EOF'\nx\nEOF",
    "cat <<EOF > .claude/settings.json\n{}\nEOF",
    "tee .hookline/hooks.toml <<EOF\nx\nEOF",
    "python3 - <<'EOF'\nopen('.hookline/hooks.toml', 'w').write('')\nEOF",
    "python3 - <<'EOF'\nopen('src/alias.toml', 'w')\nEOF",
    "git apply <<'EOF'\n--- a/.hookline/hooks.toml\n+++ b/.hookline/hooks.toml\nEOF",
    "bash <<EOF\nrm .hookline/hooks.toml\nEOF",
]

READS = r"""
hookline hook --print-config claude-code
hookline list --dialect claude-code
cp -r src/. build
rsync -a src/ build/
rm -rf "$PWD/build"
cd $(git rev-parse --show-toplevel) && rm -rf build
cat .hookline/hooks.toml
cat .claude/settings.json | jq .
cat < .hookline/hooks.toml
head -5 .hookline/hooks.toml
tail -n 3 link/hooks.toml
grep -rn deny .hookline
grep deny .hookline/hooks.toml > out.txt
rg deny .claude
ls -la .hookline .claude
ls .claude/*
wc -l .hookline/*.toml
diff .hookline/hooks.toml evil.toml
git diff .hookline/hooks.toml
git log --oneline -- .claude
git show HEAD:.hookline/hooks.toml
git status .hookline
git add .hookline && git commit -m 'change .claude/settings.json'
git blame .claude/settings.json
git checkout main
git checkout -b feature
git restore --staged .
git rm --cached .claude/settings.json
git reset HEAD .claude/settings.json
ruff check .claude
prettier --check .claude/settings.json
tree .claude
less .claude/settings.json
cp .claude/* /tmp/backup/
cat .claude/settings.json; F=$1; rm $F
cat link/hooks.toml; rm $X
git diff $(git merge-base HEAD main) -- .claude
rm src/deep/* build/*.txt
echo $HOME/.claude $PWD/.hookline
rm "$PWD/build/out.txt" "$HOME/x"
git clean -n
git stash
stat .hookline/hooks.toml
file .claude/settings.json
sha256sum .hookline/guard.sh
jq .hooks .claude/settings.json
sed -n 1,5p .claude/settings.json
sed 's/a/b/' .claude/settings.json
awk '/deny/ {print $1}' .hookline/hooks.toml
find .hookline -type f
find . -name hooks.toml
find . -name '*.pyc' -delete
find . -name node_modules -exec rm -rf {} +
find . -name '*.py' | xargs grep foo
find src -type f -delete
find . -name hooks.toml -exec cat {} \;
test -f .hookline/hooks.toml && echo there
[ -d .claude ] && ls
[[ -f .mcp.json ]] && echo yes
echo .hookline/hooks.toml
echo "see .claude/settings.json" >> notes.md
printf '%s\n' .hookline
cp .hookline/hooks.toml /tmp/copy.toml
cp -r .claude /tmp/backup
cp .claude/settings.json build/
rsync -a .claude/ /tmp/backup/
tar czf backup.tgz .claude
zip -r out.zip .claude
dd if=.hookline/hooks.toml of=/tmp/x
sort .hookline/hooks.toml
uniq .hookline/hooks.toml
bash .hookline/guard.sh
.hookline/guard.sh
sh .hookline/guard.sh < payload.json
python3 .claude/hooks/guard.py
python3 -m json.tool .claude/settings.json
pytest .claude/hooks
shellcheck .hookline/guard.sh
cd .hookline && cat hooks.toml
cd .hookline && ls && cd ..
(cd .claude && ls)
rm -rf build
rm -rf src/deep
rm -rf build/* dist
rm src/a.py harmless/x
rm *.md
rm -rf /tmp/x
rm -f "$TMP/x"
rm -rf "$BUILD" && cat .claude/settings.json
rm .gitignore hookline.txt claude/x .clauderc
mv notes.md src/
cp evil.toml src/hooks.toml
echo x > hooks.toml
echo x > src/settings.json
echo x > sub/other.yaml
touch src/agent.yaml.bak
sed -i s/a/b/ src/a.py
for f in src/*.py; do sed -i s/a/b/ $f; done
npm install && npm test
make build > log.txt 2>&1
python3 -c 'print(1)'
node build.js > out.js
git push origin main
git commit -am 'x' && git push
docker run --rm img ls
sudo cat .claude/settings.json
timeout 5 grep x .hookline/hooks.toml
env A=1 cat .hookline/hooks.toml
xargs cat < .hookline/hooks.toml
cat .claude/settings.json | python3 -c 'import json,sys; print(json.load(sys.stdin))'
rm -rf .claude/worktrees/old
touch ~/.claude/plans/plan.md
echo x > .claude/worktrees/one/src/a.py
hookline doctor
hookline list
hookline trust --list
curl -s http://127.0.0.1/x -o out.json
mkdir -p .github/workflows
tar xf archive.tar -C build
""".strip().split("\n")

READING_HERE_DOCUMENTS = [
    "cat > notes.md <<'EOF'\nedit .hookline/hooks.toml yourself\nEOF",
    "git commit -F - <<EOF\nabout .claude/settings.json\nEOF",
    "cat <<EOF\n.hookline/hooks.toml\nEOF",
]


@pytest.mark.parametrize("line", [*WRITES, *HERE_DOCUMENTS])
def test_a_line_that_shows_a_write_to_a_protected_file_is_asked(line: str, permissions: Permissions) -> None:
    assert _step(permissions, "Bash", command=line) == "protected"


@pytest.mark.parametrize("line", [*READS, *READING_HERE_DOCUMENTS])
def test_a_line_that_only_reads_them_or_writes_elsewhere_is_not(line: str, permissions: Permissions) -> None:
    assert _step(permissions, "Bash", command=line) == "hook_allow"


@pytest.mark.parametrize(("line", "shown"), table("line"))
def test_each_line_on_the_page_is_asked_or_not_as_shown(
    line: str, shown: str, permissions: Permissions
) -> None:
    assert _step(permissions, "Bash", command=line) == ("protected" if shown == "asked" else "hook_allow")


WRITING_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Write", {"file_path": ".hookline/hooks.toml", "content": "x"}),
    ("Edit", {"file_path": "link/hooks.toml"}),
    ("MultiEdit", {"file_path": "src/alias.toml"}),
    ("NotebookEdit", {"notebook_path": ".claude/x.ipynb"}),
    ("Write", {"file_path": "agent.yaml"}),
    ("Write", {"file_path": "src/../agent.yaml"}),
    ("Write", {"file_path": "~/.config/cagent/config.yaml"}),
    ("Write", {"file_path": "~/.config/hookline/settings.toml"}),
    ("Write", {"file_path": "~/.local/state/hookline/sessions/x"}),
    ("Write", {"file_path": "~/own/settings.json"}),
    ("Write", {"file_path": "~/.claude.json"}),
    ("Write", {"file_path": ".CLAUDE/Agents/x.md"}),
    ("Write", {"file_path": ".codex/config.toml"}),
    ("Write", {"file_path": "~/.codex/hooks.json"}),
    ("Write", {"file_path": "~/cx/config.toml"}),
    ("mcp__fs__write_file", {"path": ".hookline/hooks.toml", "content": "x"}),
    ("mcp__fs__move_file", {"source": "evil.toml", "destination": ".hookline/hooks.toml"}),
    ("mcp__fs__edit_files", {"files": [{"path": "src/a.py"}, {"path": "link/hooks.toml"}]}),
    ("mcp__fs__write_file", {"uri": "file:///x/.claude/settings.json"}),
    ("mcp__shell__run", {"command": "rm .hookline/hooks.toml"}),
    ("mcp__shell__run", {"command": ["rm", ".hookline/hooks.toml"]}),
    ("mcp__shell__run", {"cmd": "rm hooks.toml", "cwd": ".hookline"}),
    ("mcp__shell__run", {"commands": ["ls", "cd .claude && rm settings.json"]}),
    ("mcp__py__eval", {"code": "open('.claude/settings.json', 'w')"}),
    ("mcp__x__call", {"arguments": '{"path": ".mcp.json"}'}),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: .hookline/hooks.toml\n@@\n-x\n"}),
    ("apply_patch", {"input": "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n"}),
    ("mcp__search__replace_all", {"paths": [".claude/settings.json"]}),
    ("editor", {"command": "str_replace", "path": ".claude/settings.json"}),
]
READING_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Write", {"file_path": "src/a.py", "content": ".hookline/hooks.toml"}),
    ("Write", {"file_path": "harmless/a.py"}),
    ("Write", {"file_path": "sub/agent.yaml.md"}),
    ("Write", {"file_path": "~/.claude/plans/plan.md"}),
    ("Write", {"file_path": "~/.claude/projects/x/memory/notes.md"}),
    ("Write", {"file_path": "~/own/plans/plan.md"}),
    ("mcp__fs__read_text_file", {"path": ".hookline/hooks.toml"}),
    ("mcp__fs__list_directory", {"path": ".claude"}),
    ("mcp__fs__get_file_info", {"path": ".claude/settings.json"}),
    ("mcp__fs__write_file", {"path": "notes.md", "content": "+++ b/.hookline/hooks.toml\n"}),
    ("mcp__fs__write_file", {"path": "notes.md", "content": ".hookline/hooks.toml"}),
    ("mcp__shell__run", {"command": "cat .hookline/hooks.toml"}),
    ("mcp__shell__run", {"command": ["cat", ".hookline/hooks.toml"]}),
    ("mcp__shell__run", {"cmd": "ls", "cwd": ".claude"}),
    ("mcp__issues__create", {"title": "x", "body": "see .claude/settings.json"}),
    ("mcp__chat__send", {"to": "anna", "words": "please look at .claude/settings.json"}),
    ("editor", {"command": "view", "path": ".claude/settings.json"}),
    ("mcp_fs_read_file", {"path": ".claude/settings.json"}),
    ("mcp__db__run", {"sql": "select 1", "limit": 5, "deep": {"a": [1, None, True]}}),
]


@pytest.mark.parametrize(("tool", "arguments"), WRITING_CALLS)
def test_a_call_of_any_tool_that_names_a_protected_file_is_asked(
    tool: str, arguments: dict[str, Any], permissions: Permissions
) -> None:
    assert _step(permissions, tool, **arguments) == "protected"


@pytest.mark.parametrize(("tool", "arguments"), READING_CALLS)
def test_a_call_that_reads_one_or_writes_elsewhere_is_not(
    tool: str, arguments: dict[str, Any], permissions: Permissions
) -> None:
    assert _step(permissions, tool, **arguments) == "hook_allow"


@pytest.mark.parametrize("mode", MODES)
def test_only_bypass_does_not_ask(mode: str, project: Path) -> None:
    permissions = _permissions(project, mode=mode)
    line = {"command": "rm .hookline/hooks.toml"}
    permissions.grant("Bash", line, str(project))
    found = decide(_facts(project, "Bash", line), permissions, vote("allow"))
    expected = {"bypass": ("allow", "hook_allow"), "dontAsk": ("deny", "mode")}
    assert (found.verdict, found.step) == expected.get(mode, ("ask", "protected"))


def test_the_question_says_which_file_and_why(project: Path, permissions: Permissions) -> None:
    written = decide(_facts(project, "Bash", {"command": "rm .hookline/hooks.toml"}), permissions)
    assert written.reason == (
        "Writing to .hookline/hooks.toml is always asked: hooks, rules or servers are configured there."
    )
    trusted = decide(_facts(project, "Bash", {"command": "hookline trust --yes"}), permissions)
    assert trusted.reason == (
        "Running hookline trust is always asked: it changes which hooks, rules or servers are in force or trusted."
    )


def test_a_permission_request_hook_may_deny_it_but_only_the_user_allows_it(
    project: Path, permissions: Permissions
) -> None:
    facts = _facts(project, "Write", {"file_path": ".hookline/hooks.toml"})
    for attended, verdict, step in ((True, "ask", "protected"), (False, "deny", "unattended")):
        asked = decide(facts, permissions, attended=attended)
        found = answered(asked, facts, facts, permissions, vote("allow"), attended)
        assert (found.verdict, found.step) == (verdict, step)
        denied = answered(asked, facts, facts, permissions, vote("block", "no"), attended)
        assert (denied.verdict, denied.step) == ("deny", "request_deny")


def test_a_worktree_at_a_protected_path_is_written_like_the_project(project: Path) -> None:
    top = str(project / ".hookline" / "worktrees" / "one")
    permissions = _permissions(project)
    for line, step in (
        ("echo x > src/a.py", "hook_allow"),
        ("rm .hookline/hooks.toml", "protected"),
        ("rm agent.yaml", "protected"),
        (f"rm {project}/.hookline/hooks.toml", "protected"),
        ("rm ../../hooks.toml", "protected"),
    ):
        facts = CallFacts("Bash", {"command": line}, "run", top, worktree=top)
        assert decide(facts, permissions, vote("allow")).step == step


def test_the_scripts_that_hooks_name_are_protected(project: Path) -> None:
    (project / "tools").mkdir(exist_ok=True)
    (project / "tools" / "guard.py").write_text("x")
    hooks = [
        _hook('python3 "$CLAUDE_PROJECT_DIR"/tools/guard.py --strict', str(project / "given.toml")),
        _hook("missing/guard.sh src >> build/out.dat", str(project / "given.toml")),
    ]
    (project / "build" / "out.dat").write_text("x")
    protected = protected_in([str(project)], {"HOME": str(project.parent)}, hooks)
    permissions = Permissions(root=str(project), reader=RuleReader(PATTERNS, SHELL), protected=protected)
    for path, step in (
        ("tools/guard.py", "protected"),
        ("given.toml", "protected"),
        ("src/a.py", "hook_allow"),
        ("tools/other.py", "hook_allow"),
        ("build/out.dat", "hook_allow"),
    ):
        facts = _facts(project, "Write", {"file_path": path})
        assert decide(facts, permissions, vote("allow")).step == step
    sed = _facts(project, "Bash", {"command": "cd tools && sed -i s/deny/allow/ guard.py"})
    assert decide(sed, permissions, vote("allow")).reason.endswith(
        "is always asked: a hook in force runs it."
    )


def _hook(command: str, file: str) -> Hook:
    native = home_dialect()
    event = native.events["PreToolUse"]
    return replace(native.flag_hook(event, command), where=Where(file))


@pytest.mark.parametrize(
    "line",
    [
        "rm \ud800",
        "rm a\0b",
        "rm " + "x" * 5000,
        "rm " + "y/" * 3000,
        "rm " + "[a]* " * 2000,
        "cd . " * 3000,
        "(",
    ],
)
def test_a_strange_line_is_judged_all_the_same(line: str, permissions: Permissions) -> None:
    assert _step(permissions, "Bash", command=line) in {"hook_allow", "protected"}
    assert _step(permissions, "Bash", command=f"{line}; rm .hookline/hooks.toml") == "protected"
    assert _step(permissions, "mcp__x__run", path=line) == "hook_allow"


def test_a_folder_in_a_variable_does_not_protect_the_whole_home(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path), "REASONIX_HOME": "/"}
    protected = protected_in([str(tmp_path / "proj")], env)
    assert protected.why(str(tmp_path / "proj" / "a.py")) is None
    assert protected.why(str(tmp_path / ".claude" / "settings.json")) is not None


def test_without_a_home_the_project_is_protected_all_the_same(tmp_path: Path) -> None:
    protected = protected_in([str(tmp_path)], {})
    assert protected.why(str(tmp_path / ".hookline" / "hooks.toml")) is not None
    assert protected.why(str(tmp_path / "agent.yaml")) is not None
    assert protected.why("/etc/hosts") is None


def test_no_line_of_a_sample_changes_a_protected_file_in_bash_without_a_question(tmp_path: Path) -> None:
    assert list(unseen_writes(random_lines(40, 7), tmp_path)) == []


def test_the_sample_would_notice(tmp_path: Path) -> None:
    hidden = "A=.hook; B=line; rm $A$B/hooks.toml"
    assert list(unseen_writes([hidden, "cat .hookline/hooks.toml"], tmp_path)) == [hidden]
