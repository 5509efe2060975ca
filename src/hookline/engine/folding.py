"""From what the hooks of one lane said to what the lane says."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.model.outcome import ContextItem, Edit, Outcome, edited, merged
from hookline.model.policy import Policy


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
