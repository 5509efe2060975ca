"""Make hooks of several agents whose answers a test writes, and a caller whose calls are translated."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hookline import Engine, Outcome
from hookline.actions import read, shell, write
from hookline.config.engine import Engine as FullEngine
from hookline.dialects.registry import standard_dialects
from hookline.events import (
    PRE_TOOL_USE,
    EventSpec,
    ToolCall,
)
from hookline.extending import Dialect, Exited, Hook
from tests.engine.scripted_hooks import ScriptedHost, scripted

#: The tools of a program with unusual names.
OWN = {"run_shell": shell("cmd"), "open_file": read("where"), "save": write("where", content="text")}
NO, PASS = Exited(2, b"", b"not here"), Exited(0)


@cache
def dialect_of(name: str) -> Dialect:
    return standard_dialects()[name].build()


@cache
def _matching() -> Engine:
    return FullEngine()


def hook(
    dialect: str,
    answer: Any,
    matcher: str | None = None,
    condition: str | None = None,
    event: EventSpec[Any] = PRE_TOOL_USE,
    **options: Any,
) -> Hook:
    """A hook of a dialect whose answer the test writes."""
    agent = dialect_of(dialect)
    policy = next(own.policy for own in agent.events.values() if own.event is event)
    matches, holds = _matching().home.match(event, matcher, condition)
    name = options.pop("name", dialect)
    return scripted(
        name, event, policy, agent.wire, answer, matcher=matches, condition=holds, dialect=dialect, **options
    )


class Host(ScriptedHost):
    """Somebody who makes calls: an agent with its own tools, or a program that declares them."""

    def __init__(self, *hooks: Hook, caller: str = "", **more: Any) -> None:
        super().__init__(hooks, cwd="/p", project_dir="/p", **more)
        self.session.tools = dialect_of(caller).own_tools if caller else None

    def call(self, tool: str, event: EventSpec[Any] = PRE_TOOL_USE, **arguments: Any) -> Outcome:
        return self.fire(event, ToolCall(tool_name=tool, tool_input=arguments))

    @property
    def translated(self) -> list[str]:
        return [str(run.translated_tool) for run in self.runs]


def updated(**value: Any) -> Exited:
    """As Claude Code's hooks and native ones say it."""
    said = {"hookEventName": "PreToolUse", "updatedInput": value}
    return Exited(0, json.dumps({"hookSpecificOutput": said}).encode())


def allowed() -> Exited:
    said = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    return Exited(0, json.dumps({"hookSpecificOutput": said}).encode())


def where(field: str, value: str, then: Exited, otherwise: Exited = PASS) -> Callable[[Any], Exited]:
    """Answers by an argument of the translated call."""
    return lambda payload: then if payload.tool_input.get(field) == value else otherwise


def parallel(*paths: str) -> list[dict[str, Any]]:
    return [{"recipient_name": "functions.read_file", "parameters": {"path": path}} for path in paths]
