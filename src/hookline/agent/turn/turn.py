"""One turn as a record: what it began with, what it came to."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.messages import ToolUse
from hookline.agent.models.port import Usage
from hookline.agent.ports import Listener, Shown
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.outcome import ContextItem, Outcome
from hookline.permissions.rules import RuleSet


class Turn(Struct, kw_only=True):
    """A turn under way. Its numbers only go up; whoever settles the turn reads them."""

    number: int
    #: The prompt as the model gets it.
    text: str
    model: str
    #: `allowed-tools` of the command or skill the prompt came by.
    allowed: RuleSet | None = None
    #: What hooks added when the prompt was submitted; it follows the prompt.
    context: tuple[ContextItem, ...] = ()
    iteration: int = 0
    tool_count: int = 0
    usage: Usage = Usage()
    last_text: str = ""
    #: The same as it was shown: hooks may have put other words in its place.
    last_shown: str = ""
    #: A Stop hook has kept this turn alive.
    held: bool = False


class Ending(Struct, frozen=True, kw_only=True):
    status: str = "completed"
    why: str = ""


def means(outcome: Outcome) -> str:
    """What the strongest vote means in the dialect of its hook."""
    vote = outcome.deciding_vote
    return vote.means if vote is not None else ""


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


class Warner:
    """Speaks for one agent; `agent` is its type when it is a sub-agent."""

    def __init__(self, listener: Listener, agent: str | None) -> None:
        self._listener = listener
        self._agent = agent

    def warn(self, text: str) -> None:
        self._listener.show(Shown(kind="warning", text=text, agent=self._agent))

    def blocked(self, outcome: Outcome, default: str) -> Ending:
        """Hooks end the turn: the user is told why, and so is whoever settles it."""
        why = outcome.stop_reason or outcome.reason or default
        self.warn(why)
        return Ending(status="blocked", why=why)


_LONGEST_SHOWN = 200


class Repeats:
    """Sees when a model asks for the same calls response after response."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last = b""
        self._times = 0

    def count(self, uses: Sequence[ToolUse]) -> str | None:
        """What is being repeated, once it is too often."""
        made = msgspec.json.encode([(use.name, use.input) for use in uses])
        self._times = self._times + 1 if made == self._last else 1
        self._last = made
        if self._times <= self._most:
            return None
        return made.decode()[:_LONGEST_SHOWN]

    def answered(self) -> None:
        """A response without calls: what comes after it is no repetition, even if a hook sent the model back."""
        self._last, self._times = b"", 0


def with_own_ids(uses: Sequence[ToolUse]) -> tuple[tuple[ToolUse, ...], str]:
    """The calls with an id each, and the id that stood twice, if one did."""
    seen: set[str] = set()
    doubled = ""
    own: list[ToolUse] = []
    for place, use in enumerate(uses, 1):
        if use.id in seen:
            doubled = use.id
            use = replace(use, id=f"{use.id}_{place}")  # noqa: PLW2901 the one with an id of its own is meant from here
        seen.add(use.id)
        own.append(use)
    return tuple(own), doubled
