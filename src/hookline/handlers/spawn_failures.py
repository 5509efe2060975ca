"""Why a process did not start, in words that name the culprit.

The errors of the system call are misleading: a script whose interpreter is missing is reported as a missing
script, a missing working directory as a missing program.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Final

from hookline.model.raw import Broke

_PLAIN: Final = {
    errno.E2BIG: "its arguments and environment are too long for this system",
    errno.EMFILE: "this program has no file descriptor left",
    errno.ENFILE: "this system has no file descriptor left",
    errno.ENOMEM: "there is no memory left to start it",
    errno.EAGAIN: "this system allows no further process",
    errno.ETXTBSY: "the file is open for writing",
    errno.ELOOP: "its path goes round in circles of symbolic links",
    errno.ENAMETOOLONG: "its path is too long",
    errno.ENOTDIR: "a part of its path is not a directory",
}


def not_started(detail: str) -> Broke:
    return Broke("not_started", detail)


def explained(error: Exception, argv: Sequence[str], program: str, env: Mapping[str, str], cwd: str) -> Broke:
    """What to say about an error of Popen."""
    if isinstance(error, OSError):
        return not_started(_system_error(error, program, cwd))
    if isinstance(error, ValueError):
        return not_started(_bad_text(argv, env) or str(error))
    return not_started(str(error))


def _system_error(error: OSError, program: str, cwd: str) -> str:
    if error.errno in (errno.ENOENT, errno.EACCES) and not os.path.isdir(cwd):
        return f"its working directory {cwd!r} went away"
    told = {errno.ENOENT: _not_there, errno.EACCES: _not_allowed, errno.ENOEXEC: _not_a_program}
    if error.errno in told:
        return told[error.errno](program)
    plain = _PLAIN.get(error.errno or 0)
    return f"{plain} ({program!r})" if plain else f"{program!r}: {error.strerror or error}"


def _not_there(program: str) -> str:
    if not os.path.exists(program):
        return f"there is no program {program!r}"
    interpreter = _interpreter(program)
    if interpreter is None:
        return f"{program!r} needs a loader that this system lacks: it was built for another system"
    if interpreter.endswith("\r"):
        return (
            f"the first line of {program!r} ends in a carriage return (CRLF line endings), so its interpreter "
            f"{interpreter!r} does not exist; save the file with LF line endings"
        )
    return f"the interpreter {interpreter!r} that the first line of {program!r} asks for does not exist"


def _not_allowed(program: str) -> str:
    try:
        mode = os.stat(program).st_mode
    except OSError as error:
        return f"{program!r} cannot be reached: {error.strerror}"
    if stat.S_ISDIR(mode):
        return f"{program!r} is a directory, not a program"
    if not stat.S_ISREG(mode):
        return f"{program!r} is not a regular file"
    if not os.access(program, os.X_OK):
        return f"{program!r} is not executable; chmod +x makes it so"
    interpreter = _interpreter(program)
    if interpreter is not None and not os.access(interpreter, os.X_OK):
        return f"the interpreter {interpreter!r} of {program!r} is not executable"
    return f"{program!r} may not be executed here (its file system may forbid it)"


def _not_a_program(program: str) -> str:
    if _first_bytes(program).startswith((b"\x7fELF", b"#!")):
        return f"{program!r} cannot run on this machine: exec format error"
    return f"{program!r} has no #! line and is no binary: exec format error"


def _interpreter(program: str) -> str | None:
    first_line = _first_bytes(program).split(b"\n", 1)[0]
    if not first_line.startswith(b"#!"):
        return None
    # The carriage return is kept: it is part of the name the kernel looks for.
    words = first_line[2:].strip(b" \t").replace(b"\t", b" ").split(b" ")
    return os.fsdecode(words[0])


def _first_bytes(program: str) -> bytes:
    try:
        with open(program, "rb") as file:
            return file.read(256)
    except OSError:
        return b""


def _bad_text(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    places = [(f"argument {index}", word) for index, word in enumerate(argv)]
    for name, value in env.items():
        if "=" in name or not name:
            return f"{name!r} cannot be the name of an environment variable"
        places += [
            (f"the name of environment variable {name!r}", name),
            (f"environment variable {name!r}", value),
        ]
    for place, text in places:
        if "\0" in text:
            return f"{place} holds a NUL character"
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            return f"{place} holds a character that cannot be encoded"
    return None
