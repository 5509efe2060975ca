"""Processes as owners of jobs: a name for this one, and whether another one is certainly gone.

Leases are counted by the monotonic clock, which all processes of a machine share until it is started anew. So a change
of the time of day ends none, and the time for which a machine sleeps does not count.
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
    """This start of this machine, and the name space of its process numbers; empty where that cannot be told."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        return f"{boot[:8]}.{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:
        return ""


def owner_name() -> str:
    """Unlike that of any other queue that is open, also in this process."""
    pid = os.getpid()
    return _SEPARATOR.join((machine(), str(pid), _began(pid), token_hex(4)))


def is_gone(owner: str) -> bool:
    """Whether its process has ended for certain. One of another name space is only known by its lease."""
    where, pid, began, _own = [*owner.split(_SEPARATOR), "", "", ""][:4]
    if not where or not pid.isdecimal():
        return False
    here = machine()
    if where != here:
        # Another start of this machine: whatever ran then is gone. Another container: who knows.
        return where.partition(".")[0] != here.partition(".")[0]
    return _began(int(pid)) != began


def pid_of(owner: str) -> str:
    return [*owner.split(_SEPARATOR), ""][1]


def _began(pid: int) -> str:
    """Return when a process began, by the kernel's count: another one may get its number later. Empty: it is gone."""
    found = process_info(pid)
    return str(found.started) if found is not None and found.alive else ""  # a zombie runs nothing any more
