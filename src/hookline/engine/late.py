"""Hooks nobody waits for: started at the event, heard through the session's inbox when they end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any

from msgspec.structs import replace

from hookline.background.inbox import Late
from hookline.engine.attempting import attempt, understand
from hookline.engine.judging import CANCELLED, DETACHED, SKIPPED, Judged
from hookline.engine.lanes import Armed
from hookline.engine.moment import Moment
from hookline.engine.recording import record
from hookline.model.outcome import GO_ON
from hookline.model.raw import Broke, Detached, RawResult
from hookline.model.wire import Call


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
        "event": hook.policy.spelled,
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
