"""One hook: admitted, run under its deadline, judged (`judge`) and recorded."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic, perf_counter, time
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.engine.judge import (
    CANCELLED,
    DETACHED,
    PASSED,
    Judgement,
    Lapsed,
    Refused,
    Unsure,
    attributed,
    decode_and_judge,
)
from hookline.engine.lanes import PreparedHook, begin_by
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Outcome, Vote
from hookline.model.raw import RETURNED_NOTHING, Broke, Detached, Exited, RawResult, Replied, Returned
from hookline.model.run import Run
from hookline.model.scene import Scene
from hookline.model.wire import Call

if TYPE_CHECKING:
    from hookline.engine.dispatch import DispatchState
    from hookline.engine.told_calls import ToldCall

#: Answers longer than this are decoded in a thread, so that they do not hold up the event loop.
_LONG = 64 * 1024


#: Seconds that an async function may keep the event loop from everything else before its host is told.
BLOCKS_LOOP = 0.25


class Admission(Struct, frozen=True):
    """Whether a hook may run, and what exactly is run. A refusal is a status of the hook, not a failure."""

    admitted: bool = True
    reason: str = ""
    #: Texts of its command that name files, and the bytes that were vetted: they are used instead of what is on disk.
    files: Mapping[str, bytes] = {}
    #: Only its denials and questions count, with a fixed reason: its words must not reach the model.
    only_tightens: bool = False
    #: What counts in place of the answer of a hook that was refused.
    instead: Outcome = GO_ON


Admit = Callable[[Hook, Scene], Admission]

ADMITTED = Admission()


def admit_all(_hook: Hook, _scene: Scene) -> Admission:
    """Every hook is admitted, as it is configured."""
    return ADMITTED


class HookAnswer(Struct, frozen=True):
    """One hook's answer as it counts, and the payload it judged."""

    prepared: PreparedHook
    outcome: Outcome
    payload: Any
    #: It failed, and that failure stops the action.
    failed_closed: bool = False


#: A hook that has made its first step: its answer, or the rest, which is to be awaited at once and in the same task.
Begun = HookAnswer | Coroutine[Any, Any, HookAnswer]


def begin_hook(
    state: "DispatchState",
    prepared: PreparedHook,
    payload: Any,
    timeout: float | None = None,
    recheck: bool = False,
) -> Begun:
    """Begin one hook. What ends in its first step, as most functions do, costs neither a task nor a timer."""
    hook = prepared.hook
    if hook.as_called or hook.broken is not None or prepared.is_told_as_called(payload, state.session):
        call = call_for(state, prepared, payload, timeout)
        if recheck:
            call.recheck = True
        return _begin_call(state, prepared, call, payload)
    # It is asked about each act of the tool call that it is told.
    told_call = state.session.told_call(prepared, state.event, payload)
    return _begin_told(state, prepared, told_call, timeout, recheck)


async def answer_of(begin: Callable[..., Begun], *arguments: Any) -> HookAnswer:
    """Begin a hook in the task that awaits this, and wait for its answer."""
    begun = begin(*arguments)
    return begun if isinstance(begun, HookAnswer) else await begun


def _begin_told(
    state: "DispatchState",
    prepared: PreparedHook,
    told_call: "ToldCall",
    timeout: float | None,
    recheck: bool,
) -> Begun:
    """Ask about each act of a call; what ends in its first step, as guards do, costs no task here either."""
    calls = calls_about_acts(state, prepared, told_call, timeout)
    for told, call in zip(told_call.acts, calls, strict=True):
        call.recheck, call.checked = recheck, partial(told_call.checked, told)
    answers: list[HookAnswer] = []
    for call in calls:
        begun = _begin_call(state, prepared, call, told_call.payload)
        if not isinstance(begun, HookAnswer):
            others = calls[len(answers) + 1 :]
            rest = [answer_of(_begin_call, state, prepared, other, told_call.payload) for other in others]
            return _finish_told(state, prepared, told_call, finish_all(answers, begun, rest))
        answers.append(begun)
    return _told_answer(state, prepared, told_call, answers)


