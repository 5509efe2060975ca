"""How the chosen hooks of one lane are run: one after another, all at once, or until one answers."""

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from hookline.engine.lanes import Armed, Lane
from hookline.engine.moment import Moment, Said
from hookline.engine.run_hook import Judged, ask, call_for, detach, detach_in_order
from hookline.model.policy import Policy


async def run_lane(lane: Lane, moment: Moment, chosen: Sequence[Armed]) -> Sequence[Said]:
    """What each hook of the lane said, in config order, whatever order they finished in."""
    waited = _start_unwaited(lane, moment, chosen)
    if not waited:
        return ()
    policy = lane.policy
    budget = None if policy.budget is None else perf_counter() + policy.budget
    if len(waited) == 1:
        return (await ask(moment, waited[0], moment.payload, timeout=_left(budget)),)
    if _in_order(lane, waited):
        return await _one_after_another(lane, moment, waited, budget)
    if policy.settle == "first_answer":
        return await _first_answer(moment, waited, budget)
    return await all_at_once(moment, waited, budget=budget)


def _start_unwaited(lane: Lane, moment: Moment, chosen: Sequence[Armed]) -> Sequence[Armed]:
    if lane.all_waited:
        return chosen
    in_turn: list[Armed] = []
    for armed in chosen:
        if armed.hook.waiting == "wait" and (lane.policy.waits or lane.in_order):
            in_turn.append(armed)
        else:
            detach(moment, armed, call_for(moment, armed, moment.payload))
    if lane.policy.waits:
        return in_turn
    calls = [(armed, call_for(moment, armed, moment.payload)) for armed in in_turn]
    detach_in_order(moment, calls, lambda armed, judged: _ends(lane.policy, armed, judged))
    return ()


def _in_order(lane: Lane, chosen: Sequence[Armed]) -> bool:
    if lane.policy.run == "serial_if_asked":
        return any(armed.hook.rewrites for armed in chosen)
    return lane.in_order


async def _one_after_another(
    lane: Lane, moment: Moment, chosen: Sequence[Armed], budget: float | None
) -> Sequence[Said]:
    payload: Any = moment.payload
    said: list[Said] = []
    for armed in chosen:
        one = await ask(moment, armed, payload, timeout=_left(budget))
        said.append(one)
        if _ends(lane.policy, armed, one):
            break
        if lane.sees_current and (one.outcome.edits or one.outcome.context_items):
            payload = moment.advanced(armed.hook, payload, one.outcome)
    return said


def _ends(policy: Policy, armed: Armed, one: Said | Judged) -> bool:
    if policy.stop_on == "block":
        return one.outcome.blocked
    if policy.stop_on == "closed":
        # A hook that closes on failure ends the lane when it says no as well: it is the strict kind.
        return one.closed or (one.outcome.blocked and armed.hook.reaction("crashed") == "block")
    return False


async def all_at_once(
    moment: Moment, chosen: Sequence[Armed], *, budget: float | None = None, recheck: bool = False
) -> Sequence[Said]:
    left = _left(budget)
    return await asyncio.gather(
        *(ask(moment, armed, moment.payload, timeout=left, recheck=recheck) for armed in chosen)
    )


async def _first_answer(moment: Moment, chosen: Sequence[Armed], budget: float | None) -> Sequence[Said]:
    """The first hook to vote decides alone; the others are called off."""
    left = _left(budget)
    tasks = [asyncio.ensure_future(ask(moment, armed, moment.payload, timeout=left)) for armed in chosen]
    try:
        for finished in asyncio.as_completed(tasks):
            one = await finished
            if one.outcome.votes:
                return (one,)
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


def _left(budget: float | None) -> float | None:
    """Seconds left of a shared budget; a hook whose turn comes too late still gets a moment to say so."""
    return None if budget is None else max(budget - perf_counter(), 0.01)
