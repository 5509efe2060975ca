"""Run one hook: admit it, run it under its deadline, judge it (`judge`) and record it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic, perf_counter, time
from types import CoroutineType
from typing import TYPE_CHECKING, Any
from weakref import ref

from msgspec import Struct

from hookline.engine.judge import (
    CANCELLED,
    IN_BACKGROUND,
    PASSED,
    Judgement,
    Lapsed,
    Refused,
    Skipped,
    Unsure,
    applied,
    attributed,
    decode_and_judge,
)
from hookline.engine.memory import translated_call
from hookline.engine.prepared_hook import PreparedHook, begin_by
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Outcome, Vote
from hookline.model.raw import RETURNED_NOTHING, Background, Exited, Failed, RawResult, Replied, Returned
from hookline.model.run import Run, RunMode
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.engine.dispatch import DispatchState
    from hookline.engine.translate_calls import TranslatedCall

#: Answers longer than this are decoded in a thread, so that they do not hold up the event loop.
_LONG = 64 * 1024


#: Seconds that an async function may block the event loop before its host gets a warning.
BLOCKS_LOOP = 0.25


class Admission(Struct, frozen=True):
    """The decision to run a hook, and what exactly is run. A refusal is a status of the hook, not a failure."""

    admitted: bool = True
    reason: str = ""
    #: Texts of its command that name files, and the bytes that were checked: they are used instead of those
    #: on disk.
    files: Mapping[str, bytes] = {}
    #: Only its denials and questions apply, with a fixed reason: its words must not reach the model.
    only_tightens: bool = False
    #: The outcome of a hook that was refused.
    instead: Outcome = PASS


Admit = Callable[[Hook, SessionInfo], Admission]

ADMITTED = Admission()


def admit_all(_hook: Hook, _info: SessionInfo) -> Admission:
    """Admit every hook, as it is configured."""
    return ADMITTED


class HookAnswer(Struct, frozen=True):
    """The parts of one hook's answer that apply, and the payload it judged."""

    prepared: PreparedHook
    outcome: Outcome
    payload: Any
    #: It failed, and that failure stops the action.
    failed_closed: bool = False


#: A hook after its first step: its answer, or the rest, to be awaited at once and in the same task.
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
    if prepared.followed is not None:
        return _begin_translated(state, prepared, prepared.followed, timeout, recheck)
    if hook.as_called or hook.broken is not None or prepared.is_unchanged(payload, state.session):
        call = call_for(state, prepared, payload, timeout)
        if recheck:
            call.recheck = True
        return _begin_call(state, prepared, call, payload)
    # A translated call is judged action by action.
    translated = translated_call(state.session, prepared, state.event, payload)
    return _begin_translated(state, prepared, translated, timeout, recheck)


async def answer_of(begin: Callable[..., Begun], *arguments: Any) -> HookAnswer:
    """Begin a hook in the awaiting task, and wait for its answer."""
    begun = begin(*arguments)
    return begun if isinstance(begun, HookAnswer) else await begun


def _begin_translated(
    state: "DispatchState",
    prepared: PreparedHook,
    translated_call: "TranslatedCall",
    timeout: float | None,
    recheck: bool,
) -> Begun:
    """Run the hook for each action of a call; what ends in its first step, as guards do, costs no task here
    either."""
    calls = calls_about_actions(state, prepared, translated_call, timeout)
    for translated, call in zip(translated_call.actions, calls, strict=True):
        call.recheck, call.checked = recheck, partial(translated_call.checked, translated)
    answers: list[HookAnswer] = []
    for call in calls:
        begun = _begin_call(state, prepared, call, translated_call.payload)
        if not isinstance(begun, HookAnswer):
            others = calls[len(answers) + 1 :]
            rest = [
                answer_of(_begin_call, state, prepared, other, translated_call.payload) for other in others
            ]
            return _finish_translated(state, prepared, translated_call, finish_all(answers, begun, rest))
        answers.append(begun)
    return _translated_answer(state, prepared, translated_call, answers)


async def _finish_translated(
    state: "DispatchState",
    prepared: PreparedHook,
    translated_call: "TranslatedCall",
    answers: Coroutine[Any, Any, list[HookAnswer]],
) -> HookAnswer:
    return _translated_answer(state, prepared, translated_call, await answers)


def _translated_answer(
    state: "DispatchState",
    prepared: PreparedHook,
    translated_call: "TranslatedCall",
    answers: Sequence[HookAnswer],
) -> HookAnswer:
    """Merge the answers about a call's actions into one answer about the call."""
    if len(answers) == 1 and answers[0].outcome is PASS and not answers[0].failed_closed:
        return answers[0]
    outcome = translated_call.outcome(prepared.hook, state.event, [answer.outcome for answer in answers])
    failed_closed = any(answer.failed_closed for answer in answers)
    return HookAnswer(prepared, outcome, translated_call.payload, failed_closed)


async def finish_all(
    answers: list[HookAnswer],
    first: Coroutine[Any, Any, HookAnswer],
    others: Iterable[Coroutine[Any, Any, HookAnswer]],
) -> list[HookAnswer]:
    """Finish the first one in this task, where it has begun, and each of the others in a new task."""
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


