"""A conversation that grew too long is replaced by a summary, if hooks agree."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import Hooks
from hookline.agent.messages import User
from hookline.agent.models.port import ModelError, ModelPort, Response, Usage
from hookline.agent.ports import Listener, Shown
from hookline.agent.transcript.records import Records
from hookline.model import events as e
from hookline.model import payloads as p

_ASK = (
    "Summarise this conversation so that you can go on from the summary alone: what the user wants, what was "
    "done and found, which files matter, what is left to do. Answer with the summary only."
)
_BEGINS = "The conversation so far, summarised:"


class Compacting:
    """Compacts one conversation. `restart` fires SessionStart, which comes with the new beginning."""

    def __init__(
        self,
        *,
        model: ModelPort,
        hooks: Hooks,
        conversation: Conversation,
        records: Records,
        listener: Listener,
        limit: int,
        restart: Callable[[], Awaitable[None]],
        spend: Callable[[Usage], None],
    ) -> None:
        self._model = model
        self._hooks = hooks
        self._talk = conversation
        self._records = records
        self._listener = listener
        self._limit = limit
        self._restart = restart
        self._spend = spend
        #: How long the conversation was when it was last refused: it is not tried again at once.
        self._refused_at = 0

    async def if_needed(self, model: str, tokens: int, going_on: str) -> bool:
        """Compact by itself once a request grew to the limit; `going_on` is what the turn is about."""
        length = len(self._talk.messages)
        if not self._limit or tokens < self._limit or length <= self._refused_at + 2:
            return False
        if await self.compact(model, "auto", tokens=tokens, going_on=going_on) is None:
            return True
        self._refused_at = length
        return False

    async def compact(
        self,
        model: str,
        trigger: str,
        instructions: str = "",
        *,
        tokens: int | None = None,
        going_on: str = "",
    ) -> str | None:
        """Why it did not happen, or None when it did."""
        if not self._talk.messages:
            return "there is nothing to compact yet"
        before = await self._hooks.dispatch(
            e.PRE_COMPACT,
            p.Compaction(
                trigger=trigger,
                custom_instructions=instructions or None,
                input_tokens=tokens,
                context_limit=self._limit or None,
            ),
        )
        if before.blocked:
            return self._refused(f"the conversation was not compacted: {before.reason or 'a hook objects'}")
        try:
            given: Any = before.answer
            asked = "\n".join([text for text in (instructions, *before.context) if text])
            summary = given if isinstance(given, str) and given else await self._summary(model, asked)
        except ModelError as error:
            return self._refused(f"the conversation was not compacted: {error.kind}: {error}")
        kept = [User(text=f"{_BEGINS}\n\n{summary}", by="compaction")]
        if going_on:
            kept.append(User(text=f"Go on with what the user asked for:\n\n{going_on}", by="compaction"))
        self._talk.replace_all(kept)
        self._talk.forget_session_context()
        self._records.compacted(summary, kept)
        self._refused_at = 0
        after = await self._hooks.dispatch(
            e.POST_COMPACT, p.Compacted(trigger=trigger, compact_summary=summary)
        )
        self._talk.place(after.context_items)
        await self._restart()
        return None

    async def _summary(self, model: str, instructions: str) -> str:
        """One request of its own: no tools, and nothing of it stays in the conversation."""
        request = self._talk.request(model, ())
        question = User(text="\n\n".join([_ASK, instructions] if instructions else [_ASK]), by="compaction")
        response = Response()
        async for piece in self._model.stream(replace(request, messages=(*request.messages, question))):
            if isinstance(piece, Response):
                response = piece
        self._spend(response.usage)
        if not response.text.strip():
            raise ModelError("unknown", "the model gave an empty summary")
        return response.text

    def _refused(self, why: str) -> str:
        self._listener.show(Shown(kind="warning", text=why))
        return why
