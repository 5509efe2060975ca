"""Where runs go: to memory, to a file, to whoever listens. Nothing that happens here changes a decision."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from hookline.engine.cleaning import RunCleaner
from hookline.engine.journal_file import JournalFile
from hookline.engine.redaction import Redactor
from hookline.engine.subscribers import Subscribers
from hookline.model.run import Run, Status


class Sink(Protocol):
    """Takes the record of each run."""

    def record(self, run: Run) -> None: ...


class Journal:
    """A sink that cleans each run before anybody sees it, remembers the last ones and passes them on."""

    def __init__(
        self,
        redactor: Redactor,
        memory: int = 1000,
        file: JournalFile | None = None,
        subscribers: Iterable[Callable[[Run], None]] = (),
    ) -> None:
        self._cleaner = RunCleaner(redactor)
        self._known_clean = self._cleaner.known_clean
        self._memory: deque[Run] = deque(maxlen=memory)
        self._remember = self._memory.append
        self._file = file
        self._subscribers = Subscribers[Run]("journal", subscribers)
        self._counts: defaultdict[Status, int] = defaultdict(int)
        self._passed = 0

    def record(self, run: Run) -> None:
        """On the path of every event: a run without texts costs a few attribute reads and one append."""
        self._counts[run.status] += 1
        if run.passed_without_answer:
            self._passed += 1
        known = self._known_clean
        if (
            run.stdout or run.stderr or run.detail or run.why or run.dropped or run.truncated
            or run.hook not in known or run.source not in known
            or (run.reason is not None and run.reason not in known)  # a guard says the same again and again
        ):  # fmt: skip
            run = self._cleaner.cleaned(run)
        self._remember(run)
        if self._file is not None:
            self._file.append(run)
        if self._subscribers.callbacks:
            self._subscribers.tell(run)

    def cleaned(self, run: Run) -> Run:
        """The run as the journal keeps it, for whoever shows one that was not recorded."""
        return self._cleaner.cleaned(run)

    def recent(self, count: int | None = None) -> tuple[Run, ...]:
        """The newest runs, oldest first; all that are remembered without a count."""
        runs = tuple(self._memory)
        return runs if count is None else runs[max(len(runs) - count, 0) :]

    def subscribe(self, callback: Callable[[Run], None]) -> Callable[[], None]:
        """Be called with each run from now on; what is returned ends it."""
        return self._subscribers.add(callback)

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong with the journal itself, each thing once."""
        of_file = self._file.problems if self._file is not None else ()
        of_texts = (self._cleaner.problem,) if self._cleaner.problem else ()
        return (*of_file, *of_texts, *self._subscribers.problems)

    @property
    def runs(self) -> int:
        return sum(self._counts.values())

    @property
    def passed_without_answer(self) -> int:
        """How often an action went ahead although the hook that should judge it did not answer."""
        return self._passed

    @property
    def counts(self) -> Mapping[Status, int]:
        return dict(self._counts)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
