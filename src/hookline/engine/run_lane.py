"""Running the selected hooks of one lane: one after another, all at once, or until one answers."""

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hookline.engine.background import run_in_background, run_in_background_in_order
from hookline.engine.lanes import Lane, PreparedHook
from hookline.engine.run_hook import HookAnswer, Judgement, call_for, run_hook
from hookline.model.policy import Policy

if TYPE_CHECKING:
    from hookline.engine.dispatch import DispatchState


async def run_lane(
    lane: Lane, state: "DispatchState", selected: Sequence[PreparedHook]
) -> Sequence[HookAnswer]:
    """The answer of each hook that is waited for, in config order, whatever order they finished in."""
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
            run_in_background(state, prepared, call_for(state, prepared, state.payload))
    if lane.policy.waits:
        return in_turn
    calls = [(prepared, call_for(state, prepared, state.payload)) for prepared in in_turn]
    run_in_background_in_order(
        state, calls, lambda prepared, judged: _ends_lane(lane.policy, prepared, judged)
    )
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
        return answer.closed or (answer.outcome.blocked and prepared.hook.reaction("crashed") == "block")
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
