"""Where a sub-agent's turn differs from the main agent's: the last gate, and what comes before a request."""

from collections.abc import Awaitable, Callable
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


async def _nothing(turn: Turn) -> None:
    del turn


class Gates:
    """`own_turn`: it is a user's turn, so TurnStart and TurnEnd fire; a sub-agent works within one."""

    def __init__(
        self,
        last: LastGate = _stop,
        before_request: Callable[[Turn], Awaitable[None]] = _nothing,
        *,
        own_turn: bool = True,
    ) -> None:
        self.last = last
        #: Awaited before each request: late words and instructions are put in then, and long talks shortened.
        self.before_request = before_request
        self.own_turn = own_turn
