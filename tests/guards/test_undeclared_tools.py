"""Guards read calls of tools that nobody declared by the names of their arguments."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hookline import Engine, Outcome
from hookline.actions import nothing
from hookline.actions.standard_tools import host_table
from hookline.config.protection.calls import CallReaders
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.guards import GUARD_NAMES
from hookline.guards.runner import GuardDecision, GuardRunner
from hookline.model.session_info import SessionInfo
from hookline.shell import ShellReader
from tests.every import every
from tests.guards.calls import EVERYDAY, FORBIDDEN

_PROJECT = "/home/ada/project"
_ENV = {"HOME": "/home/ada"}


def _decision(guard: str, tool: str, arguments: dict[str, Any], *options: str) -> GuardDecision | None:
    readers = CallReaders(_ENV, ShellReader)
    runner = GuardRunner(lambda actions, cwd: readers.changes_guards(actions, cwd, ()), _ENV)
    call, info = (
        ToolCall(tool_name=tool, tool_input=arguments),
        SessionInfo(cwd=_PROJECT, project_dir=_PROJECT),
    )
    return runner.decision(guard, options, call, info)


@every(("tool", "arguments"), EVERYDAY)
def test_everyday_calls_pass_all_guards(tool: str, arguments: dict[str, Any]) -> None:
    assert [name for name in GUARD_NAMES if _decision(name, tool, arguments) is not None] == []


@every(("guard", "tool", "arguments"), FORBIDDEN)
def test_a_guard_is_asked_about_what_the_arguments_say(
    guard: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert _decision(guard, tool, arguments) is not None


def test_such_a_finding_is_in_doubt_and_says_why() -> None:
    found = _decision("delete-recursive", "mcp__x__do", {"command": "rm -rf build"})
    assert found is not None
    assert found.doubt == "it is known by the names of its arguments alone"
    assert found.reason.startswith("`rm -rf build` ")
    assert "no one declared what it does" in found.reason
    assert _decision("delete-recursive", "mcp__x__do", {"command": "rm -rf build"}, "in_doubt=pass") is None


def test_a_program_that_declares_its_tool_is_not_second_guessed(tmp_path: Path) -> None:
    runner = GuardRunner(env=_ENV)
    call = ToolCall(tool_name="say", tool_input={"command": "rm -rf build"})
    info = SessionInfo(cwd=str(tmp_path), project_dir=str(tmp_path))
    tables = host_table(), host_table({"say": nothing()})
    denied = [runner.decision("delete-recursive", (), call, info, table) is not None for table in tables]
    assert denied == [True, False]


# Rules of Hookline's own file


_RULES: tuple[tuple[str, dict[str, Any], str | None], ...] = (
    ("mcp__x__do", {"command": "git push --force"}, "deny"),
    ("mcp__x__do", {"command": "git", "args": ["push", "--force"]}, "deny"),
    ("mcp__x__do", {"command": "git status"}, None),
    ("mcp__x__do", {"text": "git push --force"}, None),
    ("mcp__x__save", {"path": "secret/a"}, "ask"),
    ("mcp__x__get", {"path": "secret/a"}, None),
    ("TaskCreate", {"command": "git push --force"}, None),
    ("said", {"command": "git push --force"}, None),
)


@every(("tool", "arguments", "permission"), _RULES)
def test_rules_about_what_calls_do(tool: str, arguments: dict[str, Any], permission: str | None) -> None:
    with TemporaryDirectory() as directory:
        file = Path(directory, "hooks.toml")
        file.write_text(_rule("deny", "Bash(git push --force*)") + _rule("ask", "Edit(secret/**)"))
        assert _asked(file, tool, arguments).permission == permission


@every("rule", ["Bash", "Bash|Write"])
def test_rules_about_a_tool_are_about_that_tool_alone(rule: str) -> None:
    with TemporaryDirectory() as directory:
        file = Path(directory, "hooks.toml")
        file.write_text(_rule("deny", rule))
        assert _asked(file, "mcp__x__do", {"command": "ls", "path": "a"}).permission is None
        assert _asked(file, "Bash", {"command": "ls"}).permission == "deny"


def test_a_rule_that_allows_does_not_allow_such_a_call() -> None:
    with TemporaryDirectory() as directory:
        file = Path(directory, "hooks.toml")
        file.write_text(_rule("allow", "Bash(git push --force*)"))
        assert _asked(file, "mcp__x__do", {"command": "git push --force"}).permission is None


def test_a_rule_says_what_is_in_doubt_and_passes_where_it_is_told_to() -> None:
    with TemporaryDirectory() as directory:
        file = Path(directory, "hooks.toml")
        rule = _rule("deny", "Bash(git push --force*)")
        file.write_text(rule)
        outcome = _asked(file, "mcp__x__do", {"command": "git push --force"})
        assert outcome.reason is not None
        assert "names of its arguments" in outcome.reason
        file.write_text(f'{rule}in_doubt = "pass"\n')
        assert _asked(file, "mcp__x__do", {"command": "git push --force"}).permission is None


def _rule(does: str, rule: str) -> str:
    start = "[[hooks.PreToolUse]]\n"
    key = f'if = "{rule}"\n'
    if "(" not in rule:
        start, key = f'{start}matcher = "{rule}"\n', ""
    return f'{start}[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "{does}"\nargs = ["no"]\n{key}'


def _asked(file: Path, tool: str, arguments: dict[str, Any]) -> Outcome:
    async def ask() -> Outcome:
        async with Engine(tools={"said": nothing()}) as engine:
            assert engine.load(str(file.parent), [str(file)], ["native"]).diagnostics == ()
            session = engine.session("s", cwd=str(file.parent), project_dir=str(file.parent))
            return await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name=tool, tool_input=arguments))

    return asyncio.run(ask())
