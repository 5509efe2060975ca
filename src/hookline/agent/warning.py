"""What an agent tells its user when a turn does not go its usual way."""

from hookline.agent.outside import Listener, Shown
from hookline.agent.turns import Ending
from hookline.model.outcome import Outcome


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
