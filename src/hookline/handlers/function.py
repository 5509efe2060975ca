"""Run Python functions as hooks: async ones on the event loop, others in a worker thread."""

import asyncio
import inspect
import os
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from functools import partial
from time import perf_counter
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from hookline.handlers.deadline import DeadlineError, Rest, bounded
from hookline.handlers.failures import crashed
from hookline.model.raw import RETURNED_NOTHING, Failed, RawResult, Returned
from hookline.model.wire import HookInvocation


class Finished(Struct, frozen=True):
    """The end of a function. An error is carried, not raised: a future cannot carry every kind of it."""

    value: Any = None
    error: BaseException | None = None


class WorkersLostError(Exception):
    """Every thread is busy with a function whose caller was cancelled."""


class _Job:
    __slots__ = ("abandoned", "future", "loop", "state", "work")

    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.loop = loop
        self.future: asyncio.Future[Finished] = loop.create_future()
        self.state: Literal["queued", "running", "ended"] = "queued"
        self.abandoned = False

    def finish(self, finished: Finished) -> None:
        try:
            self.loop.call_soon_threadsafe(self._deliver, finished)
        except RuntimeError:  # the loop was closed, and the waiting task with it
            pass

    def _deliver(self, finished: Finished) -> None:
        if not self.future.done():
            self.future.set_result(finished)


