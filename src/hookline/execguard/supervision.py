"""Run commands under supervision from an event loop: start them, answer supervisors, collect what was denied."""

import asyncio
import errno
import socket
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.execguard.judge import ExecRules
from hookline.execguard.messages import (
    Denied,
    Ended,
    ExecQuestion,
    FileWall,
    Mode,
    NetworkWall,
    Problem,
    Reply,
    Report,
    SupervisedCommand,
    encoded,
    receive,
    report_of,
    send,
)
from hookline.execguard.probe import Capabilities, capabilities
from hookline.execguard.ready import Supervised, Supervisors
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.run import Listeners, ProcessRun
from hookline.handlers.process.spawn import Mark, Started
from hookline.model.raw import Exited, Failed, RawResult

MOST_DENIALS: Final = 100
_REFILL_SECONDS: Final = 0.02


class Walls(Struct, frozen=True):
    """Walls around a command besides the exec guard."""

    files: FileWall | None = None
    network: NetworkWall | None = None


class GuardedResult(Struct, frozen=True, kw_only=True):
    """The end of a guarded command, and everything that was denied while it ran.

    ::

        done = await guard.run(["make", "clean"])
        if done.denied:
            print(done.denied[0].reason)
    """

    raw: Exited | Failed
    denied: tuple[Denied, ...] = ()
    #: verify: what runs was judged again after each exec. notify: it was not.
    mode: Mode = "verify"
    #: How many programs it executed or tried to.
    execs: int = 0
    #: Execs that were judged, but not verified, because a debugger inside traced them.
    unverified: int = 0
    #: Why the guard ended it, if it did.
    ended_by_guard: str = ""
    #: The walls it ran behind: the kernel gives no reasons.
    wall: FileWall | None = None
    network: NetworkWall | None = None

    @property
    def code(self) -> int | None:
        """The exit status; None if it was ended or not started."""
        return self.raw.code if isinstance(self.raw, Exited) else None

    @property
    def notes(self) -> tuple[str, ...]:
        """One line for each denial, for the model and the user."""
        lines = [f"{'killed' if one.killed else 'denied'}: {one.what}: {one.reason}" for one in self.denied]
        if self.ended_by_guard:
            lines.append(f"the command was stopped: {self.ended_by_guard}")
        if self.wall is not None and self.code != 0:
            writes = ", ".join(self.wall.writes or ("anywhere",))
            lines.append(
                f"file walls are on: it may write to {writes}, and {len(self.wall.hidden)} files are hidden"
            )
        if self.network is not None and self.code != 0:
            hosts = ", ".join(("loopback", *self.network.hosts))
            lines.append(f"the network wall is on: it may connect to {hosts} by TCP, and use no UDP")
        if self.unverified:
            lines.append(f"{self.unverified} programs run by a debugger were judged, but not verified")
        return tuple(f"[exec guard] {line}" for line in lines)


class CallContext(Struct, frozen=True):
    """The tool call that a command belongs to."""

    command: str = ""
    tool_name: str = "Bash"
    tool_use_id: str = ""


class ExecDecider:
    """Answers supervisors on behalf of one owner. Subclasses ask hooks and users."""

    @property
    def rules(self) -> ExecRules:
        """The rules that hold now."""
        raise NotImplementedError

    @property
    def asks_always(self) -> bool:
        """True if hooks want to see every exec."""
        return False

    async def answer(self, question: ExecQuestion, call: CallContext) -> Reply:
        """Decide about an exec. It must not raise."""
        raise NotImplementedError

    def denied(self, denied: Denied, call: CallContext) -> None:
        """Note a denial, quickly."""


