"""Ctrl-C and other signals that want something of an agent: stop what it does, or leave."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from hookline.agent.session import Agent
from hookline.config.embedding import Engine

_STAYS = "stopped; Ctrl-C once more, or /exit, leaves"


class Stopping:
    """For one session. `talks`: the user is at a terminal, so Ctrl-C in a turn stops that turn alone."""

    def __init__(
        self, agent: Agent, playing: "asyncio.Future[Any]", *, talks: bool, say: Callable[[str], None]
    ) -> None:
        self._agent = agent
        self._playing = playing
        self._talks = talks
        self._say = say
        self._stopped_turn: int | None = None
        #: Whether the session was told to end.
        self.left = False

    def stop(self) -> None:
        agent = self._agent
        if not self._talks or not agent.busy or self._stopped_turn == agent.turns:
            self.leave()
            return
        self._stopped_turn = agent.turns
        agent.queue.clear()
        agent.interrupt()
        self._say(_STAYS)

    def leave(self) -> None:
        """What is done ends now, and the session ends as it should."""
        self.left = True
        self._agent.queue.clear()
        self._agent.leaving = self._agent.leaving or "other"
        # A turn settles itself. What is no turn, such as hooks of the start or waiting for a wake, just ends.
        if not self._agent.interrupt():
            self._playing.cancel()

    @contextmanager
    def heard(self) -> Generator[None]:
        """While signals come here. A terminal that is closed is one of them."""
        with _on_signals(self.stop, self.leave):
            yield


async def close_engine(engine: Engine, limit: float | None) -> None:
    """Hooks in the background get their time, unless the user has none."""
    closing = asyncio.ensure_future(engine.close(limit))
    with _on_signals(closing.cancel, closing.cancel):
        await asyncio.wait({closing})
    if closing.cancelled():
        await engine.close(0.0)
    else:
        closing.result()


@contextmanager
def _on_signals(stop: Callable[[], object], leave: Callable[[], object]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    signals = {signal.SIGINT: stop, signal.SIGTERM: leave, signal.SIGHUP: leave}
    for number, react in signals.items():
        loop.add_signal_handler(number, react)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
