"""Where a sub-agent's turn differs from the main agent's: the last gate, and what comes before a request."""

from collections.abc import Callable
from typing import Any

from hookline.agent.turns import Turn
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec

#: The event that fires when the turn is about to end, and its payload.
LastGate = Callable[[Turn, p.TurnAnswer], tuple[EventSpec[Any], Any]]


def _stop(turn: Turn, answer: p.TurnAnswer) -> tuple[EventSpec[Any], Any]:
    del turn
    return e.STOP, answer


def _nothing() -> None:
    pass


class Gates:
    def __init__(self, last: LastGate = _stop, before_request: Callable[[], None] = _nothing) -> None:
        self.last = last
        #: Called before each request: late words and instructions are put in then.
        self.before_request = before_request
