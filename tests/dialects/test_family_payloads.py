"""Payloads that real clients of the small dialects sent: they are understood, and hooks get the same again."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.registry import dialect_named, standard_dialects
from hookline.extending import CommandSpec, Dialect, Hook, HookInvocation

HERE = Path(__file__).parent
FAMILY = ("cursor", "copilot-cli", "qwen-code", "kimi-code", "grok")
#: Facts of the moment, and facts that no hook needs.
_CHANGES = {
    "timestamp", "cursor_version", "generation_id", "attachments", "sandbox", "content", "profile", "is_steer",
    "turn_id", "origin_kind", "tool_call_id", "background_tasks", "crons", "context_usage", "context_limit",
    "input_tokens", "submitted_prompt", "initialPrompt", "initial_prompt", "stopReason", "stop_reason",
    "is_background_agent", "failure_type", "status", "command", "workspaceRoot", "toolInputTruncated", "agentName",
    "parentAgentId", "permissionSuggestions", "hookName", "errorContext", "recoverable", "duration", "error",
    "agent_transcript_path", "tool_calls", "toolResultTruncated", "isBackgrounded",
}  # fmt: skip


def payloads(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return recorded payloads with the event of each."""
    package = standard_dialects()[name].package
    if name == "grok":
        cases = [
            case
            for file in (HERE / package / "recorded/cases").glob("*.json")
            for case in json.loads(file.read_text())
        ]
        return [(payload["hook_event_name"], payload) for case in cases for payload in case["payloads"]]
    files = sorted((HERE / package / "recorded/payloads").glob("*.json"))
    found = [
        (file.stem.rpartition("-")[2] if "case" in file.stem else file.stem, json.loads(file.read_text()))
        for file in files
    ]
    return [(payload.get("hook_event_name", event), payload) for event, payload in found]


def dialect(name: str) -> Dialect:
    found = dialect_named(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", FAMILY)
def test_a_recorded_payload_comes_back(name: str) -> None:
    known = dialect(name)
    assert payloads(name)
    for event, document in payloads(name):
        parsed = known.wire.parse({"hook_event_name": event, **document})
        assert parsed.event is known.events[event].event
        hook = Hook(
            name="h", event=parsed.event, policy=known.events[event].policy, wire=known.wire, kind="command",
            spec=CommandSpec("true"), dialect=name,
        )  # fmt: skip
        call = HookInvocation(
            hook=hook, event=parsed.event, payload=parsed.payload, info=parsed.info, timeout=1.0
        )
        back = json.loads(known.wire.encode(call).document)
        for key, value in document.items():
            # Why a turn ended is not a fact of Stop here.
            if key not in _CHANGES and value is not None and (event, key) != ("Stop", "reason"):
                assert _plain(back.get(key)) == _plain(value), (name, event, key)


def _plain(value: Any) -> Any:
    """Return a value that is written as text as what it is."""
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value.rstrip("/") if isinstance(value, str) else value


@pytest.mark.parametrize("name", FAMILY)
def test_every_guard_that_the_agent_reports_is_installed_or_seen_by_another_one(name: str) -> None:
    known = dialect(name)
    gates = [event for event in known.events.values() if event.guards]
    assert gates
    assert any(event.name in known.call_events for event in gates)
