"""Read what the kernel knows about processes. A process may vanish at any time: then the result is None or
empty."""

import os
import signal
from collections.abc import Iterator

from msgspec import Struct


class ProcessInfo(Struct, frozen=True):
    """A process at one point in time. Pid and start time together identify it."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    #: Clock ticks since boot.
    started: int
    #: Its scheduling policy (`os.SCHED_OTHER`, `os.SCHED_BATCH`, ...).
    policy: int

    @property
    def alive(self) -> bool:
        return self.state not in "ZX"


def process_info(pid: int) -> ProcessInfo | None:
    raw = _read(f"/proc/{pid}/stat", 1024, once=True)
    # The name in the brackets is the program's own choice and may hold brackets and spaces.
    fields = raw[raw.rfind(b")") + 2 :].split()
    if len(fields) < 39:
        return None
    parent, group, session, started, policy = (int(fields[place]) for place in (1, 2, 3, 19, 38))
    return ProcessInfo(pid, fields[0].decode(), parent, group, session, started, policy)


def all_processes() -> Iterator[ProcessInfo]:
    """Yield every process; nothing where there is no /proc.

    Lists them again until no new one shows up, so that a process which forks and ends between listing and
    reading cannot be missed.
    """
    known: set[str] = set()
    while True:
        try:
            fresh = {name for name in os.listdir("/proc") if name.isdigit()} - known
        except OSError:
            return
        if not fresh:
            return
        known |= fresh
        for name in fresh:
            found = process_info(int(name))
            if found is not None:
                yield found


def variable(pid: int, prefix: bytes) -> bytes | None:
    """Return the rest of the first environment entry that starts with the prefix, as the process was started
    with it."""
    return entry(environment(pid), prefix)


def environment(pid: int) -> bytes:
    """Return all entries, each ended by a NUL. Also empty while a process changes its program."""
    return _read(f"/proc/{pid}/environ", 4 << 20)


def entry(block: bytes, prefix: bytes) -> bytes | None:
    block = b"\0" + block
    start = block.find(b"\0" + prefix)
    if start < 0:
        return None
    start += len(prefix) + 1
    end = block.find(b"\0", start)
    return block[start : end if end >= 0 else None]


def kill_exactly(target: ProcessInfo) -> None:
    """Send SIGKILL to that process and to no later one with its pid."""
    try:
        fd = os.pidfd_open(target.pid)
    except (AttributeError, OSError):
        fd = -1  # gone, or no descriptor left: the check below still prevents killing another process
    try:
        now = process_info(target.pid)
        if now is None or now.started != target.started:
            return
        if fd >= 0:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        else:
            os.kill(target.pid, signal.SIGKILL)
    except OSError:
        pass
    finally:
        if fd >= 0:
            os.close(fd)


def _read(path: str, size: int, *, once: bool = False) -> bytes:
    """Read up to `size` bytes; `once` for the small files that the kernel hands over in one piece."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        part = os.read(fd, size if once else 1 << 16)
        if once:
            return part
        parts: list[bytes] = []
        while part and size > 0:
            parts.append(part)
            size -= len(part)
            part = os.read(fd, 1 << 16)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(fd)
