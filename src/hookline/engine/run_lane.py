"""Running the selected hooks of one lane: one after another, all at once, or until one answers."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hookline.engine.lanes import Lane, PreparedHook
from hookline.engine.run_hook import (
    CANCELLED,
    DETACHED,
    SKIPPED,
    HookAnswer,
    Judgement,
    call_handler,
    calls_for,
    decode_and_judge,
    finish_detached,
    record,
    run_hook,
)
from hookline.model.policy import Policy
from hookline.model.raw import Broke
from hookline.model.wire import Call

if TYPE_CHECKING:
    from hookline.engine.dispatch import DispatchState

Calls = Sequence[tuple[PreparedHook, Call]]


async def run_lane(
    lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook]
) -> Sequence[HookAnswer]:
    """The answer of each hook that is waited for, in config order, not in the order they finished."""
    waited = _start_unwaited(lane, state, selected)
    if not waited:
        return ()
    policy = lane.policy
    deadline = None if policy.budget is None else perf_counter() + policy.budget
    if len(waited) == 1:
        return (await run_hook(state, waited[0], state.payload, timeout=_left(deadline)),)
    if _in_order(lane, waited):
        return await _run_in_order(lane, state, waited, deadline)
    if policy.settle == "first_answer":
        return await _run_until_answer(state, waited, deadline)
    return await run_all_at_once(state, waited, deadline=deadline)


def _start_unwaited(
    lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook]
) -> Sequence[PreparedHook]:
    """Start the hooks that are not waited for; the others are returned."""
    if lane.all_waited:
        return selected
    in_turn: list[PreparedHook] = []
    for prepared in selected:
        if prepared.hook.waiting == "wait" and (lane.policy.waits or lane.in_order):
            in_turn.append(prepared)
        else:
            for call in calls_for(state, prepared):
                _detach(state, prepared, call)
    if lane.policy.waits:
        return in_turn
    calls = [(prepared, call) for prepared in in_turn for call in calls_for(state, prepared)]
    _detach_in_order(state, calls, lambda prepared, judged: _ends_lane(lane.policy, prepared, judged))
    return ()


def _in_order(lane: Lane, selected: Sequence[PreparedHook]) -> bool:
    if lane.policy.run == "serial_if_asked":
        return any(prepared.hook.rewrites for prepared in selected)
    return lane.in_order


async def _run_in_order(
    lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook], deadline: float | None
) -> Sequence[HookAnswer]:
    payload: Any = state.payload
    answers: list[HookAnswer] = []
    for prepared in selected:
        answer = await run_hook(state, prepared, payload, timeout=_left(deadline))
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
        # A hook that fails closed is a strict one: it ends the lane when it blocks, too.
        return answer.failed_closed or (
            answer.outcome.blocked and prepared.hook.reaction("crashed") == "block"
        )
    return False


async def run_all_at_once(
    state: "DispatchState",
    selected: Sequence[PreparedHook],
    *,
    deadline: float | None = None,
    recheck: bool = False,
) -> Sequence[HookAnswer]:
    left = _left(deadline)
    return await asyncio.gather(
        *(run_hook(state, prepared, state.payload, timeout=left, recheck=recheck) for prepared in selected)
    )


async def _run_until_answer(
    state: "DispatchState", selected: Sequence[PreparedHook], deadline: float | None
) -> Sequence[HookAnswer]:
    """The first hook to vote decides alone; the others are cancelled."""
    left = _left(deadline)
    tasks = [
        asyncio.ensure_future(run_hook(state, prepared, state.payload, timeout=left)) for prepared in selected
    ]
    try:
        for finished in asyncio.as_completed(tasks):
            answer = await finished
            if answer.outcome.votes:
                return (answer,)
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


def _left(deadline: float | None) -> float | None:
    """Seconds left of a shared budget; a hook whose turn comes too late still gets a moment to answer."""
    return None if deadline is None else max(deadline - perf_counter(), 0.01)


# Hooks that are not waited for


def _detach(state: "DispatchState", prepared: PreparedHook, call: Call) -> None:
    """Start one hook. Two records carry its run id: `detached` now, its end later."""
    background, started = state.session.engine.background, perf_counter()
    if background.full:
        why = "the engine is closed" if background.closed else "too many hooks are running in the background"
        raw = Broke("not_started", why)
        record(state, prepared, call, raw, decode_and_judge(state, prepared, call, raw), started)
        return
    record(state, prepared, call, None, DETACHED, started)
    _expect_wake(state, prepared)
    background.start(_run_detached(state, prepared, call))


def _detach_in_order(
    state: "DispatchState", calls: Calls, ends_lane: Callable[[PreparedHook, Judgement], bool]
) -> None:
    """Start hooks one after another. After one that ends the lane, the others do not run."""
    if len(calls) < 2 or state.session.engine.background.full:
        for prepared, call in calls:
            _detach(state, prepared, call)
        return
    for prepared, call in calls:
        record(state, prepared, call, None, DETACHED, perf_counter())
        _expect_wake(state, prepared)
    state.session.engine.background.start(_run_detached_in_order(state, calls, ends_lane))


async def _run_detached_in_order(
    state: "DispatchState", calls: Calls, ends_lane: Callable[[PreparedHook, Judgement], bool]
) -> None:
    for place, (prepared, call) in enumerate(calls):
        try:
            judged = await _run_detached(state, prepared, call)
        except asyncio.CancelledError:
            _record_not_run(state, calls[place + 1 :], CANCELLED)
            raise
        if ends_lane(prepared, judged):
            _record_not_run(state, calls[place + 1 :], SKIPPED)
            return


def _record_not_run(state: "DispatchState", calls: Calls, why: Judgement) -> None:
    for prepared, call in calls:
        record(state, prepared, call, None, why, perf_counter())
        _wake_settled(state, prepared)


async def _run_detached(state: "DispatchState", prepared: PreparedHook, call: Call) -> Judgement:
    status = state.session.engine.status
    running = status.started(call.run_id, prepared.hook)
    try:
        rest = call_handler(state, prepared, call)
        return await finish_detached(state, prepared, call, rest, perf_counter())
    finally:
        status.ended(running)
        _wake_settled(state, prepared)


def _expect_wake(state: "DispatchState", prepared: PreparedHook) -> None:
    if prepared.hook.waiting == "rewake":
        state.session.inbox.await_wake()


def _wake_settled(state: "DispatchState", prepared: PreparedHook) -> None:
    if prepared.hook.waiting == "rewake":
        state.session.inbox.wake_settled()
