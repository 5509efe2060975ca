"""What each hook did so far: how often it ran, how long it took, what it said last."""

from collections import deque
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from hookline.model.hook import Hook
    from hookline.model.run import Run

_REMEMBERED = 99


class Record(Struct, eq=False):
    runs: int = 0
    passed_without_answer: int = 0
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    last: "Run | None" = None

    @property
    def median_ms(self) -> float | None:
        times = sorted(self.times)
        return times[len(times) // 2] if times else None


class HookStats:
    """Written on the agent's thread, read on the screen's."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, str], Record] = {}
        #: Grows with every hook that ended.
        self.count = 0

    def ran(self, run: "Run") -> None:
        """Subscribe this to the journal."""
        record = self._records.setdefault((run.event, run.hook, run.source), Record())
        if run.status not in ("skipped", "untrusted"):
            record.runs += 1
            record.times.append(run.duration_ms)
        record.passed_without_answer += run.passed_without_answer
        record.last = run
        self.count += 1

    def of(self, hook: "Hook") -> Record:
        return self._records.get((hook.event.name, hook.name, str(hook.where))) or Record()