class Workers:
    """Threads for functions that block, at most `limit`; idle ones end.

    A thread cannot be killed: one whose caller was cancelled runs to its end. So their number is bounded, and
    when all of them are busy with abandoned functions, new work is refused instead of queued forever. The
    threads are daemons: a function that never returns does not keep the program from ending.
    """

    def __init__(self, limit: int = 32, idle_seconds: float = 10.0) -> None:
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._start_afresh()

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._wake = threading.Condition()
        self._jobs: deque[_Job] = deque()
        self._threads = 0
        self._idle = 0
        self._lost = 0
        self._closed = False

    @property
    def threads(self) -> int:
        return self._threads

    @property
    def lost(self) -> int:
        """Threads still running a function whose caller was cancelled."""
        return self._lost

    async def run(self, work: Callable[[], Any]) -> Finished:
        """Run work in a thread. Cancelling returns at once; a function already running continues."""
        context = copy_context()
        job = _Job(lambda: context.run(work), asyncio.get_running_loop())
        self._submit(job)
        try:
            return await job.future
        except asyncio.CancelledError as cancelled:
            if self._abandon(job):
                cancelled.add_note("its thread cannot be stopped and is still running")
            raise

    def close(self) -> None:
        """Let idle threads end; busy ones end after the function they are in."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def _submit(self, job: _Job) -> None:
        if self._pid != os.getpid():  # a fork took none of the threads along
            self._start_afresh()
        with self._wake:
            if self._lost >= self._limit:
                raise WorkersLostError(f"{self._lost} functions that were cancelled are still running")
            self._closed = False
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._wake.notify()
            elif self._threads < self._limit:
                self._start_thread(job)

    def _start_thread(self, job: _Job) -> None:
        try:
            threading.Thread(target=self._serve, name="hookline-function", daemon=True).start()
        except RuntimeError as error:
            if self._threads == 0:
                self._jobs.remove(job)
                raise WorkersLostError("the system gives no thread to run it in") from error
        else:
            self._threads += 1

    def _abandon(self, job: _Job) -> bool:
        """Abandon a job whose caller was cancelled; return True when a thread is still busy with it."""
        with self._wake:
            if job.state == "queued":
                self._jobs.remove(job)
            if job.state != "running":
                return False
            job.abandoned = True
            self._lost += 1
            return True

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            try:
                finished = Finished(job.work())
            except BaseException as error:  # noqa: BLE001 - the one who waits decides what an error means
                finished = Finished(error=error)
            self._done(job)
            job.finish(finished)
            # A thread that waits for work must not keep the last result, or its traceback, alive.
            del job, finished

    def _next(self) -> _Job | None:
        with self._wake:
            self._idle += 1
            while not self._jobs:
                if self._closed or not self._wake.wait(self._idle_seconds):
                    if self._jobs:
                        break
                    self._idle -= 1
                    self._threads -= 1
                    return None
            self._idle -= 1
            job = self._jobs.popleft()
            job.state = "running"
            return job

    def _done(self, job: _Job) -> None:
        with self._wake:
            job.state = "ended"
            if job.abandoned:
                self._lost -= 1


class FunctionSpec(Struct, frozen=True, eq=False):
    """A callable that takes (payload) or (payload, info).

    Its signature is inspected once, here, so that calling it costs nothing extra.
    """

    call: Callable[..., Any]
    name: str = ""
    is_async: bool = False
    takes_info: bool = False
    #: A plain function that runs on the event loop, because it neither waits nor computes for long.
    quick: bool = False
    #: The reason why it cannot be called as a hook.
    fault: str | None = None

    def __post_init__(self) -> None:
        takes_info, fault = _read_signature(self.call)
        force_setattr(self, "is_async", is_async(self.call))
        force_setattr(self, "takes_info", takes_info)
        force_setattr(self, "fault", fault)
        if not self.name:
            force_setattr(self, "name", _name_of(self.call))


class FunctionHandler:
    """Calls functions. An async function runs on the loop of the dispatch and must not block it."""

    kind = "function"
    own_clock = True

    def __init__(self, workers: Workers | None = None) -> None:
        self._workers = workers if workers is not None else Workers()

    async def run(self, call: HookInvocation) -> RawResult:
        begun = self.begin(call)
        return await begun if isinstance(begun, Coroutine) else begun

    def begin(self, call: HookInvocation) -> RawResult | Coroutine[Any, Any, RawResult]:
        """Return the result, if there is one after the first step of an async function: most make no other."""
        spec: FunctionSpec = call.hook.spec
        if spec.fault is not None:
            return Failed("not_started", spec.fault)
        if spec.quick and not spec.is_async:
            return self._at_once(spec, call)
        if not spec.is_async:
            return _finish(bounded(self._in_thread(spec, call), call.timeout))
        context = copy_context()
        try:
            running = spec.call(call.payload, call.info) if spec.takes_info else spec.call(call.payload)
            waits_for = context.run(running.send, None)
        except StopIteration as stop:
            return RETURNED_NOTHING if stop.value is None else Returned(stop.value)
        except BaseException as error:  # noqa: BLE001 - a hook's own error is a result, not ours
            call.longest_step = perf_counter() - call.started
            return _result_of(error)
        return _finish(_timed(Rest(running, waits_for, context, call.started), call))

    @staticmethod
    def _at_once(spec: FunctionSpec, call: HookInvocation) -> RawResult | Coroutine[Any, Any, RawResult]:
        try:
            value = spec.call(call.payload, call.info) if spec.takes_info else spec.call(call.payload)
        except BaseException as error:  # noqa: BLE001 - a hook's own error is a result, not ours
            call.longest_step = perf_counter() - call.started
            return _result_of(error)
        if value is None:
            return RETURNED_NOTHING
        return _finish(bounded(value, call.timeout)) if inspect.iscoroutine(value) else Returned(value)

    def problem(self, spec: Any) -> str | None:
        return spec.fault if isinstance(spec, FunctionSpec) else "a function hook needs a callable"

    async def close(self) -> None:
        self._workers.close()

    async def _in_thread(self, spec: FunctionSpec, call: HookInvocation) -> Any:
        arguments = (call.payload, call.info) if spec.takes_info else (call.payload,)
        finished = await self._workers.run(partial(spec.call, *arguments))
        if finished.error is not None:
            if isinstance(finished.error, (KeyboardInterrupt, asyncio.CancelledError)):
                # Raised by the function itself: in a thread they are not a signal to this process.
                raise RuntimeError(repr(finished.error)) from finished.error
            raise finished.error
        # A lambda around an async function looks like a plain function until it is called.
        return await finished.value if inspect.isawaitable(finished.value) else finished.value


async def _timed(rest: Rest[Any], call: HookInvocation) -> Any:
    try:
        return await rest.within(call.timeout)
    finally:
        call.longest_step = rest.longest_step


async def _finish(rest: Coroutine[Any, Any, Any]) -> RawResult:
    try:
        value = await rest
    except BaseException as error:  # noqa: BLE001 - a hook's own error is a result, not ours
        return _result_of(error)
    return RETURNED_NOTHING if value is None else Returned(value)


def _result_of(error: BaseException) -> Failed:
    """Return the failure of a function; cancellation and a passed deadline are raised."""
    if isinstance(error, WorkersLostError):
        return Failed("not_started", str(error))
    if isinstance(error, asyncio.CancelledError | GeneratorExit | DeadlineError):
        raise error
    # On the main thread it may be the user's, whose program then ends; anywhere else the hook raised it.
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    return crashed(error)


def is_async(call: Callable[..., Any]) -> bool:
    call = call.func if isinstance(call, partial) else call
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004 - the method itself is asked whether it is async


def _name_of(call: Callable[..., Any]) -> str:
    inner = call.func if isinstance(call, partial) else call
    return getattr(inner, "__name__", None) or type(inner).__name__


def _read_signature(call: Callable[..., Any]) -> tuple[bool, str | None]:
    """Return True if it takes the session info as well, and why it cannot be called at all."""
    if not callable(call):
        return False, f"{call!r} is not callable"
    if inspect.isasyncgenfunction(call) or inspect.isgeneratorfunction(call):
        return False, f"{_name_of(call)} is a generator: a hook returns its answer, it does not yield it"
    try:
        signature = inspect.signature(call)
    except (ValueError, TypeError):  # some callables written in C have no signature
        return False, None
    for takes_info, arguments in ((True, (None, None)), (False, (None,))):
        if takes_info and not _wants_info(signature):
            continue
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return takes_info, None
    return False, f"{_name_of(call)}{signature} must take (payload) or (payload, info)"


def _wants_info(signature: inspect.Signature) -> bool:
    """Return True if the function takes the session info: a second parameter with a default does not count unless it
    is called `info`."""
    positional = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) < 2:
        return False
    return positional[1].default is inspect.Parameter.empty or positional[1].name == "info"
