"""Hooks whose words for the user reach the user, whoever fired the event."""

from typing import Any, TypeVar

from hookline.agent.hooksport import Hooks
from hookline.agent.outside import Listener, Shown
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome

P = TypeVar("P")


class Speaking:
    """Dispatches, and shows what hooks have to say to the user."""

    def __init__(self, hooks: Hooks, listener: Listener) -> None:
        self._hooks = hooks
        self._listener = listener

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        outcome = await self._hooks.dispatch(event, payload)
        for message in outcome.messages:
            self._listener.show(Shown(kind="notice", text=message.text))
        return outcome

    def has(self, event: EventSpec[Any]) -> bool:
        return self._hooks.has(event)
