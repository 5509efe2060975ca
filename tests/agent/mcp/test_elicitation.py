"""Test questions of servers: hooks answer, people answer, no one answers."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.mcp.elicitation import ServerAnswer, ServerQuestion
from tests.agent.mcp.server_sessions import configure, entry, session_with
from tests.agent.scripted_session import ScriptedSession, call, calls, says
from tests.waiting import until

AMONG = frozenset(
    {"PreToolUse", "Elicitation", "UserInputWaiting", "ElicitationResult", "Notification", "PostToolUse"}
)
ANN = {"action": "accept", "content": {"username": "ann"}}


class Person:
    """Gives the scripted answer, and keeps the question."""

    def __init__(self, answer: ServerAnswer, wait: asyncio.Event | None = None) -> None:
        self._answer = answer
        self._wait = wait
        self.asked: list[ServerQuestion] = []

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        self.asked.append(question)
        if self._wait is not None:
            await self._wait.wait()
        return self._answer


def _says(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    document = json.dumps({"hookSpecificOutput": answer})
    return [{"hooks": [{"type": "command", "command": f"echo '{document}'"}]}]


def _order(scripted: ScriptedSession) -> list[str]:
    return [name for name in scripted.fired if name in AMONG]


def _asking(directory: Path, **more: Any) -> ScriptedSession:
    configure(directory, hk=entry(timeout=more.pop("timeout", 60_000)))
    return session_with(directory, calls(call("mcp__hk__ask", text="x")), says("done"), **more)


def test_with_nobody_there_the_question_is_dismissed_and_the_events_are_those_of_claude_code(tmp_path: Path):
    async def main() -> None:
        async with _asking(tmp_path) as scripted:
            await scripted.play("go")
            assert scripted.results() == ['answered {"action": "cancel"}']
            assert _order(scripted) == [
                "PreToolUse", "Elicitation", "ElicitationResult", "Notification", "PostToolUse",
            ]  # fmt: skip
            (asked,) = scripted.events("Elicitation")
            assert asked.payload.mcp_server_name == "hk"
            assert asked.payload.message == "who?"
            assert asked.payload.requested_schema["properties"] == {
                "username": {"type": "string", "title": "Username"}
            }
            (received,) = scripted.events("Notification")
            assert received.payload.notification_type == "elicitation_response"
            assert received.payload.message == 'Elicitation response for server "hk": cancel'

    asyncio.run(main())


def test_a_hook_answers_and_nobody_is_asked(tmp_path: Path):
    person = Person(ServerAnswer(action="decline"))

    async def main() -> None:
        async with _asking(tmp_path, hooks={"Elicitation": _says(ANN)}, answers=person) as scripted:
            await scripted.play("go")
            assert scripted.results() == ['answered {"action": "accept", "content": {"username": "ann"}}']
            assert person.asked == []
            assert "UserInputWaiting" not in scripted.fired
            (result,) = scripted.events("ElicitationResult")
            assert result.payload.content == {"username": "ann"}

    asyncio.run(main())


@pytest.mark.parametrize("event", ["Elicitation", "ElicitationResult"])
def test_a_block_at_either_event_declines(tmp_path: Path, event: str):
    person = Person(ServerAnswer(action="accept", content={"username": "bob"}))

    async def main() -> None:
        hooks = {event: [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}
        async with _asking(tmp_path, hooks=hooks, answers=person) as scripted:
            await scripted.play("go")
            assert scripted.results() == ['answered {"action": "decline"}']
            assert len(person.asked) == (event == "ElicitationResult")

    asyncio.run(main())


def test_a_person_is_asked_and_a_hook_may_still_change_the_answer(tmp_path: Path):
    person = Person(ServerAnswer(action="accept", content={"username": "bob"}))

    async def main() -> None:
        async with _asking(tmp_path, hooks={"ElicitationResult": _says(ANN)}, answers=person) as scripted:
            await scripted.play("go")
            assert scripted.results() == ['answered {"action": "accept", "content": {"username": "ann"}}']
            assert person.asked[0].message == "who?"
            assert _order(scripted) == [
                "PreToolUse", "Elicitation", "Notification", "UserInputWaiting", "ElicitationResult",
                "Notification", "PostToolUse",
            ]  # fmt: skip
            assert scripted.events("Notification")[0].payload.notification_type == "elicitation_dialog"
            assert scripted.events("UserInputWaiting")[0].payload.reason == "question"
            assert scripted.events("ElicitationResult")[0].payload.content == {"username": "bob"}

    asyncio.run(main())


def test_an_answer_of_a_hook_that_does_not_fit_is_not_used(tmp_path: Path):
    hooks = {"Elicitation": _says({"action": "accept", "content": {"username": 7}})}

    async def main() -> None:
        async with _asking(tmp_path, hooks=hooks) as scripted:
            await scripted.play("go")
            assert scripted.results() == ['answered {"action": "cancel"}']
            assert any("username: expected string, got 7" in text for text in scripted.seen.texts("warning"))

    asyncio.run(main())


def test_while_a_person_thinks_the_time_of_the_call_stands_still(tmp_path: Path):
    wait = asyncio.Event()
    person = Person(ServerAnswer(action="accept", content={"username": "late"}), wait)

    async def main() -> None:
        async with _asking(tmp_path, answers=person, timeout=1000) as scripted:
            playing = asyncio.ensure_future(scripted.play("go"))
            await until(lambda: bool(person.asked))
            await asyncio.sleep(1.2)
            assert not scripted.events("PostToolUseFailure")
            wait.set()
            await playing
            assert scripted.results() == ['answered {"action": "accept", "content": {"username": "late"}}']

    asyncio.run(main())


def test_an_interrupted_call_takes_its_question_back(tmp_path: Path):
    person = Person(ServerAnswer(action="decline"), asyncio.Event())

    async def main() -> None:
        async with _asking(tmp_path, answers=person) as scripted:
            await scripted.ready.begin()
            scripted.agent.submit("go")
            playing = asyncio.ensure_future(scripted.agent.run())
            await until(lambda: bool(person.asked))
            scripted.agent.interrupt()
            received = await playing
            assert received is not None
            assert received.status == "interrupted"
            await until(lambda: not scripted.servers.connections[0].asking)

    asyncio.run(main())
