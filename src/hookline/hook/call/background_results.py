"""Deliver background results this event accepts."""

from hookline.dialects.dialect import DialectEvent
from hookline.engine.background import Inbox, LateMessage
from hookline.model.events import STOP, TURN_END, Capability
from hookline.model.outcome import PASS, ContextItem, Message, Outcome, Vote


def late_outcome(inbox: Inbox, event: DialectEvent) -> Outcome:
    """Return the results that this event accepts. Others wait for an event that accepts them."""
    found = PASS
    for late in inbox.take_all():
        shown = _outcome(late, event)
        if shown is None:
            inbox.put(late)
        else:
            found += shown
    return found


def _outcome(late: LateMessage, event: DialectEvent) -> Outcome | None:
    may = event.policy.may
    if late.kind == "message":
        return Outcome(messages=(Message(late.text, late.hook),))
    if late.kind == "watch":
        # Agents take paths to watch only in the answer of the hook itself.
        return PASS
    if late.kind == "wake" and may & Capability.BLOCK and event.event in (TURN_END, STOP):
        # The turn is about to end: the agent continues because of it.
        return Outcome(votes=(Vote("block", late.text, by=late.hook),))
    if may & Capability.CONTEXT:
        # Its place, the result of a tool, is gone.
        placement = late.placement if late.placement not in {"tool_result", ""} else "conversation"
        return Outcome(context_items=(ContextItem(late.text, placement, late.lifetime, late.hook),))
    return None
