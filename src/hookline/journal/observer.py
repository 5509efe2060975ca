"""Let telemetry watch an engine from outside.

An observer is passed to the engine, which calls it at the beginning and end of each dispatch and with every
run. An exception in it is recorded once among the journal's problems, and changes nothing.
"""

from collections.abc import Callable
from typing import Any, Protocol

from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.run import Run

#: Called with the outcome, or None if the dispatch was cancelled, in the context in which it began.
Ended = Callable[[Outcome | None], None]


class Observer(Protocol):
    """An observer of an engine. It must be quick: hooks wait for it."""

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Ended:
        """Handle the beginning of a dispatch to at least one hook; the returned function is called at its end."""
        ...

    def ran(self, run: Run) -> None:
        """Handle a hook's redacted record, in the context of its dispatch."""
        ...

    def closed(self) -> None:
        """Handle the closing of the engine."""
        ...
