"""Find out how far the exec guard works on this machine, by trying it, and why not further."""

import os
import signal
import sys
from functools import cache
from typing import Literal

from msgspec import Struct

from hookline.execguard import kernel
from hookline.execguard.filter import guard_filter
from hookline.execguard.walls.landlock import NETWORK_VERSION, version

Level = Literal["verify", "notify", "none"]


class Capabilities(Struct, frozen=True):
    """Abilities of this machine."""

    #: verify: execs are judged and verified. notify: they are judged; a hostile thread may win a race.
    level: Level
    #: Why it is not more.
    why: str = ""
    #: The version of Landlock; 0 without.
    landlock: int = 0
    landlock_why: str = ""

    @property
    def network_why(self) -> str:
        """Return why there can be no network wall; empty where there can."""
        if self.level == "none":
            return self.why
        if self.landlock < NETWORK_VERSION:
            return self.landlock_why or "this kernel's Landlock knows no network (Linux 6.7 does)"
        return ""

    @property
    def sentence(self) -> str:
        """The level and the reason why it is not more, for people."""
        said = {
            "verify": "verify: programs that a guarded command starts are judged, and verified when they run.",
            "notify": "notify: programs that a guarded command starts are judged, but not verified",
            "none": "none: commands are judged by their text only",
        }[self.level]
        lacks = (
            [("file walls", self.landlock_why), ("network wall", self.network_why)] if not self.why else []
        )
        missing = "".join(f" No {what}: {why}." for what, why in lacks if why)
        return f"Exec guard: {said}" + (f": {self.why}." if self.why else "") + missing


@cache
def capabilities() -> Capabilities:
    """Try everything once, in a process that ends."""
    if sys.platform != "linux":
        why = f"{os.uname().sysname} cannot judge programs by their arguments when they start; only text is judged"
        return Capabilities("none", why, landlock_why=why)
    if kernel.machine() is None:
        why = f"the system calls of {os.uname().machine} are not known"
        return Capabilities("none", why, landlock_why=why)
    ready, report = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        try:
            os.write(report, "\0".join(_tried()).encode())
        finally:
            os._exit(0)
    os.close(report)
    said = b""
    while part := os.read(ready, 4096):
        said += part
    os.close(ready)
    os.waitpid(pid, 0)
    filters, traces = (*said.decode().split("\0"), "", "")[:2] if said else ("it failed", "")
    landlock, landlock_why = version()
    level: Level = "none" if filters else "notify" if traces else "verify"
    why = filters or (f"processes cannot be traced: {traces}" if traces else "")
    return Capabilities(level, why, landlock, landlock_why)


def _tried() -> tuple[str, str]:
    """Return why filters and tracing fail; empty where they work."""
    from hookline.execguard.supervisor import refusal  # noqa: PLC0415 the supervisor imports what is tried here

    ends = os.pipe2(0)
    child = os.fork()
    if child == 0:
        os.close(ends[1])
        os.read(ends[0], 1)
        os._exit(0)
    traces = ""
    try:
        kernel.seize(child)
    except OSError as error:
        traces = error.strerror or str(error)
    os.kill(child, signal.SIGKILL)
    machine = kernel.machine()
    try:
        os.close(kernel.install(guard_filter(machine))) if machine is not None else None
    except OSError as error:
        return refusal(error), traces
    return "", traces
