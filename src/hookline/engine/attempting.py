"""One attempt to run a hook: every way of going wrong becomes a fact with a cause."""

import asyncio

from hookline.engine.judging import PASSED, Judged, judge
from hookline.engine.lanes import Armed
from hookline.engine.moment import Moment
from hookline.handlers.deadline import bounded
from hookline.handlers.registry import Handler
from hookline.model.outcome import Outcome, Vote
from hookline.model.raw import Broke, Exited, RawResult, Replied, Returned
from hookline.model.wire import Call, Decoded


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
