"""The records of a turn: what one agent works with, the turn itself, and how it ended."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import AgentHooks
from hookline.agent.models.port import ModelPort, Usage
from hookline.agent.ports import UserPort
from hookline.agent.settings import AgentSettings
from hookline.agent.tools.base import Tool, Workplace
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.outcome import ContextItem, Outcome
from hookline.permissions.rules import RuleSet
from hookline.permissions.state import Permissions


class Turn(Struct, kw_only=True):
    """A turn in progress. The settlement reads its counters."""

    number: int
    #: The prompt as the model gets it.
    text: str
    model: str
    #: `allowed-tools` of the command or skill the prompt came from.
    allowed: RuleSet | None = None
    #: Text that hooks added when the prompt was submitted; it follows the prompt.
    context: tuple[ContextItem, ...] = ()
    iteration: int = 0
    tool_count: int = 0
    usage: Usage = Usage()
    last_text: str = ""
    #: The last text as it was shown, which a hook may have replaced.
    last_shown: str = ""
    #: A Stop hook has sent the model back in this turn.
    held: bool = False


class Ending(Struct, frozen=True, kw_only=True):
    status: str = "completed"
    why: str = ""


class AgentParts(Struct, frozen=True, kw_only=True, eq=False):
    """What one agent works with. The main agent and every subagent have their own, made once."""

    settings: AgentSettings
    model: ModelPort
    hooks: AgentHooks
    conversation: Conversation
    #: The tools the model is offered. Tools of MCP servers may join later.
    tools: Mapping[str, Tool]
    permissions: Permissions
    workplace: Workplace
    user: UserPort

    def warn(self, text: str) -> None:
        self.user.show("warning", text, self.workplace.agent_type)

    def end_blocked(self, outcome: Outcome, default: str) -> Ending:
        """The turn ends because hooks say so; the user is told why."""
        why = outcome.stop_reason or outcome.reason or default
        self.warn(why)
        return Ending(status="blocked", why=why)


class TurnKind(Struct, frozen=True, kw_only=True):
    """What differs between a user's turn and the work of a subagent."""

    #: Awaited before each request: late messages and instructions are added, a long conversation is compacted.
    before_request: Callable[[Turn], Awaitable[None]]
    #: True for a user's turn: TurnStart and TurnEnd fire. A subagent works within such a turn.
    is_user_turn: bool = True
    #: The last gate of a turn, and its payload; None for Stop.
    last_gate: Callable[[Turn, p.TurnAnswer], tuple[EventSpec[Any], Any]] | None = None


def block_means(outcome: Outcome) -> str:
    """What the deciding vote means in the dialect of its hook."""
    vote = outcome.deciding_vote
    return vote.means if vote is not None else ""