def _begin_call(state: "DispatchState", prepared: PreparedHook, call: HookInvocation, payload: Any) -> Begun:
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
    if judged is PASSED:
        record(state, prepared, call, raw, judged, ended)
        outcome, closed = PASS, False
    else:
        outcome, closed = apply_and_record(state, prepared, call, raw, judged, ended)
    if judged.dropped:
        outcome += state.had_no_effect(prepared, judged.dropped)
    if ended - call.started > BLOCKS_LOOP:
        outcome += state.blocked_loop(prepared, ended - call.started)
    return HookAnswer(prepared, outcome, payload, closed)


async def _finish_call(
    state: "DispatchState",
    prepared: PreparedHook,
    call: HookInvocation,
    payload: Any,
    begun: RawResult | Coroutine[Any, Any, RawResult],
) -> HookAnswer:
    engine = state.session.engine
    try:
        raw = await begun if isinstance(begun, Coroutine) else begun
        if isinstance(raw, Background):
            from hookline.engine.run_lane import finish_background  # noqa: PLC0415 it knows this module

            judged = IN_BACKGROUND
            engine.background.adopt(finish_background(state, prepared, call, raw.rest), prepared.hook.name)
        elif _is_long(raw):
            judged = await asyncio.to_thread(decode_and_judge, state, prepared, call, raw)
        else:
            judged = decode_and_judge(state, prepared, call, raw)
    except BaseException as stopped:
        _stopped(state, prepared, call, stopped)
        raise
    engine.status.ended(call)
    outcome, closed = apply_and_record(state, prepared, call, raw, judged)
    if judged.dropped:
        outcome += state.had_no_effect(prepared, judged.dropped)
    if call.longest_step > BLOCKS_LOOP:
        outcome += state.blocked_loop(prepared, call.longest_step)
    return HookAnswer(prepared, outcome, payload, closed)


def _stopped(
    state: "DispatchState", prepared: PreparedHook, call: HookInvocation, stopped: BaseException
) -> None:
    state.session.engine.status.ended(call)
    if isinstance(stopped, asyncio.CancelledError | KeyboardInterrupt):
        record(state, prepared, call, Failed("cancelled"), CANCELLED)


def call_for(
    state: "DispatchState", prepared: PreparedHook, payload: Any, timeout: float | None = None
) -> HookInvocation:
    session, hook = state.session, prepared.hook
    limit = hook.timeout if timeout is None else min(timeout, hook.timeout)
    call = HookInvocation(hook, state.event, payload, session.info, limit, state.memory.next_number())
    if prepared.doubt:
        call.match_doubt = prepared.doubt
    return call


def calls_about_actions(
    state: "DispatchState",
    prepared: PreparedHook,
    translated_call: "TranslatedCall",
    timeout: float | None = None,
) -> list[HookInvocation]:
    """Make a call for each translated action."""
    calls: list[HookInvocation] = []
    for translated in translated_call.actions:
        call = call_for(state, prepared, translated.payload, timeout)
        call.info, call.directory = translated.info, state.session.info.cwd
        call.translated_tool, call.doubt = translated.payload.tool_name, translated.view.action.doubt
        call.match_doubt = translated.doubt
        calls.append(call)
    return calls


def _refuse_doubt(
    state: "DispatchState", prepared: PreparedHook, call: HookInvocation, payload: Any
) -> HookAnswer:
    """Stop a call that cannot be translated: a guard could not judge it."""
    reason = f"the call of {payload.tool_name} cannot be judged by {prepared.hook.name}: {call.doubt}"
    outcome = attributed(prepared.hook, Outcome(votes=(Vote("block", reason),)))
    effect, _ = apply_and_record(state, prepared, call, None, Judgement(outcome, "blocked"))
    return HookAnswer(prepared, effect, payload)


# From the hook to a raw result


def begin_handler(
    state: "DispatchState", prepared: PreparedHook, call: HookInvocation
) -> RawResult | Coroutine[Any, Any, RawResult]:
    """Return the raw result, or the rest of the handler's work, to be awaited. Of failures only cancellation
    is raised."""
    engine = state.session.engine
    if engine.closed:
        return Failed("not_started", "the engine is closed", engine_closed=True)
    if state.memory.breakers:
        from hookline.engine.breaker import refusal  # noqa: PLC0415 only where a hook has failed

        why = refusal(engine, prepared, call)
        if why is not None:
            return Failed("not_started", why)
    try:
        admit = state.session.admit or engine.admit
        admission = ADMITTED if admit is admit_all else admit(prepared.hook, call.info)
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
        return _failed_by(problem, call)


def _obstacle(prepared: PreparedHook, call: HookInvocation, admission: Admission) -> Failed | None:
    """Return why the handler is not called, or None."""
    bundle = prepared.hook.bundle
    if bundle is not None:
        lapse = bundle.lapse(time(), monotonic()) or ("" if admission.admitted else admission.reason)
        if lapse:
            # A hook that is not a guard is just not run.
            return (Lapsed if prepared.hook.event.guard else Failed)("not_started", lapse)
    if not admission.admitted:
        return Refused("not_started", admission.reason, instead=admission.instead)
    call.files, call.only_tightens = admission.files, admission.only_tightens
    if prepared.hook.broken is not None:
        return Failed("not_started", prepared.hook.broken)
    return Unsure("not_started") if call.match_doubt and prepared.hook.asks_in_doubt else None


