"""One process of one hook, from its start to its end: an object with loop callbacks and no task at all.

It goes through `runs -> drains -> ended`, or, when it has to be ended, `runs -> ladder -> ended`. Whoever
waits for it waits for a future; if nobody does any more, the callbacks finish the work alone.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from time import monotonic, sleep
from typing import Any, Final

from msgspec import Struct

from hookline.handlers.process import procfs
from hookline.handlers.process.containment import Containment, Tree
from hookline.handlers.process.exit_watch import ExitWatch, WatchesExit
from hookline.handlers.process.kill import Ladder, Sweeper
from hookline.handlers.process.pipes import LONGEST_REQUEST, Input, Lines, Output, asks_to_detach
from hookline.handlers.process.spawn import Started, signal_group
from hookline.model.policy import Cause
from hookline.model.raw import Broke, Detached, Exited, RawResult

CLOSED: Final = "it was ended because Hookline was closed"

_DRAINED_BYTES: Final = 2 << 20  # a pipe holds 1 MiB at most, so this is all that the hook itself wrote
_READS_AT_ONCE: Final = 16


class Bounds(Struct, frozen=True):
    """How much and how long; bytes and seconds."""

    stdout: int = 1 << 20
    stderr: int = 1 << 18
    #: More output than this in all, and the hook is ended.
    flood: int = 64 << 20
    #: How long to read on after the hook has ended.
    drain: float = 0.15
    #: Between TERM and KILL.
    grace: float = 0.5
    #: How long to go on killing before the result is given all the same.
    patience: float = 1.0


class Listeners(Struct, frozen=True):
    """Who hears stdout and stderr as they come, also what is too much to be kept. They must not raise."""

    stdout: Callable[[bytes], None]
    stderr: Callable[[bytes], None]


class Order(Struct, frozen=True):
    """What is asked of one run."""

    tree: Tree
    stdin: bytes
    timeout: float
    bounds: Bounds
    queue_ms: float = 0.0
    on_line: Callable[[bytes], None] | None = None
    may_detach: bool = False
    listeners: Listeners | None = None


class Owner(Struct, frozen=True):
    """What a run needs from whoever owns it."""

    sweeper: Sweeper
    containment: Containment
    watch: WatchesExit
    detached: Callable[[Tree], None]
    #: Called just before the child is reaped: from then on its number may belong to a stranger.
    ending: Callable[[Tree], None]


class Rest:
    """What becomes of a detached hook. Cancelling whoever awaits it ends the hook."""

    __slots__ = ("_running",)

    def __init__(self, running: "Running") -> None:
        self._running = running

    def __await__(self) -> Generator[Any, None, RawResult]:
        return self._running.wait().__await__()


class Running:
    def __init__(self, loop: asyncio.AbstractEventLoop, started: Started, order: Order, owner: Owner) -> None:
        self.loop = loop
        self.tree = order.tree
        self._popen = started.popen
        self._order = order
        self._owner = owner
        self._result: asyncio.Future[RawResult] = loop.create_future()
        heard = order.listeners
        self._out = Output(started.stdout, order.bounds.stdout, heard.stdout if heard else None)
        self._err = Output(started.stderr, order.bounds.stderr, heard.stderr if heard else None)
        self._in = Input(started.stdin, order.stdin)
        self._lines = Lines(order.on_line) if order.on_line is not None else None
        self._may_detach = order.may_detach
        self._verdict: tuple[Cause, str] | None = None
        self._ladder: Ladder | None = None
        self._leader_gone = False
        self._pipes_held = False
        self._enough = order.bounds.flood
        self._over = False
        loop.add_reader(started.stdout, self._readable, self._out)
        loop.add_reader(started.stderr, self._readable, self._err)
        self._watch: ExitWatch = owner.watch(loop, started.pid, self._exited)
        self._clock = loop.call_later(order.timeout, self._too_late)
        if not self._in.push():
            loop.add_writer(self._in.fd, self._writable)

    async def wait(self) -> RawResult:
        """The result. Cancelled, it leaves the process to its ladder and awaits nothing."""
        try:
            return await self._result
        except asyncio.CancelledError:
            self.end("cancelled", "whoever waited for it was cancelled")
            raise

    def end(self, cause: Cause, detail: str) -> None:
        """Begin to end it, unless that has begun."""
        if self._over or self._ladder is not None:
            return
        if self._leader_gone:
            self._drained()
            return
        self._verdict = (cause, detail)
        self._clock.cancel()
        self._ladder = self._new_ladder()
        self._ladder.climb()

    def kill(self) -> None:
        """No more patience: whatever stage it is in, kill now."""
        if self._ladder is None:
            self.end("cancelled", CLOSED)
        if self._ladder is not None:
            self._ladder.kill()

    def abandon(self, patience: float) -> None:
        """End it without the loop, which does not run any more or did not help. Blocks for some milliseconds."""
        if self._over:
            return
        self._verdict = self._verdict or ("cancelled", "its event loop was closed")
        signal_group(self.tree.leader, signal.SIGKILL)
        until = monotonic() + patience
        while True:
            living = self._owner.containment.members([self.tree])[self.tree.leader]
            for process in living:
                procfs.kill_exactly(process)
            if not living or monotonic() > until:
                break
            sleep(0.002)
        self._finish()

    # What the loop calls

    def _readable(self, output: Output) -> None:
        self._take(output)
        drains = self._leader_gone and self._ladder is None
        if self._out.total + self._err.total > self._enough:
            if drains:
                self._drained()
            else:
                self.end("truncated", f"output flood: more than {self._order.bounds.flood} bytes")
        elif drains and self._out.ended and self._err.ended:
            self._drained()

    def _writable(self) -> None:
        fd = self._in.fd
        # Removed first: a closed descriptor may be somebody else's by the time it is removed.
        self.loop.remove_writer(fd)
        if not self._in.push():
            self.loop.add_writer(fd, self._writable)

    def _exited(self) -> None:
        self._leader_gone = True
        if self._ladder is not None:
            self._ladder.leader_gone()
            return
        self._clock.cancel()
        self._enough = self._out.total + self._err.total + _DRAINED_BYTES
        # Most hooks have said everything by now: it is read without another turn of the loop.
        self._take_what_is_there()
        if self._out.ended and self._err.ended:
            self._drained()
        else:
            self._clock = self.loop.call_later(self._order.bounds.drain, self._drained)

    def _too_late(self) -> None:
        self.end("timed_out", f"after {self._order.timeout:g} s")

    def _drained(self) -> None:
        """The hook ended by itself, and its output is here or was waited for long enough."""
        self._clock.cancel()
        self._pipes_held = not (self._out.ended and self._err.ended)
        left = self._owner.containment.anything_left(self.tree)
        if self.tree.leftovers == "leave" and self._exited_itself():
            self._finish()
        elif self._pipes_held or left:
            self._ladder = self._new_ladder()
            self._ladder.kill(leader_gone=True)
        else:
            signal_group(self.tree.leader, signal.SIGKILL)
            self._finish()

    def _dead(self) -> None:
        """The ladder is done: nothing is left, or nothing more can be done about it."""
        if self._leader_gone:
            self._take_what_is_there()
            self._finish()
        else:
            self._settle(self._broke("; it could not be killed"))

    # Reading

    def _take(self, output: Output) -> bool:
        """Read once; False when there was nothing."""
        chunk = output.take()
        if chunk is None:
            return False
        if output.ended:
            self._shut(output)
        if output is self._out:
            self._hear(chunk)
        return True

    def _take_what_is_there(self) -> None:
        for output in (self._out, self._err):
            for _ in range(_READS_AT_ONCE):
                if output.fd < 0 or not self._take(output):
                    break

    def _hear(self, chunk: bytes) -> None:
        if self._lines is not None:
            self._lines.feed(chunk)
            if self._out.ended:
                self._lines.end()
        if self._may_detach and chunk:
            asked = asks_to_detach(self._out.kept(LONGEST_REQUEST + 1))
            self._may_detach = asked is None
            if asked:
                self._detach()

    def _detach(self) -> None:
        if self._result.done() or self._ladder is not None or self._leader_gone:
            return
        waited_for, self._result = self._result, self.loop.create_future()
        waited_for.set_result(Detached(Rest(self)))
        self._owner.detached(self.tree)

    # The end

    def _new_ladder(self) -> Ladder:
        bounds = self._order.bounds
        return Ladder(
            self.loop, self.tree, self._owner.sweeper,
            grace=bounds.grace, patience=bounds.patience, dead=self._dead,
        )  # fmt: skip

    def _exited_itself(self) -> bool:
        try:
            info = os.waitid(os.P_PID, self.tree.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return info is not None and info.si_code == os.CLD_EXITED

    def _finish(self) -> None:
        self._over = True
        self._owner.ending(self.tree)
        code = self._reap()
        self._let_go()
        self._settle(self._ending(code))

    def _reap(self) -> int | None:
        try:
            pid, status = os.waitpid(self.tree.leader, os.WNOHANG)
        except ChildProcessError:
            self._popen.returncode = 0
            return None
        if not pid:
            return None
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        return self._popen.returncode

    def _let_go(self) -> None:
        self._clock.cancel()
        if self._ladder is not None:
            self._ladder.stop()
            # No circle stays behind: megabytes of output must not wait for the garbage collector.
            self._ladder = None
        self._watch.close()
        self._shut(self._out)
        self._shut(self._err)
        if self._in.fd >= 0 and not self.loop.is_closed():
            self.loop.remove_writer(self._in.fd)
        self._in.close()

    def _shut(self, output: Output) -> None:
        if output.fd >= 0:
            if not self.loop.is_closed():
                self.loop.remove_reader(output.fd)
            os.close(output.fd)
            output.fd = -1

    def _settle(self, result: RawResult) -> None:
        if not self._result.done():
            try:
                self._result.set_result(result)
            except RuntimeError:
                pass  # its loop is closed, so nobody waits

    def _ending(self, code: int | None) -> RawResult:
        if self._verdict is not None:
            return self._broke()
        if code is None:
            self._verdict = ("crashed", "its exit status was taken by another part of this program")
            return self._broke()
        if code < 0:
            self._verdict = ("signalled", f"by {_signal_name(-code)}")
            return self._broke(signal_number=-code)
        return Exited(
            code, self._out.kept(), self._err.kept(), self._out.truncated or self._err.truncated,
            self._pipes_held, self._order.queue_ms,
        )  # fmt: skip

    def _broke(self, more: str = "", signal_number: int | None = None) -> Broke:
        cause, detail = self._verdict or ("cancelled", CLOSED)
        return Broke(
            cause, detail + more, self._out.kept(), self._err.kept(), signal=signal_number,
            truncated=self._out.truncated or self._err.truncated, queue_ms=self._order.queue_ms,
        )  # fmt: skip


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
