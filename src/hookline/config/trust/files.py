"""The files that a command names, and their digests.

Every text of a command that names a file in some way counts: covering a file too many costs a question, one too few
lets it be exchanged unseen. What a script imports, and programs found through PATH outside the project, is not covered.
"""

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from hookline.config.project import is_inside

#: Larger files are named, but not covered.
MOST_BYTES = 5 << 20
#: Directories whose files belong to the system: who can change them needs no hook to run something.
_SYSTEM = tuple(
    f"/{name}/"
    for name in (
        "usr",
        "bin",
        "sbin",
        "lib",
        "lib32",
        "lib64",
        "opt",
        "nix",
        "etc",
        "proc",
        "dev",
        "sys",
        "boot",
    )
)
#: A time of change this recent, in nanoseconds, can hide another change: clocks of file systems are coarse.
_COARSE = 50_000_000

_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_BREAKS = re.compile(r"[\s;&|<>()`]+")
_QUOTES = re.compile(r"[\"'\\]")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")

#: Device, number, size and times of a file: equal ones mean the same content.
Signature = tuple[int, int, int, int, int]


class NamedFile(Struct, frozen=True):
    """A file that a command names."""

    #: The text that names it.
    text: str
    #: Its real path.
    path: str
    #: The sha256 of its content; else why that is not covered, in brackets.
    digest: str


class Places(Struct, frozen=True):
    """Where the relative names of a command are looked up, and what its variables mean."""

    root: str
    home: str
    variables: Mapping[str, str] = {}
    #: The directory the command runs in, from the root.
    cwd: str = ""


class Digests:
    """Digests of files, read again whenever their signature changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Signature, str]] = {}

    def of(self, path: str) -> str | None:
        """The digest; in brackets why there is none; None if there is no such file, or it is a directory."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as problem:
            return None if isinstance(problem, FileNotFoundError | NotADirectoryError) else "(cannot be read)"
        try:
            found = os.fstat(descriptor)
            if stat.S_ISDIR(found.st_mode):
                return None
            if not stat.S_ISREG(found.st_mode):
                return "(not a file)"
            if found.st_size > MOST_BYTES:
                return f"(not covered: larger than {MOST_BYTES >> 20} MB)"
            return self._read(path, descriptor, found)
        finally:
            os.close(descriptor)

    def _read(self, path: str, descriptor: int, found: os.stat_result) -> str:
        now, known = signature(found), self._known.get(path)
        if known is not None and known[0] == now:
            return known[1]
        settled = is_settled(found)
        digest = digest_of(read_all(descriptor))
        if settled and signature(os.fstat(descriptor)) == now:
            self._known[path] = (now, digest)
        return digest


def read_all(descriptor: int) -> bytes:
    """The content, up to one byte more than is covered."""
    parts: list[bytes] = []
    left = MOST_BYTES + 1
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_file_bytes(path: str) -> bytes | None:
    """The content of a regular file that is small enough to be covered."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        content = read_all(descriptor) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if content is not None and len(content) <= MOST_BYTES else None


def digest_of(content: bytes) -> str:
    return sha256(content).hexdigest()


def is_settled(found: os.stat_result) -> bool:
    """Whether a later change is sure to show in the times of the file."""
    return time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _COARSE


def signature(found: os.stat_result) -> Signature:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Look(Struct, frozen=True):
    """The files that command lines name, and how everything was that they may name."""

    files: tuple[NamedFile, ...] = ()
    #: Signatures by path; None where there is nothing.
    seen: tuple[tuple[str, Signature | None], ...] = ()
    #: False: something changed just now, so that a further change may not show.
    settled: bool = True

    def holds(self) -> bool:
        """Whether everything is as it was."""
        stat_of, there = os.stat, os.access
        try:
            for path, before in self.seen:
                if before is None:
                    if there(path, os.F_OK):
                        return False
                elif signature(stat_of(path)) != before:
                    return False
        except OSError:
            return False
        return self.settled


def named_files(lines: Sequence[str], places: Places, digests: Digests) -> Look:
    found: dict[str, NamedFile] = {}
    seen: dict[str, Signature | None] = {}
    settled = True
    for text, path in _candidates(lines, places):
        if path in seen:
            continue
        status = _status(path)
        seen[path] = None if status is None else signature(status)
        if status is None or stat.S_ISDIR(status.st_mode):
            continue
        settled = settled and is_settled(status)
        real = os.path.realpath(path)
        if real in found or not _is_covered(real, places):
            continue
        digest = digests.of(real)
        if digest is not None:
            found[real] = NamedFile(text, real, digest)
    files = sorted(found.values(), key=lambda each: each.path)
    # Directories change with every file in them; only whether they are directories matters.
    return Look(tuple(files), tuple(seen.items()), settled)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path) if os.access(path, os.F_OK) else None
    except OSError:
        return None


def _is_covered(real: str, places: Places) -> bool:
    return is_inside(real, places.root) or not real.startswith(_SYSTEM)


def _candidates(lines: Sequence[str], places: Places) -> Iterator[tuple[str, str]]:
    """Each text that may name a file, with the path it would mean."""
    texts = dict.fromkeys(text for line in lines for text in _texts(line))
    filled = [(text, value) for text in texts if (value := _filled(text, places)) is not None]
    folders = [os.path.join(places.root, places.cwd)]
    # After `cd DIR` names are relative to it.
    folders += [path for _, value in filled if os.path.isdir(path := os.path.join(folders[0], value))]
    for text, value in filled:
        if os.path.isabs(value):
            yield text, os.path.normpath(value)
            continue
        for folder in dict.fromkeys(folders):
            yield text, os.path.normpath(os.path.join(folder, value))


def _texts(line: str) -> Iterator[str]:
    """Every part of a line that may be a name: between blanks, between quotes, after an equals sign."""
    for match in _QUOTED.finditer(line):
        yield match[1] or match[2] or ""
    for part in _BREAKS.split(line):
        plain = _QUOTES.sub("", part)
        yield plain
        name, is_set, value = plain.partition("=")
        if is_set:
            yield value
            yield name


def _filled(text: str, places: Places) -> str | None:
    """The text with its variables; None if it cannot name a file, or names one by a variable that is not known."""
    if not text or len(text) > 4096 or "\0" in text or text.startswith("-"):
        return None
    if text.startswith("~/"):
        text = places.home + text[1:]
    if "$" not in text:
        return text
    unknown = False

    def value(match: re.Match[str]) -> str:
        nonlocal unknown
        known: Any = places.variables.get(match[1] or match[2])
        unknown = unknown or known is None
        return known or ""

    filled = _VARIABLE.sub(value, text)
    return None if unknown or "$" in filled else filled
