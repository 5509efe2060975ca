"""What hooks in the background have said since the last call of a session, as far as this call can carry it."""

from hookline.dialects.dialect import DialectEvent
from hookline.engine.background import Inbox, LateMessage
from hookline.model.events import STOP, TURN_END, May
from hookline.model.outcome import GO_ON, ContextItem, Message, Outcome, Vote


def late_outcome(inbox: Inbox, event: DialectEvent) -> Outcome:
    """What counts at this event. What the agent cannot be told here waits for an event where it can."""
    found = GO_ON
    for late in inbox.take_all():
        told = _outcome(late, event)
        if told is None:
            inbox.put(late)
        else:
            found += told
    return found


def _outcome(late: LateMessage, event: DialectEvent) -> Outcome | None:
    may = event.policy.may
    if late.kind == "message":
        return Outcome(messages=(Message(late.text, late.hook),))
    if late.kind == "watch":
        # No agent takes paths to watch but in the answer of the hook itself.
        return GO_ON
    if late.kind == "wake" and may & May.BLOCK and event.event in (TURN_END, STOP):
        # The turn is about to end: the agent goes on because of it.
        return Outcome(votes=(Vote("block", late.text, by=late.hook),))
    if may & May.CONTEXT:
        # Where it was said, a result of a tool, is gone.
        placement = late.placement if late.placement not in {"tool_result", ""} else "conversation"
        return Outcome(context_items=(ContextItem(late.text, placement, late.lives, late.hook),))
    return None
