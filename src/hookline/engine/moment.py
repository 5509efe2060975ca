"""One dispatch under way: what is known so far, and what was said so far."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.lanes import Armed, Lane
from hookline.engine.limits import Spoken
from hookline.model.events import EventSpec, May
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, ContextItem, Edit, Message, Outcome, Vote, edited, merged
from hookline.model.policy import Policy

if TYPE_CHECKING:
    from hookline.engine.session import Session


def fold(policy: Policy, said: Sequence[Outcome]) -> Outcome:
    """Everything in config order, as this policy keeps and words it."""
    if policy.keep == "block_only":
        first = next((outcome for outcome in said if outcome.blocked), None)
        if first is not None:
            return Outcome(votes=first.votes, messages=first.messages, halts=first.halts)
    total = merged(said)
    if policy.keep == "decision_only" and total.blocked:
        total = Outcome(votes=total.votes, messages=total.messages, halts=total.halts)
    elif policy.most_context is not None and total.context_items:
        total = replace(total, context_items=_bounded(total.context_items, policy.most_context))
    joins = policy.reasons == "joined" or (policy.reasons == "blocks_joined" and total.blocked)
    return _with_joined_reasons(total) if joins else total


def _bounded(items: Sequence[ContextItem], most: int) -> tuple[ContextItem, ...]:
    """The first so many characters of all texts, counted as if they were joined by newlines."""
    kept: list[ContextItem] = []
    room = most
    for item in items:
        if len(item.text) > room:
            kept.append(replace(item, text=f"{item.text[: max(room, 0)]}…[truncated]"))
            break
        kept.append(item)
        room -= len(item.text) + 1
    return tuple(kept)


def _with_joined_reasons(outcome: Outcome) -> Outcome:
    top = outcome.deciding_vote
    if top is None or len(outcome.votes) < 2:
        return outcome
    reasons = [vote.reason for vote in outcome.votes if vote.kind == top.kind and vote.reason]
    if len(reasons) < 2:
        return outcome
    spoken = replace(top, reason="\n".join(reasons), rank=top.rank + 1)
    return replace(outcome, votes=(spoken, *outcome.votes))


def field_of(payload: Any, name: str) -> Any:
    """A field of any payload a host may use."""
    if isinstance(payload, Mapping):
        return payload.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] a host's payload may be any mapping
    return getattr(payload, name, None)


def with_wholes(outcome: Outcome, before: Any) -> Outcome:
    """Each edit with the whole value after it: patches only mean something laid over what was there."""
    wholes: list[Edit] = []
    value = before
    for edit in outcome.edits:
        value = edited(value, edit)
        wholes.append(replace(edit, whole=value))
    return replace(outcome, edits=tuple(wholes))


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
