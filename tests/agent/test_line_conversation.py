"""Test conversations by lines, also those that end at the wrong time."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookline.agent.ports import PermissionPrompt, PermissionReply
from hookline.agent.session.session import PromptTurn
from hookline.cli.commands.agent.line_conversation import LineAsker, LineConversation, LineInput
from hookline.engine.background import LateMessage
from tests.agent.scripted_session import Say, ScriptedSession, call, calls, says
from tests.waiting import until


class Typing:
    """Somebody at the other end of a pipe, and what the agent asks there."""

    def __init__(self) -> None:
        reads, self._writes = os.pipe()
        self._reads = reads
        self.lines = LineInput(reads)
        self.asker = LineAsker(self.lines, self._heard)
        self.asked = asyncio.Event()

    def _heard(self, text: str) -> None:
        del text
        self.asked.set()

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        return await self.asker.ask(question)

    def types(self, text: str) -> None:
        os.write(self._writes, text.encode())

    def leaves(self) -> None:
        os.close(self._writes)

    def over(self) -> None:
        os.close(self._reads)


def _ignore(received: PromptTurn) -> None:
    del received


def _conversing(
    scripted: ScriptedSession, typing: Typing, *, eager: bool
) -> "asyncio.Future[PromptTurn | None]":
    talk = LineConversation(scripted.agent, typing.lines, typing.asker, _ignore, eager=eager)
    return asyncio.ensure_future(asyncio.wait_for(talk.run(), 60))


def _asked(directory: Path, script: Sequence[Say], leave_first: bool) -> ScriptedSession:
    async def main() -> ScriptedSession:
        typing = Typing()
        async with ScriptedSession(directory, script, asker=typing) as scripted:
            typing.types("go\n")
            if leave_first:
                typing.leaves()
            conversing = _conversing(scripted, typing, eager=True)
            if not leave_first:
                await typing.asked.wait()
                typing.leaves()
            received = await conversing
            assert received is not None
            assert received.status == "blocked"
            assert "the input has ended" in received.why
        typing.over()
        return scripted

    return asyncio.run(main())


def test_who_leaves_a_terminal_while_a_question_waits_says_no_and_is_gone(tmp_path: Path) -> None:
    _asked(tmp_path, [calls(call("Bash", command="ls"))], leave_first=False)


def test_who_left_a_terminal_is_not_waited_for_when_a_question_comes(tmp_path: Path) -> None:
    _asked(tmp_path, [calls(call("Bash", command="ls"))], leave_first=True)


def test_a_wake_and_a_line_may_come_at_the_same_moment(tmp_path: Path) -> None:
    async def main() -> None:
        typing = Typing()
        async with ScriptedSession(
            tmp_path, [says("one"), says("two"), says("three")], asker=typing
        ) as scripted:
            typing.types("first\nsecond\n")
            typing.leaves()

            def wakes(received: PromptTurn) -> None:
                del received
                if scripted.agent.turns == 1:
                    # Too many in a row by now: they stay where they are, and so does the line.
                    scripted.agent.hooks.inbox.put(LateMessage(kind="wake", text="again"))
                    scripted.agent.hooks.inbox.put(LateMessage(kind="wake", text="and again"))

            scripted.agent.settings = scripted.agent.settings.__class__(model="scripted", most_wakes=0)
            talk = LineConversation(scripted.agent, typing.lines, typing.asker, wakes, eager=False)
            received = await asyncio.wait_for(talk.run(), 60)
            assert received is not None
            assert received.text == "two"
        typing.over()

    asyncio.run(main())


def test_waiting_is_told_once_even_if_its_hooks_wake_the_agent_in_vain(tmp_path: Path) -> None:
    wakes: dict[str, Any] = {"type": "command", "asyncRewake": True, "command": "echo up >&2; exit 2"}
    hooks = {"Notification": [{"hooks": [wakes]}]}

    async def main() -> None:
        typing = Typing()
        script = [says(str(number)) for number in range(20)]
        async with ScriptedSession(tmp_path, script, hooks=hooks, asker=typing) as scripted:
            conversing = _conversing(scripted, typing, eager=True)
            while not any("this wake is ignored" in text for text in scripted.seen.texts("warning")):
                await asyncio.sleep(0.02)
            before = len(scripted.events("Notification"))
            await asyncio.sleep(0.5)
            assert len(scripted.events("Notification")) == before
            typing.leaves()
            await conversing
        typing.over()

    asyncio.run(main())


def test_a_question_beside_the_conversation_takes_only_a_clear_answer(tmp_path: Path) -> None:
    async def main() -> None:
        typing = Typing()
        async with ScriptedSession(tmp_path, [says("one"), says("two")], asker=typing) as scripted:
            await scripted.ready.begin()
            conversing = _conversing(scripted, typing, eager=True)
            question = asyncio.ensure_future(typing.asker.confirm("a guard is gone"))
            await typing.asked.wait()
            typing.types("yes it is a prompt\n")
            await until(lambda: len(scripted.requests) == 1)
            assert not question.done()
            typing.types("y\n")
            assert await question
            open_at_the_end = asyncio.ensure_future(typing.asker.confirm("another one is gone"))
            await asyncio.sleep(0)
            typing.leaves()
            assert not await open_at_the_end
            await conversing
        typing.over()

    asyncio.run(main())
