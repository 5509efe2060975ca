"""Run hooks for one call in the daemon: in its pool of processes, and only once the relay has agreed."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import Handler, Handlers, standard_handlers
from hookline.model.raw import RawResult
from hookline.model.wire import HookInvocation

#: Kinds that have no effects: they may run again in another process.
_WITHOUT_EFFECTS: Final = frozenset(("builtin", "function"))

#: Called before the first hook with effects; returns when hooks may start.
Begin = Callable[[], Awaitable[None]]


class Announced:
    """A handler whose first run is announced."""

    def __init__(self, handler: Handler, begin: Begin) -> None:
        self._handler = handler
        self._begin = begin
        self.kind = handler.kind
        self.own_clock = handler.own_clock

    async def run(self, call: HookInvocation) -> RawResult:
        await self._begin()
        return await self._handler.run(call)

    def problem(self, spec: Any) -> str | None:
        return self._handler.problem(spec)

    async def close(self) -> None:
        await self._handler.close()


class SharedProcesses(Processes):
    """The pool of the daemon, for the engine of one call, which must not end the hooks of others."""

    async def close(self, limit: float = 1.5) -> None:
        """Do nothing: processes of a call end with its task."""
        del limit

    async def close_all(self, limit: float = 1.5) -> None:
        await super().close(limit)


def call_handlers(processes: Processes, env: Mapping[str, str], begin: Begin) -> Handlers:
    """Return all handlers, for a call with this environment."""
    found = standard_handlers(processes=processes, env=env)
    found.wrap = lambda made: made if made.kind in _WITHOUT_EFFECTS else Announced(made, begin)
    return found