async def _finish_told(
    state: "DispatchState",
    prepared: PreparedHook,
    told_call: "ToldCall",
    answers: Coroutine[Any, Any, list[HookAnswer]],
) -> HookAnswer:
    return _told_answer(state, prepared, told_call, await answers)


def _told_answer(
    state: "DispatchState", prepared: PreparedHook, told_call: "ToldCall", answers: Sequence[HookAnswer]
) -> HookAnswer:
    """One answer about a call, from the answers about its acts."""
    outcome = told_call.outcome(prepared.hook, state.event, [answer.outcome for answer in answers])
    failed_closed = any(answer.failed_closed for answer in answers)
    return HookAnswer(prepared, outcome, told_call.payload, failed_closed)


async def finish_all(
    answers: list[HookAnswer],
    first: Coroutine[Any, Any, HookAnswer],
    others: Iterable[Coroutine[Any, Any, HookAnswer]],
) -> list[HookAnswer]:
    """The first one in this task, where it has begun, and each of the others in one of its own."""
    tasks = [asyncio.ensure_future(other) for other in others]
    try:
        answers.append(await first)
        answers += await asyncio.gather(*tasks)
    except GeneratorExit:
        raise  # the loop is closed, and its tasks with it
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    return answers


def _begin_call(state: "DispatchState", prepared: PreparedHook, call: Call, payload: Any) -> Begun:
    if call.doubt and state.event.guard and prepared.can_block:
        return _refuse_doubt(state, prepared, call, payload)
    status = state.session.engine.status
    call.started = perf_counter()
    status.started(call)
    try:
        raw = begin_handler(state, prepared, call)
        if type(raw) is not Returned:
            return _finish_call(state, prepared, call, payload, raw)
        judged = PASSED if raw is RETURNED_NOTHING else decode_and_judge(state, prepared, call, raw)
    except BaseException as stopped:
        _stopped(state, prepared, call, stopped)
        raise
    status.ended(call)
    ended = perf_counter()
    record(state, prepared, call, raw, judged, ended)
    outcome = judged.outcome if prepared.hook.mode == "enforce" else GO_ON
    if ended - call.started > BLOCKS_LOOP:
        outcome += state.blocked_loop(prepared, ended - call.started)
    return HookAnswer(prepared, outcome, payload, judged.failed_closed)


async def _finish_call(
    state: "DispatchState",
    prepared: PreparedHook,
    call: Call,
    payload: Any,
    begun: RawResult | Coroutine[Any, Any, RawResult],
) -> HookAnswer:
    engine = state.session.engine
    try:
        raw = await begun if isinstance(begun, Coroutine) else begun
        if isinstance(raw, Detached):
            from hookline.engine.run_lane import finish_detached  # noqa: PLC0415 it knows this module

            judged = DETACHED
            engine.background.adopt(finish_detached(state, prepared, call, raw.rest), prepared.hook.name)
        elif _is_long(raw):
            judged = await asyncio.to_thread(decode_and_judge, state, prepared, call, raw)
        else:
            judged = decode_and_judge(state, prepared, call, raw)
    except BaseException as stopped:
        _stopped(state, prepared, call, stopped)
        raise
    engine.status.ended(call)
    record(state, prepared, call, raw, judged)
    shadow = prepared.hook.mode == "shadow"  # run and recorded, never applied
    outcome = GO_ON if shadow else judged.outcome
    if call.longest_step > BLOCKS_LOOP:
        outcome += state.blocked_loop(prepared, call.longest_step)
    return HookAnswer(prepared, outcome, payload, judged.failed_closed and not shadow)


