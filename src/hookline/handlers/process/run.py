"""Run one process of one hook, from its start to its result: a state machine of loop callbacks, without a
task.

Callers wait for a future; if that wait is cancelled, the callbacks still finish the work. See `ProcessRun`.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, Final

from msgspec import Struct

from hookline.handlers.process import procfs
from hookline.handlers.process.containment import Containment, ProcessTree, Sweeper
from hookline.handlers.process.exit_watch import ExitWatch, WatchExit
from hookline.handlers.process.kill import KillSequence
from hookline.handlers.process.pipes import LONGEST_REQUEST, Input, LineSplitter, Output, asks_for_background
from hookline.handlers.process.spawn import Started, signal_group, signal_process
from hookline.model.policy import Cause
from hookline.model.raw import Background, Exited, Failed, RawResult

SHUT_DOWN: Final = "it was ended because Hookline was closed"

_DRAINED_BYTES: Final = 2 << 20  # a pipe holds 1 MiB at most, so this is all that the hook itself wrote
_READS_AT_ONCE: Final = 16


class RunLimits(Struct, frozen=True):
    """Limits of one run, in bytes and seconds."""

    stdout: int = 1 << 20
    stderr: int = 1 << 18
    #: A hook that prints more than this in all is killed.
    flood: int = 64 << 20
    #: Seconds to continue reading after the hook has ended.
    drain: float = 0.15
    #: Between TERM and KILL; half of it when the result is not waited for any more.
    grace: float = 0.5
    #: Seconds to continue killing before the result is returned anyway.
    patience: float = 1.0


class Listeners(Struct, frozen=True):
    """Callbacks that get stdout and stderr as they arrive, including output that is too much to keep. They
    must not raise."""

    stdout: Callable[[bytes], None]
    stderr: Callable[[bytes], None]


class RunOrder(Struct, frozen=True):
    """A program to run, its input and limits."""

    tree: ProcessTree
    stdin: bytes
    timeout: float
    bounds: RunLimits
    queue_ms: float = 0.0
    on_line: Callable[[bytes], None] | None = None
    async_line: bool = False
    listeners: Listeners | None = None


class RunOwner(Struct, frozen=True):
    """The functions of the pool that a run needs."""

    sweeper: Sweeper
    containment: Containment
    watch: WatchExit
    moved_to_background: Callable[[ProcessTree], None]
    #: The result is out and the process is dying.
    answered: Callable[[ProcessTree], None]
    #: Called just before the child is reaped: from then on the pid may be reused.
    before_reap: Callable[[ProcessTree], None]


class BackgroundResult:
    """The result of a hook that moved to the background. Cancelling the task that awaits it ends the hook."""

    __slots__ = ("_running",)

    def __init__(self, running: "ProcessRun") -> None:
        self._running = running

    def __await__(self) -> Generator[Any, None, RawResult]:
        return self._running.wait().__await__()


class ProcessRun:
    """A started process until its result is known. Its states and transitions:

        running -- the process exits ------------------------> draining
        running -- timeout, too much output, `end`, `kill` --> killing
        draining - output complete, or `drain` seconds over -> ended, or killing where processes are left
        killing -- nothing left, or `patience` exhausted ----> ended
        ended ---- its process was not dead yet -------------> dying, until it is reaped

    - running: `_readable` and `_writable` move bytes; `_exited` and `_timed_out` end this state.
    - draining: the process exited, and the rest of its output is read until `_end_draining`.
    - killing: a `KillSequence` sends TERM and KILL, and calls `_kill_sequence_done`. A process that cannot be
      killed gets its result there, and stays in this state until it exits.
    - ended: `_finish` informs the owner, reaps the process, releases everything, and sets the result.
    - dying: a process that was started ahead reports its exit status when it has done everything and has no
      children (`_hear`). That is treated as its exit, and its death is waited for when the result is out.

    `abandon` leads from any state to ended, without the loop.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, started: Started, order: RunOrder, owner: RunOwner
    ) -> None:
        self.loop = loop
        self.tree = order.tree
        self._popen = started.popen
        self.early = started.early
        self._warm = started.warm
        self._dying = False
        self._order = order
        self._owner = owner
        self._result: asyncio.Future[RawResult] = loop.create_future()
        listeners = order.listeners
        self._out = Output(started.stdout, order.bounds.stdout, listeners.stdout if listeners else None)
        self._err = Output(started.stderr, order.bounds.stderr, listeners.stderr if listeners else None)
        self._in = Input(started.stdin, order.stdin)
        self._lines = LineSplitter(order.on_line) if order.on_line is not None else None
        self._async_line = order.async_line
        self._failure: tuple[Cause, str] | None = None
        self._failed_by_itself = False
        self._sequence: KillSequence | None = None
        self._leader_exited = False
        self._pipes_held = False
        self._most_output = order.bounds.flood
        self._ended = False
        self._waits_for = 0
        self._left: float | None = None
        loop.add_reader(started.stdout, self._readable, self._out)
        loop.add_reader(started.stderr, self._readable, self._err)
        self._watch: ExitWatch = owner.watch(loop, started.pid, self._died)
        if self.early is not None:
            loop.add_reader(self.early.fd, self._hear)
        self._clock = loop.call_later(order.timeout, self._timed_out)
        if not self._in.push():
            loop.add_writer(self._in.fd, self._writable)

    async def wait(self) -> RawResult:
        """Wait for the result. When cancelled, it leaves the process to its kill sequence and awaits nothing."""
        try:
            return await self._result
        except asyncio.CancelledError:
            self.end("cancelled", "the task that waited for it was cancelled")
            raise

    @property
    def never_began(self) -> bool:
        """True if a process that was started ahead has ended without taking the job."""
        return self.early is not None and not self.early.began and self._failed_by_itself

    @contextmanager
    def unclocked(self) -> Generator[None]:
        """Stop the clock while a user is asked. May be nested."""
        if self._waits_for == 0 and not self._ended and self._sequence is None and not self._leader_exited:
            self._left = self._clock.when() - self.loop.time()
            self._clock.cancel()
        self._waits_for += 1
        try:
            yield
        finally:
            self._waits_for -= 1
            if self._waits_for == 0 and self._left is not None:
                left, self._left = self._left, None
                if not self._ended and self._sequence is None and not self._leader_exited:
                    self._clock = self.loop.call_later(max(left, 0.0), self._timed_out)

    def end(self, cause: Cause, detail: str) -> None:
        """Start the kill sequence, unless it has started."""
        if self._ended or self._sequence is not None:
            return
        if self._leader_exited:
            self._end_draining()
            return
        self._failure = (cause, detail)
        self._clock.cancel()
        self._sequence = self._new_sequence()
        self._sequence.terminate()

    def kill(self) -> None:
        """Kill now, from any state."""
        if self._sequence is None:
            self.end("cancelled", SHUT_DOWN)
        if self._sequence is not None:
            self._sequence.kill()

    def abandon(self, patience: float) -> None:
        """Kill without the event loop: used when the loop is closed or the kill sequence failed. Blocks briefly."""
        if self._dying:
            try:
                os.waitpid(self.tree.leader, 0)  # it was killed, so that is over at once
            except ChildProcessError:
                pass
            self._reap_dead()
        if self._ended:
            return
        self._failure = self._failure or ("cancelled", "its event loop was closed")
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

    def forked(self) -> None:
        """Drop it in the child of a fork: process, pipes and loop belong to the parent."""
        self._ended = True
        self._popen.returncode = 0
        self._watch.forked()
        for fd in (self._out.fd, self._err.fd, self._in.fd):
            if fd >= 0:
                os.close(fd)
        if self.early is not None:
            self.early.close()

    # Callbacks of the loop

    def _readable(self, output: Output) -> None:
        self._read(output)
        drains = self._leader_exited and self._sequence is None
        if self._out.total + self._err.total > self._most_output:
            if drains:
                self._end_draining()
            else:
                self.end("truncated", f"output flood: more than {self._order.bounds.flood} bytes")
        elif drains and self._out.ended and self._err.ended:
            self._end_draining()

    def _writable(self) -> None:
        fd = self._in.fd
        # Removed first: once closed, the descriptor number may be reused before it is removed.
        self.loop.remove_writer(fd)
        if not self._in.push():
            self.loop.add_writer(fd, self._writable)

    def _hear(self) -> None:
        early = self.early
        if early is None or not early.hear():
            return
        self.loop.remove_reader(early.fd)
        if early.status is not None and not self._leader_exited and not self._ended:
            self._exited()

    def _died(self) -> None:
        if self._dying:
            self._reap_dead()
        elif not self._leader_exited:
            if self.early is not None:
                self.early.hear()
            self._exited()

    def _exited(self) -> None:
        self._leader_exited = True
        if self._sequence is not None:
            self._sequence.leader_exited()
            return
        self._clock.cancel()
        self._most_output = self._out.total + self._err.total + _DRAINED_BYTES
        # Most hooks have written everything by now: read it without another iteration of the loop.
        self._read_available()
        if self._out.ended and self._err.ended:
            self._end_draining()
        else:
            self._clock = self.loop.call_later(self._order.bounds.drain, self._end_draining)

    def _timed_out(self) -> None:
        self.end("timed_out", f"after {self._order.timeout:g} s")

    def _end_draining(self) -> None:
        """End the state draining: the hook exited, and its output is complete or was waited for long enough."""
        self._clock.cancel()
        self._pipes_held = not (self._out.ended and self._err.ended)
        containment = self._owner.containment
        left = containment.adopts and containment.anything_left(self.tree)
        if self.tree.leftovers == "leave" and self._exited_without_signal():
            self._finish()
        elif self._pipes_held or left:
            self._sequence = self._new_sequence()
            self._sequence.kill(leader_exited=True)
        else:
            signal_group(self.tree.leader, signal.SIGKILL)
            self._finish()

    def _kill_sequence_done(self) -> None:
        """End the run after the kill sequence: nothing is left, or nothing more can be done."""
        if self._leader_exited:
            self._read_available()
            self._finish()
        else:
            self._set_result(self._failed("; it could not be killed"))

    # Reading

    def _read(self, output: Output) -> bool:
        """Read once; False when there was nothing."""
        chunk = output.take()
        if chunk is None:
            return False
        if output.ended:
            self._close_output(output)
        if output is self._out:
            self._handle_stdout(chunk)
        return True

    def _read_available(self) -> None:
        for output in (self._out, self._err):
            for _ in range(_READS_AT_ONCE):
                if output.fd < 0 or not self._read(output):
                    break

    def _handle_stdout(self, chunk: bytes) -> None:
        if self._lines is not None:
            self._lines.feed(chunk)
            if self._out.ended:
                self._lines.end()
        if self._async_line and chunk:
            asked = asks_for_background(self._out.kept(LONGEST_REQUEST + 1))
            self._async_line = asked is None
            if asked:
                self._move_to_background()

    def _move_to_background(self) -> None:
        if self._result.done() or self._sequence is not None or self._leader_exited:
            return
        waited_for, self._result = self._result, self.loop.create_future()
        waited_for.set_result(Background(BackgroundResult(self)))
        self._owner.moved_to_background(self.tree)

    # The end

    def _new_sequence(self) -> KillSequence:
        bounds = self._order.bounds
        cancelled = self._failure is not None and self._failure[0] == "cancelled"
        return KillSequence(
            self.loop, self.tree, self._owner.sweeper,
            grace=bounds.grace / 2 if cancelled else bounds.grace, patience=bounds.patience,
            done=self._kill_sequence_done,
        )  # fmt: skip

    def _exited_without_signal(self) -> bool:
        if self.early is not None and self.early.status is not None:
            return True
        try:
            info = os.waitid(os.P_PID, self.tree.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return info is not None and info.si_code == os.CLD_EXITED

    def _finish(self) -> None:
        self._ended = True
        shown = self.early.status if self.early is not None else None
        if shown is not None and not self._is_dead():
            # It has nothing more to do; nothing of it may outlive its answer.
            signal_process(self.tree.leader, signal.SIGKILL)
            self._dying = True
            self._release()
            self._owner.answered(self.tree)
            self._set_result(self._result_of(shown))
            return
        self._owner.before_reap(self.tree)
        code = self._reap()
        self._release()
        self._watch.close()
        self._set_result(self._result_of(code if shown is None else shown))

    def _is_dead(self) -> bool:
        try:
            return os.waitid(os.P_PID, self.tree.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _reap_dead(self) -> None:
        self._dying = False
        self._owner.before_reap(self.tree)
        self._reap()
        self._watch.close()

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

    def _release(self) -> None:
        self._clock.cancel()
        if self._sequence is not None:
            self._sequence.cancel()
            # Breaks a reference cycle: megabytes of output must not wait for the garbage collector.
            self._sequence = None
        if self.early is not None:
            if not self.loop.is_closed() and self.early.fd >= 0:
                self.loop.remove_reader(self.early.fd)
            self.early.close()
        self._close_output(self._out)
        self._close_output(self._err)
        if self._in.fd >= 0 and not self.loop.is_closed():
            self.loop.remove_writer(self._in.fd)
        self._in.close()

    def _close_output(self, output: Output) -> None:
        if output.fd >= 0:
            if not self.loop.is_closed():
                self.loop.remove_reader(output.fd)
            os.close(output.fd)
            output.fd = -1

    def _set_result(self, result: RawResult) -> None:
        if not self._result.done():
            try:
                self._result.set_result(result)
            except RuntimeError:
                pass  # its loop is closed, so there is nothing to wake

    def _result_of(self, code: int | None) -> RawResult:
        if self._failure is not None:
            return self._failed()
        self._failed_by_itself = True
        if code is None:
            self._failure = ("crashed", "its exit status was taken by another part of this program")
            return self._failed()
        said = b""
        if code < 0 and self.early is not None and self.early.began and self.early.signal_message is not None:
            said, code = self.early.signal_message(-code), 128 - code
        if code < 0:
            self._failure = ("signalled", f"by {_signal_name(-code)}")
            return self._failed(signal_number=-code)
        return Exited(
            code, self._out.kept(), self._err.kept() + said, self._out.truncated or self._err.truncated,
            self._pipes_held, self._order.queue_ms, self._ran_warm(),
        )  # fmt: skip

    def _ran_warm(self) -> bool | None:
        return False if self.early is not None and self.early.why else self._warm

    def _failed(self, more: str = "", signal_number: int | None = None) -> Failed:
        cause, detail = self._failure or ("cancelled", SHUT_DOWN)
        return Failed(
            cause, detail + more, self._out.kept(), self._err.kept(), signal=signal_number,
            truncated=self._out.truncated or self._err.truncated, queue_ms=self._order.queue_ms,
            warm=self._ran_warm(),
        )  # fmt: skip


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
