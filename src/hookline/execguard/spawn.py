"""Start a command from a thread that has filtered itself: its filter, walls and lack of new rights are inherited.

Filters belong to threads, so the supervisor's other thread stays free to answer. The call that starts the command
returns only when its first exec is answered; ctypes releases the interpreter meanwhile.
"""

import ctypes
import errno
import os
import signal
import threading
from collections.abc import Callable
from typing import Final

from hookline.execguard.kernel import install, libc
from hookline.execguard.messages import SupervisedCommand

_SET_SIGMASK: Final = 0x08
_SET_SIGDEF: Final = 0x04
#: Larger than the records of any C library.
_ROOM: Final = 1024
#: Python ignores these, and a process that is started inherits that.
_IGNORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)


class Spawning:
    """A command that is being started."""

    def __init__(
        self, job: SupervisedCommand, program: bytes, streams: tuple[int, int, int], walls: Callable[[], None]
    ) -> None:
        self._job = job
        self._program = program
        self._streams = streams
        self._walls = walls
        self._filtered = threading.Event()
        self._listener = -1
        self._error: OSError | None = None
        self._ends = os.pipe2(os.O_CLOEXEC)
        #: Readable when the command runs or has failed to.
        self.done = self._ends[0]
        self.pid = 0
        self.errno = 0

    def begin(self) -> int:
        """Filter and start; return the listener. Raises OSError where the kernel refuses the filter."""
        threading.Thread(target=self._run, daemon=True).start()
        self._filtered.wait()
        if self._error is not None:
            raise self._error
        return self._listener

    def _run(self) -> None:
        try:
            self._walls()
            self._listener = install(self._program)
        except OSError as error:
            self._error = error
            return
        finally:
            self._filtered.set()
        try:
            self.errno = self._spawn()
        finally:
            os.close(self._ends[1])

    def _spawn(self) -> int:
        c = libc()
        actions, attributes = ctypes.create_string_buffer(_ROOM), ctypes.create_string_buffer(_ROOM)
        pid = ctypes.c_int()
        c.posix_spawn_file_actions_init(actions)
        c.posix_spawnattr_init(attributes)
        for number, descriptor in enumerate(self._streams):
            c.posix_spawn_file_actions_adddup2(actions, descriptor, number)
        none, ignored = ctypes.create_string_buffer(128), ctypes.create_string_buffer(128)
        c.sigemptyset(none)
        c.sigemptyset(ignored)
        for each in _IGNORED:
            c.sigaddset(ignored, int(each))
        c.posix_spawnattr_setsigmask(attributes, none)
        c.posix_spawnattr_setsigdefault(attributes, ignored)
        c.posix_spawnattr_setflags(attributes, ctypes.c_short(_SET_SIGMASK | _SET_SIGDEF))
        job = self._job
        try:
            argv = _strings([os.fsencode(word) for word in job.argv])
            env = _strings([os.fsencode(f"{name}={value}") for name, value in _environment(job).items()])
            return c.posix_spawn(ctypes.byref(pid), os.fsencode(job.program), actions, attributes, argv, env)
        except (ValueError, UnicodeEncodeError):
            return errno.EINVAL
        finally:
            self.pid = pid.value


def _environment(job: SupervisedCommand) -> dict[str, str]:
    """Return the variables of a command. Behind a network wall names are resolved by TCP: there is no UDP."""
    if job.network is None or not job.network.hosts:
        return job.env
    return {**job.env, "RES_OPTIONS": f"{job.env.get('RES_OPTIONS', '')} use-vc".strip()}


def _strings(texts: list[bytes]) -> "ctypes.Array[ctypes.c_char_p]":
    if any(b"\0" in text for text in texts):
        raise ValueError("a text holds a NUL character")
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