async def _rest_of_handler(rest: Coroutine[Any, Any, RawResult], call: HookInvocation) -> RawResult:
    task = asyncio.current_task()
    call.task = None if task is None else ref(task)
    try:
        raw = await rest
    except BaseException as problem:  # noqa: BLE001 nothing raises out of dispatch but cancellation
        if call.skipped and task is not None and not task.uncancel():
            return Skipped("cancelled", call.skipped)
        return _failed_by(problem, call)
    finally:
        call.task = None
    if call.skipped and task is not None:  # it ended all the same, but too late
        task.uncancel()
        return Skipped("cancelled", call.skipped)
    return raw


def _failed_by(problem: BaseException, call: HookInvocation) -> Failed:
    """Turn an exception into a result with a cause; only what the host asked for is raised again."""
    from hookline.handlers.failures import broken_by  # noqa: PLC0415 only where a hook has failed

    if isinstance(problem, TimeoutError):
        notes = "".join(f"; {why}" for why in problem.args if why)
        return Failed("timed_out", f"no answer within {call.timeout:g} s{notes}")
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


# The effect and the record of the run


def apply_and_record(
    state: "DispatchState",
    prepared: PreparedHook,
    call: HookInvocation,
    raw: RawResult | None,
    judged: Judgement,
    ended: float | None = None,
) -> tuple[Outcome, bool]:
    """Record the run; return what applies of it, and True if the hook failed closed."""
    hook = prepared.hook
    mode, outcome = applied(hook, judged, state.session.engine)
    record(state, prepared, call, raw, judged, ended, mode)
    return outcome, judged.failed_closed and mode == "enforce"


def record(
    state: "DispatchState",
    prepared: PreparedHook,
    call: HookInvocation,
    raw: RawResult | None,
    judged: Judgement,
    ended: float | None = None,
    mode: RunMode | None = None,
) -> None:
    """Write the run to the journal. Its time excludes waiting for a slot."""
    session = state.session
    info, engine, journal = session.info, session.engine, session.engine.journal
    if judged.failure is not None or state.memory.breakers:
        from hookline.engine.breaker import note  # noqa: PLC0415 as above

        note(engine, prepared, call, judged)
        if judged.failure is not None:
            from hookline.engine.host.report_failure import report_failure  # noqa: PLC0415 as above

            report_failure(engine, prepared, info, judged.status, judged.failure)
    called = journal.called(state.payload, info.project_dir or info.cwd)
    noted = (
        prepared, judged, info, called, call.number, call.match_doubt, call.translated_tool,
        call.started, perf_counter() if ended is None else ended, time(), call.recheck,
        prepared.hook.mode if mode is None else mode,
    )  # fmt: skip
    if judged.brief and type(raw) is Returned:
        journal.record_later(judged.status, _run, noted)
    else:
        journal.record(_run(noted, raw))


def _run(noted: tuple[Any, ...], raw: RawResult | None = None) -> Run:
    prepared, judged, info, called, number, doubt, translated_tool, started, ended, at, recheck, mode = noted
    hook, facts = prepared.hook, _raw_facts(raw)
    if judged.status != "ok" or judged.outcome.votes or judged.dropped:
        facts |= _judged_facts(judged)
    if judged.outcome.edits:
        facts["rewrote"] = True
    if info.decision_id:
        facts.setdefault("decision_id", info.decision_id)
    return Run(
        hook=hook.name,
        source=prepared.source,
        dialect=hook.dialect,
        type=hook.kind,
        status=judged.status,
        mode=mode,
        recheck=recheck,
        duration_ms=(ended - started) * 1e3 - facts.get("queue_ms", 0.0),
        event=hook.event.name,
        dialect_event=hook.policy.event_name,
        session=info.session_id,
        agent=info.agent_id,
        translated_tool=translated_tool or None,
        doubt=doubt or None,
        run_id=str(number),
        at=at,
        call=called,
        **facts,
    )


def _judged_facts(judged: Judgement) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "dropped": judged.dropped,
        "failed_open": judged.failed_open,
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
    if isinstance(raw, Failed):
        return _process_facts(raw) | {"exit_code": raw.exit_code, "signal": raw.signal}
    if isinstance(raw, Replied):
        facts = {"stdout": raw.body.decode("utf-8", "replace"), "truncated": raw.truncated}
        if raw.decision_id:
            facts |= {"decision_id": raw.decision_id, "repeated": raw.repeated}
        return facts
    return {}


def _process_facts(raw: Exited | Failed) -> dict[str, Any]:
    return {
        "queue_ms": raw.queue_ms,
        "warm": raw.warm,
        "stdout": raw.stdout.decode("utf-8", "replace"),
        "stderr": raw.stderr.decode("utf-8", "replace"),
        "truncated": raw.truncated,
    }
