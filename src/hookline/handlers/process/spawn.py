"""Start a process in its own session and group, with our own pipes; or explain why it did not start."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from hookline.handlers.process.early_status import EarlyStatus
from hookline.model.raw import Failed

_SEALS: Final = 0x1 | 0x2 | 0x4 | 0x8  # no further seal, no shrinking, no growing, no writing
_ADD_SEALS: Final = 1033


_SYSTEM_ERRORS: Final = {
    errno.E2BIG: "its arguments and environment are too long for this system",
    errno.EMFILE: "this program has no file descriptor left",
    errno.ENFILE: "this system has no file descriptor left",
    errno.ENOMEM: "there is no memory left to start it",
    errno.EAGAIN: "this system allows no further process",
    errno.ETXTBSY: "the file is open for writing",
    errno.ELOOP: "its path has a loop of symbolic links",
    errno.ENAMETOOLONG: "its path is too long",
    errno.ENOTDIR: "a part of its path is not a directory",
}


def placeholder(number: int) -> str:
    """Return a text that is replaced in an argv by the path of a sealed file; no real argument can contain a NUL."""
    return f"\0{number}\0"


class Mark(Struct, frozen=True):
    """The mark that a process started ahead puts on itself as part of a run (see `Orphans`)."""

    batch: bool = False
    number: int = 0


class Child:
    """A child of ours that `Popen` did not start. It has the two attributes of a `Popen` that a run needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None


class Started(Struct, frozen=True):
    """A child, not yet reaped, and our non-blocking ends of its pipes."""

    popen: subprocess.Popen[bytes] | Child
    stdin: int
    stdout: int
    stderr: int
    #: Reports its exit status before it dies, if it was started ahead.
    early: EarlyStatus | None = None
    #: True if a process started ahead runs it; False if it could have, but none was there.
    warm: bool | None = None

    @property
    def pid(self) -> int:
        return self.popen.pid

    def undo(self) -> None:
        """Kill it and close the pipes, as if it had never been started."""
        signal_group(self.pid, signal.SIGKILL)
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass  # reaped elsewhere
        self.popen.returncode = -signal.SIGKILL
        if self.early is not None:
            self.early.close()
        for fd in (self.stdin, self.stdout, self.stderr):
            try:
                os.close(fd)
            except OSError:
                pass


class Pipes:
    """Three pipes for the standard streams of a child. Raises OSError when no descriptor is left."""

    def __init__(self) -> None:
        self._all: list[int] = []
        try:
            for _ in range(3):
                self._all.extend(os.pipe2(os.O_CLOEXEC))
        except OSError:
            self.close()
            raise
        in_theirs, in_ours, out_ours, out_theirs, err_ours, err_theirs = self._all
        self.theirs = (in_theirs, out_theirs, err_theirs)
        self._ours = (in_ours, out_ours, err_ours)

    def handed_over(self) -> tuple[int, int, int]:
        """Return our ends, non-blocking; the child has its own by now."""
        for fd in self.theirs:
            os.close(fd)
        for fd in self._ours:
            os.set_blocking(fd, False)
        return self._ours

    def close(self) -> None:
        for fd in self._all:
            os.close(fd)


