"""Manage one zygote from the process that started it: its forked processes, and how they get their jobs.

Nothing here waits and nothing needs an event loop: messages of zygote and processes are read when a run needs
one of them.
"""

import array
import os
import signal
import socket
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from hookline.handlers.process.containment import RUN_ID

ZYGOTE: Final = os.path.join(os.path.dirname(__file__), "zygote", "main.py")
#: Bytes in the memory that /proc shows: the environment and the command line of a job are written over it.
_ENVIRONMENT_ROOM: Final = 8192
_ARGUMENTS_ROOM: Final = 240
#: Bigger jobs are started in the ordinary way: they would have to be sent in parts.
LONGEST_JOB: Final = 96 * 1024
_SOON: Final = 1.0


class WaitingProcess:
    """A process that waits for its job, or is about to."""

    def __init__(self, ours: socket.socket) -> None:
        ours.setblocking(False)
        self.socket = ours
        self.pid: int | None = None
        self.ready = False
        self.gone = False

    def look(self) -> None:
        if self.ready or self.gone:
            return
        try:
            message = self.socket.recv(64)
        except (BlockingIOError, TimeoutError):
            return
        except OSError:
            message = b""
        if message[:1] == b"R" and message[1:].isdigit():
            self.pid, self.ready = int(message[1:]), True
        else:
            self.gone = True

    def send(self, job: bytes, descriptors: Sequence[int]) -> bool:
        """Give it the job; return False if it is gone."""
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        try:
            return self.socket.sendmsg([job], [rights], socket.MSG_NOSIGNAL) == len(job)
        except OSError:
            return False


class Zygote:
    """A started zygote. It ends, with all that it has forked and that has no job, when its socket is closed."""

    def __init__(self, program: str, flags: Sequence[str], env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self.waiting: list[WaitingProcess] = []
        self.failure: str | None = None
        #: Names of variables that code run at start-up may read; None until the interpreter has reported
        #: them.
        self.variables: tuple[str, ...] | None = None
        self.used = monotonic()
        self._places: tuple[tuple[str, object], ...] = ()
        self._unanswered: list[WaitingProcess] = []
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pipes: list[int] = []
        try:
            pipes += os.pipe2(os.O_CLOEXEC)
            pipes += os.pipe2(os.O_CLOEXEC)
            # Pipes as its streams, because those of hooks are: Python builds them for what they are.
            self._popen = subprocess.Popen(
                [program, *flags, ZYGOTE, str(theirs.fileno()), "-" * _ARGUMENTS_ROOM],
                env={**env, RUN_ID: "-" * _ENVIRONMENT_ROOM}, cwd="/", pass_fds=(theirs.fileno(),),
                stdin=pipes[0], stdout=pipes[3], stderr=pipes[3], start_new_session=True, close_fds=True,
            )  # fmt: skip
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            for fd in pipes:
                os.close(fd)
        ours.setblocking(False)
        self._control = ours

    @property
    def pids(self) -> set[int]:
        """All its processes without a job."""
        own = {self._popen.pid} if self._popen.returncode is None else set[int]()
        return own | {each.pid for each in self.waiting if each.pid is not None}

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ready(self) -> list[int]:
        self.look()
        return [each.pid for each in self.waiting if each.ready and each.pid is not None]

    def fork(self, preloads: Iterable[str], scripts: Iterable[str]) -> bool:
        """Request one more process; return False if the zygote does not accept requests."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        modules = b"".join(b"\0" + os.fsencode(name) for name in preloads)
        request = b"F" + modules + b"\0\0" + b"\0".join(map(os.fsencode, scripts))
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))
        try:
            self._control.sendmsg([request], [rights], socket.MSG_NOSIGNAL)
        except OSError as error:
            ours.close()
            if not isinstance(error, BlockingIOError):
                self.failure = self.failure or "it has ended"
            return False
        finally:
            theirs.close()
        waiting = WaitingProcess(ours)
        self.waiting.append(waiting)
        self._unanswered.append(waiting)
        return True

    def take(self) -> WaitingProcess | None:
        """Return a process that is ready for a job, or None."""
        self.look()
        for waiting in self.waiting:
            if waiting.ready:
                self.waiting.remove(waiting)
                return waiting
        return None

    def look(self) -> None:
        """Read new messages, and drop dead processes."""
        while self._hear():
            pass
        for waiting in list(self.waiting):
            waiting.look()
            if waiting.gone and (waiting.pid is None or reap(waiting.pid)):
                self._drop(waiting)

    def is_outdated(self) -> bool:
        """Return True if a new interpreter would start differently: packages were installed, or start-up
        files changed."""
        return any(_stat(path) != before for path, before in self._places)

    def retire(self) -> None:
        """Let all of it end: signal that nothing more will come. `is_gone` returns True when it has ended."""
        for each in (self._control, *(waiting.socket for waiting in self.waiting)):
            with suppress(OSError):
                each.shutdown(socket.SHUT_WR)

    def is_gone(self) -> bool:
        """Reap the ended processes of a retired zygote; return True when nothing is left."""
        self.look()
        for waiting in list(self.waiting):
            if waiting.pid is not None and reap(waiting.pid):
                self._drop(waiting)
        if self._popen.poll() is None or self.waiting:
            return False
        self._control.close()
        return True

    def end(self) -> None:
        """Kill and reap all of it. Nothing of it has a job, so that is over at once."""
        self._popen.kill()
        self._popen.wait()
        self.look()
        for waiting in self.waiting:
            if waiting.pid is None:
                # It was just being forked: it reports its pid when it is ready, or never existed.
                waiting.socket.settimeout(_SOON)
                waiting.look()
        end_all(waiting.pid for waiting in self.waiting if waiting.pid is not None)
        self.forked()

    def forked(self) -> None:
        """Drop it, as the child of a fork must: its processes belong to the parent."""
        self._control.close()
        for waiting in self.waiting:
            waiting.socket.close()
        self.waiting.clear()
        self._popen.returncode = 0

    def _drop(self, waiting: WaitingProcess) -> None:
        self.waiting.remove(waiting)
        waiting.socket.close()

    def _hear(self) -> bool:
        try:
            message = self._control.recv(LONGEST_JOB)
        except ConnectionResetError:
            return True  # it ended without reading our last request; what it had said comes now
        except OSError as error:
            if not isinstance(error, BlockingIOError):
                self.failure = self.failure or "it has ended"
            return False
        kind, rest = message[:1], message[1:]
        if kind == b"H":
            names, *places = rest[1:].split(b"\0")
            self.variables = tuple(os.fsdecode(name) for name in names.split())
            self._places = tuple((path, _stat(path)) for path in map(os.fsdecode, places))
        elif kind == b"P" and self._unanswered:
            waiting = self._unanswered.pop(0)
            if rest.startswith(b"-"):
                waiting.gone = True
                self.failure = self.failure or f"it cannot fork: {os.strerror(int(rest[1:]))}"
            elif waiting.pid is None:
                waiting.pid = int(rest)
        elif kind == b"E":
            self.failure = rest.decode("utf-8", "replace")
        elif not message:
            self.failure = self.failure or "it has ended"
            return False
        return True


def reap(pid: int | None) -> bool:
    """Take the exit status of one of ours; return False if it has not ended."""
    if pid is None:
        return True
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def end_all(pids: Iterable[int]) -> None:
    """Kill processes of ours and reap them. They have no job, so that is over at once."""
    left = [pid for pid in pids if not reap(pid)]
    for pid in left:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for pid in left:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _stat(path: str) -> object:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_dev, found.st_mtime_ns, found.st_ctime_ns, found.st_size
