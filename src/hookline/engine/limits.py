"""How often in a row hooks may block an agent before it goes on without them."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.outcome import GO_ON, Halt, Message, Outcome, merged
from hookline.model.policy import Limit, Policy


class LaneOutcome(Struct, frozen=True):
    """What one lane answered in a dispatch."""

    dialect: str
    policy: Policy
    outcome: Outcome


class _Count(Struct, frozen=True):
    blocks: int = 0
    turn: int = 0
    call: int = 0


class BlockCounts:
    """Consecutive blocks per policy, for one session. A new turn, or a tool call, may reset the count."""

    def __init__(self) -> None:
        #: How many turns and tool calls there were so far.
        self.ticks = {"turn": 0, "call": 0}
        self._counts: dict[str, _Count] = {}

    def clear(self) -> None:
        self._counts.clear()

    def apply(self, lanes: Sequence[LaneOutcome]) -> Outcome:
        """The outcomes merged, without blocks beyond the limits.

        Several lanes of one dispatch may have the same policy; together they block once, or not at all.
        """
        outcomes = [lane.outcome for lane in lanes]
        by_policy: dict[str, list[int]] = {}
        for place, lane in enumerate(lanes):
            if lane.policy.limit is not None:
                by_policy.setdefault(f"{lane.dialect}:{lane.policy.event_name}", []).append(place)
        notes = GO_ON
        for key, places in by_policy.items():
            policy = lanes[places[0]].policy
            blocks = self._count(key, policy, blocked=any(outcomes[place].blocked for place in places))
            if policy.limit is not None and blocks > policy.limit.obeyed:
                for place in places:
                    outcomes[place] = _overruled(policy.limit, outcomes[place])
                notes += _note(policy, policy.limit, blocks)
        return merged([*outcomes, notes])

    def _count(self, key: str, policy: Policy, *, blocked: bool) -> int:
        """Blocks in a row including this one; one beyond the limit resets the count."""
        limit = policy.limit
        if limit is None:
            return 0
        blocks = self._so_far(key, limit) + 1 if blocked else 0
        if blocks <= limit.obeyed:
            self._counts[key] = _Count(blocks, self.ticks["turn"], self.ticks["call"])
        else:
            self._counts.pop(key, None)
        return blocks

    def _so_far(self, key: str, limit: Limit) -> int:
        count = self._counts.get(key)
        if count is None or count.turn != self.ticks["turn"]:
            return 0
        return 0 if limit.resets == "call" and count.call != self.ticks["call"] else count.blocks


def _note(policy: Policy, limit: Limit, blocks: int) -> Outcome:
    text = f"{policy.event_name} blocked {blocks} times in a row"
    if limit.then == "end_turn":
        return Outcome(halts=(Halt(text),), messages=(Message(f"{text}: the turn ends"),), limit_reached=True)
    return Outcome(messages=(Message(f"{text}: not obeyed this time"),), limit_reached=True)


def _overruled(limit: Limit, outcome: Outcome) -> Outcome:
    """The outcome without the blocks that are not obeyed; where the turn ends instead, they stay."""
    if limit.then == "end_turn":
        return outcome
    blockers = {vote.by for vote in outcome.votes if vote.kind == "block"}
    texts = outcome.context_items
    return replace(
        outcome,
        votes=tuple(vote for vote in outcome.votes if vote.kind != "block"),
        context_items=texts if limit.keeps_text else tuple(t for t in texts if t.hook not in blockers),
    )
