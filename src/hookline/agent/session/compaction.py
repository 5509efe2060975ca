"""Replace a conversation that grew too long by a summary, if hooks agree."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from hookline.agent.models.port import CompletionResponse, ModelError
from hookline.agent.turn.turn import AgentParts
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.messages import User

_ASK = (
    "Summarise this conversation so that you can continue from the summary alone: what the user wants, what was "
    "done and found, which files matter, what is left to do. Answer with the summary only."
)
_SUMMARY = "The conversation so far, summarised:"


class Compactor:
    """Compaction of one conversation. `restart` fires SessionStart for the conversation's new beginning."""

    def __init__(self, parts: AgentParts, restart: Callable[[], Awaitable[None]]) -> None:
        self._parts = parts
        self._hooks = parts.hooks
        self._conversation = parts.conversation
        self._limit = parts.settings.compact_at
        self._restart = restart
        #: The length of the conversation when compaction was last refused: it is not tried again at once.
        self._refused_at = 0

    async def automatic(self, model: str, task: str) -> bool:
        """Compact because a request reached the limit. `task` is the prompt the turn works on."""
        length = len(self._conversation.messages)
        if length <= self._refused_at + 2:
            return False
        tokens = self._conversation.tokens or 0
        if await self.compact(model, "auto", task=task) is None:
            says = f"compacted: a summary replaces {length} messages, which had reached {tokens:,} tokens"
            self._parts.user.show("notice", says)
            return True
        self._refused_at = length
        return False

    async def compact(
        self, model: str, trigger: str, instructions: str = "", *, task: str = ""
    ) -> str | None:
        """Compact the conversation. Returns None, else why not."""
        if not self._conversation.messages:
            return "there is nothing to compact yet"
        before = await self._hooks.dispatch(
            e.PRE_COMPACT,
            p.Compaction(
                trigger=trigger,
                custom_instructions=instructions or None,
                input_tokens=self._conversation.tokens,
                context_limit=self._limit or None,
            ),
        )
        if before.blocked:
            return self._refused(
                f"the conversation was not compacted: {before.reason or 'a hook blocked it'}"
            )
        try:
            given: Any = before.answer
            asked = "\n".join([text for text in (instructions, *before.context) if text])
            summary = given if isinstance(given, str) and given else await self._summary(model, asked)
        except ModelError as error:
            return self._refused(f"the conversation was not compacted: {error.kind}: {error}")
        kept = [User(text=f"{_SUMMARY}\n\n{summary}", by="compaction")]
        if task:
            kept.append(User(text=f"Continue with the user's request:\n\n{task}", by="compaction"))
        self._conversation.replace_all(kept)
        self._conversation.forget_session_context()
        self._conversation.records.compacted(summary, kept)
        self._refused_at = 0
        after = await self._hooks.dispatch(
            e.POST_COMPACT, p.Compacted(trigger=trigger, compact_summary=summary)
        )
        self._conversation.place(after.context_items)
        await self._restart()
        return None

    async def _summary(self, model: str, instructions: str) -> str:
        """Ask for a summary in a separate request without tools, which leaves nothing in the conversation."""
        request = self._conversation.request(model, ())
        question = User(text="\n\n".join([_ASK, instructions] if instructions else [_ASK]), by="compaction")
        response = CompletionResponse()
        self._parts.user.show("request", model)
        async for piece in self._parts.model.stream(replace(request, messages=(*request.messages, question))):
            if isinstance(piece, CompletionResponse):
                response = piece
        self._parts.workplace.spend(response.usage)
        self._hooks.spending.add(response.usage)
        if not response.text.strip():
            raise ModelError("unknown", "the model gave an empty summary")
        return response.text

    def _refused(self, why: str) -> str:
        self._parts.user.warn(why)
        return why
