"""Test the first message that a SessionStart hook may write: where it is used, and the notice where it is not."""

import asyncio
from pathlib import Path
from typing import Any

from tests.agent.hook_entries import answers, on
from tests.agent.scripted_session import ScriptedSession, says

_HOOKS: dict[str, Any] = on(
    "SessionStart", answers("SessionStart", additionalContext="it rains", initialUserMessage="look outside")
) | on("Setup", answers("Setup", additionalContext="all is set up"))
_NOT_USED = "a hook's first message was not used: "


def _sent(scripted: ScriptedSession, number: int) -> list[str]:
    return [getattr(message, "text", "") for message in scripted.requests[number].messages]


def test_seed001_a_first_message_is_used_again_after_clear_and_not_after_compaction(tmp_path: Path) -> None:
    async def main() -> None:
        script = [says("one"), says("two"), says("a summary")]
        async with ScriptedSession(tmp_path, script, hooks=_HOOKS) as scripted:
            await scripted.ready.begin("init")
            await scripted.play()
            await scripted.play("/clear")
            assert _sent(scripted, 0) == ["all is set up", "it rains", "look outside"]
            assert _sent(scripted, 1) == ["it rains", "look outside"]
            assert _NOT_USED not in str(scripted.seen.texts("notice"))
            await scripted.play("/compact")
            notices = [text for text in scripted.seen.texts("notice") if text.startswith(_NOT_USED)]
            assert notices == [f"{_NOT_USED}the conversation has begun already"]
            assert len(scripted.requests) == 3

    asyncio.run(main())


def test_seed001_a_resumed_session_takes_a_first_message_only_if_it_had_no_prompt(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [], hooks=_HOOKS) as scripted:
            scripted.agent.submit("/exit")
            await scripted.ready.begin()
        async with ScriptedSession(tmp_path, [says("one")], hooks=_HOOKS, resume="last") as scripted:
            await scripted.play()
            assert _sent(scripted, 0) == ["it rains", "it rains", "look outside"]
        async with ScriptedSession(tmp_path, [], hooks=_HOOKS, resume="last") as scripted:
            await scripted.play()
            assert scripted.seen.texts("notice") == [f"{_NOT_USED}the conversation has begun already"]

    asyncio.run(main())
