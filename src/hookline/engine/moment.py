"""One dispatch under way: what is known so far, and what was said so far."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.engine.folding import field_of, fold, with_wholes
from hookline.engine.lanes import Armed, Lane
from hookline.engine.limits import Spoken
from hookline.model.events import EventSpec, May
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Message, Outcome, Vote

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
    """A lane that has spoken: what each of its hooks saw, the payload it left behind, and what it said."""

    lane: Lane
    said: Sequence[Said]
    left: Any
    outcome: Outcome = GO_ON


class Moment:
    """The event, the payload as the hooks so far left it, and the outcome so far."""

    __slots__ = ("_limits", "asked", "event", "outcome", "payload", "session", "spoken_later")

    def __init__(self, session: "Session", event: EventSpec[Any], payload: Any) -> None:
        self.session = session
        self.event = event
        self.payload = payload
        self.outcome = GO_ON
        self.asked: list[Asked] = []
        #: What was said beside the lanes: by guards that were asked again.
        self.spoken_later: list[Spoken] = []
        self._limits = False

    def take(self, lane: Lane, said: Sequence[Said]) -> None:
        """Add what a lane said: folded by its policy, and seen by the lanes after it."""
        outcome = GO_ON
        if len(said) > 1 or (said and said[0].outcome is not GO_ON):
            outcome = fold(lane.policy, [one.outcome for one in said])
            if outcome.edits:
                outcome = with_wholes(outcome, field_of(self.payload, self.event.rewrites or ""))
            if outcome.edits or outcome.context_items:
                self.payload = self.advanced(lane.hooks[0].hook, self.payload, outcome)
            self.outcome += outcome
        if said and lane.policy.limit is not None:
            self._limits = True
        self.asked.append(Asked(lane, said, self.payload, outcome))

    def advanced(self, hook: Hook, payload: Any, outcome: Outcome) -> Any:
        """The payload as the next hook sees it. A rewrite that cannot be applied must not be half applied."""
        try:
            return hook.wire.advance(self.event, payload, outcome)
        except Exception as problem:  # noqa: BLE001 a wire, and a host's payload, may be anybody's code
            text = f"what {hook.name} rewrote cannot be applied: {type(problem).__name__}: {problem}"
            votes = (Vote("block", text, by=hook.name),) if self.event.may & May.BLOCK else ()
            self.add(hook, Outcome(votes=votes, messages=(Message(text, hook.name),)))
            return payload

    def add(self, hook: Hook, outcome: Outcome) -> None:
        """Add what was said beside the lanes."""
        self.spoken_later.append(Spoken(hook.dialect, hook.policy, outcome))
        self.outcome += outcome

    def limited(self) -> Outcome:
        """The outcome as the limits of this session let it stand."""
        if not self._limits:
            return self.outcome
        lanes = [
            Spoken(one.lane.hooks[0].hook.dialect, one.lane.policy, one.outcome)
            for one in self.asked
            if one.said
        ]
        return self.session.counts.judge([*lanes, *self.spoken_later])
