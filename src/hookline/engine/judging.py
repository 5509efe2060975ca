"""From what one hook said to what counts of it: failure reaction, clipping, and who said it."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.lanes import Armed
from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Message, Outcome, Vote, has_only_votes
from hookline.model.policy import Cause, Reaction
from hookline.model.raw import Broke
from hookline.model.run import Status
from hookline.model.wire import NOTHING_SAID, Decoded

#: A hook that gave no answer outranks one that said no: its reason is the one to read.
_NO_ANSWER_RANK = 9

_STATUS: dict[Cause, Status] = {
    "not_started": "not_started",
    "timed_out": "timed_out",
    "cancelled": "cancelled",
}


class Judged(Struct, frozen=True):
    """What one hook said, as it counts."""

    outcome: Outcome = GO_ON
    status: Status = "ok"
    failure: Broke | None = None
    dropped: tuple[str, ...] = ()
    passed_without_answer: bool = False
    #: It failed, and its failure stops the action; or the lane, where there is no action to stop.
    closed: bool = False


PASSED = Judged()
DETACHED = Judged(status="detached")
#: It was to run in the background after another hook, and that one ended the lane.
SKIPPED = Judged(
    status="skipped", failure=Broke("not_started", "an earlier hook failed and lets none run after it")
)
CANCELLED = Judged(status="cancelled", failure=Broke("cancelled", "the dispatch was cancelled"))


def judge(armed: Armed, decoded: Decoded, *, attended: bool) -> Judged:
    """Apply the failure reaction, drop what may not be done here, and sign the rest."""
    if decoded is NOTHING_SAID:
        return PASSED
    outcome, dropped = decoded.outcome.clipped(armed.may) if decoded.outcome is not GO_ON else (GO_ON, ())
    failure = decoded.failure
    if failure is None and dropped and armed.hook.policy.on_clipped == "fail":
        failure = Broke("unreadable", f"it asked for {', '.join(dropped)}, which is not possible here")
    outcome = _signed(armed.hook, outcome)
    if failure is None:
        status: Status = "blocked" if outcome.blocked else "ok"
        return Judged(outcome, status, None, (*dropped, *decoded.ignored))
    reaction = effective_reaction(armed, failure.cause, attended=attended)
    reacted = _reacted(armed.hook, failure, reaction)
    return Judged(
        outcome + reacted,
        _STATUS.get(failure.cause, "failed"),
        failure,
        (*dropped, *decoded.ignored),
        passed_without_answer=reaction in ("pass", "warn") and not outcome.votes,
        closed=reaction == "block" or armed.hook.reaction(failure.cause) == "block",
    )


def effective_reaction(armed: Armed, cause: Cause, *, attended: bool) -> Reaction:
    """What a failure does here: an ask nobody can answer is a block, and an observer cannot block."""
    reaction = armed.hook.reaction(cause)
    if reaction == "ask" and not (attended and May.PERMIT & armed.may):
        reaction = "block"
    if reaction == "block" and not May.BLOCK & armed.may:
        reaction = "warn"
    return reaction


def _reacted(hook: Hook, failure: Broke, reaction: Reaction) -> Outcome:
    if reaction == "pass":
        return GO_ON
    said = (
        failure.words
        or f"hook {hook.name} gave no answer: {failure.detail or failure.cause.replace('_', ' ')}"
    )
    if reaction == "warn":
        return Outcome(messages=(Message(said, hook.name),))
    kind = "ask" if reaction == "ask" else "block"
    means = hook.policy.block_means
    return Outcome(votes=(Vote(kind, said, _NO_ANSWER_RANK, hook.name, means),))


def _signed(hook: Hook, outcome: Outcome) -> Outcome:
    """Every part says who said it; text without a place gets the one its policy has for it."""
    if outcome is GO_ON:
        return outcome
    name, policy = hook.name, hook.policy
    changes: dict[str, Any] = {}
    if outcome.votes:
        changes["votes"] = tuple(
            Vote(vote.kind, vote.reason, vote.rank, name, vote.means or policy.block_means)
            for vote in outcome.votes
        )
        if has_only_votes(outcome):
            return replace(outcome, **changes)
    if outcome.edits:
        field = hook.event.rewrites or ""
        changes["edits"] = tuple(replace(edit, by=name, field=edit.field or field) for edit in outcome.edits)
    if outcome.context_items:
        changes["context_items"] = tuple(
            replace(
                item,
                hook=name,
                placement=item.placement or policy.placement,
                lives=item.lives or policy.lives,
            )
            for item in outcome.context_items
        )
    if outcome.messages:
        changes["messages"] = tuple(replace(message, hook=name) for message in outcome.messages)
    if outcome.halts:
        changes["halts"] = tuple(replace(halt, by=name) for halt in outcome.halts)
    if outcome.permission_updates:
        changes["permission_updates"] = tuple(replace(u, by=name) for u in outcome.permission_updates)
    if outcome.answers:
        changes["answers"] = tuple(replace(answer, by=name) for answer in outcome.answers)
    return replace(outcome, **changes) if changes else outcome