def _stopped(state: "DispatchState", prepared: PreparedHook, call: Call, stopped: BaseException) -> None:
    state.session.engine.status.ended(call)
    if isinstance(stopped, asyncio.CancelledError | KeyboardInterrupt):
        record(state, prepared, call, Broke("cancelled"), CANCELLED)


def call_for(
    state: "DispatchState", prepared: PreparedHook, payload: Any, timeout: float | None = None
) -> Call:
    session, hook = state.session, prepared.hook
    limit = hook.timeout if timeout is None else min(timeout, hook.timeout)
    call = Call(hook, state.event, payload, session.scene, limit, session.engine.next_number())
    if prepared.doubt:
        call.match_doubt = prepared.doubt
    return call


def calls_about_acts(
    state: "DispatchState", prepared: PreparedHook, told_call: "ToldCall", timeout: float | None = None
) -> list[Call]:
    """A call for each act that the hook is told."""
    calls: list[Call] = []
    for told in told_call.acts:
        call = call_for(state, prepared, told.payload, timeout)
        call.scene, call.directory = told.scene, state.session.scene.cwd
        call.told_as, call.doubt = told.payload.tool_name, told.view.act.doubt
        call.match_doubt = told.doubt
        calls.append(call)
    return calls


def _refuse_doubt(state: "DispatchState", prepared: PreparedHook, call: Call, payload: Any) -> HookAnswer:
    """What a guard cannot be told it cannot judge, so the call is stopped."""
    reason = f"the call of {payload.tool_name} cannot be judged by {prepared.hook.name}: {call.doubt}"
    outcome = attributed(prepared.hook, Outcome(votes=(Vote("block", reason),)))
    record(state, prepared, call, None, Judgement(outcome, "blocked"))
    return HookAnswer(prepared, GO_ON if prepared.hook.mode == "shadow" else outcome, payload)


# From the hook to a raw result


def begin_handler(
    state: "DispatchState", prepared: PreparedHook, call: Call
) -> RawResult | Coroutine[Any, Any, RawResult]:
    """The raw result, or the rest of the handler's work, to be awaited. Of failures only cancellation is raised."""
    engine = state.session.engine
    if engine.closed:
        return Broke("not_started", "the engine is closed")
    if engine.breakers:
        from hookline.engine.breaker import refusal  # noqa: PLC0415 only where a hook has failed

        why = refusal(engine, prepared, call)
        if why is not None:
            return Broke("not_started", why)
    try:
        admit = state.session.admit or engine.admit
        admission = ADMITTED if admit is admit_all else admit(prepared.hook, call.scene)
        hook = prepared.hook
        if (
            admission is not ADMITTED
            or hook.broken is not None
            or call.match_doubt
            or hook.bundle is not None
        ):
            obstacle = _obstacle(prepared, call, admission)
            if obstacle is not None:
                return obstacle
        if prepared.in_process:
            call.payload = state.show(call.payload)
        shared = prepared.handler is None
        begun = (begin_by(engine.handlers.get(hook.kind)) if shared else prepared.begin)(call)
        return _rest_of_handler(begun, call) if isinstance(begun, CoroutineType) else begun
    except BaseException as problem:  # noqa: BLE001 nothing raises out of dispatch but cancellation
        return _broke(problem, call)


def _obstacle(prepared: PreparedHook, call: Call, admission: Admission) -> Broke | None:
    """Why the handler is not called."""
    bundle = prepared.hook.bundle
    if bundle is not None:
        lapse = bundle.lapse(time(), monotonic()) or ("" if admission.admitted else admission.reason)
        if lapse:
            # What guards nothing is only not run.
            return (Lapsed if prepared.hook.event.guard else Broke)("not_started", lapse)
    if not admission.admitted:
        return Refused("not_started", admission.reason, instead=admission.instead)
    call.files, call.only_tightens = admission.files, admission.only_tightens
    if prepared.hook.broken is not None:
        return Broke("not_started", prepared.hook.broken)
    return Unsure("not_started") if call.match_doubt and prepared.hook.asks_in_doubt else None


