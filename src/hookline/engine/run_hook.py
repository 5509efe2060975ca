"""One hook is asked: run under its deadline, understood, judged, and recorded."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter, time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.inbox import Late
from hookline.engine.lanes import Armed
from hookline.engine.moment import Moment, Said
from hookline.handlers.deadline import bounded
from hookline.handlers.registry import Handler
from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Message, Outcome, Vote, has_only_votes
from hookline.model.policy import Cause, Reaction
from hookline.model.raw import Broke, Detached, Exited, RawResult, Replied, Returned
from hookline.model.run import Run, Status
from hookline.model.wire import NOTHING_SAID, Call, Decoded

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


class Refused(Broke, frozen=True):
    """The trust seam said no. Not a failure of the hook, so its failure reaction is not asked."""


async def attempt(moment: Moment, armed: Armed, call: Call) -> RawResult:
    """The raw result, whatever happens. Only cancellation is raised."""
    if armed.hook.broken is not None:
        return Broke("not_started", armed.hook.broken)
    if armed.handler is None:
        return Broke("not_started", f"there is no handler for type {armed.hook.kind!r}")
    if moment.session.engine.closed:
        return Broke("not_started", "the engine is closed")
    try:
        return await _admitted(moment, armed, armed.handler, call)
    except BaseException as problem:  # noqa: BLE001 nothing raises out of dispatch but cancellation
        return _broke(problem, call)


def _broke(problem: BaseException, call: Call) -> Broke:
    """What went wrong as a fact; only what the host itself asked for is raised again."""
    if isinstance(problem, TimeoutError):
        notes = "".join(f"; {why}" for why in problem.args if why)
        return Broke("timed_out", f"no answer within {call.timeout:g} s{notes}")
    if isinstance(problem, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise problem
        # Nobody called this dispatch off: the hook awaited something that somebody else had cancelled.
        return Broke("crashed", f"CancelledError: {problem}".rstrip(": "))
    if isinstance(problem, KeyboardInterrupt | GeneratorExit):
        raise problem
    return Broke("not_started", f"{type(problem).__name__}: {problem}")


async def _admitted(moment: Moment, armed: Armed, handler: Handler, call: Call) -> RawResult:
    admission = moment.session.engine.admit(armed.hook)
    if not admission.admitted:
        return Refused("not_started", admission.reason)
    call.script = admission.script
    if handler.own_clock:
        return await handler.run(call)
    return await bounded(handler.run(call), call.timeout)


#: Answers longer than this are read in a thread: the loop has other hooks and the host to serve.
_LONG = 64 * 1024


def is_long(raw: RawResult) -> bool:
    if type(raw) is Returned:
        return False
    return (
        len(raw.stdout) > _LONG
        if isinstance(raw, Exited)
        else isinstance(raw, Replied) and len(raw.body) > _LONG
    )


def understand(moment: Moment, armed: Armed, call: Call, raw: RawResult) -> Judged:
    """What a raw result says, and what counts of it."""
    if type(raw) is Refused:
        return _refused(armed, raw)
    try:
        decoded = armed.hook.wire.decode(call, raw)
    except Exception as problem:  # noqa: BLE001 a wire may be anybody's code
        decoded = Decoded(failure=Broke("unreadable", f"{type(problem).__name__}: {problem}"))
    return judge(armed, decoded, attended=moment.session.scene.attended)


def _refused(armed: Armed, raw: Broke) -> Judged:
    """An untrusted hook never decides; only one that must run closes the way when it may not."""
    hook = armed.hook
    judged = PASSED
    if hook.required or hook.scope == "managed":
        reason = f"required hook {hook.name} may not run: {raw.detail}"
        judged = judge(armed, Decoded(Outcome(votes=(Vote("block", reason),))), attended=True)
    return Judged(judged.outcome, "untrusted", raw, judged.dropped, closed=judged.outcome.blocked)


def record(
    moment: Moment,
    armed: Armed,
    call: Call,
    raw: RawResult | None,
    judged: Judged,
    started: float,
    *,
    recheck: bool = False,
) -> None:
    """Tell the journal. `started` is a reading of perf_counter; time spent waiting for a slot is told apart."""
    hook, scene = armed.hook, moment.session.scene
    facts = _raw_facts(raw)
    if judged.status != "ok" or judged.outcome.votes or judged.dropped:
        facts |= _verdict(judged)
    moment.session.engine.journal.record(
        Run(
            hook=hook.name,
            source=armed.source,
            dialect=hook.dialect,
            type=hook.kind,
            status=judged.status,
            mode=hook.mode,
            recheck=recheck,
            duration_ms=(perf_counter() - started) * 1e3 - facts.get("queue_ms", 0.0),
            event=hook.event.name,
            spelled=hook.policy.event_name,
            session=scene.session_id,
            agent=scene.agent_id,
            run_id=call.run_id,
            at=time(),
            **facts,
        )
    )


def _verdict(judged: Judged) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "dropped": judged.dropped,
        "passed_without_answer": judged.passed_without_answer,
    }
    vote = judged.outcome.deciding_vote
    if vote is not None:
        facts["decision"], facts["reason"] = (
            "deny" if vote.kind == "block" else vote.kind,
            vote.reason or None,
        )
    if judged.failure is not None:
        facts["detail"] = judged.failure.detail
        facts["cause"] = None if judged.status == "untrusted" else judged.failure.cause
    return facts


def _raw_facts(raw: RawResult | None) -> dict[str, Any]:
    if raw is None or type(raw) is Returned:  # by far the most common
        return {}
    if isinstance(raw, Exited):
        return _process_facts(raw) | {"exit_code": raw.code}
    if isinstance(raw, Broke):
        return _process_facts(raw) | {"exit_code": raw.exit_code, "signal": raw.signal}
    if isinstance(raw, Replied):
        return {"stdout": raw.body.decode("utf-8", "replace"), "truncated": raw.truncated}
    return {}


def _process_facts(raw: Exited | Broke) -> dict[str, Any]:
    return {
        "queue_ms": raw.queue_ms,
        "stdout": raw.stdout.decode("utf-8", "replace"),
        "stderr": raw.stderr.decode("utf-8", "replace"),
        "truncated": raw.truncated,
    }


class Admission(Struct, frozen=True):
    """Admitted with what to run, or refused. Refusal is a status of the hook, never a failure of it."""

    admitted: bool = True
    reason: str = ""
    #: The very bytes that were vetted, to run in place of whatever stands on disk now.
    script: bytes | None = None


Admit = Callable[[Hook], Admission]

ADMITTED = Admission()


def admit_all(_hook: Hook) -> Admission:
    """Every hook is admitted, as it is configured."""
    return ADMITTED


def detach(moment: Moment, armed: Armed, call: Call) -> None:
    """Start a hook in the background. Two records carry its run id: detached now, the end later."""
    background, started = moment.session.engine.background, perf_counter()
    if background.full:
        why = "the engine is closed" if background.closed else "too many hooks are running in the background"
        raw = Broke("not_started", why)
        record(moment, armed, call, raw, understand(moment, armed, call, raw), started)
        return
    record(moment, armed, call, None, DETACHED, started)
    _expect(moment, armed)
    background.start(_run(moment, armed, call))


def detach_in_order(
    moment: Moment, hooks: Sequence[tuple[Armed, Call]], ends_lane: Callable[[Armed, Judged], bool]
) -> None:
    """Start hooks in the background, one after another. One that ends the lane keeps the others from running."""
    if len(hooks) < 2 or moment.session.engine.background.full:
        for armed, call in hooks:
            detach(moment, armed, call)
        return
    for armed, call in hooks:
        record(moment, armed, call, None, DETACHED, perf_counter())
        _expect(moment, armed)
    moment.session.engine.background.start(_run_in_order(moment, hooks, ends_lane))


async def _run_in_order(
    moment: Moment, hooks: Sequence[tuple[Armed, Call]], ends_lane: Callable[[Armed, Judged], bool]
) -> None:
    for place, (armed, call) in enumerate(hooks):
        try:
            judged = await _run(moment, armed, call)
        except asyncio.CancelledError:
            _leave_out(moment, hooks[place + 1 :], CANCELLED)
            raise
        if ends_lane(armed, judged):
            _leave_out(moment, hooks[place + 1 :], SKIPPED)
            return


def _leave_out(moment: Moment, hooks: Sequence[tuple[Armed, Call]], why: Judged) -> None:
    for armed, call in hooks:
        record(moment, armed, call, None, why, perf_counter())
        _settle(moment, armed)


def _expect(moment: Moment, armed: Armed) -> None:
    if armed.hook.waiting == "rewake":
        moment.session.inbox.await_wake()


def _settle(moment: Moment, armed: Armed) -> None:
    if armed.hook.waiting == "rewake":
        moment.session.inbox.wake_settled()


async def _run(moment: Moment, armed: Armed, call: Call) -> Judged:
    status = moment.session.engine.status
    running = status.started(call.run_id, armed.hook)
    try:
        return await hear(moment, armed, call, attempt(moment, armed, call), perf_counter())
    finally:
        status.ended(running)
        _settle(moment, armed)


async def hear(
    moment: Moment, armed: Armed, call: Call, rest: Awaitable[RawResult], started: float
) -> Judged:
    """Wait for the end of a detached hook and pass its word on."""
    try:
        raw = await rest
        if isinstance(raw, Detached):  # it asked to be detached and was already
            raw = await raw.rest
    except asyncio.CancelledError:
        record(moment, armed, call, Broke("cancelled"), CANCELLED, started)
        raise
    judged = understand(moment, armed, call, raw)
    unheard = _deliver(moment, armed, call, judged)
    record(moment, armed, call, raw, replace(judged, dropped=(*judged.dropped, *unheard)), started)
    return judged


def _deliver(moment: Moment, armed: Armed, call: Call, judged: Judged) -> tuple[str, ...]:
    """Put late words into the inbox; say what came too late to count."""
    hook, inbox = armed.hook, moment.session.inbox
    outcome = judged.outcome if hook.mode == "enforce" else GO_ON
    about: dict[str, Any] = {
        "hook": hook.name,
        "type": hook.kind,
        "source": armed.source,
        "event": hook.policy.event_name,
        "run_id": call.run_id,
    }
    unheard: list[str] = []
    # A hook that could not start has found nothing: only its own word wakes the agent.
    if outcome.blocked and hook.waiting == "rewake" and judged.failure is None:
        inbox.put(Late(kind="wake", text=outcome.reason or "", **about))
    elif outcome.votes:
        unheard.append("a decision nobody waited for")
    if outcome.context_items and hook.policy.late == "discard":
        unheard.append("context")
    else:
        for item in outcome.context_items:
            inbox.put(
                Late(kind="context", text=item.text, placement=item.placement, lives=item.lives, **about)
            )
    for message in outcome.messages:
        inbox.put(Late(kind="message", text=message.text, **about))
    if outcome.watch_paths:
        inbox.put(Late(kind="watch", paths=outcome.watch_paths, **about))
    if outcome.edits:
        unheard.append("rewrite")
    return tuple(unheard)


async def ask(
    moment: Moment, armed: Armed, payload: Any, *, timeout: float | None = None, recheck: bool = False
) -> Said:
    """Run one hook and wait for its word."""
    engine, hook, started = moment.session.engine, armed.hook, perf_counter()
    call = call_for(moment, armed, payload, timeout)
    running = engine.status.started(call.run_id, hook)
    try:
        raw = await attempt(moment, armed, call)
        if isinstance(raw, Detached):
            judged = DETACHED
            engine.background.adopt(hear(moment, armed, call, raw.rest, started))
        elif is_long(raw):
            judged = await asyncio.to_thread(understand, moment, armed, call, raw)
        else:
            judged = understand(moment, armed, call, raw)
    except asyncio.CancelledError:
        record(moment, armed, call, Broke("cancelled"), CANCELLED, started, recheck=recheck)
        raise
    finally:
        engine.status.ended(running)
    record(moment, armed, call, raw, judged, started, recheck=recheck)
    if hook.mode == "shadow":  # run and recorded, never applied
        return Said(armed, GO_ON, payload)
    return Said(armed, judged.outcome, payload, judged.closed)


def call_for(moment: Moment, armed: Armed, payload: Any, timeout: float | None = None) -> Call:
    session, hook = moment.session, armed.hook
    return Call(
        hook=hook,
        event=moment.event,
        payload=payload,
        scene=session.scene,
        timeout=hook.timeout if timeout is None else min(timeout, hook.timeout),
        run_id=session.engine.next_run_id(),
    )
