"""A host with one tool: hooks that log what fired, and turns step by step."""

import asyncio
from collections.abc import Callable
from typing import Any

from hookline import Engine, Outcome
from hookline.engine.session import Session
from hookline.events import (
    PERMISSION_DENIED,
    PERMISSION_REQUEST,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_END,
    SESSION_START,
    STOP,
    SUBAGENT_START,
    SUBAGENT_STOP,
    TURN_END,
    TURN_SETTLED,
    TURN_START,
    USER_PROMPT_SUBMIT,
)
from hookline.host import ApprovalRequest, CallResult
from hookline.model.events import EventSpec

ALL: tuple[EventSpec[Any], ...] = (
    PERMISSION_DENIED, PERMISSION_REQUEST, POST_MODEL_CALL, POST_TOOL_USE, POST_TOOL_USE_FAILURE, PRE_MODEL_CALL,
    PRE_TOOL_USE, SESSION_END, SESSION_START, STOP, SUBAGENT_START, SUBAGENT_STOP, TURN_END, TURN_SETTLED, TURN_START,
    USER_PROMPT_SUBMIT,
)  # fmt: skip


def saying(answer: Any) -> Callable[[ApprovalRequest], Any]:
    return lambda question: answer


always, never = saying(True), saying(False)


def if_it_says(reason: str) -> Callable[[ApprovalRequest], bool]:
    return lambda question: question.reason == reason


class Desk:
    """A tool that keeps its own log, and hooks that log what fired."""

    def __init__(self, **options: Any) -> None:
        self.engine = Engine(**options)
        self.ran: list[dict[str, Any]] = []
        self.fired: list[str] = []
        self.payloads: list[Any] = []
        for event in ALL:
            self.engine.add(event, self._log(event.name))

    def _log(self, name: str) -> Any:
        async def log(payload: Any) -> None:
            self.fired.append(name)
            self.payloads.append(payload)

        return log

    def on(self, event: EventSpec[Any], *answers: Outcome | None, **options: Any) -> None:
        left = list(answers)

        async def answer(payload: Any) -> Outcome | None:
            return left.pop(0) if len(left) > 1 else left[0]

        self.engine.add(event, answer, **options)

    async def tool(self, arguments: dict[str, Any]) -> Any:
        self.ran.append(arguments)
        return arguments.get("gives", "done")

    def once(self, session: Session) -> Any:
        return session.tool("t", {}, run=self.tool)

    def call(self, arguments: dict[str, Any] | None = None, **options: Any) -> CallResult:
        async def one() -> CallResult:
            async with self.engine:
                session = self.engine.session("s")
                return await session.tool("t", arguments or {"a": 1}, run=self.tool, **options)

        return asyncio.run(one())


def run_turn(desk: Desk, *steps: Callable[[Session], Any]) -> list[Any]:
    """The steps of a turn, each a function of the session, and what each of them gave."""

    async def play() -> list[Any]:
        async with desk.engine, desk.engine.session("s", cwd="/proj", model="m1") as session:
            return [await step(session) for step in steps]

    return asyncio.run(play())


def prompt(session: Session) -> Any:
    return session.prompt("hello")


def end(session: Session) -> Any:
    return session.end("the answer")
