from dataclasses import dataclass
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hookline.actions import declare as d
from hookline.actions.standard_tools import host_table
from hookline.events import EventSpec
from hookline.extending import SessionInfo
from hookline.matching.conditions import (
    AllOf,
    Always,
    AnyOf,
    ExitCode,
    InMode,
    ToolCategory,
    category_of,
    tool_name,
    why,
)
from hookline.matching.matchers import joined, problem
from hookline.model import events
from hookline.model import payloads as p
from hookline.model.events import subject_of
from hookline.model.hook import Answer, Condition, Doubt
from tests.every import every
from tests.matching.rules_on_calls import call

PRE = events.PRE_TOOL_USE
_FILE = d.by_action("action", {"read": d.read("path"), "search_content": d.grep("query")}, d.write("path"))
_GIT = d.by_action("action", {"log": d.nothing("read")})
TOOLS = host_table(
    {
        "run": d.shell("command"),
        "File": _FILE,
        "file": _FILE,
        "Git": _GIT,
        "git": _GIT,
        "list": d.list_of("items", d.read("path")),
        "patch": d.patch("text"),
        "todo_write": replace(d.other("plan"), does="read"),
    }
)


def holds(condition: Condition, payload: Any = None, mode: str = "default") -> bool:
    return bool(condition.holds(PRE, payload or call("Bash"), SessionInfo(permission_mode=mode)))


@every(
    ("name", "tool", "expected"),
    [
        ("exec_shell", "exec_shell", True),
        ("exec_shell", "Exec_shell", False),
        ("exec_*", "exec_shell", True),
        ("*_shell", "exec_shell", True),
        ("e*_sh*l", "exec_shell", True),
        ("*", "anything", True),
        ("exec", "exec_shell", False),
        ("a.c", "abc", False),
        ("a[b]", "a[b]", True),
        ("(a|b)", "a", False),
        ("", "a", False),
    ],
)
def test_a_tool_name_is_whole_and_only_the_star_is_special(name: str, tool: str, expected: bool):
    assert holds(tool_name(name), call(tool)) is expected


@every(
    ("tool", "arguments", "category"),
    [
        ("Bash", {}, "shell"),
        ("exec_shell", {}, "shell"),
        ("run", {}, "shell"),
        ("read", {}, "safe"),
        ("todo_write", {}, "safe"),
        ("apply_patch", {}, "file_write"),
        ("File", {"action": "read"}, "safe"),
        ("file", {"action": "search_content"}, "safe"),
        ("File", {"action": "delete"}, "file_write"),
        ("File", {}, "file_write"),
        ("File", {"action": 3}, "file_write"),
        ("Git", {"action": "log"}, "safe"),
        ("git", {"action": "push"}, "other"),
        ("Anything", {}, "other"),
        ("list", {"items": [{"path": "a"}]}, "safe"),
        ("patch", {}, "file_write"),
        ("mcp__server__tool", {}, "mcp"),
    ],
)
def test_the_category_of_a_tool(tool: str, arguments: dict[str, Any], category: str):
    assert category_of(call(tool, **arguments), TOOLS) == category
    assert holds(ToolCategory(category, TOOLS), call(tool, **arguments))


def test_arguments_that_cannot_be_read_count_as_a_write():
    assert category_of({"tool_name": "File", "tool_input": "{broken"}, TOOLS) == "file_write"


def test_an_agent_with_fewer_categories_calls_the_rest_other():
    web = call("fetch", url="https://x.test")
    assert category_of(web, TOOLS) == "web"
    assert category_of(web, TOOLS, ("shell", "other")) == "other"
    assert holds(ToolCategory("other", TOOLS, ("shell", "other")), web)


def test_what_the_host_says_about_a_category_comes_first():
    assert category_of(p.ToolCall(tool_name="Bash", tool_category="safe"), TOOLS) == "safe"
    # An agent's words for its own tools mean nothing here.
    assert category_of(p.ToolCall(tool_name="Bash", tool_category="filesystem"), TOOLS) == "shell"
    assert holds(ToolCategory("file_write", TOOLS), p.ToolCall(tool_name="Write", tool_category="write"))
    assert category_of(p.TurnAnswer(), TOOLS) is None
    assert not holds(ToolCategory("shell", TOOLS), p.TurnAnswer())


def test_modes_are_compared_without_case():
    assert holds(InMode("PLAN"), mode="plan")
    assert holds(InMode("plan"), mode="Plan")
    assert not holds(InMode("plan"), mode="act")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (p.ToolFailure(tool_name="Bash", exit_code=3221225477), True),
        (p.ToolFailure(tool_name="Bash", exit_code=1), False),
        (p.ToolFailure(tool_name="Bash"), False),
        (p.ToolResult(tool_name="Bash", tool_response={"exit_code": 3221225477}), True),
        (p.ToolResult(tool_name="Bash", tool_response="text"), False),
        ({"exit_code": "3221225477"}, False),
    ],
)
def test_an_exit_code_holds_only_when_it_was_reported(payload: Any, expected: bool):
    assert holds(ExitCode(3221225477), payload) is expected


def test_success_without_a_code_is_not_zero():
    assert not holds(ExitCode(0), p.ToolResult(tool_name="Bash"))
    assert not holds(ExitCode(0), {"exit_code": False})
    assert holds(ExitCode(0), {"exit_code": 0})


def test_all_and_any_of_conditions():
    yes, no = Always(), InMode("never")
    assert holds(AllOf(()))
    assert not holds(AnyOf(()))
    assert holds(AllOf((yes, yes)))
    assert not holds(AllOf((yes, no)))
    assert holds(AnyOf((no, yes)))
    assert not holds(AnyOf((no, no)))
    assert holds(AllOf((AnyOf((no, yes)), AllOf(()))))


