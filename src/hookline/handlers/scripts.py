"""Bytes that run as a program, so that what was checked is what runs."""

import fcntl
import os
from typing import Final

from hookline.handlers.spawn_failures import not_started
from hookline.model.raw import Broke

_SEALS: Final = 0x1 | 0x2 | 0x4 | 0x8  # no further seal, no shrinking, no growing, no writing
_ADD_SEALS: Final = 1033

#: Stands for the path of the given bytes in an argv; no real argument can hold a NUL.
SCRIPT: Final = "\0script"


def sealed(script: bytes) -> int | Broke:
    """A descriptor of a nameless file that holds these bytes and can never hold others."""
    if not hasattr(os, "memfd_create"):
        return not_started("this system cannot run a script from memory")
    try:
        fd = os.memfd_create("hook", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        return not_started(f"the script cannot be kept in memory: {error.strerror}")
    try:
        rest = memoryview(script)
        while rest:
            rest = rest[os.write(fd, rest) :]
        fcntl.fcntl(fd, _ADD_SEALS, _SEALS)
    except OSError as error:
        os.close(fd)
        return not_started(f"the script cannot be kept in memory: {error.strerror}")
    return fd
