"""Run hooks' processes in a pool: limit how many run at once, and make sure that all of them end."""

import asyncio
import os
import re
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Final, Literal, Protocol
from weakref import WeakKeyDictionary, WeakSet, ref

import msgspec

from hookline.handlers.process.containment import (
    RUN_ID,
    Containment,
    Orphans,
    ProcessTree,
    Sweeper,
    become_subreaper,
)
from hookline.handlers.process.exit_watch import WatchExit, exit_watch
from hookline.handlers.process.run import SHUT_DOWN, Listeners, ProcessRun, RunLimits, RunOrder, RunOwner
from hookline.handlers.process.spawn import Mark, Started, placeholder, sealed, signal_group, start
from hookline.handlers.process.watchdog import Watchdog
from hookline.model.raw import Failed, RawResult

if TYPE_CHECKING:
    from hookline.handlers.warm.scripts import WarmScripts


class Slots:
    """The right to run a process now, first come, first served. Not bound to an event loop."""

    def __init__(self, limit: int = 32, queue: int = 10_000) -> None:
        if limit < 1 or queue < 0:
            raise ValueError(f"limit must be at least 1 and queue at least 0, not {limit} and {queue}")
        self.limit = limit
        self.queue = queue
        self._free = limit
        self._line: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    @property
    def taken(self) -> int:
        return self.limit - self._free

    @property
    def waiting(self) -> int:
        return len(self._line)

    async def take(self) -> float | None:
        """Wait for a slot; return the milliseconds waited, or None when the queue is full."""
        if self._free and not self._line:
            self._free -= 1
            return 0.0
        if len(self._line) >= self.queue:
            return None
        came = perf_counter()
        turn = asyncio.get_running_loop().create_future()
        self._line[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        return (perf_counter() - came) * 1000

    def give_back(self) -> None:
        self._free += 1
        self._call_next()

    def _leave(self, turn: asyncio.Future[None]) -> None:
        was_called = turn not in self._line
        self._line.pop(turn, None)
        if was_called and not turn.cancelled():
            # It got a slot and was cancelled at the same time: the slot goes to the next in line.
            self.give_back()

    def forked(self) -> None:
        """Reset in the child of a fork, where nothing runs or waits."""
        self._free = self.limit
        self._line.clear()

    def _call_next(self) -> None:
        while self._free and self._line:
            turn, _ = self._line.popitem(last=False)
            # A waiter whose loop was closed will never take the slot.
            if turn.done() or turn.get_loop().is_closed():
                continue
            self._free -= 1
            turn.set_result(None)


class Starter(Protocol):
    """Starts processes in another way than by their program: under supervision, for example."""

    def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, mark: Mark
    ) -> Started | Failed: ...

    def begun(self, running: ProcessRun) -> None:
        """Get the run of what was started."""
        ...

    @property
    def pids(self) -> Collection[int]:
        """Processes of its own that belong to no run."""
        ...


#: Seconds, a hundred days: longer than any wait on a loop.
_FAR: Final = 8_640_000.0
_UNSAFE_IN_A_TAG: Final = re.compile(r"[^A-Za-z0-9_-]")


