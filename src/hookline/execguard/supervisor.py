"""Supervise one command: judge every exec of its tree, and verify what really runs.

It leads the command's group, adopts its orphans, and ends as the command does. It is a process of its own,
because a tracer receives the exit statuses of what it traces, and because an engine must not wait for itself.
When it dies, the kernel refuses every later exec of the tree.
"""

import errno
import os
import resource
import select
import shlex
import signal
import socket
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from hookline.execguard import kernel
from hookline.execguard.facts import ExecFacts, FactReader, UnreadableError
from hookline.execguard.filter import guard_filter
from hookline.execguard.judge import ExecFinding, ExecJudge
from hookline.execguard.messages import (
    CommandStarted,
    Denied,
    Ended,
    ExecQuestion,
    Problem,
    Reply,
    Report,
    SupervisedCommand,
    encoded,
    receive,
    reply_of,
    send,
    shown_argv,
)
from hookline.execguard.spawn import Spawning
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.execguard.walls.network import Connections

_RLIMIT_LOCKS: Final = 10
_WIDEST: Final = 300
#: Milliseconds after which an exec that has not succeeded is taken to have failed.
_LINGER_MS: Final = 50
_STOP: Final = 128
_UNREADABLE: Final = ExecFinding(
    "deny", "Its arguments could not be read, so it was not started.", "exec guard"
)
_UNVERIFIABLE: Final = ExecFinding(
    "deny", "It could not be verified, so it was not started: this system forbids to trace it.", "exec guard"
)


#: Waits for a command, and returns it with its streams.
TakesJob = Callable[[], tuple[SupervisedCommand, Sequence[int]]]
_NO_JOB: Final = SupervisedCommand(argv=(), program="", env={}, cwd="/")


class _Waiting(NamedTuple):
    """An exec that the engine was asked about: it waits for an answer, or it is stopped after the exec."""

    number: int
    tid: int
    facts: ExecFacts
    stopped: bool = False
    #: What the engine was asked because of, if a rule or guard asks.
    finding: ExecFinding | None = None


class _Traced(NamedTuple):
    """An exec that was let through and is followed until it has succeeded or failed."""

    facts: ExecFacts
    until: float
    #: It is judged once more when it is loaded, because more than its arguments matters; and what was approved then.
    again: bool = False
    approved: ExecFinding | None = None


