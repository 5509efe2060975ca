"""Where the agent fires each event, and which scenario has seen it: docs/reference/firing.md."""

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
_AGENT = Path("src/hookline/agent")
_SCENARIOS = Path("tests/agent/scenarios")

_HEAD = """# Where each event fires

The terminal agent is the executable specification of when each event fires. For each event: the lines of code
that fire it, and a scenario (a real run of `hookline agent --json`, in tests/agent/scenarios) that saw it. An
event with no line is declared for other hosts; nothing in Hookline fires it."""

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
    sections = [_HEAD, table(("event", "fired at", "seen by"), every)]
    for name, (title, event_name) in _FORMATS.items():
        dialect = standard_dialects()[name].build()
        lines = [_line(dialect.events[each], facts) for each in event_name]
        sections += [f"## {title}", table(("its name", "event", "the agent", "fired at", "seen by"), lines)]
    return page(GENERATED, *sections)


def _line(own_event: DialectEvent, facts: "_Facts") -> tuple[str, ...]:
    mode = "waits" if own_event.policy.waits else "goes on"
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
        fired = " ".join(
            f"[{file.removeprefix(_SOURCE)}:{line}](../../{file}#L{line})" for file, line in places
        )
        return fired or "declared only", code(self._seen.get(event.name, ""))


def fire_points(root: Path) -> dict[str, list[tuple[str, int]]]:
    """Lines that name a row of the table as the event of a dispatch, by the row's constant."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path in sorted((root / _AGENT).rglob("*.py")) + sorted((root / "src/hookline/cli").glob("agent*.py")):
        for name, line in _named(ast.parse(path.read_text())):
            found.setdefault(name, []).append((path.relative_to(root).as_posix(), line))
    return found


def _named(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        for value in _event_arguments(node):
            if (
                isinstance(value, ast.Attribute)
                and isinstance(value.value, ast.Name)
                and value.value.id == "e"
            ):
                yield value.attr, value.lineno


def _event_arguments(node: ast.AST) -> Iterator[ast.expr]:
    """The first argument of a dispatch, or the first of a pair (event, payload) that a gate gives back."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"dispatch", "fire", "_fire"} and node.args:
            yield node.args[0]
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and node.value.elts:
        yield node.value.elts[0]


def seen_in(root: Path) -> dict[str, str]:
    """The first scenario that expects an event to have fired; test_scenarios.py holds it to that."""
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
