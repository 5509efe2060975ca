"""Decide which parts of one hook's answer apply.

The wire decodes a raw result into an outcome and possibly a failure; `judge` applies the reaction to a
failure and keeps what event and policy allow. `applied` says whether the rest has an
effect or is only recorded: in shadow mode, or while a person has paused the hook.
"""

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.prepared_hook import PreparedHook
from hookline.model.events import Capability
from hookline.model.hook import Hook, withholds
from hookline.model.outcome import PASS, Message, Outcome, Rewrite, Vote, has_only_votes, only_vote
from hookline.model.policy import Cause, Reaction
from hookline.model.raw import Failed, RawResult, first_line
from hookline.model.read_only import changeable
from hookline.model.run import RunMode, Status
from hookline.model.safe_text import one_line
from hookline.model.wire import NOTHING_SAID, Decoded, HookInvocation

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.engine.dispatch import DispatchState

#: Columns that the user sees of an untrusted hook's words.
_MOST_WORDS = 500

#: Longer reasons are cut off when they are recorded, not when they are read.
_SHORT_REASON = 512

#: Bytes read of a broken hook's errors, of which the first line is shown.
_LONGEST_STDERR = 4096

#: A failure's reason is shown before a denial's.
NO_ANSWER_RANK = 9

_STATUS: dict[Cause, Status] = {
    "not_started": "not_started",
    "timed_out": "timed_out",
    "cancelled": "cancelled",
}


class Judgement(Struct, frozen=True):
    """The parts of one hook's answer that apply."""

    outcome: Outcome = PASS
    status: Status = "ok"
    failure: Failed | None = None
    dropped: tuple[str, ...] = ()
    failed_open: bool = False
    #: The hook failed, and its failure stops the action; or the lane, where there is no action to stop.
    failed_closed: bool = False
    #: The record is small, so it may be made later.
    brief: bool = False


PASSED = Judgement(brief=True)
IN_BACKGROUND = Judgement(status="background")
#: The status of a background hook that was to run after another one which ended the lane.
SKIPPED = Judgement(status="skipped", failure=Failed("not_started", "an earlier hook ended the lane"))
CANCELLED = Judgement(status="cancelled", failure=Failed("cancelled", "the dispatch was cancelled"))


class Refused(Failed, frozen=True):
    """Admission refused the hook. This is not a failure of the hook, so its failure reaction does not apply."""

    instead: Outcome = PASS


class Lapsed(Failed, frozen=True):
    """The signed bundle of a guard has expired. The guard fails closed, whatever its failure reaction is."""


class Skipped(Failed, frozen=True):
    """A person ended the hook while it ran, so it has no say, and its failure reaction does not apply."""


class Unsure(Failed, frozen=True):
    """A match in doubt, so the user is asked instead of the hook."""


def decode_and_judge(
    state: "DispatchState", prepared: PreparedHook, call: HookInvocation, raw: RawResult
) -> Judgement:
    """Let the wire decode a raw result, and judge which parts of it apply."""
    if type(raw) is Refused or type(raw) is Unsure or type(raw) is Lapsed or type(raw) is Skipped:
        return _instead_of(prepared, call, raw)
    try:
        decoded = prepared.decode(call, raw)
    except Exception as problem:  # noqa: BLE001 a wire may come from the host
        from hookline.handlers.failures import broken_by  # noqa: PLC0415 only where a hook has failed

        decoded = Decoded(failure=broken_by(problem, "unreadable"))
    if decoded is NOTHING_SAID:
        return PASSED
    if decoded.failure is not None:
        decoded = replace(decoded, failure=_without_secrets(state, decoded.failure))
    judged = judge(prepared, decoded, attended=state.session.info.attended)
    if call.only_tightens or call.match_doubt or prepared.hook.kind == "builtin":
        judged = _what_counts(prepared, call, judged)
    if call.checked is not None and judged.outcome.edits:
        outcome = call.checked(judged.outcome, prepared.hook, state.event)
        if outcome is not judged.outcome:
            judged = replace(judged, outcome=outcome, status="blocked")
    return judged


def _without_secrets(state: "DispatchState", failure: Failed) -> Failed:
    """Redact the parts of a failure that the model and the user may read: hooks print anything when they
    break."""
    redact = state.session.engine.journal.without_secrets
    stderr = redact(failure.stderr[:_LONGEST_STDERR].decode("utf-8", "replace"))
    return replace(redact(failure), stderr=stderr.encode())


# Hooks whose answer applies only in part: refused or untrusted ones, those in doubt, builtins that allow


def _instead_of(
    prepared: PreparedHook, call: HookInvocation, raw: Refused | Unsure | Lapsed | Skipped
) -> Judgement:
    """Return the judgement of a hook that was not run, or not to its end."""
    if isinstance(raw, Skipped):
        return Judgement(status="skipped", failure=raw)
    if isinstance(raw, Refused):
        return _refused(prepared, raw)
    if isinstance(raw, Lapsed):
        closed = judge(prepared, Decoded(Outcome(votes=(Vote("block", raw.detail),))), attended=True)
        return Judgement(closed.outcome, "not_started", raw, closed.dropped, failed_closed=True)
    return _what_counts(prepared, call, _asked_instead(prepared))


