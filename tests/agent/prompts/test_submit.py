"""A submitted message: what hooks leave of it is what everybody uses, and a block leaves nothing behind."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline.events import TurnSummary
from hookline.model import events as e
from tests.agent.hook_entries import answers, command, denies, on
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says

#: Prepends to everything but commands.
_PREPENDS = command(
    'python3 -c \'import json, sys; t = json.load(sys.stdin)["prompt"]; '
    'print("" if t[0] == "/" else json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", '
    '"updatedPrompt": "[hooked] " + t}}))\'',
    rewrites=True,
)


def _history(scripted: ScriptedSession) -> str:
    file = scripted.home / ".local" / "state" / "hookline" / "input_history.jsonl"
    return file.read_text() if file.exists() else ""


def test_seed000_the_transformed_text_is_what_is_sent_shown_stored_and_remembered(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [says("hello")], hooks=on("UserPromptSubmit", _PREPENDS)
        ) as scripted:
            await scripted.play("hello")
            assert [getattr(each, "text", "") for each in scripted.requests[0].messages] == ["[hooked] hello"]
            assert scripted.seen.texts("prompt") == ["[hooked] hello"]
            assert "[hooked] hello" in _history(scripted)
            assert "[hooked] hello" in Path(scripted.agent.conversation.records.path).read_text()
            assert scripted.events("TurnStart")[0].payload.prompt == "[hooked] hello"

    asyncio.run(main())


def test_seed000_a_retry_sends_the_final_text_again_and_no_hook_changes_it_twice(tmp_path: Path) -> None:
    script = [{"error": "server"}, says("hello")]

    async def main() -> None:
        async with ScriptedSession(tmp_path, script, hooks=on("UserPromptSubmit", _PREPENDS)) as scripted:
            received = await scripted.play("hello", "/retry")
            assert received is not None
            assert received.text == "hello"
            assert [getattr(each, "text", "") for each in scripted.requests[1].messages][
                -1
            ] == "[hooked] hello"

    asyncio.run(main())


@pytest.mark.parametrize(
    "hook",
    [
        denies("not today"),
        command('printf \'%s\' \'{"decision": "block", "reason": "not today"}\''),
        command('printf \'%s\' \'{"continue": false, "stopReason": "not today"}\''),
    ],
    ids=["exit_2", "decision", "continue_false"],
)
def test_seed000_a_blocked_message_leaves_no_history_no_request_and_nothing_loading(
    hook: dict[str, Any], tmp_path: Path
) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [], hooks=on("UserPromptSubmit", hook)) as scripted:
            received = await scripted.play("hello")
            assert received is not None
            assert (received.status, received.why, received.turn) == ("blocked", "not today", None)
            assert scripted.seen.texts("blocked") == ["not today"]
            assert scripted.requests == []
            assert scripted.agent.conversation.messages == []
            assert scripted.agent.busy is False
            assert scripted.agent.turns == 0
            assert _history(scripted) == ""
            assert "hello" not in Path(scripted.agent.conversation.records.path).read_text()
        assert scripted.fired == ["SessionStart", "UserPromptSubmit", "SessionEnd"]

    asyncio.run(main())


def test_seed000_context_of_a_hook_follows_the_prompt(tmp_path: Path) -> None:
    hooks = on("UserPromptSubmit", answers("UserPromptSubmit", additionalContext="it is Tuesday"))

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("hello")], hooks=hooks) as scripted:
            await scripted.play("hello")
            sent = [getattr(each, "text", "") for each in scripted.requests[0].messages]
            assert sent == ["hello", "it is Tuesday"]

    asyncio.run(main())


def test_seed000_when_a_turn_settles_its_books_are_closed_and_nothing_queued_was_sent(tmp_path: Path) -> None:
    script = [calls(call("Probe", what="this")), says("first done"), says("second done")]
    found: list[tuple[Any, ...]] = []

    async def main() -> None:
        async with ScriptedSession(tmp_path, script, tools=[Probe()]) as scripted:
            agent = scripted.agent

            async def look(over: TurnSummary) -> None:
                found.append(
                    (
                        over.status,
                        over.queued_message_count,
                        len(agent.queue),
                        over.totals is not None and over.totals.input_tokens == agent.totals.input_tokens,
                        over.usage is not None and bool(over.usage.input_tokens),
                        over.tool_count,
                        "first done" in Path(agent.conversation.records.path).read_text(),
                        Path(agent.conversation.records.path).read_text().count('"status":"completed"'),
                        scripted.fired.count("UserPromptSubmit"),
                        scripted.fired.count("Stop"),
                    )
                )

            assert scripted.engine is not None
            scripted.engine.add(e.TURN_SETTLED, look)
            await scripted.play("first", "second")

    asyncio.run(main())
    assert found == [
        ("completed", 1, 1, True, True, 1, True, 1, 1, 1),
        ("completed", 0, 0, True, True, 0, True, 2, 2, 2),
    ]


def test_seed000_a_message_that_is_queued_while_a_turn_runs_passes_the_hook_once(tmp_path: Path) -> None:
    script = [calls(call("Probe", what="this")), says("first done"), says("second done")]

    async def main() -> None:
        scripted: ScriptedSession

        async def type_ahead(_given: object) -> None:
            scripted.agent.submit("second")

        probe = Probe(does=type_ahead)
        scripted = ScriptedSession(tmp_path, script, hooks=on("UserPromptSubmit", _PREPENDS), tools=[probe])
        async with scripted:
            received = await scripted.play("first")
            assert received is not None
            assert received.text == "second done"
            assert [len(fired.runs) for fired in scripted.events("UserPromptSubmit")] == [1, 1]
            assert scripted.events("TurnSettled")[0].payload.queued_message_count == 1
            sent = [getattr(each, "text", "") for each in scripted.requests[-1].messages]
            assert sent[-1] == "[hooked] second"
            assert "[hooked] second" not in str(scripted.requests[1].messages)

    asyncio.run(main())
