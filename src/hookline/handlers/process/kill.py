"""End a run: TERM, a grace period, then KILL until no process of it is left."""

import asyncio
import signal
from collections.abc import Callable
from typing import Final

from hookline.handlers.process import procfs
from hookline.handlers.process.containment import ProcessTree, Sweeper
from hookline.handlers.process.procfs import ProcessInfo
from hookline.handlers.process.spawn import signal_group

_LONGEST_PAUSE: Final = 0.02


class KillSequence:
    """A sequence of signals that uses timers only and awaits nothing, so it continues when the caller of the
    run is gone.

    Groups are signalled only while their leader is not reaped: until then its pid cannot be reused. `done` is
    called at the end; after that the leader may be reaped.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        tree: ProcessTree,
        sweeper: Sweeper,
        *,
        grace: float,
        patience: float,
        done: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._tree = tree
        self._sweeper = sweeper
        self._grace = grace
        self._patience = patience
        self._done = done
        self._leader_exited = False
        self._killing = False
        self._timer: asyncio.TimerHandle | None = None
        self._pause = 0.001
        self._until = 0.0

    def terminate(self) -> None:
        """Send TERM; KILL follows after the grace period."""
        signal_group(self._tree.leader, signal.SIGTERM)
        self._timer = self._loop.call_later(self._grace, self.kill)

    def leader_exited(self) -> None:
        self._leader_exited = True
        self._sweeper.ask(self._loop, self._tree, 0, self._swept if self._killing else self._obeyed)

    def kill(self, *, leader_exited: bool = False) -> None:
        """Send KILL now."""
        self._leader_exited = self._leader_exited or leader_exited
        if self._killing:
            return
        self._begin_killing()
        self._sweeper.ask(self._loop, self._tree, 0, self._swept)

    def cancel(self) -> None:
        """Stop the timers at any step."""
        self._killing = True
        if self._timer is not None:
            self._timer.cancel()
        self._sweeper.forget(self._tree)

    def _begin_killing(self) -> None:
        self.cancel()
        self._until = self._loop.time() + self._patience
        signal_group(self._tree.leader, signal.SIGKILL)

    def _obeyed(self, living: list[ProcessInfo]) -> None:
        """Give the group the grace period after its leader obeyed TERM, but no process that left the group."""
        if self._killing:
            return
        leader = self._tree.leader
        if any(leader in (process.group, process.session) for process in living):
            self._sweeper.ask(self._loop, self._tree, _LONGEST_PAUSE, self._obeyed)
        else:
            self._begin_killing()
            self._swept(living)

    def _swept(self, living: list[ProcessInfo]) -> None:
        for process in living:
            procfs.kill_exactly(process)
        if (self._leader_exited and not living) or self._loop.time() > self._until:
            self._done()
            return
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        self._sweeper.ask(self._loop, self._tree, self._pause, self._swept)
