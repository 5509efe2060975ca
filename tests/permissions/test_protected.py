"""Test that Hookline asks before every write to a protected file, whatever allows it, and never before a read."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bench.soak_protected import random_lines, unseen_writes
from hookline.config.protection.protected_paths import protected_in
from hookline.dialects.registry import home_dialect
from hookline.model.diagnostics import Where
from hookline.model.hook import Hook
from hookline.permissions.decide import answered, decide
from hookline.permissions.facts import CallFacts, category_of
from hookline.permissions.modes import MODES
from hookline.permissions.rules import RuleReader
from hookline.permissions.state import Permissions
from tests.every import every
from tests.permissions.permission_cases import PATTERNS, SHELL, rules, vote
from tests.permissions.protected_lines import HERE_DOCUMENTS, READING_HERE_DOCUMENTS, READS, WRITES
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


@every("line", [*WRITES, *HERE_DOCUMENTS])
def test_a_line_that_shows_a_write_to_a_protected_file_is_asked(line: str, permissions: Permissions) -> None:
    assert _step(permissions, "Bash", command=line) == "protected"


@every("line", [*READS, *READING_HERE_DOCUMENTS])
def test_a_line_that_only_reads_them_or_writes_elsewhere_is_not(line: str, permissions: Permissions) -> None:
    assert _step(permissions, "Bash", command=line) == "hook_allow"


@every(("line", "shown"), table("line"))
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
    # An undeclared argument.
    ("Write", {"file_path": "src/a.py", "destination": ".hookline/hooks.toml"}),
    ("Edit", {"file_path": "src/a.py", "edits": [{"path": ".mcp.json"}]}),
    # Names of files in a diff are quoted, and a diff may change nothing but a mode.
    ("mcp__git__apply", {"diff": '--- "a/.hook\\154ine/hooks.toml"\n+++ "b/.hook\\154ine/hooks.toml"\n'}),
    ("mcp__git__apply", {"diff": "diff --git a/agent.yaml b/agent.yaml\nold mode 100644\nnew mode 100755\n"}),
    ("mcp__py__eval", {"code": "open('src/alias.toml', 'w')"}),
    ("PowerShell", {"command": ["rm", ".hookline/hooks.toml"]}),
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


@every(("tool", "arguments"), WRITING_CALLS)
def test_a_call_of_any_tool_that_names_a_protected_file_is_asked(
    tool: str, arguments: dict[str, Any], permissions: Permissions
) -> None:
    assert _step(permissions, tool, **arguments) == "protected"


@every(("tool", "arguments"), READING_CALLS)
def test_a_call_that_reads_one_or_writes_elsewhere_is_not(
    tool: str, arguments: dict[str, Any], permissions: Permissions
) -> None:
    assert _step(permissions, tool, **arguments) == "hook_allow"


@every("mode", MODES)
def test_only_bypass_does_not_ask(mode: str, project: Path) -> None:
    permissions = _permissions(project, mode=mode)
    line = {"command": "rm .hookline/hooks.toml"}
    permissions.grant("Bash", line, str(project))
    found = decide(_facts(project, "Bash", line), permissions, vote("allow"))
    expected = {"bypass": ("allow", "hook_allow"), "dontAsk": ("deny", "mode")}
    assert (found.decision, found.step) == expected.get(mode, ("ask", "protected"))


def test_the_question_says_which_file_and_why(project: Path, permissions: Permissions) -> None:
    written = decide(_facts(project, "Bash", {"command": "rm .hookline/hooks.toml"}), permissions)
    assert written.reason == (
        "Writing to .hookline/hooks.toml always needs approval: hooks, rules or servers are configured there."
    )
    trusted = decide(_facts(project, "Bash", {"command": "hookline trust --yes"}), permissions)
    assert trusted.reason == (
        "Running hookline trust always needs approval: it changes which hooks, rules or servers are active or trusted."
    )


def test_a_permission_request_hook_may_deny_it_but_only_the_user_allows_it(
    project: Path, permissions: Permissions
) -> None:
    facts = _facts(project, "Write", {"file_path": ".hookline/hooks.toml"})
    for attended, decision, step in ((True, "ask", "protected"), (False, "deny", "unattended")):
        asked = decide(facts, permissions, attended=attended)
        found = answered(asked, facts, facts, permissions, vote("allow"), attended)
        assert (found.decision, found.step) == (decision, step)
        denied = answered(asked, facts, facts, permissions, vote("block", "no"), attended)
        assert (denied.decision, denied.step) == ("deny", "request_deny")


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
        "always needs approval: an active hook runs it."
    )


def _hook(command: str, file: str) -> Hook:
    native = home_dialect()
    event = native.events["PreToolUse"]
    return replace(native.flag_hook(event, command), where=Where(file))


@every(
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


def test_a_directory_in_a_variable_does_not_protect_the_whole_home(tmp_path: Path) -> None:
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
    hidden = "rm $(echo enilkooh. | rev)/hooks.toml"
    assert list(unseen_writes([hidden, "cat .hookline/hooks.toml"], tmp_path)) == [hidden]