async def _rest_of_handler(rest: Coroutine[Any, Any, RawResult], call: Call) -> RawResult:
    try:
        return await rest
    except BaseException as problem:  # noqa: BLE001 nothing raises out of dispatch but cancellation
        return _broke(problem, call)


def _broke(problem: BaseException, call: Call) -> Broke:
    """An exception as a result with a cause; only what the host itself asked for is raised again."""
    from hookline.handlers.failures import broken_by  # noqa: PLC0415 only where a hook has failed

    if isinstance(problem, TimeoutError):
        notes = "".join(f"; {why}" for why in problem.args if why)
        return Broke("timed_out", f"no answer within {call.timeout:g} s{notes}")
    if isinstance(problem, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise problem
        # This dispatch was not cancelled: the hook awaited something that was.
        return broken_by(problem, "crashed")
    if isinstance(problem, KeyboardInterrupt | GeneratorExit):
        raise problem
    return broken_by(problem, "not_started")


def _is_long(raw: RawResult) -> bool:
    if type(raw) is Returned:
        return False
    return (
        len(raw.stdout) > _LONG
        if isinstance(raw, Exited)
        else isinstance(raw, Replied) and len(raw.body) > _LONG
    )


# The record of the run


def record(
    state: "DispatchState",
    prepared: PreparedHook,
    call: Call,
    raw: RawResult | None,
    judged: Judgement,
    ended: float | None = None,
) -> None:
    """Write the run to the journal. Waiting for a slot is not counted as its time."""
    session = state.session
    scene, engine, journal = session.scene, session.engine, session.engine.journal
    if judged.failure is not None or engine.breakers:
        from hookline.engine.breaker import note  # noqa: PLC0415 as above

        note(engine, prepared, call, judged)
    called = journal.called(state.payload, scene.project_dir or scene.cwd)
    noted = (
        prepared, judged, scene, called, call.number, call.match_doubt, call.told_as,
        call.started, perf_counter() if ended is None else ended, time(), call.recheck,
    )  # fmt: skip
    if judged.brief and type(raw) is Returned:
        journal.record_later(judged.status, _run, noted)
    else:
        journal.record(_run(noted, raw))


def _run(noted: tuple[Any, ...], raw: RawResult | None = None) -> Run:
    prepared, judged, scene, called, number, doubt, told_as, started, ended, at, recheck = noted
    hook, facts = prepared.hook, _raw_facts(raw)
    if judged.status != "ok" or judged.outcome.votes or judged.dropped:
        facts |= _judged_facts(judged)
    if scene.decision_id:
        facts.setdefault("decision_id", scene.decision_id)
    return Run(
        hook=hook.name,
        source=prepared.source,
        dialect=hook.dialect,
        type=hook.kind,
        status=judged.status,
        mode=hook.mode,
        recheck=recheck,
        duration_ms=(ended - started) * 1e3 - facts.get("queue_ms", 0.0),
        event=hook.event.name,
        spelled=hook.policy.event_name,
        session=scene.session_id,
        agent=scene.agent_id,
        told_as=told_as or None,
        doubt=doubt or None,
        run_id=str(number),
        at=at,
        call=called,
        **facts,
    )


def _judged_facts(judged: Judgement) -> dict[str, Any]:
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
        facts["detail"] = judged.failure.logged or judged.failure.detail
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
        facts = {"stdout": raw.body.decode("utf-8", "replace"), "truncated": raw.truncated}
        if raw.decision_id:
            facts |= {"decision_id": raw.decision_id, "repeated": raw.repeated}
        return facts
    return {}


def _process_facts(raw: Exited | Broke) -> dict[str, Any]:
    return {
        "queue_ms": raw.queue_ms,
        "warm": raw.warm,
        "stdout": raw.stdout.decode("utf-8", "replace"),
        "stderr": raw.stderr.decode("utf-8", "replace"),
        "truncated": raw.truncated,
    }
