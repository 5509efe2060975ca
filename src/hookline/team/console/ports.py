"""Define what the console needs from the rest of Hookline. Documents are those that commands print with --json."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hookline.model.run import Run

Document = Mapping[str, Any]
#: How much is done, from 0 to 1.
Tick = Callable[[float], None]


class Ports(Protocol):
    """Services for the console. Methods that return documents run in threads, and raise HooklineError if they fail."""

    def say(self, text: str) -> None:
        """Print a line for the user, at the terminal."""
        ...

    def started(self, address: str, link: str, file: str) -> None:
        """Announce that the console can be used: by the link once, or by opening the file."""
        ...

    def payload(self, run: Run) -> Any:
        """Return the payload recorded when the hook ran, without secrets; None if it was not recorded or is gone."""
        ...

    def explain(self, run: Run) -> Document:
        """Explain why hooks would run on the call of a run now: the document `explain`, and the `command`
        that prints the same; the `payload` it was made with, and where that is `from` (transcript, record
        or journal).
        """
        ...

    def coverage(self, tick: Tick) -> Document:
        """Return which guards should have run in past sessions, and which did."""
        ...

    def doctor(self) -> Document:
        """Return what `hookline doctor` finds here: agents, guards and problems."""
        ...

    def fleet(self) -> Document:
        """Return what `hookline fleet status` finds; only asked for with the runs of a fleet."""
        ...

    def jobs(self) -> Document:
        """Return the jobs of durable hooks, including finished ones."""
        ...

    def job(self, beginning: str) -> Document | None:
        """Return everything about one job, without secrets."""
        ...

    def approvals(self) -> list[Document]:
        """Return the calls that wait for a person, the longest first."""
        ...

    def answer(self, name: str, *, allow: bool, message: str) -> bool:
        """Answer a call that waits. Return False if it was answered already, or does not wait any more."""
        ...

    def backtests(self) -> list[Document]:
        """Return the stored reports, newest first: `name`, `at`, and a summary."""
        ...

    def backtest(self, name: str) -> Document | None:
        """Return one report, with `at`, when it was made, and `report`."""
        ...
