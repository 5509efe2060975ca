"""Hold supervisors ready for an engine: one zygote, and one process that waits for its job."""

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from hookline.execguard.judge import ExecRules
from hookline.execguard.messages import (
    FORK,
    FORK_FOR_NETWORK,
    TAKE_RULES,
    SupervisedCommand,
    receive,
    sealed,
    send,
)
from hookline.handlers.process.early_status import EarlyStatus
from hookline.handlers.process.spawn import Child, Mark, Pipes, Started, explained, find_program
from hookline.model.raw import Failed

_SECONDS: Final = 20.0


class Supervised(Started, frozen=True):
    """A command that was started under supervision, and the channel on which its supervisor reports."""

    channel: socket.socket | None = None


class Supervisors:
    """Starts commands under supervision. Not bound to an event loop; close it when no command runs any more."""

    def __init__(self) -> None:
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._rules: ExecRules | None = None
        self._next: tuple[int, socket.socket] | None = None
        self._network = False
        self._owner = os.getpid()
        # It is prepared in another thread, because an interpreter takes long to start.
        self._lock = threading.RLock()

    @property
    def pids(self) -> frozenset[int]:
        """Processes without a job: they belong to no run."""
        own = {self._zygote.pid} if self._zygote is not None else set[int]()
        return frozenset(own | ({self._next[0]} if self._next is not None else set()))

    def start(
        self, job: SupervisedCommand, rules: ExecRules, mark: Mark, env_path: str
    ) -> Supervised | Failed:
        """Start a command; the caller reads `channel`. Nothing runs unsupervised if that fails."""
        program = find_program(job.argv[0], env_path, job.cwd)
        if isinstance(program, Failed):
            return program
        job = replace(job, program=program, batch=mark.batch, number=mark.number)
        pipes: Pipes | None = None
        try:
            pipes = Pipes()
            pid, channel, early = self.hand_over(job, rules, pipes.theirs)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            if pipes is not None:
                pipes.close()
            self.close()
            if isinstance(error, ValueError):
                return explained(error, job.argv, program, job.env, job.cwd)
            return Failed("not_started", f"no supervisor could be started: {error}")
        channel.setblocking(False)
        status = EarlyStatus(early)
        # It is never started once more: that would be without a guard.
        status.began = True
        return Supervised(Child(pid), *pipes.handed_over(), status, channel=channel)

    def hand_over(
        self, job: SupervisedCommand, rules: ExecRules, streams: tuple[int, int, int]
    ) -> tuple[int, socket.socket, socket.socket]:
        """Let a supervisor run a command with these streams; return its process, its channel and the socket for its
        early status. Raises OSError."""
        with self._lock:
            self._prepare(rules, network=job.network is not None)
            pid, channel = self._take()
        described = sealed(job)
        early, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            send(channel, b"J", (described, *streams, theirs.fileno()))
        finally:
            os.close(described)
            theirs.close()
        return pid, channel, early

    def prepare(self, rules: ExecRules) -> None:
        """Have a supervisor ready before the first command needs one. Raises OSError."""
        with self._lock:
            self._prepare(rules, network=self._network)
            if self._next is None:
                self._next = self._fork()

    def close(self) -> None:
        """End the processes without a job."""
        if self._owner == os.getpid():
            with self._lock:
                self._close()

    def _close(self) -> None:
        if self._next is not None:
            self._next[1].close()
            with suppress(ChildProcessError):
                os.waitpid(self._next[0], 0)
            self._next = None
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._zygote is not None:
            self._zygote.wait()
            self._zygote = None
        self._rules = None

    def _prepare(self, rules: ExecRules, *, network: bool) -> None:
        if self._zygote is None or self._zygote.poll() is not None or self._owner != os.getpid():
            self._begin()
        if self._next is not None and (rules != self._rules or network != self._network):
            # It was forked with the rules of before, or for other walls.
            self._next[1].close()
            os.waitpid(self._next[0], 0)
            self._next = None
        self._network = network
        if rules != self._rules and self._control is not None:
            described = sealed(rules)
            try:
                send(self._control, TAKE_RULES, (described,))
            finally:
                os.close(described)
            self._rules = rules

    def _begin(self) -> None:
        self._owner, self._rules, self._next = os.getpid(), None, None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._zygote = subprocess.Popen(
                # -I: neither the project's directory nor the user's variables have a say in what it imports.
                [sys.executable, "-I", "-c", _START, str(theirs.fileno()), *sys.path],
                pass_fds=(theirs.fileno(),), cwd="/", start_new_session=True, close_fds=True, env={},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        finally:
            theirs.close()
        ours.settimeout(_SECONDS)
        self._control = ours

    def _take(self) -> tuple[int, socket.socket]:
        taken = self._next or self._fork()
        self._next = None
        return taken

    def refill(self) -> None:
        """Fork the next process ahead. Called when no command waits for it."""
        with self._lock:
            if self._next is None and self._control is not None and self._owner == os.getpid():
                with suppress(OSError):
                    self._next = self._fork()

    def _fork(self) -> tuple[int, socket.socket]:
        if self._control is None:
            raise OSError("the supervisors are closed")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            send(self._control, FORK_FOR_NETWORK if self._network else FORK, (theirs.fileno(),))
            message, _descriptors = receive(self._control)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        if not message:
            ours.close()
            raise OSError("it ended at once")
        return int(message), ours


#: The interpreter finds the same packages as this one, and nothing else.
_START: Final = """
import sys
sys.path[:] = sys.argv[2:]
from socket import socket
from hookline.execguard.zygote import serve
serve(socket(fileno=int(sys.argv[1])))
"""


#: The same for one command: the process is its supervisor, and no zygote.
START_ALONE: Final = _START.replace("serve", "supervise_one")
