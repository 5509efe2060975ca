"""What hooks of the real clients were given is rebuilt from the transcripts that these clients wrote."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from hookline.dialects.registry import dialect_named
from hookline.transcripts.moment import HookNote, Moment, Tally

RECORDED = Path(__file__).parent / "recorded"

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
        ): "of a sub-agent's calls only the text for its model is kept",
    },
    "codex": {},
    "gemini-cli": {
        ("*", "timestamp"): "records have times of their own, not that of the hook",
        ("*", "mcp_context"): "how the server is started is not written down",
    },
}
#: Events of which a transcript has no trace at all.
NO_TRACE = {"claude-code": {"PermissionRequest"}, "codex": set[str](), "gemini-cli": set[str]()}
FOLDERS = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini"}


class Compared(Struct):
    """Keys of payloads that are there on both sides and the same, and those that differ."""

    same: int = 0
    different: list[str] = []
    listed: int = 0


def transcripts(case: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(case):
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".jsonl"))


def moments(client: str, case: Path) -> list[Moment]:
    dialect = dialect_named(client)
    assert dialect is not None
    reader = dialect.transcripts
    assert reader is not None
    tally = Tally()
    files = [file for file in transcripts(case) if file.name != "hook-payloads.jsonl"]
    found = [item for file in files for item in reader.read(str(file), tally)]
    assert (tally.torn, tally.unknown, tally.unreadable) == (0, 0, [])
    return [item for item in found if isinstance(item, Moment)]


def label(client: str, payload: dict[str, Any]) -> tuple[Any, ...]:
    """What tells two payloads of a session apart."""
    calls = [call["tool_use_id"] for call in payload.get("tool_calls", ())]
    agent = None if client == "gemini-cli" else payload.get("agent_id")
    given = json.dumps(payload.get("tool_input"), sort_keys=True)
    return (
        payload["hook_event_name"],
        payload.get("tool_use_id"),
        agent,
        given,
        payload.get("prompt"),
        tuple(calls),
    )


def compare(client: str, real: dict[str, Any], rebuilt: dict[str, Any], found: Compared) -> None:
    event = real["hook_event_name"]
    of_agent = f"SUBAGENT {event}" if "agent_id" in real else event
    for key in real.keys() | rebuilt.keys():
        if any((name, key) in NOT_THERE[client] for name in ("*", event, of_agent)):
            found.listed += 1
            continue
        before, after = real.get(key), rebuilt.get(key)
        if key.endswith("transcript_path"):
            before, after = os.path.basename(before or ""), os.path.basename(after or "")
        if before == after and (key in real) == (key in rebuilt):
            found.same += 1
        else:
            found.different.append(f"{event}.{key}: {before!r} is rebuilt as {after!r}")


@pytest.mark.parametrize("client", FOLDERS)
def test_payloads_are_rebuilt_as_hooks_got_them(client: str) -> None:
    found = Compared()
    for case in sorted((RECORDED / FOLDERS[client]).iterdir()):
        real = [json.loads(line) for line in (case / "hook-payloads.jsonl").read_text().splitlines()]
        rebuilt: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for moment in moments(client, case):
            if moment.event:
                rebuilt.setdefault(label(client, moment.document()), []).append(moment.document())
        for payload in real:
            if payload["hook_event_name"] not in NO_TRACE[client]:
                assert rebuilt.get(label(client, payload)), f"{case.name}: nothing is rebuilt of {payload}"
                compare(client, payload, rebuilt[label(client, payload)].pop(0), found)
        assert [left for left in rebuilt.values() if left] == [], f"{case.name}: no hook was given these"
    total = found.same + len(found.different)
    assert found.same / total >= 0.98, found.different
    assert found.different == []
    assert total > 150


def test_every_key_that_is_listed_as_missing_is_missing() -> None:
    """A list that nothing needs would hide what is lost."""
    for client, listed in NOT_THERE.items():
        real = [
            (payload["hook_event_name"], "agent_id" in payload, key)
            for case in (RECORDED / FOLDERS[client]).iterdir()
            for payload in map(json.loads, (case / "hook-payloads.jsonl").read_text().splitlines())
            for key in payload
        ]
        for event, key in listed:
            name = event.removeprefix("SUBAGENT ")
            assert any(each == key and name in ("*", one) for one, _, each in real), (client, event, key)


def test_a_denial_a_failure_and_a_result_are_told_apart() -> None:
    claude = moments("claude-code", RECORDED / "claude-code/1-bash-edit-read")
    assert [(m.kind, m.tool) for m in claude if m.kind in ("result", "failure", "denial")] == [
        ("result", "Read"), ("result", "Edit"), ("result", "Bash"), ("failure", "Bash"), ("result", "Write"),
    ]  # fmt: skip
    plan = moments("claude-code", RECORDED / "claude-code/4-mcp-plan")
    assert [(m.kind, m.tool) for m in plan if m.kind == "denial"] == [("denial", "Bash")]
    codex = moments("codex", RECORDED / "codex/2-denied-and-hooks")
    assert [m.kind for m in codex if m.tool] == ["call", "denial", "call", "result"]
    gemini = moments("gemini-cli", RECORDED / "gemini/4-default-mode-not-approved")
    assert [m.kind for m in gemini] == [
        "start", "prompt", "denial", "turn_end", "end", "start", "prompt", "turn_end", "end",
    ]  # fmt: skip


def test_moments_say_agent_session_directory_model_mode_time_and_sub_agent() -> None:
    inner = [m for m in moments("claude-code", RECORDED / "claude-code/3-subagent") if m.subagent and m.tool]
    assert {(m.agent, m.session[:8], m.cwd, m.model, m.mode, m.subagent, m.headless) for m in inner} == {
        ("claude-code", "52a37a9a", "/home/user/project", "claude-opus-5-5", "", "ac19e1fe5cc3b5bb4", True)
    }
    assert [round(m.at) for m in inner] == [1794797763, 1794797764]
    child = [m for m in moments("codex", RECORDED / "codex/3-subagent") if m.subagent]
    assert [m.kind for m in child] == ["subagent_start", "prompt", "call", "result", "subagent_end"]
    assert {m.document()["agent_type"] for m in child} == {"default"}
    gemini = [m for m in moments("gemini-cli", RECORDED / "gemini/3-mcp-subagent") if m.subagent]
    assert {(m.session[:8], m.subagent[:8], m.model) for m in gemini} == {
        ("db466929", "e72d374e", "gemini-2.5-pro")
    }


def test_a_transcript_says_which_hooks_its_agent_ran() -> None:
    dialect = dialect_named("claude-code")
    assert dialect is not None
    reader = dialect.transcripts
    assert reader is not None
    file = next(iter((RECORDED / "claude-code/1-bash-edit-read").rglob("5622*.jsonl")))
    notes = [item for item in reader.read(str(file), Tally()) if isinstance(item, HookNote)]
    assert [(note.event, note.status, note.command[:3]) for note in notes] == [("Stop", "ok", "cat")]
