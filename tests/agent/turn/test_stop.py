"""A hook that wants everything to stop is heard wherever the table lets it, and leaves a whole conversation."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline.events import EVENTS, Capability
from hookline.model.messages import Assistant, ToolMessage
from tests.agent.hook_entries import command, on
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says

_STOPS = command('printf \'%s\' \'{"continue": false, "stopReason": "that is enough"}\'')

#: What the turn came to, and how many requests were made by then.
STOPPED: dict[str, tuple[str, int]] = {
    "UserPromptSubmit": ("blocked", 0),
    "UserPromptExpansion": ("blocked", 0),
    "TurnStart": ("blocked", 0),
    "PreModelCall": ("blocked", 0),
    "PostModelCall": ("blocked", 1),
    "PreToolUse": ("blocked", 1),
    "PermissionRequest": ("blocked", 1),
    "PostToolUse": ("blocked", 1),
    "PostToolUseFailure": ("blocked", 1),
    "PostToolBatch": ("blocked", 1),
    # The answer is there: the turn ends as it would have, only without being sent back.
    "TurnEnd": ("completed", 2),
    "Stop": ("completed", 2),
}
#: Where no turn of the main agent is at stake.
ELSEWHERE = frozenset({"SubagentStop", "TaskCompleted", "TeammateIdle"})


def test_every_event_that_may_stop_is_looked_at() -> None:
    assert {name for name, row in EVENTS.items() if Capability.STOP in row.may} == set(STOPPED) | ELSEWHERE


async def _fails(_given: object) -> None:
    raise OSError("it broke")


@pytest.mark.parametrize("event", STOPPED)
def test_a_stop_ends_the_turn_there_and_every_call_has_a_result(event: str, tmp_path: Path) -> None:
    status, requests = STOPPED[event]
    commands = tmp_path / "home" / "project" / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "go.md").write_text("Go on.\n")
    probe = Probe(does=_fails if event == "PostToolUseFailure" else None)
    allow: tuple[str, ...] = () if event == "PermissionRequest" else ("Probe",)
    script = [calls(call("Probe", what="a"), call("Probe", what="b")), says("done")]
    scripted = ScriptedSession(tmp_path, script, hooks=on(event, _STOPS), tools=[probe], allow=allow)

    async def main() -> None:
        async with scripted:
            received = await scripted.play("/go")
            assert received is not None
            assert (received.status, received.why) == (status, "that is enough")
            assert len(scripted.requests) == requests
            _is_whole(scripted)

    asyncio.run(main())
    settled = [fired.payload.status for fired in scripted.events("TurnSettled")]
    assert settled == ([] if event.startswith("UserPrompt") else [status])
    if event in {"PreToolUse", "PermissionRequest"}:
        assert probe.calls == []


def _is_whole(scripted: ScriptedSession) -> None:
    messages: list[Any] = scripted.agent.conversation.messages
    called = [use.id for each in messages if isinstance(each, Assistant) for use in each.tool_calls]
    settled = [each.tool_use_id for each in messages if isinstance(each, ToolMessage)]
    assert settled == called