class Processes:
    """Runs processes, at most as many at once as there are slots, and never loses one.

    Not bound to an event loop: it may serve one loop after another. When a loop is closed, the processes it
    left are ended. In the child of a fork the pool starts empty, and the parent's runs stay the parent's.

    With `warm`, Python scripts of runs that allow it are run by interpreters started ahead (see
    `WarmScripts`). True: by its own, which end with it; an object may be shared, and its maker closes it.
    """

    def __init__(
        self,
        slots: Slots | None = None,
        *,
        containment: Literal["group", "subreaper"] = "group",
        bounds: RunLimits | None = None,
        most_background: int = 64,
        exit_watch: WatchExit = exit_watch,
        watchdog_shell: str = "/bin/sh",
        warm: "WarmScripts | bool" = False,
    ) -> None:
        self.slots = slots if slots is not None else Slots()
        self.bounds = bounds if bounds is not None else RunLimits()
        self._exit_watch = exit_watch
        self._watchdog_shell = watchdog_shell
        self._asked: Literal["group", "subreaper"] = containment
        self._engine = os.urandom(6).hex()
        self._runs: dict[ProcessTree, ProcessRun] = {}
        self._slotless: set[ProcessTree] = set()
        self._most_slotless = most_background
        self._orphans = _orphans(containment, self._engine)
        self._loop: asyncio.AbstractEventLoop | None = None
        # Weak in every direction: only the loop may hold the object that signals its closing.
        self._loop_ends: WeakKeyDictionary[asyncio.AbstractEventLoop, ref[asyncio.TimerHandle]]
        self._loop_ends = WeakKeyDictionary()
        self._closing = 0
        self._closers: list[asyncio.Future[None]] = []
        self._owns_warm = warm is True
        self._warm = _own_scripts() if warm is True else warm or None
        self._tended = False
        self._starters: WeakSet[Starter] = WeakSet()

    # Made with the first process: many engines read a configuration and never run a hook.

    @cached_property
    def watchdog(self) -> Watchdog:
        number = None if self._orphans is None else self._orphans.number
        return Watchdog(self._engine, self._watchdog_shell, number)

    @cached_property
    def _owner(self) -> RunOwner:
        containment = Containment(self._engine, self._runs.keys(), self._bystanders, self._orphans)
        return RunOwner(
            Sweeper(containment),
            containment,
            self._exit_watch,
            self._moved_to_background,
            self._answered,
            self._forget,
        )

    def _bystanders(self) -> set[int]:
        ours = set(self._warm.pids) if self._warm is not None else set[int]()
        for starter in self._starters:
            ours.update(starter.pids)
        return ours if self.watchdog.pid is None else ours | {self.watchdog.pid}

    @property
    def warm(self) -> "WarmScripts | None":
        return self._warm

    @property
    def alive(self) -> int:
        """Processes that were started and are not reaped yet."""
        return len(self._runs)

    @property
    def containment(self) -> Literal["group", "subreaper"]:
        """The way the processes of a run are found: as requested, or as far as this system supports it."""
        return "group" if self._orphans is None else "subreaper"

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str],
        cwd: str,
        timeout: float,
        run_id: str,
        leftovers: Literal["kill", "leave"] = "kill",
        on_line: Callable[[bytes], None] | None = None,
        async_line: bool = False,
        files: Sequence[bytes] = (),
        listeners: Listeners | None = None,
        warm: bool = False,
        starter: Starter | None = None,
    ) -> RawResult:
        """Run a program and wait for its whole tree. Each of `files` has a placeholder in argv.

        With `warm`, a Python script may be run by an interpreter that was started ahead, where the pool has
        some.

        With `async_line`, a first line `{"async": true}` ends the waiting: the result is then a `Background`,
        whose `rest` gives the real one when awaited; the process continues in this pool, under the same
        deadline.
        """
        if not timeout > 0:
            return Failed("timed_out", "after 0 s: no time was left to start it")
        loop = asyncio.get_running_loop()
        self._take_over(loop)
        waited = await self.slots.take()
        if waited is None:
            return Failed(
                "not_started", f"too many hooks at once: {self.slots.queue} wait for a slot already"
            )
        until = loop.time() + timeout
        try:
            tag = self._tag(run_id, leftovers)
            tagged = {**env, RUN_ID: tag}
            if starter is not None:
                begun = self._start_by(starter, argv, tagged, cwd, leftovers)
            else:
                begun = self._start(argv, tagged, cwd, files, leftovers, warm=warm)
            if isinstance(begun, Started):
                tree = ProcessTree(begun.pid, tag, leftovers)
                order = RunOrder(tree, stdin, timeout, self.bounds, waited, on_line, async_line, listeners)
                begun = self._watch_over(loop, begun, order)
        except BaseException:
            self.slots.give_back()
            raise
        if isinstance(begun, Failed):
            self.slots.give_back()
            return msgspec.structs.replace(begun, queue_ms=waited)
        if starter is not None:
            starter.begun(begun)
        result = await begun.wait()
        if not begun.never_began:
            return result
        # The process that waited for it was killed before it took the job, so this is its first start.
        return await self.run(
            argv, stdin=stdin, env=env, cwd=cwd, timeout=until - loop.time(), run_id=run_id, leftovers=leftovers,
            on_line=on_line, async_line=async_line, files=files, listeners=listeners,
        )  # fmt: skip

    async def close(self, limit: float = 1.5) -> None:
        """Wait up to `limit` seconds for running processes, send TERM towards the end, then kill. Leaves
        nothing.

        Hooks waiting for a slot are refused meanwhile. The pool can be used again afterwards.
        """
        if self._loop is None and not self._runs and "watchdog" not in self.__dict__:
            return  # nothing was started, here or by others who share the watchdog: that needs no loop
        self._take_over(asyncio.get_running_loop())
        self._closing += 1
        try:
            await self._close_within(limit)
        finally:
            self._closing -= 1
            # Only after a cancellation is anything left here: then the kill sequences continue alone.
            for running in list(self._runs.values()):
                running.kill()
        self._owner.containment.reap_strays()
        self.watchdog.close()
        if self._warm is not None and self._owns_warm:
            self._warm.close()
        self._forget_loops()

    def __del__(self) -> None:
        self._forget_loops()

    def _forget_loops(self) -> None:
        """Remove waiters from loops: a host may make many pools on one loop."""
        self._loop = None
        for end in self._loop_ends.values():
            timer = end()
            if timer is not None:
                timer.cancel()
        self._loop_ends.clear()

    async def _close_within(self, limit: float) -> None:
        after_term = min(self.bounds.grace, limit)
        await self._all_ended(limit - after_term)
        if limit > after_term:
            for running in list(self._runs.values()):
                running.end("cancelled", SHUT_DOWN)
            await self._all_ended(after_term)
        for running in list(self._runs.values()):
            running.kill()
        await self._all_ended(self.bounds.patience + 0.5)
        for running in list(self._runs.values()):
            running.abandon(0)

    async def _all_ended(self, within: float) -> None:
        if self._runs and within > 0:
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._closers.append(ended)
            await asyncio.wait((ended,), timeout=within)

    def _take_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the runs of a closed loop: its callbacks will never be called again."""
        if loop is self._loop:
            return
        self._loop = loop
        if loop not in self._loop_ends:
            self._loop_ends[loop] = ref(loop.call_later(_FAR, _LoopEnd(self)))
            _pools_of_this_process().add(self)
        self._abandon(
            running
            for running in self._runs.values()
            if running.loop is not loop and not running.loop.is_running()
        )

    def loop_closed(self) -> None:
        """End the runs of a loop that was closed."""
        self._abandon(running for running in self._runs.values() if running.loop.is_closed())

    def _abandon(self, runs: Iterable[ProcessRun]) -> None:
        left = list(runs)
        for running in left:
            signal_group(running.tree.leader, signal.SIGKILL)
        for running in left:
            running.abandon(self.bounds.patience)

    def forked(self) -> None:
        """Start empty in the child of a fork."""
        for running in self._runs.values():
            running.forked()
        self.watchdog.forked()
        self._runs.clear()
        self._slotless.clear()
        self._closers.clear()
        self._closing = 0
        self._tended = False
        self._loop = None
        if self._warm is not None:
            self._warm.forked()
        self.slots.forked()
        self._engine = os.urandom(6).hex()
        self._orphans = _orphans(self._asked, self._engine)
        for name in ("watchdog", "_owner"):
            self.__dict__.pop(name, None)

    def _tag(self, run_id: str, leftovers: Literal["kill", "leave"]) -> str:
        # Processes that a run may leave behind must not match what the watchdog kills.
        engine = self._engine if leftovers == "kill" else f"{self._engine}-left"
        return f"{engine}.{_UNSAFE_IN_A_TAG.sub('_', run_id)[:64]}"

    def _start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        files: Sequence[bytes],
        leftovers: Literal["kill", "leave"],
        *,
        warm: bool,
    ) -> Started | Failed:
        if self._closing:
            return Failed("cancelled", SHUT_DOWN)
        self.watchdog.start()
        descriptors: list[int] = []
        words = list(argv)
        try:
            for number, content in enumerate(files):
                fd = sealed(content)
                if isinstance(fd, Failed):
                    return fd
                descriptors.append(fd)
                words = [word.replace(placeholder(number), f"/proc/self/fd/{fd}") for word in words]
            # Processes that a run may leave behind must not match what the watchdog kills.
            numbered = leftovers == "kill"
            missed: bool | None = None
            if warm and self._warm is not None:
                mark = Mark() if self._orphans is None else Mark(*self._orphans.mark(numbered=numbered))
                begun = self._warm.start(words, env=env, cwd=cwd, keeps=descriptors, mark=mark)
                if isinstance(begun, Started):
                    return begun
                missed = False if begun == "missed" else None
            with nullcontext() if self._orphans is None else self._orphans.marked(numbered=numbered):
                started = start(words, env=env, cwd=cwd, keeps=descriptors)
            return started if isinstance(started, Failed) else msgspec.structs.replace(started, warm=missed)
        finally:
            for fd in descriptors:
                os.close(fd)

    def _start_by(
        self,
        starter: Starter,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        leftovers: Literal["kill", "leave"],
    ) -> Started | Failed:
        if self._closing:
            return Failed("cancelled", SHUT_DOWN)
        self._starters.add(starter)
        self.watchdog.start()
        numbered = leftovers == "kill"
        mark = Mark() if self._orphans is None else Mark(*self._orphans.mark(numbered=numbered))
        return starter.start(argv, env=env, cwd=cwd, mark=mark)

    def _watch_over(
        self, loop: asyncio.AbstractEventLoop, started: Started, order: RunOrder
    ) -> ProcessRun | Failed:
        try:
            running = ProcessRun(loop, started, order, self._owner)
        except (OSError, RuntimeError) as error:
            started.undo()
            return Failed("not_started", f"it cannot be watched: {error}")
        self._runs[order.tree] = running
        self.watchdog.began(loop, order.tree.leader, "" if order.tree.leftovers == "kill" else order.tree.tag)
        return running

    def _moved_to_background(self, tree: ProcessTree) -> None:
        # A hook that runs for minutes must not keep a guard waiting, up to a number of such hooks.
        if len(self._slotless) < self._most_slotless:
            self._slotless.add(tree)
            self.slots.give_back()

    def _answered(self, tree: ProcessTree) -> None:
        """Free the slot: the result is known and the process about to die, so the next one may be forked."""
        if tree not in self._slotless:
            self._slotless.add(tree)
            self.slots.give_back()
        self._tend_soon(self._runs[tree])

    def _tend_soon(self, running: ProcessRun) -> None:
        if self._warm is None:
            return
        if running.early is not None:
            self._warm.ended(running.early)
        if not self._tended and not running.loop.is_closed():
            self._tended = True
            running.loop.call_soon(self._tend)

    def _tend(self) -> None:
        self._tended = False
        if self._warm is not None and not self._closing:
            self._warm.tend()

    def _forget(self, tree: ProcessTree) -> None:
        running = self._runs.pop(tree)
        self._tend_soon(running)
        self.watchdog.ended(tree.leader)
        if tree in self._slotless:
            self._slotless.remove(tree)
        else:
            self.slots.give_back()
        if not self._runs:
            for closer in self._closers:
                if not closer.done():
                    closer.set_result(None)
            self._closers.clear()


class _LoopEnd:
    """A timer that never fires. Only the loop holds it, so closing the loop deletes it, which signals the pool."""

    def __init__(self, pool: Processes) -> None:
        self._pool = ref(pool)

    def __call__(self) -> None:
        """Do nothing: a hundred days have passed."""

    def __del__(self) -> None:
        pool = self._pool()
        # A program that ends leaves its hooks to the watchdog.
        if pool is not None and not sys.is_finalizing():
            pool.loop_closed()


@cache
def _pools_of_this_process() -> WeakSet[Processes]:
    """Return pools that ran something. In the child of a fork each drops what belongs to the parent."""
    pools: WeakSet[Processes] = WeakSet()

    def forked() -> None:
        for pool in list(pools):
            pool.forked()

    os.register_at_fork(after_in_child=forked)
    return pools


def _own_scripts() -> "WarmScripts":
    from hookline.handlers.warm.scripts import WarmScripts  # noqa: PLC0415 - only for those who ask for it

    return WarmScripts()


def _orphans(containment: Literal["group", "subreaper"], engine: str) -> Orphans | None:
    # As process 1 of a container we adopt all orphans anyway.
    if os.getpid() == 1 or (containment == "subreaper" and become_subreaper()):
        return Orphans(engine)
    return None