def _what_counts(prepared: PreparedHook, call: HookInvocation, judged: Judgement) -> Judgement:
    """Return the parts of an answer that apply in this call."""
    if judged.outcome.votes:
        if prepared.hook.kind == "builtin":
            judged = _without_loose_allow(judged, call)
        if call.match_doubt:
            judged = _doubted(judged, one_line(call.match_doubt, _MOST_WORDS))
    return _tightened(prepared, judged) if call.only_tightens else judged


def _asked_instead(prepared: PreparedHook) -> Judgement:
    """Ask, as a failure that asks does: a denial where nothing can be asked."""
    hook, kind = prepared.hook, "ask" if Capability.PERMIT & prepared.may else "block"
    outcome = attributed(hook, Outcome(votes=(Vote(kind, f"hook {hook.name} may be about this"),)))
    return Judgement(outcome, "blocked" if outcome.blocked else "ok")


def _without_loose_allow(judged: Judgement, call: HookInvocation) -> Judgement:
    """Drop the allow of a builtin for a call that is more than its rule: it has not read the call."""
    condition = call.hook.condition
    votes = tuple(vote for vote in judged.outcome.votes if vote.kind != "allow")
    if condition is None or len(votes) == len(judged.outcome.votes):
        return judged
    from hookline.matching.conditions import covers  # noqa: PLC0415 few builtins allow

    if covers(condition, call.event, call.payload, call.info):
        return judged
    outcome = replace(judged.outcome, votes=votes, permission_updates=())
    return replace(
        judged, outcome=outcome, dropped=(*judged.dropped, "allow (the call is more than its rule)")
    )


def _doubted(judged: Judgement, doubt: str) -> Judgement:
    """Add the doubt to the reasons."""
    votes = [vote if vote.kind == "allow" else _with_doubt(vote, doubt) for vote in judged.outcome.votes]
    return replace(judged, outcome=replace(judged.outcome, votes=tuple(votes)))


def _with_doubt(vote: Vote, doubt: str) -> Vote:
    reason = f"{vote.reason} (in doubt: {doubt})" if vote.reason else f"in doubt: {doubt}"
    return replace(vote, reason=reason)


def _refused(prepared: PreparedHook, raw: Refused) -> Judgement:
    """Judge an untrusted hook: it never decides; only a required hook blocks when it may not run."""
    hook, outcome = prepared.hook, raw.instead
    if hook.required or hook.scope == "managed":
        which = f"at {prepared.source}" if prepared.source else hook.name
        reason = f"the required hook {which} may not run: {raw.detail}"
        outcome = Outcome(votes=(Vote("block", reason),))
    judged = PASSED if outcome is PASS else judge(prepared, Decoded(outcome), attended=True)
    return Judgement(judged.outcome, "untrusted", raw, judged.dropped, failed_closed=judged.outcome.blocked)


def _tightened(prepared: PreparedHook, judged: Judgement) -> Judgement:
    """Keep what a hook that may only tighten can say. Its words are for the user: the model must not read
    them."""
    source = one_line(prepared.source or "a file of this project", 200)
    said = {
        "block": f"Denied by a rule of this project ({source}).",
        "ask": f"A rule of this project asks ({source}).",
    }
    votes = tuple(replace(vote, reason=said[vote.kind]) for vote in judged.outcome.votes if vote.kind in said)
    words = [vote.reason for vote in judged.outcome.votes if vote.reason and vote.kind in said]
    messages = tuple(
        Message(f"{source} says: {one_line(text, _MOST_WORDS)}", prepared.hook.name) for text in words
    )
    outcome = Outcome(votes=votes, messages=messages)
    dropped = (*judged.dropped, *(() if has_only_votes(judged.outcome) else ("everything but its decision",)))
    return replace(judged, outcome=outcome, dropped=dropped)


def judge(prepared: PreparedHook, decoded: Decoded, *, attended: bool) -> Judgement:
    """Apply the failure reaction, drop parts that are not allowed here, and put the hook's name on the rest."""
    failure, vote = decoded.failure, only_vote(decoded.outcome, prepared.may_bits)
    if vote is not None and failure is None and not decoded.ignored:
        means = vote.means or prepared.hook.policy.block_means
        outcome = Outcome((Vote(vote.kind, vote.reason, vote.rank, prepared.hook.name, means),))
        status: Status = "blocked" if vote.kind == "block" else "ok"
        return Judgement(outcome, status, brief=len(vote.reason) <= _SHORT_REASON)
    outcome, dropped = decoded.outcome.clipped(prepared.may) if decoded.outcome is not PASS else (PASS, ())
    if failure is None and dropped and prepared.hook.policy.on_clipped == "fail":
        failure = Failed("unreadable", f"it asked for {', '.join(dropped)}, which is not possible here")
    outcome = attributed(prepared.hook, outcome)
    if failure is None:
        status = "blocked" if outcome.blocked else "ok"
        return Judgement(outcome, status, None, (*dropped, *decoded.ignored))
    reaction = effective_reaction(prepared, failure.cause, attended=attended)
    if failure.engine_closed and prepared.hook.rewrites and withholds(prepared.hook):
        reaction = "block"
    return Judgement(
        outcome + _reaction_outcome(prepared, failure, reaction),
        _STATUS.get(failure.cause, "failed"),
        failure,
        (*dropped, *decoded.ignored),
        failed_open=reaction in ("pass", "warn") and not outcome.votes,
        failed_closed=reaction == "block" or prepared.hook.reaction(failure.cause) == "block",
    )


