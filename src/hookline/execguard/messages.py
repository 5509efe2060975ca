"""Define the messages between an engine, its zygote and its supervisors: JSON records on local sockets."""

import array
import os
import socket
from collections.abc import Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hookline.execguard.judge import ExecFinding

LONGEST_MESSAGE: Final = 160 * 1024
#: Characters of an argv in a message: it is for people and hooks. Supervisors judge all of it.
_LONGEST_SHOWN: Final = 32 * 1024

#: To a zygote: take rules, and fork a supervisor, which will have a network wall or none.
TAKE_RULES, FORK, FORK_FOR_NETWORK = b"R", b"F", b"N"

Mode = Literal["verify", "notify"]


class FileWall(Struct, frozen=True):
    """Directories that a command may write to, and those it may not read."""

    writes: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()


class NetworkWall(Struct, frozen=True):
    """Hosts that a command may connect to besides this machine: names, addresses and networks."""

    hosts: tuple[str, ...] = ()


class SupervisedCommand(Struct, frozen=True, kw_only=True):
    """A command to run under supervision."""

    argv: tuple[str, ...]
    program: str
    env: dict[str, str]
    cwd: str
    mode: Mode = "verify"
    #: The program itself was judged by the caller.
    trusts_first: bool = True
    #: Commands that the line shows: guards over files have judged them with what is around them.
    shown: tuple[tuple[str, ...], ...] = ()
    #: Ask the engine about every exec, because hooks want to see them.
    asks_always: bool = False
    #: End the run after so many denials.
    most_denials: int = 100
    #: Go on supervising what the command leaves running, until nothing of it is left.
    outlives: bool = False
    files: FileWall | None = None
    network: NetworkWall | None = None
    #: See `hookline.handlers.process.spawn.Mark`.
    batch: bool = False
    number: int = 0


class ExecQuestion(Struct, frozen=True, tag="exec"):
    """An exec that waits for the engine's answer."""

    id: int
    pid: int
    argv: tuple[str, ...]
    cwd: str
    #: Its file, and the name it has there or in a directory of PATH.
    program: str
    name: str
    finding: ExecFinding | None = None


class Denied(Struct, frozen=True, tag="denied"):
    """Something that the supervisor refused."""

    what: str
    reason: str
    rule: str = ""
    source: str = ""
    #: It had begun to run, because its arguments were changed after they were judged, and was killed.
    killed: bool = False


class CommandStarted(Struct, frozen=True, tag="started"):
    """The command runs."""

    pid: int


class Ended(Struct, frozen=True, tag="ended"):
    """The command has ended, or the supervisor ended it."""

    status: int
    execs: int = 0
    denials: int = 0
    #: Execs that could be judged, but not verified: another program traces them.
    unverified: int = 0
    why: str = ""


class Problem(Struct, frozen=True, tag="problem"):
    """The command was not started."""

    text: str


Report = ExecQuestion | Denied | CommandStarted | Ended | Problem


class Reply(Struct, frozen=True):
    """The engine's answer to a question."""

    id: int
    allow: bool
    reason: str = ""
    rule: str = ""
    source: str = ""


_reports = msgspec.json.Decoder(Report)
_replies = msgspec.json.Decoder(Reply)
_jobs = msgspec.json.Decoder(SupervisedCommand)


def encoded(record: Struct) -> bytes:
    return msgspec.json.encode(record)


def report_of(message: bytes) -> Report:
    return _reports.decode(message)


def reply_of(message: bytes) -> Reply:
    return _replies.decode(message)


def shown_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Return an argv that fits into a message. Bytes that are no text are replaced."""
    room = _LONGEST_SHOWN
    shown: list[str] = []
    for word in argv:
        text = word.encode("utf-8", "replace").decode() if not word.isascii() else word
        shown.append(text if len(text) <= room else text[:room] + "…")
        room -= len(text)
        if room <= 0:
            break
    return tuple(shown)


def sealed(record: Struct) -> int:
    """Return a nameless file with a record, for one that may be too long for a message."""
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC)
    rest = memoryview(msgspec.json.encode(record))
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return descriptor


def whole(descriptor: int) -> bytes:
    """Return the contents of such a file, and close it."""
    found = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    os.close(descriptor)
    return found


def job_in(descriptor: int) -> SupervisedCommand:
    return _jobs.decode(whole(descriptor))


def send(channel: socket.socket, message: bytes, descriptors: Sequence[int] = ()) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    channel.sendmsg([message], rights, socket.MSG_NOSIGNAL)


def receive(channel: socket.socket, most: int = LONGEST_MESSAGE) -> tuple[bytes, list[int]]:
    """Return a message and its descriptors; an empty message at the end."""
    message, extra, _flags, _address = channel.recvmsg(
        most, socket.CMSG_SPACE(8 * 4), socket.MSG_CMSG_CLOEXEC
    )
    descriptors = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return message, list(descriptors)
