"""Name processes as owners of jobs, and tell if another one is certainly gone.

Leases use the monotonic clock, which all processes of a machine share until it restarts. So a change of the
time of day ends no lease, and the time for which a machine sleeps does not count.
"""

import os
import time
from functools import lru_cache
from secrets import token_hex

from hookline.handlers.process.procfs import process_info

#: Separates the parts of a name.
_SEPARATOR = "/"


def now() -> float:
    return time.monotonic()


@lru_cache(maxsize=1)
def machine() -> str:
    """Return an id of this boot and this PID namespace; empty where it is unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        return f"{boot[:8]}.{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:
        return ""


def owner_name() -> str:
    """Return a name that no other open queue has, not even in this process."""
    pid = os.getpid()
    return _SEPARATOR.join((machine(), str(pid), _began(pid), token_hex(4)))


def is_gone(owner: str) -> bool:
    """Return True if the owner's process has certainly ended.

    Owners in another PID namespace are judged by their lease alone.
    """
    where, pid, began, _own = [*owner.split(_SEPARATOR), "", "", ""][:4]
    if not where or not pid.isdecimal():
        return False
    here = machine()
    if where != here:
        # Another boot: all its processes are gone. Another container: unknown.
        return where.partition(".")[0] != here.partition(".")[0]
    return _began(int(pid)) != began


def pid_of(owner: str) -> str:
    return [*owner.split(_SEPARATOR), ""][1]


def _began(pid: int) -> str:
    """Return when a process began, by the kernel's count: its number may be reused later. Empty: it is gone."""
    found = process_info(pid)
    return str(found.started) if found is not None and found.alive else ""  # a zombie runs nothing any more
