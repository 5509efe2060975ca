"""Compute documents in background threads: counting coverage takes as long as reading all transcripts."""

import threading
import time
from collections.abc import Callable

from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.model.safe_text import one_line
from hookline.team.console.ports import Document, Tick
from hookline.team.console.views.guards import Computed


class InBackground:
    """The last document, and the one that is being computed."""

    def __init__(self, name: str, compute: Callable[[Tick], Document]) -> None:
        self._name = name
        self._compute = compute
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._last = Computed()
        self._progress: float | None = None

    def last(self) -> Computed:
        """Return the last result; nothing is started."""
        with self._lock:
            return replace(self._last, progress=self._progress)

    def result(self, *, again: bool = False, stale: float | None = None, wait: float = 0.0) -> Computed:
        """Return the last result, and wait for the first one for some seconds.

        The first caller starts the computation; `again`, or a result older than `stale` seconds, starts another.
        """
        with self._lock:
            old = stale is not None and time.time() - self._last.at > stale
            if self._progress is None and (again or old or not self._last.at):
                self._progress = 0.0
                # Nothing waits for it when the console ends.
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._ready.wait(wait)
        return self.last()

    def _run(self) -> None:
        try:
            found = Computed(document=self._compute(self._tick), at=time.time())
        except HooklineError as problem:
            found = Computed(problem=one_line(str(problem), 1000), at=time.time())
        except Exception as problem:  # noqa: BLE001 - the page says so, whatever it is
            text = f"computing it failed: {type(problem).__name__}: {problem}"
            found = Computed(problem=one_line(text, 1000), at=time.time())
        with self._lock:
            self._last, self._progress = found, None
        self._ready.set()

    def _tick(self, share: float) -> None:
        with self._lock:
            self._progress = min(max(share, 0.0), 1.0)
