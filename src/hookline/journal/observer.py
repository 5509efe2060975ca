"""Who watches an engine from outside, for telemetry.

An observer is passed to the engine, which calls it at the beginning and end of each dispatch and with every run. What
it raises is recorded once in the problems of the journal, and changes nothing.
"""

from collections.abc import Callable
from typing import Any, Protocol

from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.run import Run

#: Called with the outcome, or None if the dispatch was cancelled, in the context in which it began.
Ended = Callable[[Outcome | None], None]


class Observer(Protocol):
    """Told what an engine does. It must be quick: hooks wait for it."""

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Ended:
        """A dispatch to at least one hook begins; what is returned is called at its end."""
        ...

    def ran(self, run: Run) -> None:
        """The record of a hook, redacted, where it ended: in the context of its dispatch."""
        ...

    def closed(self) -> None:
        """The engine was closed."""
        ...
