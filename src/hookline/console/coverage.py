"""Counting which guards were asked takes as long as reading all transcripts: it is done once, beside the pages."""

import threading
import time

from hookline.console.ports import Ports
from hookline.console.views.guards import Counted
from hookline.model.errors import HooklineError
from hookline.model.safe_text import one_line


class Coverage:
    """The last count, and the one that is under way."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._lock = threading.Lock()
        self._counted = Counted()
        self._progress: float | None = None

    def counted(self, *, again: bool = False) -> Counted:
        """What is known now. The first to ask starts counting, and so does whoever wants it done again."""
        with self._lock:
            found = self._counted
            if self._progress is None and (again or not found.at):
                self._progress = 0.0
                # Nothing waits for it when the console ends.
                threading.Thread(target=self._count, name="coverage", daemon=True).start()
            return Counted(
                document=found.document, at=found.at, progress=self._progress, problem=found.problem
            )

    def _count(self) -> None:
        try:
            counted = Counted(document=self._ports.observed(self._tick), at=time.time())
        except HooklineError as problem:
            counted = Counted(problem=one_line(str(problem), 1000), at=time.time())
        except Exception as problem:  # noqa: BLE001 - the page says so, whatever it is
            text = f"counting broke: {type(problem).__name__}: {problem}"
            counted = Counted(problem=one_line(text, 1000), at=time.time())
        with self._lock:
            self._counted, self._progress = counted, None

    def _tick(self, share: float) -> None:
        with self._lock:
            self._progress = min(max(share, 0.0), 1.0)
