"""Compute a key of everything that the start of an interpreter depends on."""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from hookline.handlers.warm.commands import Cold, WarmScript

#: Variables that an interpreter, the C library or the loader reads at its start.
_AT_START: Final = re.compile(
    r"PYTHON.*|LC_.*|LANG|LANGUAGE|LD_.*|HOME|TZ|TZDIR|LOCPATH|NLSPATH|CHARSET|GLIBC_TUNABLES|MALLOC_.*|OPENSSL_.*"
    r"|SSL_.*|GCONV_PATH|OUTPUT_CHARSET",
    re.DOTALL,
)
#: Process attributes that children inherit and that cannot be set for each of them as simply.
_INHERITED: Final = re.compile(
    rb"^(?:Uid|Gid|Groups|NoNewPrivs|Seccomp|SigBlk|SigIgn|CapEff|CapBnd|CapAmb|Cpus_allowed):.*$",
    re.MULTILINE,
)
_UMASK: Final = re.compile(rb"^Umask:\s*([0-7]+)$", re.MULTILINE)
#: All limits but that on file locks, which marks runs.
_LIMITS: Final = tuple(number for number in range(16) if number != 10)

Key = tuple[Any, ...]


def start_variables(env: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """Return the part of an environment that a start reads, with the variables that start-up code is known to
    read."""
    named = frozenset(more)
    return {name: value for name, value in env.items() if name in named or _AT_START.fullmatch(name)}


def interpreter(script: WarmScript) -> Key | Cold:
    """Return the identity of an interpreter: its path as it is written, and the files behind it."""
    program = script.program
    try:
        target = os.stat(program)
    except (OSError, ValueError):
        return Cold(f"there is no {program}")
    identity = (target.st_dev, target.st_ino, target.st_mtime_ns, target.st_ctime_ns)
    if not _is_binary(program, identity):
        return Cold(f"{program} is a launcher, not an interpreter")
    directory = os.path.dirname(program)
    return (
        program,
        identity,
        _changed(f"{directory}/pyvenv.cfg"),
        _changed(f"{os.path.dirname(directory)}/pyvenv.cfg"),
    )


@cache
def _is_binary(program: str, identity: object) -> bool:
    del identity
    try:
        with open(program, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _changed(path: str) -> object:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def inherited() -> tuple[Key, int]:
    """Return what a process started now would inherit from this one, and its umask."""
    import resource  # noqa: PLC0415 - not on every system

    with open("/proc/thread-self/status", "rb", 0) as file:
        status = file.read()
    umask = _UMASK.search(status)
    limits = tuple(map(resource.getrlimit, _LIMITS))
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    return (tuple(_INHERITED.findall(status)), limits, priority), int(umask[1], 8) if umask else 0o22
