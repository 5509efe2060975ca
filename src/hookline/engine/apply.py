"""Apply the answer of a hook, or only record it: in shadow mode, or while a person has paused the hook."""

from typing import Protocol

from msgspec.structs import replace

from hookline.engine.judge import Judgement
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Outcome
from hookline.model.run import RunMode


class Pauses(Protocol):
    """The pauses of guards. Asked only when a hook stops something, so a call that passes costs nothing."""

    def is_paused(self, hook: Hook) -> bool: ...

    def hint(self, hook: Hook) -> str:
        """Return how a person can pause the hook; empty if nobody can."""
        ...


def applied_mode(hook: Hook, judged: Judgement, pauses: Pauses | None) -> RunMode:
    """Return the mode in which a hook has answered."""
    if hook.mode != "enforce" or pauses is None or not _stops(judged):
        return hook.mode
    return "paused" if pauses.is_paused(hook) else "enforce"


def applied_outcome(hook: Hook, judged: Judgement, mode: RunMode, pauses: Pauses | None) -> Outcome:
    """Return the part of an answer that has an effect; a denial says how a person can pause its guard."""
    if mode != "enforce":
        return PASS
    outcome = judged.outcome
    if pauses is None or not outcome.blocked or not (hint := pauses.hint(hook)):
        return outcome
    votes = tuple(
        replace(vote, reason=f"{vote.reason} {hint}".lstrip()) if vote.kind == "block" else vote
        for vote in outcome.votes
    )
    return replace(outcome, votes=votes)


def _stops(judged: Judgement) -> bool:
    outcome = judged.outcome
    if outcome is PASS:
        return judged.failed_closed
    return judged.failed_closed or bool(outcome.halts) or any(vote.kind != "allow" for vote in outcome.votes)
