"""Replace a conversation that grew too long by a summary, if hooks agree."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.agent.models.choose import context_window
from hookline.agent.models.port import CompletionRequest, CompletionResponse, ModelError
from hookline.agent.turn.retries import with_retries
from hookline.agent.turn.turn import AgentParts, Turn, decided_by
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.messages import Message, ToolMessage, User
from hookline.model.safe_text import head_and_tail

_ASK = (
    "Summarise this conversation so that you can continue from the summary alone: what the user wants, what was "
    "done and found, which files matter, what is left to do. Answer with the summary only."
)
_SUMMARY = "The conversation so far, summarised:"
#: The part of the window that a conversation may fill before it is compacted.
_FULL = 0.85
#: Characters of each tool result in a conversation that is too long to be summarised whole.
_SHORT_RESULT = 1000
#: How often the older half of such a conversation is left out.
_MOST_HALVES = 4


async def _nothing() -> None:
    """Do nothing: a subagent's conversation does not begin with SessionStart."""


class Compactor:
    """Compaction of one conversation. `restart` fires SessionStart for the conversation's new beginning."""

    def __init__(self, parts: AgentParts, restart: Callable[[], Awaitable[None]] = _nothing) -> None:
        self._parts = parts
        self._hooks = parts.hooks
        self._conversation = parts.conversation
        self._restart = restart
        #: The length of the conversation when compaction was last refused: it is not tried again at once.
        self._refused_at = 0

    def window(self, model: str) -> int | None:
        """Return how many tokens the model takes; None if that is not known."""
        return self._parts.settings.context_window or context_window(model)

    def limit(self, model: str) -> int:
        """Return how many tokens the conversation may have; 0: any number."""
        chosen = self._parts.settings.compact_at
        return chosen if chosen is not None else int((self.window(model) or 0) * _FULL)

    async def keep_within(self, turn: Turn) -> None:
        """Compact the conversation before its next request, if that may not fit."""
        limit = self.limit(turn.model)
        if limit and self._conversation.size >= limit:
            await self.automatic(turn)

    async def automatic(self, turn: Turn) -> bool:
        """Compact because a request is too long; return False if it stays as it is."""
        length, tokens = len(self._conversation.messages), self._conversation.size
        if length <= self._refused_at + 2 or length <= 1:
            return False
        if await self.compact(turn.model, "auto", task=turn.text) is None:
            says = f"compacted: a summary replaces {length} messages, which had reached {tokens:,} tokens"
            self._parts.user.show("notice", says)
            # Text of hooks about the prompt applies to the whole turn: the summary must not lose it.
            self._conversation.place_again(turn.context)
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
                context_limit=self.limit(model) or None,
            ),
        )
        if before.blocked:
            why = f"the conversation was not compacted: {before.reason or 'a hook blocked it'}"
            hint = self._hint(model) if trigger == "auto" else ""
            return self._refused(f"{why}{hint}", **self._hooks.by(decided_by(before), e.PRE_COMPACT))
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

    def _hint(self, model: str) -> str:
        window = self.window(model)
        size = self._conversation.size
        filled = f"{size:,} of {window:,} tokens" if window else f"{size:,} tokens"
        return f" (it has {filled}; /clear begins a new conversation)"

    async def _summary(self, model: str, instructions: str) -> str:
        """Ask for a summary in a separate request without tools, which leaves nothing in the conversation.

        Of a conversation that does not fit either, ever less is sent: long results shortened, then the newer half.
        """
        request = self._conversation.request(model, ())
        question = User(text="\n\n".join([_ASK, instructions] if instructions else [_ASK]), by="compaction")
        refused: ModelError | None = None
        for messages in _shorter(request.messages):
            try:
                short = replace(request, messages=(*messages, question))
                return await with_retries(self._parts, lambda short=short: self._answer(short))
            except ModelError as error:
                if error.remedy != "compact":
                    raise
                refused = error
        raise refused or ModelError("unknown", "there is nothing to summarise")

    async def _answer(self, request: CompletionRequest) -> str:
        response = CompletionResponse()
        self._parts.user.show("request", request.model)
        async for piece in self._parts.model.stream(request):
            if isinstance(piece, CompletionResponse):
                response = piece
        self._parts.workplace.spend(response.usage)
        self._hooks.spending.add(response.usage)
        if not response.text.strip():
            raise ModelError("unknown", "the model gave an empty summary")
        return response.text

    def _refused(self, why: str, **by: Any) -> str:
        self._parts.warn(why, **by)
        return why


def _shorter(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Yield the messages, then ever shorter versions."""
    yield messages
    short = [
        replace(each, text=head_and_tail(each.text, _SHORT_RESULT // 2))
        if isinstance(each, ToolMessage)
        else each
        for each in messages
    ]
    for _ in range(_MOST_HALVES):
        yield short
        short = short[len(short) // 2 :]
