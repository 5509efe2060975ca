"""One hook is asked: run under its deadline, understood, judged, and recorded."""

import asyncio
from time import perf_counter
from typing import Any

from hookline.engine.attempting import attempt, is_long, understand
from hookline.engine.judging import CANCELLED, DETACHED
from hookline.engine.lanes import Armed
from hookline.engine.late import hear
from hookline.engine.moment import Moment, Said
from hookline.engine.recording import record
from hookline.model.outcome import GO_ON
from hookline.model.raw import Broke, Detached
from hookline.model.wire import Call


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
