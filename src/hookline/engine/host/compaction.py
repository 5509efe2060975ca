"""Compact a conversation for a host: PreCompact, the host's own summary, PostCompact."""

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.engine.host.conversation import CLOSED
from hookline.engine.memory import host_of
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import ContextItem, Message

if TYPE_CHECKING:
    from hookline.engine.session import Session

#: Makes the summary; it gets instructions for it: the host's, and those that hooks add.
Summarize = Callable[[str], str | Awaitable[str]]


class CompactResult(Struct, frozen=True, kw_only=True):
    """Result of `compact`: replace the conversation by `summary`, unless `blocked` is set.

    ::

        compacted = await session.compact(summarize)
        if compacted.blocked is None:
            messages = [user(compacted.summary), *(user(item.text) for item in compacted.context)]
    """

    summary: str = ""
    #: Why the conversation must stay as it is, if so.
    blocked: str | None = None
    #: Text for the conversation after the summary.
    context: tuple[ContextItem, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()


async def compact(session: "Session", summarize: Summarize, payload: p.Compaction) -> CompactResult:
    if session.closed:
        return CompactResult(blocked=CLOSED)
    before = await session.dispatch(e.PRE_COMPACT, payload)
    if before.blocked:
        return CompactResult(blocked=before.reason or "a hook blocked it", notices=before.messages)
    summary: Any = before.answer
    if not isinstance(summary, str) or not summary:
        texts = (payload.custom_instructions, *before.context)
        made = summarize("\n".join(text for text in texts if text))
        summary = await made if inspect.isawaitable(made) else made
    after = await session.dispatch(
        e.POST_COMPACT, p.Compacted(trigger=payload.trigger, compact_summary=summary)
    )
    return CompactResult(
        summary=summary,
        context=host_of(session).keep(after.context_items),
        notices=(*before.messages, *after.messages),
    )
