"""Stream the model's answer: text that hooks may still change is shown after they have judged it."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hookline.model.events import POST_MODEL_CALL

if TYPE_CHECKING:
    from hookline.engine.host.results import AnswerResult
    from hookline.engine.session import Session

V = TypeVar("V")
#: Calls or usage of an answer; or a function that returns them after the last piece, when they are known.
OrLater = V | Callable[[], V]


class AnswerStream:
    """An answer of the model, piece by piece. Iterate over it and show each piece; then `answer` is there.

    Without a PostModelCall hook pieces come as the model makes them. With one they are held back until the answer
    is complete, and the hook has judged it: then its text comes as one piece.

    ::

        shown = session.stream(pieces, tool_calls=lambda: calls)
        async for text in shown:
            await websocket.send_text(text)
        messages.append({"role": "assistant", "content": shown.answer.text})
    """

    def __init__(
        self,
        session: "Session",
        pieces: AsyncIterable[str],
        tool_calls: OrLater[Sequence[Mapping[str, Any]]],
        usage: OrLater[Mapping[str, Any]],
    ) -> None:
        self._session = session
        self._pieces = pieces
        self._tool_calls = tool_calls
        self._usage = usage
        self._answer: AnswerResult | None = None

    @property
    def answer(self) -> "AnswerResult":
        """The result of `Session.answer`. Raises RuntimeError before the stream has ended."""
        if self._answer is None:
            raise RuntimeError("the answer is there when the stream has ended: iterate over all of it")
        return self._answer

    async def __aiter__(self) -> AsyncIterator[str]:
        whole: list[str] = []
        shown = 0
        async for piece in self._pieces:
            whole.append(piece)
            if not self._session.has(POST_MODEL_CALL):
                yield "".join(whole[shown:])
                shown = len(whole)
        answer = await self._session.answer("".join(whole), _now(self._tool_calls), _now(self._usage))
        self._answer = answer
        # Where text was shown before a hook was added, what it makes of the answer comes after it.
        rest = answer.text if answer.rewritten or not shown else "".join(whole[shown:])
        if rest:
            yield rest


def _now(value: OrLater[V]) -> V:
    return cast("V", value()) if callable(value) else value
