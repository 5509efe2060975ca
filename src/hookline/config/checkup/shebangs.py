"""Files that are executable and still cannot run: their first line asks for what is not there."""

import os
import stat

from hookline.config.checkup.here import Here
from hookline.config.checkup.starting import Started


def unrunnable(place: str, start: Started, here: Here) -> tuple[str, str | None] | None:
    """Why the system cannot run a file that is executable, and what to do."""
    head = first_bytes(place)
    if not head.startswith(b"#!"):
        if start.bare and head and not head.startswith((b"\x7fELF", b"\xcf\xfa", b"\xca\xfe")):
            return f"{start.word} has no #! line, and no shell starts it", "begin it with #!/bin/sh"
        return None
    return _interpreter(place, start, os.fsdecode(head.split(b"\n", 1)[0]), here)


def _interpreter(place: str, start: Started, line: str, here: Here) -> tuple[str, str | None] | None:
    if line.endswith("\r"):
        return f"{start.word}: its #! line ends in CRLF", f"sed -i 's/\\r$//' {place}"
    words = line[2:].split()
    if not words:
        return f"{start.word}: its #! line names nothing", "#!/bin/sh"
    if not os.path.exists(words[0]):
        return f"{start.word}: its interpreter {words[0]} does not exist", _better(words[0])
    if os.path.basename(words[0]) == "env":
        return _asked_of_env(start, words[1:], here.env.get("PATH", ""))
    return None


def _asked_of_env(start: Started, words: list[str], path: str) -> tuple[str, str | None] | None:
    wanted = next((word for word in words if not word.startswith("-") and "=" not in word), None)
    if not wanted or not path or any(executable(f"{each}/{wanted}") for each in path.split(":")):
        return None
    return f"{start.word}: its #! line asks env for {wanted}, which is not in PATH", f"install {wanted}"


def _better(interpreter: str) -> str:
    return f"#!/usr/bin/env {os.path.basename(interpreter)}"


def first_bytes(place: str) -> bytes:
    """The first bytes of a regular file; nothing of anything else."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, 1024) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def executable(place: str) -> bool:
    return os.path.isfile(place) and os.access(place, os.X_OK)
