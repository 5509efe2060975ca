"""Ending a run for good: TERM, time to obey, KILL, and again until nothing of it is left."""

import asyncio
import signal
from collections.abc import Callable
from typing import Final

from hookline.handlers.process import procfs
from hookline.handlers.process.containment import Containment, Tree
from hookline.handlers.process.procfs import Seen
from hookline.handlers.process.spawn import signal_group

_LONGEST_PAUSE: Final = 0.02

Answer = Callable[[list[Seen]], None]


class Sweeper:
    """One look at all processes serves every run that is being ended at that moment."""

    def __init__(self, containment: Containment) -> None:
        self._containment = containment
        self._asked: dict[Tree, Answer] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, loop: asyncio.AbstractEventLoop, tree: Tree, pause: float, answer: Answer) -> None:
        """Tell `answer` what lives of the tree, after the pause or sooner."""
        if loop is not self._loop:
            self._loop, self._timer = loop, None
            self._asked.clear()
        self._asked[tree] = answer
        if self._timer is None or loop.time() + pause < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_later(pause, self._look)

    def forget(self, tree: Tree) -> None:
        self._asked.pop(tree, None)

    def _look(self) -> None:
        self._timer = None
        asked, self._asked = self._asked, {}
        found = self._containment.members(asked)
        for tree, answer in asked.items():
            answer(found[tree.leader])


class Ladder:
    """Timers only, nothing is awaited: it goes on when whoever waited for the run is gone.

    Groups are signalled only while their leader is not reaped, so its number cannot belong to a stranger;
    whoever is told by `dead` may reap.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        tree: Tree,
        sweeper: Sweeper,
        *,
        grace: float,
        patience: float,
        dead: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._tree = tree
        self._sweeper = sweeper
        self._grace = grace
        self._patience = patience
        self._dead = dead
        self._leader_gone = False
        self._killing = False
        self._timer: asyncio.TimerHandle | None = None
        self._pause = 0.001
        self._until = 0.0

    def climb(self) -> None:
        """Start at the bottom."""
        signal_group(self._tree.leader, signal.SIGTERM)
        self._timer = self._loop.call_later(self._grace, self.kill)

    def leader_gone(self) -> None:
        self._leader_gone = True
        self._sweeper.ask(self._loop, self._tree, 0, self._swept if self._killing else self._obeyed)

    def kill(self, *, leader_gone: bool = False) -> None:
        """Go to the top at once."""
        self._leader_gone = self._leader_gone or leader_gone
        if self._killing:
            return
        self._begin_killing()
        self._sweeper.ask(self._loop, self._tree, 0, self._swept)

    def stop(self) -> None:
        """Get off, wherever it stands."""
        self._killing = True
        if self._timer is not None:
            self._timer.cancel()
        self._sweeper.forget(self._tree)

    def _begin_killing(self) -> None:
        self.stop()
        self._until = self._loop.time() + self._patience
        signal_group(self._tree.leader, signal.SIGKILL)

    def _obeyed(self, living: list[Seen]) -> None:
        """The leader obeyed TERM. The others that got it have their time too; who fled it has not."""
        if self._killing:
            return
        leader = self._tree.leader
        if any(leader in (process.group, process.session) for process in living):
            self._sweeper.ask(self._loop, self._tree, _LONGEST_PAUSE, self._obeyed)
        else:
            self._begin_killing()
            self._swept(living)

    def _swept(self, living: list[Seen]) -> None:
        for process in living:
            procfs.kill_exactly(process)
        if (self._leader_gone and not living) or self._loop.time() > self._until:
            self._dead()
            return
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        self._sweeper.ask(self._loop, self._tree, self._pause, self._swept)
