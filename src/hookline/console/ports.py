"""What the console asks the rest of Hookline for. Documents are those that commands print with --json."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hookline.model.run import Run

Document = Mapping[str, Any]
#: How much is done, from 0 to 1.
Tick = Callable[[float], None]


class Ports(Protocol):
    """Methods that return documents are called in threads, and raise HooklineError if they cannot answer."""

    def say(self, text: str) -> None:
        """A line for the user, at the terminal."""
        ...

    def started(self, address: str, link: str, file: str) -> None:
        """The console can be used: by the link once, or by opening the file."""
        ...

    def payload(self, run: Run) -> Any:
        """The payload that was kept when the hook ran, without secrets; None if none was, or it is gone."""
        ...

    def explain(self, run: Run) -> Document:
        """Why hooks would run on the call of a run now: the document `explain`, and the `command` that says the same;
        the `payload` it was made with, and where that is `from` (transcript, record or journal)."""
        ...

    def observed(self, tick: Tick) -> Document:
        """Which guards should have been asked in past sessions, and which were."""
        ...

    def jobs(self) -> Document:
        """The jobs of durable hooks, also those that are over."""
        ...

    def job(self, beginning: str) -> Document | None:
        """All about one job, without secrets."""
        ...

    def backtests(self) -> list[Document]:
        """The reports that were kept, newest first: `name`, `at`, and what they say in short."""
        ...

    def backtest(self, name: str) -> Document | None:
        """One of them, with `at`, when it was made, and `report`."""
        ...
