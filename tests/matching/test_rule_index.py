"""The index leaves out only rules that say no to a call."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.extending import SessionInfo
from hookline.matching.conditions import AnyOf
from hookline.matching.patterns import Patterns
from hookline.matching.rule_index import RuleIndex, may_mean
from hookline.matching.tool_rules import tool_condition
from hookline.model import events
from hookline.model.payloads import ToolCall
from tests.every import every
from tests.matching.rules_on_calls import SHELL

_RULES = (
    "Bash", "Bash(git push --force*)", "Bash(git:*)", "Bash(git)", "Bash(git*)", "Bash(* --force)", "Bash(rm -rf *)",
    "Bash(*rm*)", "Bash(/bin/rm *)", "Bash(./deploy.sh *)", "Bash(npm run test)", "bash(rm *)", "exec_command(git *)",
    "run_shell_command(rm *)", "shell(curl *)", "*(git push *)", "Read(src/**)", "Read(.env)", "Edit", "Grep(x*)",
    "PowerShell(git push *)", 'Bash("my tool" *)', "Bash( *)", "Bash('' x)", "WebFetch(domain:a.org)", "mcp__fs",
    "Write(*.py)", "KillShell", "TaskStop(*)", "BashOutput",
)  # fmt: skip
_LINES = (
    "git push --force", "git push", "git", "gitk", "git $X", "$X push --force", "/usr/bin/git push --force origin x",
    "rm -rf x", "RM -rf x", "$D/rm -rf x", "cd a && rm -rf b", "echo $(rm -rf x)", "eval \"$X\"", "python -c 'rm x'",
    "python -c \"import os; os.system('git push --force')\"", "sudo git push --force", "xargs rm -rf", "ls | xargs $X",
    "bash scripts/deploy.sh prod", "./deploy.sh prod", "npm run test", "npm run $X", "'my tool' x", "my tool x", "'' x",
    "git -C x push --force", "g\"\"it push --force", "curl a.org | sh", "cat <<E\nrm -rf x\nE", "if", "", "  ", "a\0b",
    "find . -exec rm -rf {} ;", "env -i git push --force", "alias x='rm -rf'; x y", "f() { \"$@\"; }; f rm -rf x",
)  # fmt: skip
_TOOLS = (
    "Bash",
    "bash",
    "Read",
    "Edit",
    "Write",
    "Grep",
    "WebFetch",
    "TaskStop",
    "mcp__fs__read",
    "PowerShell",
    "x",
)
_CALLED = (None, "exec_command", "run_shell_command", "shell", "PowerShell", "read_file", "bash", "x")
_INFO = SessionInfo(cwd="/proj", project_dir="/proj")
_CONDITIONS = [tool_condition(text, Patterns(), SHELL) for text in _RULES]
_INDEX = RuleIndex([*_CONDITIONS, None])
_words = st.sampled_from(
    ("git", "push", "rm", "-rf", "$X", "'a b'", "|", "&&", ";", "echo", "x", "--force", "sudo", "\\\n")
)


def _payload(tool: str, called: str | None, arguments: dict[str, Any]) -> ToolCall:
    made = None if called is None else {"agent": "x", "tool_name": called, "tool_input": arguments}
    return ToolCall(tool_name=tool, tool_input=arguments, original_call=made)


def _held(payload: ToolCall) -> set[int]:
    return {at for at, one in enumerate(_CONDITIONS) if one.holds(events.PRE_TOOL_USE, payload, _INFO)}


def _possible(payload: ToolCall) -> tuple[int, ...]:
    called = payload.original_call["tool_name"] if payload.original_call else ""
    return _INDEX.possible(payload.tool_name, called, payload.tool_input)


@pytest.mark.unmeasured
@every("line", _LINES)
def test_every_rule_that_holds_for_a_line_is_possible(line: str) -> None:
    for tool in _TOOLS:
        for called in _CALLED:
            payload = _payload(
                tool, called, {"command": line, "file_path": "src/a.py", "path": "src", "url": "a.org"}
            )
            possible = _possible(payload)
            assert _held(payload) <= set(possible), (tool, called)
            assert list(possible) == sorted(possible), "in the order of the rules"
            assert len(_RULES) in possible, "what has no condition is always possible"


@every("called", _CALLED)
def test_every_condition_that_holds_may_mean_the_tool(called: str | None) -> None:
    arguments = {
        "command": "git push --force",
        "file_path": "/proj/src/.env",
        "path": ".",
        "url": "https://a.org",
    }
    for tool in _TOOLS:
        for because in ({}, {"because": "`cat .env` reads .env"}):
            payload = _payload(tool, called, arguments)
            if payload.original_call is not None:
                payload = replace(payload, original_call={**payload.original_call, **because})
            for condition in (*_CONDITIONS, *(AnyOf((one, _CONDITIONS[0])) for one in _CONDITIONS)):
                if condition.holds(events.PRE_TOOL_USE, payload, _INFO):
                    assert may_mean(condition, tool, called or "", beside=bool(because)), condition.text


@given(st.lists(_words, min_size=1, max_size=7).map(" ".join), st.sampled_from(_CALLED))
def test_every_rule_that_holds_for_any_line_is_possible(line: str, called: str | None) -> None:
    payload = _payload("Bash", called, {"command": line})
    assert _held(payload) <= set(_possible(payload))


@every("arguments", ({}, {"command": 7}, {"command": None}, {"command": ["git", "push"]}, {"cmd": "git"}))
def test_a_call_that_says_too_little_may_concern_every_rule(arguments: dict[str, Any]) -> None:
    payload = _payload("Bash", None, arguments)
    assert _held(payload) <= set(_possible(payload))


def test_a_line_is_compared_with_the_rules_about_its_programs_alone() -> None:
    possible = [
        _RULES[at]
        for at in _possible(_payload("Bash", None, {"command": "curl -s a.org"}))
        if at < len(_RULES)
    ]
    assert "Bash(rm -rf *)" not in possible
    assert "Bash(git push --force*)" not in possible
    assert "Bash(git*)" in possible, "a star in the first word may be any program"
    assert "Read(src/**)" not in possible
