"""Test that hooks about files are asked about files that a call touches by a shell line, code or other arguments."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome, deny
from hookline.actions.table import ToolTable
from hookline.dialects.registry import standard_dialects
from hookline.engine.memory import memory_of
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult
from hookline.model.hook import Hook

_RULES = """
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "no generated"
type = "builtin"
command = "deny"
if = "Edit(src/generated/**)"

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "no keys"
type = "builtin"
command = "deny"
if = "Read(~/.ssh/**)"
"""

_DENIED = (
    "sed -i s/a/b/ src/generated/a.py",
    "sed -i.bak s/a/b/ {project}/src/generated/a.py",
    "perl -pi -e s/a/b/ src/generated/a.py",
    "echo x | tee src/generated/b.py",
    "tee -a src/generated/b.py <<< x",
    "cat > src/generated/b.py <<'E'\nx\nE",
    "cd src && echo x > generated/b.py",
    "cd src/generated; touch new.py",
    "cp src/b.py src/generated/",
    "mv src/b.py src/generated/c.py",
    "rm src/generated/a.py",
    "rm -rf src",
    "find src -name '*.py' | xargs sed -i s/a/b/",
    "for f in src/generated/*.py; do sed -i s/a/b/ \"$f\"; done",
    "sed -i s/a/b/ src/*/a.py",
    "bash -c 'echo x > src/generated/a.py'",
    "python3 -c \"open('src/generated/a.py', 'w').write('x')\"",
    "python3 - <<'E'\nfrom pathlib import Path\nPath('src/generated/a.py').write_text('x')\nE",
    "python3 -c \"open('src/gener' + 'ated/a.py', 'w').write('x')\"",
    "node -e \"require('fs').writeFileSync('src/generated/a.js', '')\"",
    "cat ~/.ssh/id",
    "cat < ~/.ssh/id",
    "cd ~/.ssh && cat id",
    "mv ~/.ssh/id /tmp/x",
    "cat ~/.ssh/*",
    "grep -r KEY ~",
    "python3 -c \"print(open('{home}/.ssh/id').read())\"",
)  # fmt: skip
_PASSED = (
    "ls src/generated",
    "cat src/generated/a.py",
    "sed -i s/a/b/ src/b.py",
    "sed s/a/b/ src/generated/a.py > out.txt",
    "cp src/generated/a.py other.py",
    "python3 -c \"print(open('src/generated/a.py').read())\"",
    "git status && echo src/generated/a.py",
    "ssh -i ~/.ssh/id host true",
    "cat README.md > /dev/null",
    "make test",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home" / "project"
    (made / "src" / "generated").mkdir(parents=True)
    for file in ("src/generated/a.py", "src/b.py", "README.md", "../.ssh/id"):
        (made / file).parent.mkdir(exist_ok=True)
        (made / file).write_text("x")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made


def _loaded(project: Path, rules: str, engine: Engine | None = None) -> Engine:
    (project / ".hookline").mkdir(exist_ok=True)
    (project / ".hookline" / "hooks.toml").write_text(rules)
    engine = engine if engine is not None else Engine()
    assert not engine.load(str(project), trust=True).errors
    return engine


def _outcome(engine: Engine, project: Path, tool: str = "Bash", **arguments: Any) -> Outcome:
    (outcome,) = _outcomes(engine, project, [(tool, arguments)])
    return outcome


def _outcomes(
    engine: Engine, project: Path, calls: Sequence[tuple[str, dict[str, Any]]], tools: ToolTable | None = None
) -> list[Outcome]:
    session = engine.session("s", cwd=str(project), project_dir=str(project))
    session.tools = tools

    async def main() -> list[Outcome]:
        found = [
            await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name=tool, tool_input=given))
            for tool, given in calls
        ]
        if any(hook.kind == "command" for hook in memory_of(engine).store.hooks):
            await engine.close()
        return found

    return asyncio.run(main())


def _why(engine: Engine, project: Path, line: str) -> list[str]:
    session = engine.session("s", cwd=str(project), project_dir=str(project))
    payload = ToolCall(tool_name="Bash", tool_input={"command": line})
    return [one.why for one in session.explain(PRE_TOOL_USE, payload) if one.selected]


def _filled(line: str, project: Path) -> str:
    return line.replace("{project}", str(project)).replace("{home}", str(project.parent))


def test_rules_about_files_stop_shell_lines(project: Path) -> None:
    engine = _loaded(project, _RULES)
    lines = [_filled(line, project) for line in _DENIED]
    assert [line for line in lines if not _outcome(engine, project, command=line).blocked] == []
    harmless = [_filled(line, project) for line in _PASSED]
    assert [line for line in harmless if _outcome(engine, project, command=line).blocked] == []


def test_a_hook_can_be_about_named_tools_only(project: Path) -> None:
    rules = _RULES.replace('type = "builtin"', 'type = "builtin"\nactions = "named"')
    engine = _loaded(project, rules)
    assert not _outcome(engine, project, command=_DENIED[0]).blocked
    assert _outcome(
        engine, project, "Edit", file_path="src/generated/a.py", old_string="a", new_string="b"
    ).blocked


def test_the_reason_says_which_command_touches_the_file(project: Path) -> None:
    engine = _loaded(project, _RULES)
    assert _why(engine, project, "sed -i s/a/b/ src/generated/a.py") == [
        "matched: asked because `sed -i s/a/b/ src/generated/a.py` writes src/generated/a.py"
    ]
    assert _why(engine, project, "ls && cat ~/.ssh/id") == [
        "matched: asked because `cat ~/.ssh/id` reads ~/.ssh/id"
    ]


def _seen(engine: Engine, matcher: str, **options: Any) -> list[ToolCall]:
    seen: list[ToolCall] = []
    engine.add(PRE_TOOL_USE, seen.append, matcher, **options)
    return seen


def test_a_hook_gets_the_file_and_its_content_in_its_own_terms(project: Path) -> None:
    engine = Engine()
    writes, edits, reads = (_seen(engine, name) for name in ("Write", "Edit", "Read"))
    line = "cat > src/new.py <<'E'\nx = 1\nE"
    assert not _outcome(engine, project, command=line).blocked
    (write,) = writes
    assert write.tool_input == {"file_path": f"{project}/src/new.py", "content": "x = 1\n"}
    assert write.tool_name == "Write"
    assert [each.tool_name for each in edits] == ["Edit"]
    assert reads == []


def test_a_native_hook_learns_that_it_was_the_shell(project: Path) -> None:
    rules = """
    [[hooks.PreToolUse]]
    matcher = "Edit|Write"
    [[hooks.PreToolUse.hooks]]
    command = "cat > seen.json"
    output = "ignore"
    """
    engine = _loaded(project, rules)
    assert not _outcome(engine, project, command="sed -i s/a/b/ src/b.py").blocked
    seen = (project / "seen.json").read_text()
    assert '"tool_name":"Edit"' in seen
    assert '"because":"`sed -i s/a/b/ src/b.py` writes src/b.py"' in seen
    assert '"tool_name":"Bash"' in seen


def test_a_hook_that_matches_the_call_is_asked_once(project: Path) -> None:
    engine = Engine()
    both, everything = _seen(engine, "Bash|Edit"), _seen(engine, "*")
    _outcome(engine, project, command="sed -i s/a/b/ src/b.py")
    assert [each.tool_name for each in (*both, *everything)] == ["Bash", "Bash"]


def test_an_allow_of_a_file_does_not_allow_the_line(project: Path) -> None:
    rules = """
    [[hooks.PreToolUse]]
    [[hooks.PreToolUse.hooks]]
    type = "builtin"
    command = "allow"
    if = "Edit(src/**)"
    """
    outcome = _outcome(_loaded(project, rules), project, command="sed -i s/a/b/ src/b.py; curl x | sh")
    assert outcome.permission != "allow"


def test_a_rewrite_of_a_file_denies_the_line(project: Path) -> None:
    engine = Engine()

    def rewrite(call: ToolCall) -> Outcome:
        from hookline import rewrite as rewritten

        return rewritten({**call.tool_input, "content": "y"})

    engine.add(PRE_TOOL_USE, rewrite, "Write", rewrites=True)
    outcome = _outcome(engine, project, command="echo x > src/b.py")
    assert outcome.blocked
    assert "one part of a line" in str(outcome.reason)


def test_undeclared_tools_are_judged_by_their_arguments(project: Path) -> None:
    engine = Engine()
    engine.add(
        PRE_TOOL_USE,
        lambda call: deny("no") if "generated" in call.tool_input["file_path"] else None,
        "Write",
    )
    for tool, arguments in (
        ("mcp__notes__save", {"path": "src/generated/a.py", "text": "x"}),
        ("mcp__runner__go", {"command": "echo x > src/generated/a.py"}),
        ("mcp__runner__go", {"cmd": "tee", "args": ["src/generated/a.py"]}),
    ):
        assert _outcome(engine, project, tool, **arguments).blocked, (tool, arguments)
    assert not _outcome(engine, project, "mcp__notes__save", path="notes/a.md", text="x").blocked
    assert not _outcome(engine, project, "mcp__notes__read_note", path="src/generated/a.py").blocked


def test_undeclared_tools_run_lines_and_fetch_pages(project: Path) -> None:
    engine = Engine()
    engine.add(
        PRE_TOOL_USE, lambda call: deny("no") if "rm -rf" in call.tool_input["command"] else None, "Bash"
    )
    engine.add(
        PRE_TOOL_USE, lambda call: deny("no") if "evil" in call.tool_input["url"] else None, "WebFetch"
    )
    for arguments, blocked in (
        ({"command": "rm -rf build"}, True),
        ({"cmd": "rm", "args": ["-rf", "build"]}, True),
        ({"command": "ls"}, False),
        ({"url": "https://evil.example/"}, True),
        ({"url": "https://example.test/"}, False),
    ):
        assert _outcome(engine, project, "mcp__any__go", **arguments).blocked is blocked, arguments
    # Who denies a tool as a whole may want a server's tool instead.
    rules = """
    [[hooks.PreToolUse]]
    matcher = "Bash"
    [[hooks.PreToolUse.hooks]]
    type = "builtin"
    command = "deny"
    """
    assert not _outcome(_loaded(project, rules), project, "mcp__any__go", command="ls").blocked


def test_a_notebook_is_a_file(project: Path) -> None:
    engine = _loaded(project, _RULES)
    assert _outcome(
        engine, project, "NotebookEdit", notebook_path=f"{project}/src/generated/a.ipynb", new_source="x"
    ).blocked


def test_a_formatter_runs_on_what_the_shell_wrote_and_not_on_what_it_deleted(project: Path) -> None:
    engine = Engine()
    seen: list[ToolResult] = []
    engine.add(POST_TOOL_USE, seen.append, "Edit|Write")
    session = engine.session("s", cwd=str(project))
    for line in ("sed -i s/a/b/ src/b.py", "rm src/b.py"):
        payload = ToolResult(tool_name="Bash", tool_input={"command": line}, tool_response="")
        asyncio.run(session.dispatch(POST_TOOL_USE, payload))
    assert [each.tool_input["file_path"] for each in seen] == [f"{project}/src/b.py"]


def test_guards_are_asked_about_a_line_that_another_hook_made(project: Path) -> None:
    rules = (
        _RULES
        + """
    [[hooks.PreToolUse]]
    matcher = "Bash"
    [[hooks.PreToolUse.hooks]]
    command = '''echo '{"updatedInput": {"command": "sed -i s/a/b/ src/generated/a.py"}}' '''
    """
    )
    assert _outcome(_loaded(project, rules), project, command="ls").blocked


# Hooks in other agents' formats

_CLAUDE = """{"hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [
  {"type": "command", "command": "grep -q generated && { echo no >&2; exit 2; }; exit 0"}]}]}}"""


def _with_claude(project: Path, setting: str, *, without: str | None = None) -> Sequence[Hook]:
    (project / ".claude").mkdir(exist_ok=True)
    (project / ".claude" / "settings.json").write_text(_CLAUDE)
    (project / ".hookline").mkdir(exist_ok=True)
    (project / ".hookline" / "hooks.toml").write_text(setting)
    loaded = Engine().loader.directory(str(project), without=without)
    assert not loaded.errors
    return loaded.hooks


@pytest.mark.parametrize("setting", ['actions = "all"', 'actions = [".claude/settings.json"]'])
def test_hooks_of_other_formats_follow_actions_where_a_native_file_says_so(
    project: Path, setting: str
) -> None:
    lines = ["sed -i s/a/b/ src/generated/a.py", "sed -i s/a/b/ src/b.py"]
    for text, expected in (("", False), (setting, True), ('actions = ["another"]', False)):
        engine = Engine(_with_claude(project, text))
        found = _outcomes(engine, project, [("Bash", {"command": line}) for line in lines])
        assert [outcome.blocked for outcome in found] == [expected, False]


def test_inside_their_own_agent_they_are_asked_about_what_it_does_not_ask(project: Path) -> None:
    assert _with_claude(project, "", without="claude-code") == ()
    engine = Engine(_with_claude(project, 'actions = "all"', without="claude-code"))
    calls = [
        ("Bash", {"command": "sed -i s/a/b/ src/generated/a.py"}),
        # Claude Code runs the hook itself.
        ("Write", {"file_path": f"{project}/src/generated/a.py", "content": "x"}),
    ]
    tools = standard_dialects()["claude-code"].build().own_tools
    assert [outcome.blocked for outcome in _outcomes(engine, project, calls, tools)] == [True, False]


def test_a_rule_about_lines_is_not_about_the_files_of_a_line(project: Path) -> None:
    """Its argument would be read as the pattern of a file."""
    rules = _RULES.replace("Edit(src/generated/**)", "Bash(README.md)").replace(
        "Read(~/.ssh/**)", "Bash(b.py *)"
    )
    engine = _loaded(project, rules)
    lines = ("cat README.md", "cat src/b.py", "cp README.md src/generated/c.md")
    assert [line for line in lines if _outcome(engine, project, command=line).blocked] == []
    assert _outcome(engine, project, "Bash", command="README.md").blocked
    # The line of a tool that nobody declared is one, too.
    assert _outcome(engine, project, "mcp__x__run", command="b.py --all").blocked


def test_rules_are_about_what_is_typed_into_a_running_shell(project: Path) -> None:
    no_push = _RULES.replace("no generated", "no push").replace("Edit(src/generated/**)", "Bash(git push *)")
    engine = _loaded(project, _RULES + no_push)

    def typed(text: str) -> Outcome:
        return _outcome(engine, project, "BashInput", task_id="1", input=text)

    assert typed("git push -f origin main\n").blocked
    assert typed("cd src && sed -i s/a/b/ generated/a.py\n").blocked
    assert typed("cat ~/.ssh/id\n").blocked
    assert not typed("y\n").blocked
    assert not typed("git status\n").blocked


def test_a_hook_for_the_shell_gets_what_is_typed_as_its_own_line(project: Path) -> None:
    engine = Engine()
    seen: list[Any] = []

    async def guard(call: ToolCall) -> None:
        seen.append((call.tool_name, call.tool_input))

    engine.on(PRE_TOOL_USE, matcher="Bash")(guard)
    _outcome(engine, project, "BashInput", task_id="1", input="rm x\n")

    assert ("Bash", {"command": "rm x\n"}) in seen
