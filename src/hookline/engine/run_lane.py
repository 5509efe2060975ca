"""Run the selected hooks of one lane: one after another, all at once, or until one answers."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.engine.background import deliver
from hookline.engine.judge import CANCELLED, IN_BACKGROUND, SKIPPED, Judgement, decode_and_judge
from hookline.engine.lanes import Lane
from hookline.engine.memory import translated_call
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.run_hook import (
    HookAnswer,
    answer_of,
    begin_handler,
    begin_hook,
    call_for,
    calls_about_actions,
    finish_all,
    record,
)
from hookline.model.outcome import PASS, Message, Outcome
from hookline.model.policy import Policy
from hookline.model.raw import Background, Failed, RawResult
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.engine.dispatch import DispatchState

Calls = Sequence[tuple[PreparedHook, HookInvocation]]


#: The answers of a lane, or a coroutine for them, to be awaited at once and in the same task.
Answers = list[HookAnswer] | Coroutine[Any, Any, list[HookAnswer]]


def run_lane(lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook]) -> Answers:
    """Return the answer of each hook that is waited for, in config order, not in the order they finished."""
    if lane.all_at_once:
        return run_all_at_once(state, selected)
    waited, refused = _start_background_hooks(lane, state, selected)
    answers = _run_waited(lane, state, waited) if waited else []
    return _with_refused(refused, answers) if refused else answers


def _run_waited(lane: Lane, state: "DispatchState", waited: Sequence[PreparedHook]) -> Answers:
    policy = lane.policy
    deadline = None if policy.budget is None else perf_counter() + policy.budget
    if len(waited) > 1:
        if _in_order(lane, waited):
            return _run_in_order(lane, state, waited, deadline)
        if policy.settle == "first_answer":
            return _run_until_answer(state, waited, deadline)
    return run_all_at_once(state, waited, _left(deadline))


def _with_refused(refused: list[HookAnswer], answers: Answers) -> Answers:
    """Add the answers of background hooks that were not accepted."""
    return [*refused, *answers] if isinstance(answers, list) else _join_refused(refused, answers)


async def _join_refused(
    refused: list[HookAnswer], answers: Coroutine[Any, Any, list[HookAnswer]]
) -> list[HookAnswer]:
    return [*refused, *await answers]


def _start_background_hooks(
    lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook]
) -> tuple[Sequence[PreparedHook], list[HookAnswer]]:
    """Start the background hooks; return the others, and the answers of those not accepted."""
    if lane.all_waited:
        return selected, []
    refused: list[HookAnswer] = []
    in_turn: list[PreparedHook] = []
    rewakes_wait = lane.policy.rewakes_wait and lane.policy.waits and not state.session.info.attended
    for prepared in selected:
        durable = prepared.hook.in_background and (prepared.hook.durable or state.memory.all_durable)
        if rewakes_wait and prepared.hook.waiting == "rewake" and not durable:
            in_turn.append(prepared.waited_for())
            continue
        if prepared.hook.waiting == "wait" and (lane.policy.waits or lane.in_order) and not durable:
            in_turn.append(prepared)
            continue
        for action, call in enumerate(_calls_for(state, prepared)):
            if durable:
                refused += _submit(state, prepared, call, action)
            else:
                _start_background_hook(state, prepared, call)
    if lane.policy.waits:
        return in_turn, refused
    calls = [(prepared, call) for prepared in in_turn for call in _calls_for(state, prepared)]
    _start_in_order(state, calls, lambda prepared, judged: _ends_lane(lane.policy, prepared, judged))
    return (), refused


def _in_order(lane: Lane, selected: Sequence[PreparedHook]) -> bool:
    if lane.policy.run == "serial_if_asked":
        return any(prepared.hook.rewrites for prepared in selected)
    return lane.in_order


async def _run_in_order(
    lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook], deadline: float | None
) -> list[HookAnswer]:
    payload: Any = state.payload
    answers: list[HookAnswer] = []
    for prepared in selected:
        begun = begin_hook(state, prepared, payload, _left(deadline))
        answer = begun if isinstance(begun, HookAnswer) else await begun
        answers.append(answer)
        if _ends_lane(lane.policy, prepared, answer):
            break
        if lane.sees_current and (answer.outcome.edits or answer.outcome.context_items):
            payload = state.advance(prepared.hook, payload, answer.outcome)
    return answers


def _ends_lane(policy: Policy, prepared: PreparedHook, answer: HookAnswer | Judgement) -> bool:
    if policy.stop_on == "block":
        return answer.outcome.blocked
    if policy.stop_on == "closed":
        # A hook that fails closed is strict: it ends the lane when it blocks, too.
        return answer.failed_closed or (
            answer.outcome.blocked and prepared.hook.reaction("crashed") == "block"
        )
    return False


def run_all_at_once(
    state: "DispatchState",
    selected: Sequence[PreparedHook],
    timeout: float | None = None,
    recheck: bool = False,
) -> Answers:
    """Run one after another as long as each ends in its first step; once one of them waits, the others get tasks."""
    answers: list[HookAnswer] = []
    for prepared in selected:
        begun = begin_hook(state, prepared, state.payload, timeout, recheck)
        if not isinstance(begun, HookAnswer):
            others = selected[len(answers) + 1 :]
            tasks = [answer_of(begin_hook, state, other, state.payload, timeout, recheck) for other in others]
            return finish_all(answers, begun, tasks)
        answers.append(begun)
    return answers


async def _run_until_answer(
    state: "DispatchState", selected: Sequence[PreparedHook], deadline: float | None
) -> list[HookAnswer]:
    """Let the first hook that votes decide alone; cancel the others."""
    left = _left(deadline)
    tasks = [
        asyncio.ensure_future(answer_of(begin_hook, state, prepared, state.payload, left))
        for prepared in selected
    ]
    try:
        for finished in asyncio.as_completed(tasks):
            answer = await finished
            if answer.outcome.votes:
                return [answer]
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


def _left(deadline: float | None) -> float | None:
    """Return the seconds left of a shared budget; a hook whose turn comes too late still gets a short time."""
    return None if deadline is None else max(deadline - perf_counter(), 0.01)


# Background hooks


def _calls_for(state: "DispatchState", prepared: PreparedHook) -> list[HookInvocation]:
    """Return the call of a background hook, or one for each translated action."""
    payload, session, hook = state.payload, state.session, prepared.hook
    if prepared.followed is not None:
        return calls_about_actions(state, prepared, prepared.followed)
    if hook.as_called or hook.broken is not None or prepared.is_unchanged(payload, session):
        return [call_for(state, prepared, payload)]
    return calls_about_actions(state, prepared, translated_call(session, prepared, state.event, payload))


def _start_background_hook(state: "DispatchState", prepared: PreparedHook, call: HookInvocation) -> None:
    """Start one background hook. Two records carry its run id: `background` now, its end later."""
    background, call.started = state.session.engine.background, perf_counter()
    if background.full:
        why = "the engine is closed" if background.closed else "too many hooks are running in the background"
        raw = Failed("not_started", why)
        record(state, prepared, call, raw, decode_and_judge(state, prepared, call, raw))
        return
    record(state, prepared, call, None, IN_BACKGROUND)
    _expect_wake(state, prepared)
    background.start(_run_background(state, prepared, call), prepared.hook.name)


def _submit(
    state: "DispatchState", prepared: PreparedHook, call: HookInvocation, action: int
) -> list[HookAnswer]:
    """Queue a durable hook. If that fails, the hook has failed, under its policy."""
    call.started = perf_counter()
    problem = state.session.engine.jobs.submit(state, prepared, call, action)
    if problem is None:
        record(state, prepared, call, None, IN_BACKGROUND)
        return []
    raw = Failed("not_started", problem)
    judged = decode_and_judge(state, prepared, call, raw)
    record(state, prepared, call, raw, judged)
    if prepared.hook.mode != "enforce":
        return []
    # The agent does not wait for it, so it stops nothing unless its entry says that a failure does.
    said = judged.outcome
    if prepared.hook.on_failure is None and said.votes:
        said = Outcome(messages=tuple(Message(vote.reason, prepared.hook.name) for vote in said.votes))
    return [HookAnswer(prepared, said, state.payload)]


def _start_in_order(
    state: "DispatchState", calls: Calls, ends_lane: Callable[[PreparedHook, Judgement], bool]
) -> None:
    """Start hooks one after another. After one that ends the lane, the others do not run."""
    if len(calls) < 2 or state.session.engine.background.full:
        for prepared, call in calls:
            _start_background_hook(state, prepared, call)
        return
    for prepared, call in calls:
        call.started = perf_counter()
        record(state, prepared, call, None, IN_BACKGROUND)
        _expect_wake(state, prepared)
    names = ", ".join(dict.fromkeys(prepared.hook.name for prepared, _call in calls))
    state.session.engine.background.start(_run_background_in_order(state, calls, ends_lane), names)


async def _run_background_in_order(
    state: "DispatchState", calls: Calls, ends_lane: Callable[[PreparedHook, Judgement], bool]
) -> None:
    for index, (prepared, call) in enumerate(calls):
        try:
            judged = await _run_background(state, prepared, call)
        except asyncio.CancelledError:
            _record_not_run(state, calls[index + 1 :], CANCELLED)
            raise
        if ends_lane(prepared, judged):
            _record_not_run(state, calls[index + 1 :], SKIPPED)
            return


def _record_not_run(state: "DispatchState", calls: Calls, why: Judgement) -> None:
    for prepared, call in calls:
        call.started = perf_counter()
        record(state, prepared, call, None, why)
        _wake_settled(state, prepared)


async def _run_background(state: "DispatchState", prepared: PreparedHook, call: HookInvocation) -> Judgement:
    status = state.session.engine.status
    call.started = perf_counter()
    status.started(call)
    try:
        begun = begin_handler(state, prepared, call)
        call.longest_step = perf_counter() - call.started
        return await finish_background(state, prepared, call, begun)
    finally:
        status.ended(call)
        _wake_settled(state, prepared)


async def finish_background(
    state: "DispatchState",
    prepared: PreparedHook,
    call: HookInvocation,
    rest: RawResult | Awaitable[RawResult],
) -> Judgement:
    """Wait for the end of a background hook, put its answer into the session's inbox and record it."""
    try:
        raw = await rest if isinstance(rest, Awaitable) else rest
        if isinstance(raw, Background):  # it asked to run in the background and did already
            raw = await raw.rest
    except asyncio.CancelledError:
        record(state, prepared, call, Failed("cancelled"), CANCELLED)
        raise
    judged = decode_and_judge(state, prepared, call, raw)
    outcome = judged.outcome if prepared.hook.mode == "enforce" else PASS
    outcome += state.blocked_loop(prepared, call.longest_step)
    failed = judged.failure is not None
    too_late = deliver(state.session.inbox, call, outcome, prepared.source, failed=failed)
    record(state, prepared, call, raw, replace(judged, dropped=(*judged.dropped, *too_late)))
    return judged


def _expect_wake(state: "DispatchState", prepared: PreparedHook) -> None:
    if prepared.hook.waiting == "rewake":
        state.session.inbox.await_wake()


def _wake_settled(state: "DispatchState", prepared: PreparedHook) -> None:
    if prepared.hook.waiting == "rewake":
        state.session.inbox.wake_settled()
