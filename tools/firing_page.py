"""Write docs/reference/firing.md: where the agent fires each event, and a scenario in which it does."""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.registry import standard_dialects
from hookline.model import events as rows
from hookline.model.events import EventSpec
from tools.markdown import GENERATED, code, page, table

_SOURCE = "src/hookline/"
#: Where the agent is: as a library, as a command, and the order of a call, which it shares with other hosts.
_AGENT = ("src/hookline/agent", "src/hookline/cli/commands/agent", "src/hookline/engine/host/tool_call.py")
_SCENARIOS = Path("tests/agent/scenarios")

_HEAD = """# Where each event fires

The terminal agent is the executable specification of when each event fires. For each event: the functions that fire
it, and a scenario in which it fired (a real run of `hookline agent --json`, in tests/agent/scenarios). An event
without a function is declared for other hosts; nothing in Hookline fires it."""

#: The events each of the formats was first described with, and what they are called there.
_FORMATS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "gen-code": (
        "The 24 events of gen-code",
        ("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
         "PermissionRequest", "PermissionDenied", "Stop", "StopFailure", "Notification", "SubagentStart",
         "SubagentStop", "Setup", "TaskCreated", "TaskCompleted", "ConfigChange", "InstructionsLoaded",
         "CwdChanged", "FileChanged", "PreCompact", "PostCompact", "WorktreeCreate", "WorktreeRemove"),
    ),
    "reasonix": (
        "The ten events of Reasonix",
        ("SessionStart", "TurnStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "PreModelCall",
         "PostModelCall", "TurnEnd", "Stop", "SessionEnd"),
    ),
    "docker-agent": (
        "The twelve events of Docker Agent",
        ("pre_tool_use", "post_tool_use", "session_start", "turn_start", "before_llm_call", "after_llm_call",
         "session_end", "on_user_input", "stop", "notification", "on_error", "on_max_iterations"),
    ),
    "codewhale": (
        "The lifecycle of CodeWhale",
        ("session_start", "message_submit", "tool_call_before", "tool_call_after", "mode_change", "on_error",
         "turn_end", "subagent_spawn", "subagent_complete", "shell_env", "session_end"),
    ),
}  # fmt: skip


def firing_page(root: Path, events: Mapping[str, EventSpec[Any]]) -> str:
    facts = _Facts(root)
    every = [(event.name, *facts.of(event)) for event in events.values()]
    sections = [_HEAD, table(("event", "fired in", "scenario"), every)]
    for name, (title, event_name) in _FORMATS.items():
        dialect = standard_dialects()[name].build()
        lines = [_line(dialect.events[each], facts) for each in event_name]
        sections += [f"## {title}", table(("its name", "event", "the agent", "fired in", "scenario"), lines)]
    return page(GENERATED, *sections)


def _line(own_event: DialectEvent, facts: "_Facts") -> tuple[str, ...]:
    mode = "waits" if own_event.policy.waits else "continues"
    return (code(own_event.name), own_event.event.name, mode, *facts.of(own_event.event))


class _Facts:
    def __init__(self, root: Path) -> None:
        self._sites = fire_points(root)
        self._seen = seen_in(root)
        constants: list[tuple[str, EventSpec[Any]]] = [
            (name, cast("EventSpec[Any]", value))
            for name, value in vars(rows).items()
            if isinstance(value, EventSpec)
        ]
        self._names = {event.name: name for name, event in constants}

    def of(self, event: EventSpec[Any]) -> tuple[str, str]:
        places = self._sites.get(self._names[event.name], [])
        fired = ", ".join(
            f"[{file.removeprefix(_SOURCE)}](../../{file}) {code(function)}" for file, function in places
        )
        return fired or "declared only", code(self._seen.get(event.name, ""))


def fire_points(root: Path) -> dict[str, list[tuple[str, str]]]:
    """The files and functions that dispatch an event, by the constant of its row."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path in (path for place in _AGENT for path in _modules(root / place)):
        for name, function in _dispatched(ast.parse(path.read_text())):
            places = found.setdefault(name, [])
            if (place := (path.relative_to(root).as_posix(), function)) not in places:
                places.append(place)
    return found


def _modules(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.py")) if directory.is_dir() else [directory]


def _dispatched(node: ast.AST, function: str = "") -> Iterator[tuple[str, str]]:
    """The row and the function for every dispatch in it, in the order of the text."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    for value in _event_arguments(node):
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "e":
            yield value.attr, function
    for child in ast.iter_child_nodes(node):
        yield from _dispatched(child, function)


def _event_arguments(node: ast.AST) -> Iterator[ast.expr]:
    """The first argument of a dispatch, or the first of a pair (event, payload) that a gate returns."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"dispatch", "fire", "_fire"} and node.args:
            yield node.args[0]
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and node.value.elts:
        yield node.value.elts[0]


def seen_in(root: Path) -> dict[str, str]:
    """The first scenario that expects an event to fire; test_scenarios.py checks that it does."""
    found: dict[str, str] = {}
    for path in sorted((root / _SCENARIOS).glob("*/scenario.toml")):
        for name in _expected(tomllib.loads(path.read_text())):
            found.setdefault(name, path.parent.name)
    return found


def _expected(scenario: Mapping[str, Any]) -> Iterator[str]:
    for play in scenario.get("play", ()):
        yield from (name for name, times in play.get("times", {}).items() if times)
        yield from (event["event"] for event in play.get("event", ()))
        for listed in ("order", "events"):
            yield from (str(name).split(".")[0] for name in play.get(listed) or ())