def start(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: str, keeps: Sequence[int] = ()
) -> Started | Failed:
    """Start the program, or say why not. The child keeps the descriptors `keeps` under their numbers."""
    problem = _cwd_problem(cwd)
    if problem is not None:
        return not_started(problem)
    program = find_program(argv[0], env.get("PATH", os.defpath), cwd)
    if isinstance(program, Failed):
        return program
    pipes: Pipes | None = None
    try:
        pipes = Pipes()
        in_theirs, out_theirs, err_theirs = pipes.theirs
        popen = subprocess.Popen(
            argv, executable=program, env=env, cwd=cwd, close_fds=True, start_new_session=True,
            stdin=in_theirs, stdout=out_theirs, stderr=err_theirs,
            pass_fds=keeps,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        if pipes is not None:
            pipes.close()
        return explained(error, argv, program, env, cwd)
    return Started(popen, *pipes.handed_over())


def _cwd_problem(cwd: str) -> str | None:
    """Return the error of a working directory. Checked first, because a failed chdir looks like a missing program."""
    try:
        mode = os.stat(cwd).st_mode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"its working directory {cwd!r} cannot be used: {reason}"
    if not stat.S_ISDIR(mode):
        return f"its working directory {cwd!r} is not a directory"
    return None


def find_program(name: str, path: str, cwd: str) -> str | Failed:
    """Return an absolute path. Names with a slash are relative to `cwd`; only absolute parts of `path` are
    searched.

    An empty or relative part would mean the current directory, which lets a project put its own `git` in
    front of the real one.
    """
    if not name:
        return not_started("the name of the program is empty")
    if "/" in name:
        return os.path.join(cwd, name)
    unusable: str | None = None
    for part in path.split(":"):
        if not part.startswith("/"):
            continue
        candidate = f"{part}/{name}"
        try:
            mode = os.stat(candidate).st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(mode) and os.access(candidate, os.X_OK):
            return candidate
        unusable = unusable or candidate
    if unusable is not None:
        return not_started(f"{name!r} was found only as {unusable!r}, which is not an executable file")
    return not_started(
        f"no program {name!r} in PATH ({path!r})" if path else f"no program {name!r}: PATH is empty"
    )


def sealed(content: bytes) -> int | Failed:
    """Return a descriptor of a nameless file with these bytes, which can no longer be changed."""
    if not hasattr(os, "memfd_create"):
        return not_started("this system cannot run a script from memory")
    try:
        fd = os.memfd_create("hook", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        return not_started(f"the script cannot be kept in memory: {error.strerror}")
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(fd, rest) :]
        fcntl.fcntl(fd, _ADD_SEALS, _SEALS)
    except OSError as error:
        os.close(fd)
        return not_started(f"the script cannot be kept in memory: {error.strerror}")
    return fd


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a process group. Only while its leader is not reaped: until then the pid cannot be reused."""
    try:
        os.killpg(leader, number)
    except OSError:
        pass  # the group is gone, or belongs to another user


def signal_process(pid: int, number: signal.Signals) -> None:
    """Signal one process. Only while it is not reaped."""
    try:
        os.kill(pid, number)
    except OSError:
        pass


# Why a process did not start
#
# The errors of the system call are misleading: a script whose interpreter is missing is reported as a missing
# script, a missing working directory as a missing program.


def not_started(detail: str) -> Failed:
    return Failed("not_started", detail)


def explained(
    error: Exception, argv: Sequence[str], program: str, env: Mapping[str, str], cwd: str
) -> Failed:
    """Turn an error of Popen into a result that names the culprit."""
    if isinstance(error, OSError):
        return not_started(_system_error(error, program, cwd))
    if isinstance(error, ValueError):
        return not_started(_bad_text(argv, env) or str(error))
    return not_started(str(error))


def _system_error(error: OSError, program: str, cwd: str) -> str:
    if error.errno in (errno.ENOENT, errno.EACCES) and not os.path.isdir(cwd):
        return f"its working directory {cwd!r} went away"
    explanations = {errno.ENOENT: _not_there, errno.EACCES: _not_allowed, errno.ENOEXEC: _not_a_program}
    if error.errno in explanations:
        return explanations[error.errno](program)
    plain = _SYSTEM_ERRORS.get(error.errno or 0)
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
        return f"{program!r} is not executable; run chmod +x on it"
    interpreter = _interpreter(program)
    if interpreter is not None and not os.access(interpreter, os.X_OK):
        return f"the interpreter {interpreter!r} of {program!r} is not executable"
    return f"{program!r} may not be executed here (its file system may forbid it)"


def _not_a_program(program: str) -> str:
    if _first_bytes(program).startswith((b"\x7fELF", b"#!")):
        return f"{program!r} cannot run on this machine: exec format error"
    return f"{program!r} has no #! line and is not a binary: exec format error"


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
