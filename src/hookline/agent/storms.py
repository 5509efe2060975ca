"""A file that changes without end, because a hook of its changes changes it, does not fire events without end."""

from collections import deque
from collections.abc import Callable
from time import monotonic

_MOST = 30
_SECONDS = 60.0


class Storms:
    """Lets so many changes of one file through in so many seconds; then it must be quiet for as long."""

    def __init__(
        self,
        report: Callable[[str], None],
        *,
        most: int = _MOST,
        seconds: float = _SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._report = report
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._passed: dict[str, deque[float]] = {}
        self._quiet_until: dict[str, float] = {}

    def passes(self, file: str) -> bool:
        now = self._clock()
        if now < self._quiet_until.get(file, now):
            self._quiet_until[file] = now + self._seconds
            return False
        self._quiet_until.pop(file, None)
        passed = self._passed.setdefault(file, deque(maxlen=self._most))
        if len(passed) == self._most and now - passed[0] < self._seconds:
            del self._passed[file]
            self._quiet_until[file] = now + self._seconds
            self._report(
                f"{file} changed {self._most} times in {self._seconds:g} s: its changes are not told any more until "
                f"it is left alone for as long. Does a hook of FileChanged change it?"
            )
            return False
        passed.append(now)
        return True