def test_conditions_are_joined_only_where_there_are_several():
    one = InMode("plan")
    assert joined() is None
    assert joined(None, None) is None
    assert joined(None, one) is one
    assert joined(one, Always()) == AllOf((one, Always()))


@every(
    ("condition", "event", "expected"),
    [
        (tool_name("Bash"), events.STOP, "tool_name Bash can never hold: Stop is not about a tool"),
        (
            ToolCategory("shell", TOOLS),
            events.STOP,
            "tool_category shell can never hold: Stop is not about a tool",
        ),
        (ExitCode(1), events.PRE_TOOL_USE, "exit_code 1 can never hold: no exit code is known at PreToolUse"),
        (AllOf((Always(), AnyOf((ExitCode(1),)))), events.STOP, "exit_code 1 can never hold"),
        (AnyOf((Always(), tool_name("x"))), events.STOP, "tool_name x can never hold"),
        (tool_name("Bash"), events.PRE_TOOL_USE, None),
        (ExitCode(1), events.POST_TOOL_USE_FAILURE, None),
        (ExitCode(1), events.POST_TOOL_USE, None),
        (InMode("plan"), events.STOP, None),
        (AllOf((Always(),)), events.STOP, None),
        (None, events.STOP, None),
    ],
)
def test_an_impossible_condition_is_known_when_it_is_read(
    condition: Condition | None, event: EventSpec[Any], expected: str | None
):
    found = problem(condition, event)
    assert found == expected or (expected is not None and found is not None and found.startswith(expected))


def test_a_payload_whose_shape_is_not_declared_can_know_anything():
    @dataclass
    class Own:
        tool_name: str

    assert problem(tool_name("x"), EventSpec("Own", Own, "now.")) is None
    assert problem(ExitCode(1), EventSpec("Own", Own, "now.")) is not None
    assert problem(ExitCode(1), EventSpec("Own", dict, "now.")) is None
    assert holds(tool_name("x"), Own("x"))


def test_the_subject_of_an_event_is_text_or_nothing():
    assert subject_of(PRE, call("Bash")) == "Bash"
    assert subject_of(events.STOP, p.TurnAnswer()) is None
    assert subject_of(PRE, {"tool_name": 5}) is None
    assert subject_of(PRE, {}) is None


class Foreign:
    text = "mine"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        return info.depth == 0


@every(
    ("condition", "text", "sentence"),
    [
        (Always(), "always", "it has no condition"),
        (tool_name("Ba*"), "tool_name Ba*", 'tool "Bash" is Ba*'),
        (tool_name("Edit"), "tool_name Edit", 'tool "Bash" is not Edit'),
        (ToolCategory("shell", TOOLS), "tool_category shell", 'the category of tool "Bash" is shell'),
        (ToolCategory("safe", TOOLS), "tool_category safe", 'the category of tool "Bash" is shell, not safe'),
        (InMode("DEFAULT"), "mode DEFAULT", 'mode "default" is DEFAULT'),
        (InMode("plan"), "mode plan", 'mode "default" is not plan'),
        (ExitCode(1), "exit_code 1", "no exit code was reported"),
        (AllOf((Always(), InMode("plan"))), "all(always, mode plan)", 'mode "default" is not plan'),
        (AllOf((tool_name("Bash"), InMode("default"))), "all(tool_name Bash, mode default)", " and mode"),
        (AllOf(()), "all()", "always"),
        (AnyOf((InMode("plan"), Always())), "any(mode plan, always)", "it has no condition"),
        (AnyOf((InMode("plan"), InMode("x"))), "any(mode plan, mode x)", "is not plan; mode"),
        (AnyOf(()), "any()", "never holds"),
        (Foreign(), "mine", 'condition "mine" holds'),
    ],
)
def test_every_condition_has_a_text_and_says_why(condition: Condition, text: str, sentence: str):
    assert condition.text == text
    assert sentence in why(condition, PRE, call("Bash"), SessionInfo())


def test_an_exit_code_that_was_reported_is_named():
    failed = p.ToolFailure(tool_name="Bash", exit_code=2)
    assert why(ExitCode(2), PRE, failed, SessionInfo()) == "the exit code is 2"
    assert why(ExitCode(1), PRE, failed, SessionInfo()) == "the exit code is 2, not 1"
    assert why(Foreign(), PRE, failed, SessionInfo(depth=1)) == 'condition "mine" does not hold'
    assert problem(Foreign(), PRE) is None


class Said(Struct, frozen=True):
    """A condition that gives this answer."""

    answer: Answer
    text: str = "said"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:
        return self.answer


@pytest.mark.parametrize(
    ("answers", "of_all", "of_any"),
    [
        ((True, Doubt("a")), Doubt("a"), True),
        ((Doubt("a"), True), Doubt("a"), True),
        ((Doubt("a"), Doubt("b")), Doubt("a"), Doubt("a")),
        ((Doubt("a"), False), False, Doubt("a")),
        ((False, Doubt("a")), False, Doubt("a")),
        ((True, False), False, True),
    ],
)
def test_doubt_in_a_part_is_doubt_in_the_whole_unless_another_part_decides(
    answers: tuple[Answer, ...], of_all: Answer, of_any: Answer
):
    parts = tuple(map(Said, answers))
    assert AllOf(parts).holds(PRE, call("Bash"), SessionInfo()) == of_all
    assert AnyOf(parts).holds(PRE, call("Bash"), SessionInfo()) == of_any
    for whole, answer in ((AllOf(parts), of_all), (AnyOf(parts), of_any)):
        assert ('condition "said" in doubt: a' in why(whole, PRE, call("Bash"), SessionInfo())) == (
            isinstance(answer, Doubt)
        )
