"""Read the facts of an exec from the task that makes it: argv, directory, and which file it runs."""

import os
import re
import stat
import struct
from typing import Final, NamedTuple

from hookline.execguard.kernel import Architecture, Notification

#: Bytes of one argument: the kernel's own limit. `MAX_ARG_STRLEN`.
_LONGEST_TEXT: Final = 131_072
_MOST_ARGUMENTS: Final = 400_000
_CHUNK: Final = 512
_AT_FDCWD: Final = -100
_AT_EMPTY_PATH: Final = 0x1000
_FIRST_BYTES: Final = 256
_MOST_REMEMBERED: Final = 1024
#: These lead to the process that looks, so they have to be read for the task.
_OWN: Final = re.compile(r"^/(?:proc/(?:thread-)?self(?=/|$)|dev/fd(?=/|$))")

#: Device, inode, size, and time of the last change, which nobody can set back.
Identity = tuple[int, int, int, int]


class ExecFacts(NamedTuple):
    """One exec: what the task asks for, and the file that would run."""

    argv: tuple[str, ...]
    #: Empty until somebody wants to know: see `FactReader.with_cwd`.
    cwd: str
    #: The path as it was given, and the file it leads to.
    path: str
    real: str
    identity: Identity | None = None
    #: For a script, the interpreter of its first line and the argv that it gets.
    interpreter: str = ""
    interpreter_argv: tuple[str, ...] = ()
    #: A path by which this process reaches the file while the task waits: it may have no name.
    where: str = ""
    #: The task, and where its environment is: an address and the width of its pointers; 0 once it runs.
    tid: int = 0
    environment: tuple[int, int] = (0, 8)

    @property
    def final(self) -> tuple[str, ...]:
        """The argv of the program that runs in the end."""
        return self.interpreter_argv or self.argv


class UnreadableError(Exception):
    """The facts of a task could not be read, so its exec cannot be judged."""