class Supervisor:
    """The supervisor of one command."""

    def __init__(
        self, judge: ExecJudge, channel: socket.socket, take: TakesJob, *, network: bool = False
    ) -> None:
        """Take what waits for the command; `network` if it will run behind a network wall."""
        machine = kernel.machine()
        if machine is None:
            raise OSError(errno.ENOSYS, "this machine is not known")
        self._machine = machine
        self._judge = judge
        self._channel = channel
        self._take = take
        self._network = network
        self._job = _NO_JOB
        self._streams: Sequence[int] = ()
        self._verify = True
        self._facts = FactReader(machine)
        self._connections: Connections | None = None
        self._listener = self._stops = -1
        self._pid = 0
        self._first = True
        self._status: int | None = None
        self._early: dict[int, int] = {}
        self._traced: dict[int, _Traced] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._refusals: dict[tuple[tuple[str, ...], str], ExecFinding] = {}
        self._asked = 0
        self._execs = self._denials = self._unverified = 0
        self._said: set[tuple[str, str]] = set()

    def run(self) -> int:
        """Wait for the command and run it to its end; return its status as `wait` has it."""
        kernel.become_subreaper()
        spawning = Spawning(guard_filter(self._machine, network=self._network), self._accept)
        # As a descriptor: a handler would cost as much as the rest of what is done about a stop.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
        self._stops = kernel.signal_descriptor(signal.SIGCHLD)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
            # A handler, and not SIG_IGN: the command must not inherit that.
            signal.signal(number, _ignore)
        try:
            self._listener = spawning.begin()
            kernel.wake_in_place(self._listener)
        except OSError as error:
            self._take()
            self._say(Problem(refusal(error)))
            return 126 << 8
        react: dict[int, Callable[[int], bool]] = {
            self._listener: self._on_listener,
            self._stops: self._on_stops,
            spawning.done: lambda _events: self._began(spawning),
        }
        poll = select.poll()
        for descriptor in react:
            poll.register(descriptor, select.POLLIN)
        # Until then the other thread reads the channel.
        poll.poll()
        react[self._channel.fileno()] = self._on_channel
        if self._connections is not None:
            react[self._connections.denials] = self._on_denials
        for descriptor in react:
            poll.register(descriptor, select.POLLIN)
        while self._status is None or (self._job.outlives and self._listener in react):
            for descriptor, events in poll.poll(_LINGER_MS if self._traced else None):
                if not react[descriptor](events):
                    poll.unregister(descriptor)
                    del react[descriptor]
            self._let_go()
        return self._status

    def _accept(self) -> tuple[SupervisedCommand, Sequence[int]]:
        """Wait for the command, in the thread that will start it. Before it does, nothing happens in the other one."""
        job, self._streams = self._take()
        self._job, self._verify, self._first = job, job.mode == "verify", job.trusts_first
        os.chdir(job.cwd)
        if job.number:
            resource.setrlimit(_RLIMIT_LOCKS, (job.number, resource.RLIM_INFINITY))
        for thread in (0, os.getpid()) if job.batch else ():
            os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
        if job.files is not None:
            from hookline.execguard.walls.landlock import restrict  # noqa: PLC0415 few commands have walls

            restrict(job.files)
        if job.network is not None:
            from hookline.execguard.walls import network  # noqa: PLC0415 see above
            from hookline.execguard.walls.landlock import forbid_connecting  # noqa: PLC0415 see above

            if not self._network:
                raise OSError(errno.EINVAL, "it has no filter for the network wall")
            self._connections = network.Connections(job.network)
            forbid_connecting()
        return job, self._streams

    def _on_listener(self, events: int) -> bool:
        """Return False when no process of the tree is left."""
        if events & select.POLLIN:
            self._notified()
            return True
        return not events & (select.POLLHUP | select.POLLERR)

    def _on_denials(self, _events: int) -> bool:
        for denied in self._connections.said() if self._connections is not None else ():
            self._refused(denied)
        return True

    def _on_channel(self, _events: int) -> bool:
        if self._hear():
            return True
        # Nobody is left who could answer, so nothing that needs an answer may run.
        self._deny_waiting()
        return False

    def _on_stops(self, _events: int) -> bool:
        os.read(self._stops, 4096)
        self._wait_for_children()
        return True

    def _began(self, spawning: Spawning) -> bool:
        # The command has its own copies: ours would keep its readers waiting.
        for descriptor in self._streams:
            os.close(descriptor)
        if spawning.error is not None:
            raise spawning.error
        if spawning.errno:
            if not (spawning.errno == errno.EPERM and self._denials):  # else the denial says why
                self._say(Problem(f"{self._job.program!r}: {os.strerror(spawning.errno)}"))
            self._ended((126 if spawning.errno in (errno.EPERM, errno.EACCES) else 127) << 8)
            return False
        kernel.hide_memory()
        self._pid = spawning.pid
        self._say(CommandStarted(spawning.pid))
        if self._pid in self._early:
            self._ended(self._early[self._pid])
        return False

    def _ended(self, status: int, why: str = "") -> None:
        self._on_denials(0)
        self._status = status
        self._say(Ended(status, self._execs, self._denials, self._unverified, why))

    def _end_run(self) -> None:
        self._ended(int(signal.SIGKILL), f"it was ended after {self._denials} denied programs")
        # Closes the listener with it: what escapes the group can execute nothing more.
        os.killpg(0, signal.SIGKILL)

    def _notified(self) -> None:
        found = kernel.receive(self._listener)
        if found is None:
            return
        if self._connections is not None and found.number == self._machine.sockets.connect:
            self._connections.reported(self._listener, found)
            return
        self._execs += 1
        if self._first:
            # Made by our own thread from our own memory, before anything else of the tree is there: the caller has
            # judged it, and nobody can have changed it.
            self._first = False
            kernel.let_continue(self._listener, found.id)
            return
        try:
            facts = self._facts.read(found)
            # No such file: execvp tries one directory after another. The kernel says so itself, and verify judges the
            # file that appears meanwhile.
            asks = facts.identity is not None and self._is_concerned(facts)
            facts = self._facts.with_cwd(facts) if asks else facts
        except UnreadableError:
            if kernel.is_waiting(self._listener, found.id):
                self._deny(found.id, None, _UNREADABLE)
            return
        # With verify, what runs is read once more.
        if not self._verify and not kernel.is_waiting(self._listener, found.id):
            return
        if asks:
            self._decide(_Waiting(found.id, found.tid, facts))
        else:
            self._let(found.id, found.tid, facts)

    def _is_concerned(self, facts: ExecFacts) -> bool:
        return self._job.asks_always or bool(self._refusals) or self._judge.is_concerned(facts)

    def _decide(self, waiting: _Waiting) -> None:
        # Some shells try every directory of PATH: a user who said no is not asked again.
        finding = self._refusals.get((waiting.facts.argv, waiting.facts.cwd)) or self._finding(waiting.facts)
        if finding is not None and finding.answer == "deny":
            self._deny(waiting.number, waiting.facts, finding)
        elif finding is not None or self._job.asks_always:
            self._ask(waiting._replace(finding=finding), finding)
        else:
            self._let_judged(waiting)

    def _finding(self, facts: ExecFacts) -> ExecFinding | None:
        found = self._judge.finding(facts)
        is_shown = found is not None and found.in_context and facts.argv in self._job.shown
        return None if is_shown else found

    def _let_judged(self, waiting: _Waiting) -> None:
        self._let(waiting.number, waiting.tid, waiting.facts)
        traced = self._traced.get(waiting.tid)
        if traced is not None and self._judge.depends_on_surroundings(waiting.facts):
            self._traced[waiting.tid] = traced._replace(again=True, approved=waiting.finding)

    def _let(self, number: int, tid: int, facts: ExecFacts) -> None:
        if not self._verify:
            kernel.let_continue(self._listener, number)
            return
        try:
            if tid not in self._traced:
                kernel.seize(tid)
        except OSError as error:
            if error.errno == errno.ESRCH:
                kernel.answer(self._listener, number, error=errno.EPERM)
            elif _is_traced(tid):
                self._unverified += 1
                kernel.let_continue(self._listener, number)
            else:
                self._deny(number, facts, _UNVERIFIABLE)
            return
        self._traced[tid] = _Traced(facts, monotonic() + _LINGER_MS / 1000)
        kernel.let_continue(self._listener, number)

    def _let_go(self) -> None:
        """Stop tasks whose exec must have failed by now: they need not be traced any longer.

        Not at once: an exec that is interrupted is made anew.
        """
        if self._traced:
            now = monotonic()
            for tid, one in self._traced.items():
                if one.until < now:
                    kernel.interrupt(tid)

    def _verified(self, pid: int) -> None:
        """Judge what a stopped task has begun to run, if it is not what was judged before."""
        traced = self._traced.pop(pid, None) or self._traced.pop(kernel.former_tid(pid), None)
        try:
            if traced is not None and self._facts.runs(pid, traced.facts):
                found = self._finding(self._facts.after(pid)) if traced.again else None
                if found is None or found == traced.approved:
                    kernel.detach(pid)
                else:
                    self._kill(pid, traced.facts, found)
                return
            now = self._facts.after(pid)
        except UnreadableError:
            self._kill(pid, None, _UNREADABLE)
            return
        finding = self._judge.finding_after(now)
        if finding is not None:
            self._kill(pid, now, finding)
        elif self._job.asks_always:
            self._ask(_Waiting(0, pid, now, stopped=True), None)
        else:
            kernel.detach(pid)

    def _deny(self, number: int, facts: ExecFacts | None, finding: ExecFinding) -> None:
        # Not EACCES: a search in PATH would go on with the next directory.
        kernel.answer(self._listener, number, error=errno.EPERM)
        self._count(facts, finding)

    def _kill(self, pid: int, facts: ExecFacts | None, finding: ExecFinding) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._count(facts, finding, killed=True)

    def _count(self, facts: ExecFacts | None, finding: ExecFinding, *, killed: bool = False) -> None:
        what = shown_line(facts) if facts is not None else "a program"
        self._refused(Denied(what, finding.reason, finding.rule, finding.source, killed))

    def _refused(self, denied: Denied) -> None:
        """Count a denial and report it once: shells try every directory of PATH, and loops try again."""
        self._denials += 1
        if (denied.what, denied.reason) not in self._said:
            self._said.add((denied.what, denied.reason))
            self._say(denied)
        if self._denials >= self._job.most_denials:
            self._end_run()

    def _ask(self, waiting: _Waiting, finding: ExecFinding | None) -> None:
        self._asked += 1
        self._waiting[self._asked] = waiting
        facts = waiting.facts
        named = (facts.cwd, facts.interpreter or facts.real, self._judge.name_of(facts))
        cwd, program, name = (shown_argv((text,))[0] for text in named)
        if not self._say(
            ExecQuestion(self._asked, waiting.tid, shown_argv(facts.argv), cwd, program, name, finding)
        ):
            self._deny_waiting()

    def _hear(self) -> bool:
        try:
            message, _descriptors = receive(self._channel)
        except OSError:
            return False
        if not message:
            return False
        self._answered(reply_of(message))
        return True

    def _answered(self, reply: Reply) -> None:
        waiting = self._waiting.pop(reply.id, None)
        if waiting is None:
            return
        if reply.allow:
            if waiting.stopped:
                kernel.detach(waiting.tid)
            else:
                self._let_judged(waiting)
            return
        finding = ExecFinding("deny", reply.reason, reply.rule, reply.source)
        self._refusals[waiting.facts.argv, waiting.facts.cwd] = finding
        if waiting.stopped:
            self._kill(waiting.tid, waiting.facts, finding)
        else:
            self._deny(waiting.number, waiting.facts, finding)

    def _deny_waiting(self) -> None:
        for number in list(self._waiting):
            self._answered(Reply(number, allow=False, reason="Nobody is left who could approve it."))

    def _say(self, report: Report) -> bool:
        try:
            send(self._channel, encoded(report))
        except OSError:
            return False
        return True

    def _wait_for_children(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | kernel.WALL)
            except ChildProcessError:
                return
            if not pid:
                return
            if os.WIFSTOPPED(status):
                self._stopped(pid, status)
                continue
            self._traced.pop(pid, None)
            if pid == self._pid:
                self._ended(status)
            elif not self._pid:
                self._early[pid] = status

    def _stopped(self, pid: int, status: int) -> None:
        event = status >> 16
        if event == kernel.EVENT_EXEC:
            self._verified(pid)
            return
        # Its exec has failed, or will be made anew: then it is judged anew.
        self._traced.pop(pid, None)
        kernel.detach(pid, 0 if event == _STOP else os.WSTOPSIG(status))


def _is_traced(tid: int) -> bool:
    try:
        with open(f"/proc/{tid}/status", "rb") as file:
            return any(line.startswith(b"TracerPid:") and line.split()[1] != b"0" for line in file)
    except OSError:
        return False


def shown_line(facts: ExecFacts) -> str:
    return one_line(shlex.join(facts.argv) or facts.path, _WIDEST)


def _ignore(_number: int, _frame: object) -> None:
    """Do nothing: the signal wakes the loop, and the command gets it, too."""


def refusal(error: OSError) -> str:
    """Explain why the kernel did not take a filter."""
    reasons = {
        errno.EBUSY: "another supervisor watches this process already (it runs inside a guarded command)",
        errno.EACCES: "this process may not filter its system calls",
        errno.EPERM: "a security profile of this system forbids it",
        errno.EINVAL: "this kernel has no user notifications (Linux 5.5 has)",
        errno.ENOSYS: "this system has no seccomp filters",
    }
    return reasons.get(error.errno or 0, error.strerror or str(error))
