"""Offer the engine to hosts without an event loop: it runs on a loop in its own thread, and calls wait for
it."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from queue import SimpleQueue
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from hookline.engine.host.pending import PendingCall
from hookline.engine.host.results import (
    AnswerResult,
    EndResult,
    ModelRequestResult,
    Part,
    PromptResult,
    Start,
)
from hookline.engine.host.tool import Approval, Approve, CheckArguments, RunTool, ToolWords
from hookline.engine.host.tool_call import CallResult
from hookline.engine.session import Session
from hookline.model.errors import EngineClosedError
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.session_info import SessionOptions

if TYPE_CHECKING:
    from hookline.config.engine import Engine

P = TypeVar("P")
T = TypeVar("T")


#: Seconds that calls which closing cancelled have to end.
_CANCELLED_SECONDS = 1.0


class Blocking:
    """An engine for synchronous code. Background hooks continue between two calls; closing ends everything.

    Threads may share it. In the child of a fork it starts again, with a loop and a thread of the child's own.
    ::

        with Blocking(Engine()) as hooks, hooks.session("me") as session:
            done = session.tool("Bash", {"command": "ls"}, run=run_shell)
    """

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._waiting: set[Future[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="hookline", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                self._loop.run_forever()
            except (KeyboardInterrupt, SystemExit):
                # Raised by code on the loop: signals reach the main thread only. The caller that waits for it
                # gets it.
                continue
            return

    def session(
        self,
        session_id: str = "",
        parent: "BlockingSession | None" = None,
        *,
        approve: Approve | None = None,
        **info: "Unpack[SessionOptions]",
    ) -> "BlockingSession":
        """Open a session like `Engine.session`; its calls block.

        ::

            with hooks.session("conversation 1", cwd=Path.cwd()) as session:
                done = session.tool("Bash", {"command": "ls"}, run=run_shell)
        """
        above = parent.session if parent is not None else None
        return BlockingSession(self, self.engine.session(session_id, above, approve=approve, **info))

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the engine's loop and wait. An interrupt cancels the work before it is raised here."""
        return self._result(self._submitted(work))

    def _submitted(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a hook cannot wait for the engine that runs it; make it async instead")
        if self._pid != os.getpid() and not self._closed:
            self._start()
        with self._lock:
            if self._closed:
                work.close()
                raise EngineClosedError
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._waiting.add(future)
        return future

    def _result(self, future: "Future[T]") -> T:
        try:
            return future.result()
        except CancelledError:
            if self._closed:
                raise EngineClosedError("the engine was closed while this call waited for it") from None
            raise
        except BaseException:
            future.cancel()
            raise
        finally:
            self._waiting.discard(future)

    def with_caller(self, work: Callable[[RunTool], Coroutine[Any, Any, T]], function: RunTool) -> T:
        """Run work that calls a function which belongs to the waiting thread; else like `wait_for`.

        `work` gets a function for the engine's loop; what it is called with is passed to `function`, in this
        thread.
        """
        jobs: SimpleQueue[tuple[Any, Future[Any]] | None] = SimpleQueue()

        async def ask_caller(argument: Any) -> Any:
            answer: Future[Any] = Future()
            jobs.put((argument, answer))
            return await asyncio.wrap_future(answer)

        future = self._submitted(work(ask_caller))
        future.add_done_callback(lambda _done: jobs.put(None))
        try:
            while (job := jobs.get()) is not None:
                _answer(function, *job)
        except BaseException:
            future.cancel()
            raise
        return self._result(future)

    def close(self, limit: float | None = None) -> None:
        """Close the engine. A call that another thread waits for ends with it, or raises EngineClosedError."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a hook cannot close the bridge that runs it; close it after the dispatch")
        with self._lock:
            first, self._closed = not self._closed, True
        if self._pid != os.getpid():  # its thread is in the process that was forked
            return
        if not first:
            self._thread.join()
            return
        try:
            asyncio.run_coroutine_threadsafe(self._end(limit), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            for future in tuple(self._waiting):
                future.cancel()
            self._loop.close()

    async def _end(self, limit: float | None) -> None:
        try:
            await self.engine.close(limit)
        finally:
            # Work that is left now waits for something that no handler ends: a function, or the host's code.
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=_CANCELLED_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _answer(function: RunTool, argument: Any, answer: "Future[Any]") -> None:
    try:
        value = function(argument)
    except Exception as error:  # noqa: BLE001 - the one who waits for it decides what an error means
        answer.set_exception(error)
    else:
        answer.set_result(value)


class BlockingSession:
    """A session whose calls block; `session` is the session itself."""

    def __init__(self, bridge: Blocking, session: Session) -> None:
        self._bridge = bridge
        self.session = session

    def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        """Call `Session.dispatch` and wait."""
        return self._bridge.wait_for(self.session.dispatch(event, payload))

    def has(self, event: EventSpec[Any]) -> bool:
        """Call `Session.has`."""
        return self.session.has(event)

    def start(self, source: str = "startup", model: str | None = None) -> Start:
        """Call `Session.start` and wait."""
        return self._bridge.wait_for(self.session.start(source, model))

    def prompt(self, text: str | Sequence[Part]) -> PromptResult:
        """Call `Session.prompt` and wait."""
        return self._bridge.wait_for(self.session.prompt(text))

    def model(self, messages: Sequence[Mapping[str, Any]], model: str | None = None) -> ModelRequestResult:
        """Call `Session.model` and wait."""
        return self._bridge.wait_for(self.session.model(messages, model))

    def answer(
        self,
        text: str | None,
        tool_calls: Sequence[Mapping[str, Any]] = (),
        usage: Mapping[str, Any] = MappingProxyType({}),
    ) -> AnswerResult:
        """Call `Session.answer` and wait."""
        return self._bridge.wait_for(self.session.answer(text, tool_calls, usage))

    def tool(
        self, name: str, arguments: Mapping[str, Any], *, run: RunTool, **options: Unpack[ToolWords]
    ) -> CallResult:
        """Call `Session.tool` and wait; `run` is called in this thread."""
        return self._bridge.with_caller(
            lambda there: self.session.tool(name, arguments, run=there, **options), run
        )

    def resume(
        self,
        pending: PendingCall,
        approval: bool | Approval,
        *,
        run: RunTool,
        check: CheckArguments | None = None,
    ) -> CallResult:
        """Call `Session.resume` and wait; `run` is called in this thread."""
        return self._bridge.with_caller(
            lambda there: self.session.resume(pending, approval, run=there, check=check), run
        )

    def end(self, answer: str | None) -> EndResult:
        """Call `Session.end` and wait."""
        return self._bridge.wait_for(self.session.end(answer))

    def failed(self, error: BaseException | str, kind: str = "unknown") -> None:
        """Call `Session.failed` and wait."""
        self._bridge.wait_for(self.session.failed(error, kind))

    def cancelled(self) -> None:
        """Call `Session.cancelled` and wait."""
        self._bridge.wait_for(self.session.cancelled())

    def close(self, reason: str = "other") -> None:
        """Call `Session.close` and wait."""
        self._bridge.wait_for(self.session.close(reason))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
