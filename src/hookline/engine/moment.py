"""One dispatch under way: what is known so far, and what was said so far."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.engine.folding import field_of, fold, with_wholes
from hookline.engine.lanes import Armed, Lane
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome

if TYPE_CHECKING:
    from hookline.engine.sessions import Session


class Said(Struct, frozen=True):
    """One hook's answer as it counts, and the payload it judged."""

    armed: Armed
    outcome: Outcome
    seen: Any
    #: It failed, and that failure stops the action.
    closed: bool = False


class Asked(Struct, frozen=True):
    """A lane that has spoken: what each of its hooks saw, and the payload it left behind."""

    lane: Lane
    said: Sequence[Said]
    left: Any


class Moment:
    """The event, the payload as the hooks so far left it, and the outcome so far."""

    __slots__ = ("asked", "event", "outcome", "payload", "session")

    def __init__(self, session: "Session", event: EventSpec[Any], payload: Any) -> None:
        self.session = session
        self.event = event
        self.payload = payload
        self.outcome = GO_ON
        self.asked: list[Asked] = []

    def take(self, lane: Lane, said: Sequence[Said]) -> None:
        """Add what a lane said: folded by its policy, limited, and seen by the lanes after it."""
        if not said:
            self.asked.append(Asked(lane, said, self.payload))
            return
        outcome = fold(lane.policy, [one.outcome for one in said])
        if lane.policy.limit is not None:
            outcome = self.session.counts.judge(lane.hooks[0].hook.dialect, lane.policy, outcome)
        if outcome.edits:
            outcome = with_wholes(outcome, field_of(self.payload, self.event.rewrites or ""))
        if outcome.edits or outcome.context_items:
            self.payload = lane.hooks[0].hook.wire.advance(self.event, self.payload, outcome)
        self.asked.append(Asked(lane, said, self.payload))
        self.outcome += outcome
