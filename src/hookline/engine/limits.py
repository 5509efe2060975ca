"""How often in a row hooks may hold an agent back before the agent goes on without them."""

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.outcome import Halt, Message, Outcome
from hookline.model.policy import Limit, Policy


class _Count(Struct, frozen=True):
    blocks: int = 0
    turn: int = 0
    call: int = 0


class BlockCounts:
    """Consecutive blocks per policy, for one session. A new turn, or a tool call, may start the count anew."""

    def __init__(self) -> None:
        self.turn = 0
        self.call = 0
        self._counts: dict[str, _Count] = {}

    def tick(self, what: str) -> None:
        if what == "turn":
            self.turn += 1
        else:
            self.call += 1

    def clear(self) -> None:
        self._counts.clear()

    def judge(self, dialect: str, policy: Policy, outcome: Outcome) -> Outcome:
        """The outcome as the limit of this policy lets it stand."""
        limit = policy.limit
        if limit is None:
            return outcome
        key = f"{dialect}:{policy.spelled}"
        blocks = self._so_far(key, limit) + 1 if outcome.blocked else 0
        if blocks <= limit.obeyed:
            self._counts[key] = _Count(blocks, self.turn, self.call)
            return outcome
        self._counts.pop(key, None)
        return _overruled(policy, limit, outcome, blocks)

    def _so_far(self, key: str, limit: Limit) -> int:
        count = self._counts.get(key)
        if count is None or count.turn != self.turn or (limit.resets == "call" and count.call != self.call):
            return 0
        return count.blocks


def _overruled(policy: Policy, limit: Limit, outcome: Outcome, blocks: int) -> Outcome:
    note = f"{policy.spelled} blocked {blocks} times in a row"
    if limit.then == "end_turn":
        return replace(
            outcome,
            halts=(*outcome.halts, Halt(note)),
            messages=(*outcome.messages, Message(f"{note}: the turn ends")),
            limit_reached=True,
        )
    blockers = {vote.by for vote in outcome.votes if vote.kind == "block"}
    texts = outcome.context_items
    return replace(
        outcome,
        votes=tuple(vote for vote in outcome.votes if vote.kind != "block"),
        context_items=texts if limit.keeps_text else tuple(t for t in texts if t.hook not in blockers),
        messages=(*outcome.messages, Message(f"{note}: not obeyed this time")),
        limit_reached=True,
    )
