"""Test what must outlive the summary of a conversation."""

import asyncio
from pathlib import Path

from hookline.engine.background import LateMessage
from hookline.model.outcome import ContextItem
from tests.agent.scripted_session import ScriptedSession, call, calls, says

_GUIDES = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo never touch the vault"}]}]}


def test_what_hooks_said_of_a_prompt_is_still_said_when_its_turn_is_compacted(tmp_path: Path) -> None:
    long = {**calls(call("Read", file_path="a.txt")), "usage": {"input_tokens": 1000}}

    async def main() -> None:
        script = [long, says("summary"), says("done")]
        async with ScriptedSession(tmp_path, script, hooks=_GUIDES, compact_at=500) as scripted:
            (scripted.project / "a.txt").write_text("a")
            await scripted.play("go")
            assert scripted.events("PostCompact")
            assert "never touch the vault" in str(scripted.requests[-1].messages)

    asyncio.run(main())


def test_late_words_that_wait_for_a_request_are_not_lost_in_the_summary_before_it(tmp_path: Path) -> None:
    long = {**says("one"), "usage": {"input_tokens": 1000}}

    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [long, says("summary"), says("done")], compact_at=500
        ) as scripted:
            await scripted.play("go")
            scripted.agent.hooks.inbox.put(
                LateMessage(kind="context", text="the scan is clean", placement="conversation")
            )
            await scripted.play("on")
            assert "the scan is clean" in str(scripted.requests[-1].messages)

    asyncio.run(main())


def test_what_was_said_for_the_turn_alone_is_said_once_after_compaction(tmp_path: Path) -> None:
    long = {**calls(call("Read", file_path="a.txt")), "usage": {"input_tokens": 1000}}

    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [long, says("summary"), says("done")], compact_at=500
        ) as scripted:
            (scripted.project / "a.txt").write_text("a")
            kept = ContextItem("for this turn", "conversation", "turn", "x")
            scripted.agent.conversation.place([kept])
            scripted.agent.conversation.place_again([kept])
            await scripted.play("go")
            assert str(scripted.requests[-1].messages).count("for this turn") == 1

    asyncio.run(main())