def effective_reaction(prepared: PreparedHook, cause: Cause, *, attended: bool) -> Reaction:
    """Return what a failure does here: without a user, an ask is a block; where nothing can be blocked, a
    warning."""
    reaction = prepared.hook.reaction(cause)
    if reaction == "ask" and not (attended and Capability.PERMIT & prepared.may):
        reaction = "block"
    if reaction == "block" and not (Capability.BLOCK & prepared.may or withholds(prepared.hook)):
        reaction = "warn"
    return reaction


def _reaction_outcome(prepared: PreparedHook, failure: Failed, reaction: Reaction) -> Outcome:
    if reaction == "pass":
        return PASS
    hook = prepared.hook
    cause = failure.cause.replace("_", " ")
    continues = failure.detail.startswith(("after ", "by "))
    detail = f"{cause} {failure.detail}" if continues else failure.detail or cause
    text = failure.words or f"hook {hook.name} gave no answer: {detail}"
    line = first_line(failure.stderr)
    if line not in text:
        text = f"{text}: {line}"
    if reaction == "warn":
        return Outcome(messages=(Message(text, hook.name),))
    kind = "ask" if reaction == "ask" else "block"
    votes = (Vote(kind, text, NO_ANSWER_RANK, hook.name, hook.policy.block_means),)
    if not withholds(hook):
        return Outcome(votes=votes)
    neutral = f"(withheld: the hook {hook.name} gave no answer)"
    edit = Rewrite(neutral, by=hook.name, field=hook.event.rewrites or "")
    return Outcome(votes=votes if Capability.BLOCK & prepared.may else (), edits=(edit,))


def attributed(hook: Hook, outcome: Outcome) -> Outcome:
    """Put the hook's name on every part; text without a placement gets the one of the hook's policy."""
    if outcome is PASS:
        return outcome
    name, policy = hook.name, hook.policy
    changes: dict[str, Any] = {}
    if outcome.votes:
        changes["votes"] = tuple(
            Vote(vote.kind, vote.reason, vote.rank, name, vote.means or policy.block_means)
            for vote in outcome.votes
        )
    if outcome.edits:
        field = hook.event.rewrites or ""
        changes["edits"] = tuple(
            # A copy: parts of it may be read-only, or changed by the function that returned it.
            replace(edit, by=name, field=edit.field or field, value=changeable(edit.value))
            for edit in outcome.edits
        )
    if outcome.context_items:
        changes["context_items"] = tuple(
            replace(
                item,
                hook=name,
                placement=item.placement or policy.placement,
                lifetime=item.lifetime or policy.lifetime,
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
        changes["answers"] = tuple(
            replace(answer, by=name, value=changeable(answer.value)) for answer in outcome.answers
        )
    return replace(outcome, **changes) if changes else outcome


# Answers that are only recorded: in shadow mode, or while a person has paused the hook


class Pauses(Protocol):
    """The pauses of guards. Asked only when a hook of a file stops something: a call that passes costs nothing."""

    def is_paused(self, hook: Hook) -> bool: ...

    def hint(self, hook: Hook) -> str:
        """Return how a person can pause the hook; empty if nobody can."""
        ...


def applied(hook: Hook, judged: Judgement, engine: "Engine") -> tuple[RunMode, Outcome]:
    """Return the mode in which a hook has answered, and the part of its answer that has an effect.

    A denial says how a person can pause its guard.
    """
    if hook.mode != "enforce":
        return hook.mode, PASS
    outcome = judged.outcome
    # Only an entry of a file can be paused, and only a hook that stops something needs to know.
    pauses = engine.pauses if hook.where.file and (judged.failed_closed or _stops(outcome)) else None
    if pauses is None:
        return "enforce", outcome
    if pauses.is_paused(hook):
        return "paused", PASS
    if not outcome.blocked or not (hint := pauses.hint(hook)):
        return "enforce", outcome
    votes = tuple(
        replace(vote, reason=f"{vote.reason} {hint}".lstrip()) if vote.kind == "block" else vote
        for vote in outcome.votes
    )
    return "enforce", replace(outcome, votes=votes)


def _stops(outcome: Outcome) -> bool:
    return bool(outcome.halts) or any(vote.kind != "allow" for vote in outcome.votes)
