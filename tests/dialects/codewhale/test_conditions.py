"""Test when a condition matches an event."""

from typing import Any

import pytest

from hookline.events import ModeMove, RunError, ToolCall
from tests.dialects.codewhale.hooks import HELLO, agent_with, bash, entry, failed, succeeded
from tests.dialects.hooked_agent import HookedAgent
from tests.every import every


def denies(condition: dict[str, Any], call: ToolCall, mode: str = "default") -> bool:
    agent = agent_with(entry("tool_call_before", "exit 2", condition=condition), permission_mode=mode)
    assert not agent.reading.diagnostics
    return agent.fire("tool_call_before", call).blocked


def ended(agent: HookedAgent) -> int:
    return sum(run.status != "background" for run in agent.runs)


@every(
    ("name", "tool", "holds"),
    [
        ("bash", "bash", True),
        ("bash", "Bash", False),
        ("bash", "bash_extra", False),
        ("mcp__*", "mcp__github__list", True),
        ("mcp__*", "my_mcp__x", False),
        ("*__list", "mcp__github__list", True),
        ("*__list", "mcp__list_all", False),
        ("mcp__*__list", "mcp__github__list", True),
        ("mcp__*__list", "mcp__list", False),
        ("*", "anything at all", True),
        ("b.sh", "bash", False),
        ("b[a]sh", "bash", False),
        ("(bash|sh)", "bash", False),
        ("a+", "aa", False),
    ],
)
def test_a_tool_name_is_whole_and_only_the_star_is_special(name: str, tool: str, *, holds: bool) -> None:
    assert denies({"type": "tool_name", "name": name}, ToolCall(tool_name=tool)) is holds


@pytest.mark.parametrize(
    ("info", "mode", "holds"),
    [
        ("plan", "PLAN", True),
        ("PLAN", "plan", True),
        ("default", "agent", True),
        ("agent", "ACT", True),
        ("default", "Plan", False),
        ("operate", "Operate", True),
    ],
)
def test_a_mode_is_compared_without_case(info: str, mode: str, *, holds: bool) -> None:
    assert denies({"type": "mode", "mode": mode}, bash(), info) is holds


def test_a_mode_change_is_about_the_new_mode() -> None:
    agent = agent_with(entry("mode_change", "true", condition={"type": "mode", "mode": "plan"}))
    agent.fire("mode_change", ModeMove(old_mode="plan", new_mode="default"))
    assert ended(agent) == 0
    agent.fire("mode_change", ModeMove(old_mode="default", new_mode="plan"))
    assert ended(agent) == 1


@every(
    ("tool", "arguments", "category"),
    [
        ("bash", {}, "shell"),
        ("exec_shell", {}, "shell"),
        ("Run", {}, "shell"),
        ("read", {}, "safe"),
        ("apply_patch", {}, "file_write"),
        ("File", {"action": "read"}, "safe"),
        ("File", {"action": "search_content"}, "safe"),
        ("File", {"action": "write"}, "file_write"),
        ("File", {"action": "invented"}, "file_write"),
        ("File", {"action": 3}, "file_write"),
        ("File", {}, "file_write"),
        ("File", "not an object", "file_write"),
        ("Git", {"action": "log"}, "safe"),
        ("Git", {"action": "push"}, "other"),
        ("web_search", {}, "other"),
        ("write_file", {"path": "a", "content": ""}, "other"),
        ("Bash", {"action": "wait"}, "shell"),
        ("run", {}, "shell"),
        ("todo_write", {}, "safe"),
        ("mcp_files_write", {}, "other"),
    ],
)
def test_a_category_depends_on_the_tool_and_its_action(tool: str, arguments: Any, category: str) -> None:
    call = ToolCall(tool_name=tool, tool_input=arguments)
    holding = [
        one
        for one in ("shell", "file_write", "safe", "other")
        if denies({"type": "tool_category", "category": one}, call)
    ]

    assert holding == [category]


@every(
    ("payload", "code", "runs"),
    [
        (failed(exit_code=1), 1, 1),
        (failed(exit_code=3221225477), 3221225477, 1),
        (failed(exit_code=1), 2, 0),
        (failed(), 1, 0),
        (failed(), 0, 0),
        (succeeded({"exit_code": 0}), 0, 1),
        (succeeded("done"), 0, 0),
        (succeeded({"success": True}), 1, 0),
        (succeeded({"exit_code": True}), 1, 0),
    ],
)
def test_an_exit_code_counts_only_when_it_was_reported(payload: Any, code: int, runs: int) -> None:
    agent = agent_with(entry("tool_call_after", "true", condition={"type": "exit_code", "code": code}))
    event = "PostToolUseFailure" if hasattr(payload, "error") else "PostToolUse"

    agent.fire(event, payload)

    assert ended(agent) == runs


def test_on_error_with_a_tool_condition_skips_errors_without_a_tool() -> None:
    agent = agent_with(entry("on_error", "true", condition={"type": "tool_name", "name": "bash"}))

    agent.fire("on_error", RunError(message="the model is gone"))
    assert ended(agent) == 0
    agent.fire("PostToolUseFailure", failed())
    assert ended(agent) == 1


@pytest.mark.parametrize(
    ("kind", "inner", "holds"),
    [
        ("all", [], True),
        ("any", [], False),
        ("all", ["bash", "read"], False),
        ("any", ["bash", "read"], True),
        ("all", ["bash", "b*"], True),
        ("any", ["read", "write"], False),
    ],
)
def test_all_and_any_of_conditions(kind: str, inner: list[str], *, holds: bool) -> None:
    named = [{"type": "tool_name", "name": name} for name in inner]
    config = entry("tool_call_before", "exit 2", condition={"type": kind, "conditions": named})

    assert agent_with(config).fire("tool_call_before", bash()).blocked is holds


def test_an_entry_without_a_condition_always_runs() -> None:
    assert agent_with(entry("message_submit", "exit 2")).fire("message_submit", HELLO).blocked
