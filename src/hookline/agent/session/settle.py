"""How a turn ends, whatever ended it: the books first, then TurnSettled."""

import time

from msgspec.structs import asdict

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import Hooks
from hookline.agent.models.port import ModelError, Usage
from hookline.agent.ports import Listener, Shown
from hookline.agent.transcript.records import Records
from hookline.agent.turn.turn import Ending, Turn
from hookline.model import events as e
from hookline.model import payloads as p


class Settling:
    """Keeps the books of one session."""

    def __init__(
        self, hooks: Hooks, conversation: Conversation, records: Records, listener: Listener
    ) -> None:
        self._hooks = hooks
        self._talk = conversation
        self._records = records
        self._listener = listener
        self.totals = Usage()

    async def failed(self, turn: Turn, error: ModelError) -> Ending:
        """The model gave no answer: everybody who wants to know is told, and Stop does not fire."""
        message = str(error)
        self._listener.show(Shown(kind="warning", text=f"the model failed ({error.kind}): {message}"))
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
        """The same on every way out; only then whatever is queued."""
        self.totals += turn.usage
        self._talk.turn_over()
        if turn.iteration:
            self._records.turn(turn.number, ending.status, turn.usage, self.totals)
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
        self._listener.show(Shown(kind="settled", text=ending.status))
