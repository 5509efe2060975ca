"""Call the kernel: seccomp, ptrace, pidfd and Landlock, for which Python has no functions."""

import ctypes
import errno
import fcntl
import os
import struct
import sys
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

from msgspec import Struct

_SECCOMP_SET_MODE_FILTER: Final = 1
_FLAG_NEW_LISTENER: Final = 1 << 3
#: Signals that do not kill cannot interrupt an exec that is being judged (Linux 5.19).
_FLAG_WAIT_KILLABLE: Final = 1 << 5
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_DUMPABLE: Final = 4

_NOTIF_RECV: Final = 0xC0502100
_NOTIF_SEND: Final = 0xC0182101
_NOTIF_ID_VALID: Final = 0x40082102
_NOTIF_SET_FLAGS: Final = 0x40082104
_SYNC_WAKE_UP: Final = 1
_CONTINUE: Final = 1
_NOTIFICATION: Final = struct.Struct("QIIiIQ6Q")
_NO_NOTIFICATION: Final = bytes(_NOTIFICATION.size)
_REPLY: Final = struct.Struct("QqiI")

PTRACE_DETACH: Final = 17
_PTRACE_SEIZE: Final = 0x4206
_PTRACE_INTERRUPT: Final = 0x4207
_PTRACE_GETEVENTMSG: Final = 0x4201
_O_TRACEEXEC: Final = 0x10
_O_EXITKILL: Final = 0x100000
EVENT_EXEC: Final = 4
WALL: Final = 0x40000000


class Architecture(Struct, frozen=True):
    """Numbers of one processor architecture, and of the older one whose programs it runs, too."""

    arch: int
    seccomp: int
    execve: int
    execveat: int
    old_arch: int
    old_execs: tuple[int, int]
    #: Calls by which programs reach the network.
    sockets: "SocketCalls"
    #: Those of the older architecture, all of which a network wall refuses.
    old_sockets: tuple[int, ...]
    #: Numbers from here on are those of a third set of calls (x32).
    third_from: int = 0


class SocketCalls(Struct, frozen=True):
    """Numbers of calls on sockets."""

    socket: int
    connect: int
    sendto: int
    sendmsg: int
    sendmmsg: int
    setsockopt: int


#: The same on every architecture.
IO_URING_SETUP: Final = 425
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
#: Of one thread, not of its process: it may have descriptors of its own (Linux 6.9).
_PIDFD_THREAD: Final = os.O_EXCL

MACHINES: Final = {
    "x86_64": Architecture(
        0xC000003E, 317, 59, 322, 0x40000003, (11, 358), SocketCalls(41, 42, 44, 46, 307, 54),
        (102, 359, 362, 369, 370, 345, IO_URING_SETUP), 0x40000000,
    ),
    "aarch64": Architecture(
        0xC00000B7, 277, 221, 281, 0x40000028, (11, 387), SocketCalls(198, 203, 206, 211, 269, 208),
        (102, 281, 283, 290, 296, 374, IO_URING_SETUP),
    ),
}  # fmt: skip


@cache
def machine() -> Architecture | None:
    """Return the numbers of this machine, or None where they are not known."""
    known = sys.platform == "linux" and sys.maxsize > 1 << 32
    return MACHINES.get(os.uname().machine) if known else None


@cache
def libc() -> ctypes.CDLL:
    loaded = ctypes.CDLL(None, use_errno=True)
    loaded.syscall.restype = ctypes.c_long
    loaded.ptrace.restype = ctypes.c_long
    loaded.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    return loaded


def call(number: int, *arguments: object) -> int:
    """Make a system call. Raises OSError."""
    done = libc().syscall(ctypes.c_long(number), *arguments)
    return _checked(done)


def _checked(done: int) -> int:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done


