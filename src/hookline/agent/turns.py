"""One turn as a record: what it began with, what it came to."""

from msgspec import Struct

from hookline.agent.modelport import Usage
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
