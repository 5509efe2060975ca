"""How a turn ends, whatever ended it: usage and transcript are brought up to date, then TurnSettled fires."""

import time

from msgspec.structs import asdict

from hookline.agent.models.port import ModelError, Usage
from hookline.agent.ports import Shown
from hookline.agent.turn.turn import AgentParts, Ending, Turn
from hookline.model import events as e
from hookline.model import payloads as p


class Settlement:
    """Settles the turns of one session and adds up their usage."""

    def __init__(self, parts: AgentParts) -> None:
        self._hooks = parts.hooks
        self._conversation = parts.conversation
        self._user = parts.user
        self.totals = Usage()

    async def failed(self, turn: Turn, error: ModelError) -> Ending:
        """The model gave no answer: Notification, Error and StopFailure fire, Stop does not."""
        message = str(error)
        self._user.warn(f"the model failed ({error.kind}): {message}")
        notice = p.Notice(message=message, notification_type="error", level="error")
        await self._hooks.dispatch(e.NOTIFICATION, notice)
        await self._hooks.dispatch(e.ERROR, p.RunError(message=message, error_type=error.kind))
        await self._hooks.dispatch(
            e.STOP_FAILURE,
            p.TurnFailure(error=error.kind, error_details=message, last_assistant_message=turn.last_text),
        )
        return Ending(status="failed", why=f"{error.kind}: {message}")

    async def settle(
        self, turn: Turn, ending: Ending, *, started: float, session_id: str, queued: int
    ) -> None:
        """The same on every way out, before a queued prompt is played."""
        self.totals += turn.usage
        self._conversation.turn_over()
        if turn.iteration:
            self._conversation.records.turn(turn.number, ending.status, turn.usage, self.totals)
        await self._hooks.dispatch(
            e.TURN_SETTLED,
            p.TurnSummary(
                status=ending.status,
                turn_id=f"{session_id}.{turn.number}",
                turn=turn.number,
                error=ending.why if ending.status == "failed" else None,
                duration_ms=int((time.monotonic() - started) * 1000),
                last_assistant_message=turn.last_text,
                usage=asdict(turn.usage),
                totals=asdict(self.totals),
                tool_count=turn.tool_count,
                queued_message_count=queued,
                stop_hook_active=turn.held,
            ),
        )
        self._user.listener.show(Shown(kind="settled", text=ending.status))
