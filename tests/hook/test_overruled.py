"""A call that a hook denied and that ran all the same: the user is alarmed when the agent reports its result."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome, deny
from hookline.dialects.entries import HookSelection
from hookline.events import PRE_TOOL_USE
from hookline.extending import HookReply, Run
from hookline.hook.call.answer import AgentCall


def asked(
    home: Path,
    event: str,
    runs: list[Run] | None = None,
    *,
    hooks: HookSelection = "all",
    reason: str = "no",
    **fields: Any,
) -> HookReply:
    """Answer one call of Claude Code; commands that begin with rm are denied, for a reason."""
    engine = Engine()
    engine.journal.subscribe((runs if runs is not None else []).append)

    async def guards(call: Any) -> Outcome | None:
        return deny(reason) if reason and call.tool_input["command"].startswith("rm") else None

    engine.add(PRE_TOOL_USE, guards)
    document = {
        "session_id": "s-1", "cwd": str(home), "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": "rm x"}, "tool_use_id": "toolu_1", **fields,
    }  # fmt: skip

    async def run() -> HookReply:
        call = AgentCall(engine, "claude-code", event, files=(), env={"HOME": str(home)}, hooks=hooks)
        try:
            return await call.answer(json.dumps(document).encode())
        finally:
            await call.close()

    return asyncio.run(run())


def test_a_denied_call_that_ran_is_an_alarm(tmp_path: Path) -> None:
    assert "deny" in asked(tmp_path, "PreToolUse").stdout
    runs: list[Run] = []
    said = json.loads(asked(tmp_path, "PostToolUse", runs, tool_response="done").stdout)
    assert said["systemMessage"].startswith(
        "ALARM: Hookline denied this call of Bash, and it has run all the same"
    )
    assert [run.status for run in runs if run.why.startswith("ALARM")] == ["failed"]


def test_a_call_that_was_not_denied_is_none(tmp_path: Path) -> None:
    asked(tmp_path, "PreToolUse")
    asked(tmp_path, "PreToolUse", tool_use_id="toolu_2", tool_input={"command": "ls"})
    assert asked(tmp_path, "PostToolUse", tool_use_id="toolu_2", tool_response="x").stdout == ""
    # Nor is one that was asked about again and allowed.
    asked(tmp_path, "PreToolUse", tool_use_id="toolu_3")
    asked(tmp_path, "PreToolUse", tool_use_id="toolu_3", tool_input={"command": "ls"})
    assert asked(tmp_path, "PostToolUse", tool_use_id="toolu_3", tool_response="x").stdout == ""
    # Nor is the same id in another session, or a call that failed because it was denied.
    assert asked(tmp_path, "PostToolUse", session_id="s-2", tool_response="x").stdout == ""
    assert asked(tmp_path, "PostToolUseFailure", error="denied").stdout == ""


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    # The second one asks the rest alone; or our own hooks, because the answer was too long to be shared.
    [("own", "all", "no"), ("all", "own", "no" * 40_000)],
)
def test_a_denial_of_one_entry_is_kept_when_the_other_entry_allows(
    tmp_path: Path, first: HookSelection, second: HookSelection, reason: str
) -> None:
    """An agent may have one entry for our own hooks, and one for all."""
    assert "deny" in asked(tmp_path, "PreToolUse", hooks=first, reason=reason).stdout
    assert asked(tmp_path, "PreToolUse", hooks=second, reason="").stdout == ""
    assert "ALARM" in asked(tmp_path, "PostToolUse", tool_response="done").stdout


def test_a_denial_by_the_rest_of_the_hooks_is_remembered(tmp_path: Path) -> None:
    """The second entry asks the rest alone, where the first has asked our own hooks."""
    assert asked(tmp_path, "PreToolUse", hooks="own", reason="").stdout == ""
    assert "deny" in asked(tmp_path, "PreToolUse", hooks="all").stdout
    assert "ALARM" in asked(tmp_path, "PostToolUse", tool_response="done").stdout


def test_an_entry_that_asks_our_own_hooks_again_gets_their_answer(tmp_path: Path) -> None:
    """Not that of the rest, which another entry asked meanwhile."""
    assert "deny" in asked(tmp_path, "PreToolUse", hooks="own").stdout
    assert asked(tmp_path, "PreToolUse", hooks="all", reason="").stdout == ""
    assert "deny" in asked(tmp_path, "PreToolUse", hooks="own").stdout


def test_a_denial_that_cannot_be_remembered_is_reported(tmp_path: Path) -> None:
    asked(tmp_path, "PreToolUse", tool_input={"command": "ls"})
    (file,) = tmp_path.rglob("*.calls")
    file.unlink()
    file.mkdir()
    runs: list[Run] = []
    assert "deny" in asked(tmp_path, "PreToolUse", runs).stdout
    assert [run.why for run in runs if "could not be remembered" in run.why]


def test_many_denials_of_a_session_need_no_more_room(tmp_path: Path) -> None:
    for number in range(60):
        asked(tmp_path, "PreToolUse", tool_use_id=f"toolu_{number}")
    sizes = {file.stat().st_size for file in tmp_path.rglob("*.calls")}
    for number in range(60, 120):
        asked(tmp_path, "PreToolUse", tool_use_id=f"toolu_{number}")
    alarms = [
        "ALARM" in asked(tmp_path, "PostToolUse", tool_use_id=f"toolu_{number}", tool_response="x").stdout
        for number in range(120)
    ]
    assert sum(alarms) > 100
    assert max(file.stat().st_size for file in tmp_path.rglob("*.calls")) <= max(sizes) + (1 << 15)
