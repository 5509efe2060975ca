"""Compare payloads of the real clients with those rebuilt from the transcripts of the same sessions."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from hookline.dialects.recorded_event import RecordedEvent, Tally
from hookline.dialects.registry import dialect_named

RECORDED = Path(__file__).parent / "recorded"
DIRECTORIES = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini"}
#: The releases whose sessions were recorded.
RELEASES = {"claude-code": "2.1.325", "codex": "0.166.0", "gemini-cli": "0.61.0"}

#: What no transcript says: by client, the event (or * for all) and the key, with the reason.
NOT_THERE: dict[str, dict[tuple[str, str], str]] = {
    "claude-code": {
        ("*", "duration_ms"): "it is not written down",
        ("*", "background_tasks"): "it is not written down",
        ("*", "session_crons"): "it is not written down",
        ("*", "mcp_server"): "only the name of the tool says which server it is of",
        (
            "SUBAGENT PostToolUse",
            "tool_response",
        ): "of a subagent's calls only the text for its model is kept",
    },
    "codex": {},
    "gemini-cli": {
        ("*", "timestamp"): "records have times of their own, not that of the hook",
        ("*", "mcp_context"): "how the server is started is not written down",
    },
}
#: Events of which a transcript has no trace at all.
NO_TRACE = {"claude-code": {"PermissionRequest"}, "codex": set[str](), "gemini-cli": set[str]()}


class Compared(Struct):
    """The results for all payloads of one client. A field is a key of a payload, with everything in it."""

    sessions: int = 0
    payloads: int = 0
    same: int = 0
    #: Fields that differ, each with both values.
    different: list[str] = []
    #: How often each field of `NOT_THERE` was passed over.
    listed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    #: Payloads of events in `NO_TRACE`, payloads of which nothing was rebuilt, and those that no hook was given.
    no_trace: Counter[str] = field(default_factory=Counter[str])
    missing: list[str] = []
    invented: list[str] = []

    @property
    def recoverable(self) -> int:
        return self.same + len(self.different)

    @property
    def percent(self) -> float:
        return 100 * self.same / self.recoverable


def compared(client: str) -> Compared:
    """All payloads that were recorded of a client."""
    found = Compared()
    for case in sorted((RECORDED / DIRECTORIES[client]).iterdir()):
        found.sessions += 1
        rebuilt: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for recorded in recorded_events(client, case):
            if recorded.event:
                rebuilt.setdefault(_label(client, recorded.document()), []).append(recorded.document())
        for payload in payloads(case):
            _count(client, payload, rebuilt.get(_label(client, payload), []), found)
        found.invented += [f"{case.name}: {one}" for left in rebuilt.values() for one in left]
    return found


def payloads(case: Path) -> list[dict[str, Any]]:
    """Yield the payloads of a session's hooks."""
    return [json.loads(line) for line in (case / "hook-payloads.jsonl").read_text().splitlines()]


def recorded_events(client: str, case: Path) -> list[RecordedEvent]:
    """Yield what its transcripts contain."""
    dialect = dialect_named(client)
    assert dialect is not None
    reader = dialect.transcripts
    assert reader is not None
    tally = Tally()
    found = [item for file in _transcripts(case) for item in reader.read(str(file), tally)]
    assert (tally.torn, tally.unknown, tally.unreadable) == (0, 0, [])
    return [item for item in found if isinstance(item, RecordedEvent)]


def _transcripts(case: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(case):
        found = (name for name in sorted(names) if name.endswith(".jsonl") and name != "hook-payloads.jsonl")
        yield from (Path(directory, name) for name in found)


def _label(client: str, payload: dict[str, Any]) -> tuple[Any, ...]:
    """Return what distinguishes two payloads of a session."""
    calls = [call["tool_use_id"] for call in payload.get("tool_calls", ())]
    agent = None if client == "gemini-cli" else payload.get("agent_id")
    given = json.dumps(payload.get("tool_input"), sort_keys=True)
    event, prompt = payload["hook_event_name"], payload.get("prompt")
    return (event, payload.get("tool_use_id"), agent, given, prompt, tuple(calls))


def _count(client: str, real: dict[str, Any], rebuilt: list[dict[str, Any]], found: Compared) -> None:
    event = real["hook_event_name"]
    if event in NO_TRACE[client]:
        found.no_trace[event] += 1
    elif not rebuilt:
        found.missing.append(f"{event}: {real}")
        found.different += [f"{event}.{key}: nothing is rebuilt" for key in real]
    else:
        found.payloads += 1
        _compare(client, real, rebuilt.pop(0), found)


def _compare(client: str, real: dict[str, Any], rebuilt: dict[str, Any], found: Compared) -> None:
    event = real["hook_event_name"]
    of_agent = f"SUBAGENT {event}" if "agent_id" in real else event
    for key in sorted(real.keys() | rebuilt.keys()):
        listed = next((n for n in ("*", event, of_agent) if (n, key) in NOT_THERE[client]), None)
        if listed is not None:
            found.listed[listed, key] += 1
            continue
        before, after = real.get(key), rebuilt.get(key)
        if key.endswith("transcript_path"):
            # The sessions are in another directory here than when they were recorded.
            before, after = os.path.basename(before or ""), os.path.basename(after or "")
        if before == after and (key in real) == (key in rebuilt):
            found.same += 1
        else:
            found.different.append(f"{event}.{key}: {before!r} is rebuilt as {after!r}")