def forbid_new_privileges() -> None:
    _checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def become_subreaper() -> None:
    _checked(libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def hide_memory() -> None:
    """Keep other processes of this user from reading or changing this one."""
    _checked(libc().prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def install(program: bytes) -> int:
    """Filter the system calls of this thread and of all it starts; return the listener. Raises OSError."""
    numbers = machine()
    if numbers is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    code = ctypes.create_string_buffer(program, len(program))
    whole = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code)))
    forbid_new_privileges()
    for flags in (_FLAG_NEW_LISTENER | _FLAG_WAIT_KILLABLE, _FLAG_NEW_LISTENER):
        try:
            return call(numbers.seccomp, _SECCOMP_SET_MODE_FILTER, flags, whole)
        except OSError as error:
            if error.errno != errno.EINVAL or flags == _FLAG_NEW_LISTENER:
                raise
    raise AssertionError


def wake_in_place(listener: int) -> None:
    """Let who waits and who answers take turns on one processor: none has to be woken up for each call. Linux 6.6."""
    with suppress(OSError):
        fcntl.ioctl(listener, _NOTIF_SET_FLAGS, _SYNC_WAKE_UP)


def signal_descriptor(number: int) -> int:
    """Return a descriptor that is readable when a signal that is blocked has come."""
    signals = ctypes.create_string_buffer(128)
    libc().sigemptyset(signals)
    libc().sigaddset(signals, int(number))
    return _checked(libc().signalfd(-1, signals, os.O_CLOEXEC | os.O_NONBLOCK))


class Notification(NamedTuple):
    """A system call that waits for an answer."""

    id: int
    #: The thread that makes it.
    tid: int
    number: int
    arch: int
    arguments: tuple[int, ...]


def receive(listener: int) -> Notification | None:
    """Return the next call that waits; None if it is gone."""
    try:
        # Bytes are copied and returned, which is faster than to let the kernel write into a buffer.
        fields = _NOTIFICATION.unpack(fcntl.ioctl(listener, _NOTIF_RECV, _NO_NOTIFICATION))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
            return None
        raise
    return Notification(fields[0], fields[1], fields[3], fields[4], fields[6:])


def is_waiting(listener: int, number: int) -> bool:
    """Return True if the call still waits: then the memory that was read is its own."""
    try:
        fcntl.ioctl(listener, _NOTIF_ID_VALID, struct.pack("Q", number))
    except OSError:
        return False
    return True


def take_descriptor(tid: int, descriptor: int) -> int:
    """Return a copy of another task's descriptor. Raises OSError."""
    try:
        task = call(_PIDFD_OPEN, ctypes.c_int(tid), ctypes.c_uint(_PIDFD_THREAD))
    except OSError:
        task = call(_PIDFD_OPEN, ctypes.c_int(_leader(tid)), ctypes.c_uint(0))
    try:
        return call(_PIDFD_GETFD, ctypes.c_int(task), ctypes.c_int(descriptor), ctypes.c_uint(0))
    finally:
        os.close(task)


def _leader(tid: int) -> int:
    with open(f"/proc/{tid}/status", "rb") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(b"Tgid:")), tid)


def let_continue(listener: int, number: int) -> bool:
    return _reply(listener, _REPLY.pack(number, 0, 0, _CONTINUE))


def answer(listener: int, number: int, value: int = 0, error: int = 0) -> bool:
    """Answer a call instead of the kernel; return False if it is gone."""
    return _reply(listener, _REPLY.pack(number, value, -error, 0))


def _reply(listener: int, reply: bytes) -> bool:
    try:
        fcntl.ioctl(listener, _NOTIF_SEND, reply)
    except OSError:
        return False
    return True


def seize(tid: int) -> None:
    """Trace a task: it stops when its exec has succeeded, and dies if this process does. Raises OSError."""
    _checked(libc().ptrace(_PTRACE_SEIZE, tid, None, _O_TRACEEXEC | _O_EXITKILL))


def interrupt(tid: int) -> None:
    """Stop a traced task also if its exec fails."""
    libc().ptrace(_PTRACE_INTERRUPT, tid, None, None)


def detach(tid: int, signal_number: int = 0) -> None:
    libc().ptrace(PTRACE_DETACH, tid, None, signal_number)


def former_tid(tid: int) -> int:
    """Return the thread that made the exec: it has the number of its process now."""
    value = ctypes.c_ulong()
    libc().ptrace(_PTRACE_GETEVENTMSG, tid, None, ctypes.byref(value))
    return value.value