class FactReader:
    """A reader of execs; of a file that stays the same it remembers its real path, and if it is a script."""

    def __init__(self, machine: Architecture) -> None:
        self._machine = machine
        self._first_lines: dict[Identity, bytes] = {}
        self._reals: dict[tuple[str, Identity], tuple[str, Identity | None]] = {}

    def read(self, found: Notification) -> ExecFacts:
        """Read an exec that waits. Raises UnreadableError."""
        machine = self._machine
        width = 8 if found.arch == machine.arch else 4
        execs = (machine.execve, machine.execveat) if width == 8 else machine.old_execs
        given = found.arguments
        try:
            memory = os.open(f"/proc/{found.tid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            try:
                # execveat has a directory before the path, and flags behind all.
                at = int(found.number != execs[0])
                path, argv = os.fsdecode(_bytes(memory, given[at])), _texts(memory, given[at + 1], width)
                below = "cwd"
                if at:
                    directory = struct.unpack("i", struct.pack("I", given[0] & 0xFFFFFFFF))[0]
                    below = "cwd" if directory == _AT_FDCWD else f"fd/{directory}"
                where = self._where(found.tid, path, below)
                if at and not path and given[4] & _AT_EMPTY_PATH:
                    path = where
            finally:
                os.close(memory)
        except (OSError, ValueError, struct.error) as error:
            raise UnreadableError(str(error)) from error
        real, identity = self._identified(path, where)
        facts = ExecFacts(
            argv, "", path, real or path, identity, "", (), where, found.tid, (given[at + 2], width)
        )
        return self._with_interpreter(facts, where)

    def with_cwd(self, facts: ExecFacts) -> ExecFacts:
        """Read the directory, too, of a task that waits. Raises UnreadableError."""
        try:
            return facts._replace(cwd=os.readlink(f"/proc/{facts.tid}/cwd"))
        except OSError as error:
            raise UnreadableError(str(error)) from error

    def runs(self, pid: int, judged: ExecFacts) -> bool:
        """Return True if a stopped task has begun to run exactly what was judged. Raises UnreadableError."""
        if judged.identity is None:
            return False
        try:
            if _whole(f"/proc/{pid}/cmdline") != os.fsencode("\0".join(judged.final)) + b"\0":
                return False
            if judged.interpreter:
                # The interpreter was judged by its name: it has to be the file of that name.
                return os.path.realpath(judged.interpreter) == os.readlink(f"/proc/{pid}/exe")
            return judged.identity == _identity(os.stat(f"/proc/{pid}/exe"))
        except OSError as error:
            raise UnreadableError(str(error)) from error

    def after(self, pid: int) -> ExecFacts:
        """Read the program that a stopped task has just begun to run. Raises UnreadableError."""
        try:
            words = _whole(f"/proc/{pid}/cmdline").removesuffix(b"\0").split(b"\0")
            argv = tuple([os.fsdecode(word) for word in words])
            cwd, exe = os.readlink(f"/proc/{pid}/cwd"), os.readlink(f"/proc/{pid}/exe")
            found = os.stat(f"/proc/{pid}/exe")
        except OSError as error:
            raise UnreadableError(str(error)) from error
        return ExecFacts(argv, cwd, exe, exe, _identity(found), where=f"/proc/{pid}/exe", tid=pid)

    @staticmethod
    def _where(tid: int, path: str, below: str) -> str:
        """Return a path by which this process reaches the file that the task means."""
        if path.startswith("/"):
            own = _OWN.match(path) if path.startswith(("/proc/", "/dev/")) else None
            if own is not None:
                rest = path[own.end() :]
                return f"/proc/{tid}{'/fd' if own[0] == '/dev/fd' else ''}{rest}"
            return f"/proc/{tid}/root{path}"
        return f"/proc/{tid}/{below}/{path}" if path else f"/proc/{tid}/{below}"

    def _identified(self, path: str, where: str) -> tuple[str, Identity | None]:
        """Return the real path of a file and its identity. What an absolute path has led to is remembered as long as it
        leads to the same file: another name of that is the same program."""
        if path[:1] != "/":
            return _identified(where)
        try:
            known = self._reals.get((path, _identity(os.stat(where))))
        except (OSError, ValueError):
            return "", None
        if known is None:
            known = _identified(where)
            if len(self._reals) >= _MOST_REMEMBERED:
                self._reals.clear()
            if known[1] is not None:
                self._reals[path, known[1]] = known
        return known

    def _with_interpreter(self, facts: ExecFacts, where: str) -> ExecFacts:
        if facts.identity is None:
            return facts
        first = self._first_lines.get(facts.identity)
        if first is None:
            first = self._first_lines[facts.identity] = _first_line(where)
        if not first:
            return facts
        # The kernel takes one argument, blanks and all.
        name, _, rest = first.replace(b"\t", b" ").partition(b" ")
        interpreter, option = os.fsdecode(name), os.fsdecode(rest.strip(b" "))
        argv = (interpreter, *((option,) if option else ()), facts.path, *facts.argv[1:])
        return facts._replace(interpreter=interpreter, interpreter_argv=argv)


def environment_of(facts: ExecFacts) -> dict[str, str]:
    """Return the environment that a program would get, or has. Raises UnreadableError."""
    address, width = facts.environment
    try:
        if not address:
            words = [os.fsdecode(word) for word in _whole(f"/proc/{facts.tid}/environ").split(b"\0")]
        else:
            memory = os.open(f"/proc/{facts.tid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            try:
                words = _texts(memory, address, width)
            finally:
                os.close(memory)
    except (OSError, ValueError, struct.error) as error:
        raise UnreadableError(str(error)) from error
    # Of two with one name, programs take the first.
    return dict(reversed([(name, value) for name, _, value in (word.partition("=") for word in words)]))


def _whole(file: str) -> bytes:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = part = os.read(descriptor, _CHUNK * 8)
        while len(part) >= _CHUNK * 8:
            part = os.read(descriptor, _CHUNK * 8)
            found += part
    finally:
        os.close(descriptor)
    return found


def _first_line(where: str) -> bytes:
    """Return the first line of a script without `#!`; empty for a binary."""
    try:
        descriptor = os.open(where, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return b""  # a program that may be executed and not read
    try:
        start = os.read(descriptor, _FIRST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return start[2:].partition(b"\n")[0].strip(b" \t") if start[:2] == b"#!" else b""


def _identified(where: str) -> tuple[str, Identity | None]:
    """Return the real path of a file and its identity; none where there is no such regular file."""
    try:
        descriptor = os.open(where, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        return "", None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return "", None
        return os.readlink(f"/proc/self/fd/{descriptor}"), _identity(found)
    except OSError:
        return "", None
    finally:
        os.close(descriptor)


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns


def _bytes(memory: int, address: int) -> bytes:
    found = b""
    while len(found) <= _LONGEST_TEXT:
        part = os.pread(memory, _CHUNK if not found else 16 * _CHUNK, address + len(found))
        if not part:
            raise ValueError("a text of the exec has no end")
        end = part.find(b"\0")
        if end >= 0:
            return found + part[:end]
        found += part
    raise ValueError("a text of the exec is too long")


def _texts(memory: int, address: int, width: int) -> tuple[str, ...]:
    if not address:
        return ()
    form = "Q" if width == 8 else "I"
    found: list[str] = []
    while len(found) < _MOST_ARGUMENTS:
        # Most commands have few arguments.
        part = os.pread(memory, (64 if found else 8) * width, address)
        count = len(part) // width
        if not count:
            raise ValueError("the arguments of the exec have no end")
        for pointer in struct.unpack(f"{count}{form}", part[: count * width]):
            if not pointer:
                return tuple(found)
            found.append(os.fsdecode(_bytes(memory, pointer)))
        address += count * width
    raise ValueError("the exec has too many arguments")
