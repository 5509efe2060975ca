"""For hosts without an event loop: the engine runs on a loop in its own thread, and calls wait for it."""

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from hookline.engine.engine import Engine
from hookline.engine.session import Session
from hookline.model.errors import EngineClosedError
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome

P = TypeVar("P")
T = TypeVar("T")


class Blocking:
    """An engine for synchronous code. Background hooks go on between two calls; closing ends everything."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hookline", daemon=True)
        self._thread.start()

    def session(
        self, session_id: str = "", parent: "BlockingSession | None" = None, **scene: Any
    ) -> "BlockingSession":
        above = parent.session if parent is not None else None
        return BlockingSession(self, self.engine.session(session_id, above, **scene))

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it on the engine's loop and wait. An interrupt cancels it before it is raised here."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a hook cannot wait for the engine that runs it; make it async instead")
        if self._loop.is_closed():
            work.close()
            raise EngineClosedError
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self, limit: float | None = None) -> None:
        if self._loop.is_closed():
            return
        self.wait_for(self.engine.close(limit))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BlockingSession:
    """A session whose dispatch blocks; `session` is the session itself."""

    def __init__(self, bridge: Blocking, session: Session) -> None:
        self._bridge = bridge
        self.session = session

    def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        return self._bridge.wait_for(self.session.dispatch(event, payload))

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session.has(event)
