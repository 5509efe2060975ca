"""Start a command from a thread that has filtered itself: its filter, walls and lack of new rights are inherited.

Filters belong to threads, so the supervisor's other thread stays free to answer. The thread filters itself before there
is a command, and waits for one. The call that starts it returns only when its first exec is answered; ctypes releases
the interpreter meanwhile.
"""

import ctypes
import errno
import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Final

from hookline.execguard.kernel import install, libc
from hookline.execguard.messages import SupervisedCommand

_SET_SIGMASK: Final = 0x08
_SET_SIGDEF: Final = 0x04
#: Larger than the records of any C library.
_ROOM: Final = 1024
#: Python ignores these, and a process that is started inherits that.
_IGNORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)


_REHEARSED: Final = SupervisedCommand(
    argv=("cat",), program="/bin/cat", env={f"NAME_{at}": "x" * 40 for at in range(40)}, cwd="/"
)
_Strings = ctypes.Array[ctypes.c_char_p]


class Spawning:
    """A command that is being started."""

    def __init__(self, program: bytes, take: Callable[[], tuple[SupervisedCommand, Sequence[int]]]) -> None:
        """Take a filter, and what waits for a command and its streams. That is called in the thread that starts it."""
        self._program = program
        self._take = take
        self._filtered = threading.Event()
        self._listener = -1
        self._ends = os.pipe2(os.O_CLOEXEC)
        #: Readable when the command runs or has failed to.
        self.done = self._ends[0]
        self.pid = 0
        self.errno = 0
        #: Why there is no command to start, or no filter.
        self.error: Exception | None = None
        self._actions, self._attributes = (ctypes.create_string_buffer(_ROOM) for _ in range(2))
        self._set_attributes()

    def begin(self) -> int:
        """Filter and wait for a command; return the listener. Raises OSError where the kernel refuses the filter."""
        threading.Thread(target=self._run, daemon=True).start()
        self._filtered.wait()
        if self._listener < 0 and self.error is not None:
            raise self.error
        return self._listener

    def _run(self) -> None:
        try:
            self._listener = install(self._program)
        except OSError as error:
            self.error = error
            return
        finally:
            self._filtered.set()
        try:
            # Once for nothing: the pages that it needs are copied now, and not when a command waits.
            _arguments(_REHEARSED)
            self.errno = self._spawn(*self._take())
        except Exception as error:  # noqa: BLE001 - the other thread reports it
            self.error = error
        finally:
            os.close(self._ends[1])

    def _set_attributes(self) -> None:
        c = libc()
        c.posix_spawn_file_actions_init(self._actions)
        c.posix_spawnattr_init(self._attributes)
        none, ignored = ctypes.create_string_buffer(128), ctypes.create_string_buffer(128)
        c.sigemptyset(none)
        c.sigemptyset(ignored)
        for each in _IGNORED:
            c.sigaddset(ignored, int(each))
        c.posix_spawnattr_setsigmask(self._attributes, none)
        c.posix_spawnattr_setsigdefault(self._attributes, ignored)
        c.posix_spawnattr_setflags(self._attributes, ctypes.c_short(_SET_SIGMASK | _SET_SIGDEF))

    def _spawn(self, job: SupervisedCommand, streams: Sequence[int]) -> int:
        c, pid = libc(), ctypes.c_int()
        for number, descriptor in enumerate(streams):
            c.posix_spawn_file_actions_adddup2(self._actions, descriptor, number)
        try:
            program, argv, env = _arguments(job)
            return c.posix_spawn(ctypes.byref(pid), program, self._actions, self._attributes, argv, env)
        except (ValueError, UnicodeEncodeError):
            return errno.EINVAL
        finally:
            self.pid = pid.value


def _arguments(job: SupervisedCommand) -> tuple[bytes, _Strings, _Strings]:
    """Return program, arguments and variables as the kernel takes them. Raises ValueError."""
    env = [os.fsencode(f"{name}={value}") for name, value in _environment(job).items()]
    return os.fsencode(job.program), _strings([os.fsencode(word) for word in job.argv]), _strings(env)


def _environment(job: SupervisedCommand) -> dict[str, str]:
    """Return the variables of a command. Behind a network wall names are resolved by TCP: there is no UDP."""
    if job.network is None or not job.network.hosts:
        return job.env
    return {**job.env, "RES_OPTIONS": f"{job.env.get('RES_OPTIONS', '')} use-vc".strip()}


def _strings(texts: list[bytes]) -> _Strings:
    if any(b"\0" in text for text in texts):
        raise ValueError("a text holds a NUL character")
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
