"""What a server asks the user, and what comes back, in words of our own."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

Action = Literal["accept", "decline", "cancel"]


class ServerQuestion(Struct, frozen=True, kw_only=True):
    server: str
    message: str
    mode: Literal["form", "url"] = "form"
    #: What the answer must look like: an object whose fields are plain values.
    schema: Mapping[str, Any] = {}
    url: str | None = None
    elicitation_id: str | None = None


class ServerAnswer(Struct, frozen=True, kw_only=True):
    action: Action
    content: Mapping[str, Any] | None = None


class Answers(Protocol):
    """Whoever answers servers."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer: ...


class NobodyAnswers:
    """Nobody is there: the question is dismissed, which is not the same as a no."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        del question
        return ServerAnswer(action="cancel")


class PendingQuestions:
    """The questions of a server that wait for an answer."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._tasks: set[asyncio.Future[ServerAnswer]] = set()

    @property
    def open(self) -> bool:
        return bool(self._tasks)

    def answered(self) -> "asyncio.Future[Any]":
        return asyncio.gather(*self._tasks, return_exceptions=True)

    def forget(self) -> None:
        """Nobody waits for the call any more, so nobody is asked for it."""
        for task in self._tasks:
            task.cancel()

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        task = asyncio.ensure_future(self._answers.ask(question))
        self._tasks.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._tasks.discard(task)
            task.cancel()
        if task.cancelled() or task.exception() is not None:
            return ServerAnswer(action="cancel")
        return task.result()