class Supervision:
    """Runs commands of one owner under supervision."""

    def __init__(
        self,
        processes: Processes,
        decider: ExecDecider,
        *,
        most_denials: int = MOST_DENIALS,
        supervisors: Supervisors | None = None,
    ) -> None:
        self._processes = processes
        self._decider = decider
        self._most_denials = most_denials
        self._supervisors = supervisors if supervisors is not None else Supervisors()

    @property
    def abilities(self) -> Capabilities:
        return capabilities()

    @property
    def is_available(self) -> bool:
        return self.abilities.level != "none"

    def prepare(self) -> None:
        """Have a supervisor ready. Raises OSError."""
        self._supervisors.prepare(self._decider.rules)

    def close(self) -> None:
        self._supervisors.close()

    async def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        timeout: float,
        run_id: str,
        listeners: Listeners | None = None,
        call: CallContext | None = None,
        walls: Walls | None = None,
        trusts_first: bool = True,
        shown: Sequence[tuple[str, ...]] = (),
        stdin: bytes = b"",
    ) -> GuardedResult:
        """Run a command to its end. When cancelled, it and all it started are killed."""
        mode: Mode = "verify" if self.abilities.level == "verify" else "notify"
        walls = walls if walls is not None else Walls()
        job = SupervisedCommand(
            argv=tuple(argv), program="", env={}, cwd=cwd, mode=mode, trusts_first=trusts_first, shown=tuple(shown),
            asks_always=self._decider.asks_always, most_denials=self._most_denials, files=walls.files,
            network=walls.network,
        )  # fmt: skip
        guarded = _GuardedRun(
            self._supervisors, self._decider, job, call if call is not None else CallContext()
        )
        try:
            raw = await self._processes.run(
                argv, stdin=stdin, env=env, cwd=cwd, timeout=timeout, run_id=run_id, listeners=listeners,
                starter=guarded,
            )  # fmt: skip
        finally:
            guarded.close()
        # Later: this command's caller waits for the loop now.
        asyncio.get_running_loop().call_later(_REFILL_SECONDS, self._supervisors.refill)
        return guarded.result(raw, mode)


class _GuardedRun:
    """One command: it is started by a supervisor, whose questions are answered."""

    def __init__(
        self, supervisors: Supervisors, decider: ExecDecider, job: SupervisedCommand, call: CallContext
    ) -> None:
        self._supervisors = supervisors
        self._decider = decider
        self._job = job
        self._call = call
        self._started: Supervised | None = None
        self._running: ProcessRun | None = None
        self._denied: list[Denied] = []
        self._ended: Ended | None = None
        self._problem = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, mark: Mark) -> Started | Failed:
        job = replace(self._job, argv=tuple(argv), env=dict(env), cwd=cwd)
        begun = self._supervisors.start(job, self._decider.rules, mark, env.get("PATH", ""))
        if isinstance(begun, Supervised):
            self._started = begun
        return begun

    def begun(self, running: ProcessRun) -> None:
        self._running = running
        channel = self._channel
        if channel is not None:
            running.loop.add_reader(channel.fileno(), self._hear)

    @property
    def pids(self) -> frozenset[int]:
        return self._supervisors.pids

    @property
    def _channel(self) -> socket.socket | None:
        return self._started.channel if self._started is not None else None

    def _hear(self) -> None:
        while self._take():
            pass

    def _take(self) -> bool:
        channel = self._channel
        if channel is None or channel.fileno() < 0:
            return False
        try:
            message, _descriptors = receive(channel)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK):
                self._stop_hearing()
            return False
        if not message:
            self._stop_hearing()
            return False
        try:
            report = report_of(message)
        except msgspec.MsgspecError as error:
            # An exec may wait for an answer to it, for ever.
            self._problem = f"a report of the supervisor cannot be read: {error}"
            if self._running is not None:
                self._running.kill()
            return False
        self._handle(report)
        return True

    def _handle(self, report: Report) -> None:
        if isinstance(report, ExecQuestion):
            task = asyncio.ensure_future(self._answer(report))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif isinstance(report, Denied):
            self._denied.append(report)
            self._decider.denied(report, self._call)
        elif isinstance(report, Ended):
            self._ended = report
        elif isinstance(report, Problem):
            self._problem = report.text

    async def _answer(self, question: ExecQuestion) -> None:
        running = self._running
        if running is None:
            return
        # The command's time does not run while a user is asked.
        with running.unclocked():
            reply = await self._decider.answer(question, self._call)
        channel = self._channel
        if channel is not None and channel.fileno() >= 0:
            try:
                send(channel, encoded(reply))
            except OSError:
                pass  # the command has ended meanwhile

    def _stop_hearing(self) -> None:
        channel = self._channel
        if channel is not None and self._running is not None and not self._running.loop.is_closed():
            self._running.loop.remove_reader(channel.fileno())

    def close(self) -> None:
        """Read the last reports; nothing more is answered."""
        if self._started is None or self._started.channel is None:
            return
        self._hear()
        self._stop_hearing()
        for task in self._tasks:
            task.cancel()
        self._started.channel.close()

    def result(self, raw: RawResult, mode: Mode) -> GuardedResult:
        if not isinstance(raw, Exited | Failed):
            raw = Failed("crashed", "the command gave no readable result")
        if self._problem:
            raw = Failed("not_started", self._problem)
        ended = self._ended if self._ended is not None else Ended(0)
        return GuardedResult(
            raw=raw, denied=tuple(self._denied), mode=mode, execs=ended.execs, unverified=ended.unverified,
            ended_by_guard=ended.why, wall=self._job.files, network=self._job.network,
        )  # fmt: skip
