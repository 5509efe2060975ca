"""Define the records of a turn: the agent's parts, the turn itself, and its ending."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import AgentHooks
from hookline.agent.models.port import ModelError, ModelPort
from hookline.agent.ports import Shown, UserPort
from hookline.agent.settings import AgentSettings
from hookline.agent.tools.base import AgentTool, Workplace
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.messages import Usage
from hookline.model.outcome import ContextItem, Outcome
from hookline.permissions.rules import RuleSet
from hookline.permissions.state import Permissions
from hookline.trust.trust import Trust


class Turn(Struct, kw_only=True):
    """A turn in progress. The settlement reads its counters."""

    number: int
    #: The prompt as the model gets it.
    text: str
    model: str
    #: The prompt as the user may see it again.
    shown: str = ""
    #: How long the session had lasted when it began.
    session_ms: int | None = None
    #: The id of the wake of a durable hook that it began with.
    wake: str = ""
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
    #: The prompt is in the conversation: from here on the turn can be continued.
    begun: bool = False
    #: The conversation was compacted because a request did not fit; it helps only once.
    shortened: bool = False


class TurnEnding(Struct, frozen=True, kw_only=True):
    status: str = "completed"
    why: str = ""


class AgentParts(Struct, frozen=True, kw_only=True, eq=False):
    """Parts of one agent. The main agent and every subagent have their own, made once."""

    settings: AgentSettings
    model: ModelPort
    hooks: AgentHooks
    conversation: Conversation
    #: The tools the model is offered. Tools of MCP servers may join later.
    tools: Mapping[str, AgentTool]
    permissions: Permissions
    workplace: Workplace
    user: UserPort
    #: The user's trust in the project.
    trust: Trust

    def warn(self, text: str, **facts: Any) -> None:
        shown = Shown(kind="warning", text=text, agent=self.workplace.agent_type, **facts)
        self.user.listener.show(shown)

    def end_blocked(self, outcome: Outcome, event: EventSpec[Any], default: str) -> TurnEnding:
        """End the turn because hooks say so; the user gets the reason."""
        why = outcome.stop_reason or outcome.reason or default
        self.warn(why, **self.hooks.by(decided_by(outcome), event))
        return TurnEnding(status="blocked", why=why)


class TurnKind(Struct, frozen=True, kw_only=True):
    """Differences between a user's turn and the work of a subagent."""

    #: Awaited before each request: late messages and instructions are added, a long conversation is compacted.
    before_request: Callable[[Turn], Awaitable[None]]
    #: Makes the conversation shorter because a request did not fit; returns False if that is not possible.
    shorten: Callable[[Turn], Awaitable[bool]]
    #: Awaited after each batch of calls: adds what the user has typed meanwhile.
    steer: Callable[[Turn], Awaitable[None]] | None = None
    #: True for a user's turn: TurnStart and TurnEnd fire. A subagent works within such a turn.
    is_user_turn: bool = True
    #: The last gate of a turn, and its payload; None for Stop.
    last_gate: Callable[[Turn, p.TurnAnswer], tuple[EventSpec[Any], Any]] | None = None


def decided_by(outcome: Outcome) -> str:
    """Return the hook that stops or blocks."""
    if outcome.halts:
        return outcome.halts[0].by
    vote = outcome.deciding_vote
    return vote.by if vote is not None else ""


def block_means(outcome: Outcome) -> str:
    """Return the meaning of the deciding vote in the dialect of its hook."""
    vote = outcome.deciding_vote
    return vote.means if vote is not None else ""


class Settlement:
    """Settlement of one session's turns."""

    def __init__(self, parts: AgentParts) -> None:
        self._hooks = parts.hooks
        self._conversation = parts.conversation
        self._user = parts.user

    async def failed(self, turn: Turn, error: ModelError) -> TurnEnding:
        """Handle a model without an answer: Notification, Error and StopFailure fire, Stop does not."""
        message = str(error)
        hint = "; /retry continues" if self._user.asker is not None else ""
        self._user.warn(f"the model failed ({error.kind}): {message}{hint}")
        notice = p.Notice(message=message, notification_type="error", level="error")
        await self._hooks.dispatch(e.NOTIFICATION, notice)
        await self._hooks.dispatch(e.ERROR, p.RunError(message=message, error_type=error.kind))
        await self._hooks.dispatch(
            e.STOP_FAILURE,
            p.TurnFailure(error=error.kind, error_details=message, last_assistant_message=turn.last_text),
        )
        return TurnEnding(status="failed", why=f"{error.kind}: {message}")

    async def settle(
        self, turn: Turn, ending: TurnEnding, *, started: float, session_id: str, queued: int
    ) -> None:
        """Settle a turn, the same on every way out, before a queued prompt is played."""
        totals = self._hooks.spending.totals
        self._conversation.turn_over()
        if turn.iteration:
            self._conversation.records.turn(turn.number, ending.status, turn.usage, totals)
        await self._hooks.dispatch(
            e.TURN_SETTLED,
            p.TurnSummary(
                status=ending.status,
                turn_id=f"{session_id}.{turn.number}",
                turn=turn.number,
                error=ending.why if ending.status == "failed" else None,
                duration_ms=int((time.monotonic() - started) * 1000),
                last_assistant_message=turn.last_text,
                usage=turn.usage if turn.iteration else None,
                totals=self._hooks.spending.known(self._conversation.tokens),
                tool_count=turn.tool_count,
                queued_message_count=queued,
                stop_hook_active=turn.held,
            ),
        )
        self._user.listener.show(Shown(kind="settled", text=ending.status))
