"""What a server asks the user, and what comes back, in words of our own."""

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
