"""Find and read transcripts line by line, in little memory, whatever they contain."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, ClassVar, TypeVar

import msgspec

from hookline.dialects.recorded_event import HookNote, RecordedEvent, Tally

T = TypeVar("T")

#: Bytes of a line. Agents put images and whole files into one; a longer line is skipped.
LONGEST_LINE = 32 * 1024 * 1024
_BUFFER = 256 * 1024
#: Seconds that a clock may go back before it is counted.
_JUMP = 60.0


class Transcripts(ABC):
    """Transcripts of one agent."""

    ending: ClassVar[str] = ".jsonl"
    #: As the journal calls the agent, if that is not the name of its dialect.
    caller: ClassVar[str] = ""

    @abstractmethod
    def directories(self, env: Mapping[str, str]) -> list[str]:
        """Return the directories in which the agent keeps them."""

    @abstractmethod
    def recognises(self, first: Mapping[str, Any]) -> bool:
        """Return True if the first record of a file is one of this agent's."""

    @abstractmethod
    def read(self, path: str, tally: Tally) -> Iterator[RecordedEvent | HookNote]:
        """Yield the events of a file in order. Never raises: unreadable parts are counted."""

    def owns(self, path: str) -> bool:
        """Return True if a file in these directories is a transcript."""
        return path.endswith(self.ending)

    def is_document(self, path: str) -> bool:
        """Return True if a file is a transcript in one document, which is recognised by its name, not by its
        first line.
        """
        del path
        return False

    def files(self, env: Mapping[str, str]) -> Iterator[str]:
        """Yield every transcript of this user."""
        for directory in self.directories(env):
            yield from (path for path in files_below(directory) if self.owns(path) or self.is_document(path))


def files_below(directory: str) -> Iterator[str]:
    """Yield regular files in a directory and below it, sorted by name. Links are not followed."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from files_below(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def records(
    path: str,
    tally: Tally,
    decode: Callable[[bytes], T],
    split: Callable[[str, Tally], Iterator[bytes]] | None = None,
) -> Iterator[T]:
    """Decode the lines of a file as records of one shape. Other lines are counted and skipped."""
    for line in (split or lines_of)(path, tally):
        try:
            record = decode(line)
        except msgspec.ValidationError:
            tally.unknown += 1
        except (msgspec.DecodeError, RecursionError):
            tally.torn += 1
        else:
            yield record


def list_in_document(path: str, tally: Tally, key: str) -> Iterator[bytes]:
    """Split a document with a list of records: yield its own fields as one object, then each record.

    It must be indented by two blanks per level, as JavaScript writes it. So this takes little memory, and
    reads the first half of a truncated document.
    """
    yield _own_fields(path)
    begins, within = f'  "{key}": ['.encode(), False
    parts, size = list[bytes](), 0
    for line in lines_of(path, tally):
        text = line.rstrip()
        if not within:
            within = text == begins
        elif text in (b"  ]", b"  ],"):
            break
        else:
            size += len(line)
            parts += [line] if size <= LONGEST_LINE else []
            if text in (b"    }", b"    },"):
                if size <= LONGEST_LINE:
                    yield b"".join(parts).rstrip().rstrip(b",")
                tally.too_long += size > LONGEST_LINE
                parts, size = [], 0
    tally.torn += bool(parts)
    tally.unknown += not within  # a chat without a message is not written


def _own_fields(path: str) -> bytes:
    """Return the fields of a document whose values are on the same line, before and after its list."""
    lines = (line.rstrip().rstrip(b",") for line in lines_of(path, Tally()) if line.startswith(b'  "'))
    return b"{" + b",".join(line for line in lines if not line.endswith((b"[", b"{"))) + b"}"


def lines_of(path: str, tally: Tally, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the lines of a file that are not empty. Never raises; overlong lines are not kept in memory."""
    try:
        file = _regular_file(path)
    except (OSError, ValueError) as error:
        tally.unreadable.append(f"{path}: {error}")
        return
    tally.files += 1
    with file:
        try:
            while line := file.readline(longest):
                tally.bytes += len(line)
                if len(line) == longest and not line.endswith(b"\n"):
                    tally.too_long += 1
                    while (rest := file.readline(_BUFFER)) and not rest.endswith(b"\n"):
                        tally.bytes += len(rest)
                    continue
                tally.lines += 1
                if line != b"\n":
                    yield line
        except OSError as error:
            tally.unreadable.append(f"{path}: {error}")


def _regular_file(path: str) -> BinaryIO:
    # Not blocking: opening a named pipe would otherwise wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("not a regular file")
    return os.fdopen(descriptor, "rb", buffering=_BUFFER)


def seconds(text: str, before: float, tally: Tally) -> float:
    """Parse a time as agents write it, in seconds since 1970; return the previous record's time if it has none."""
    try:
        at = datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return before
    if at < before - _JUMP:
        tally.clock_jumps += 1
    return at
