"""The files that a command names, and their digests.

Every text of a command that names a file in some way counts: covering a file too many costs a question, one too few
lets it be exchanged unseen. What a script imports, and programs found through PATH outside the project, is not covered.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct

from hookline.config.project import is_inside
from hookline.handlers.command import NAME_BEGINS, NAME_ENDS
from hookline.handlers.specs import CommandSpec

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

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_MISSING = frozenset((errno.ENOENT, errno.ENOTDIR))
#: Longer texts name no file.
_LONGEST = 4096
#: How many directories that a line names are looked into.
_MOST_FOLDERS = 8

_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_BREAKS = re.compile(r"[\s;&|<>()`]+")
_QUOTES = re.compile(r"[\"'\\]")
_ANY_QUOTES = r"[\"'\\]*"
#: What is quoted, and outside of quotes what a line writes to: that changes with every run.
_WRITTEN = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'[^']*'|\\.)|(?<!<)\d*&?>{1,2}[|&]?\s*(?:"[^"]*"|'[^']*'|[^\s;&|<>()`"'\\]+)+""",
    re.DOTALL,
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")

#: Device, number, size and times of a file: equal ones mean the same content.
Signature = tuple[int, int, int, int, int]


class NamedFile(Struct, frozen=True, gc=False):
    """A file that a command names."""

    #: The text that names it.
    text: str
    #: Its real path.
    path: str
    #: The sha256 of its content; else why that is not covered, in brackets.
    digest: str


class Places(Struct, frozen=True, gc=False):
    """The directory a command runs in, and what its variables mean."""

    folder: str
    home: str
    variables: Mapping[str, str] = {}


def read_all(descriptor: int, size: int) -> bytes:
    """The content of a file of about that size, up to one byte more than is covered."""
    content = os.read(descriptor, size + 1)
    if len(content) == size:
        return content
    parts = [content]
    left = MOST_BYTES + 1 - len(content)
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
        status = os.fstat(descriptor)
        covered = stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES
        content = read_all(descriptor, status.st_size) if covered else None
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


class Look(Struct, frozen=True, gc=False):
    """The files that command lines name, and how everything was that they may name."""

    files: tuple[NamedFile, ...] = ()
    #: Signatures by path; None where there is nothing.
    seen: tuple[tuple[str, Signature | None], ...] = ()
    #: Directories that were looked into: device and number by path.
    folders: tuple[tuple[str, int, int], ...] = ()
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
            for path, device, number in self.folders:
                now = stat_of(path)
                if (now.st_dev, now.st_ino) != (device, number):
                    return False
        except OSError:
            return False
        return self.settled


class FileFinder:
    """Finds the files that command lines name, and reads them."""

    def __init__(self, root: str) -> None:
        self._root = root
        #: By signature, as far as a later change is sure to change that.
        self._digests: dict[Signature, str] = {}

    def look(self, lines: Sequence[str], places: Places) -> Look:
        texts = [text for text in dict.fromkeys(_texts(lines)) if text and text[0] != "-"]
        found: dict[str, NamedFile] = {}
        seen: dict[str, Signature | None] = {}
        inside: dict[str, tuple[int, int]] = {}
        settled, folders = True, [places.folder]
        for folder in folders:
            for text in texts:
                path = _path(text, folder, places)
                if path is None or path in seen or path in inside:
                    continue
                opened = self._open(path, bare="/" not in text)
                if opened is None:
                    seen[path] = None
                elif isinstance(opened, tuple):
                    # After `cd DIR` names are relative to it. Its times change with every file in it.
                    inside[path] = opened
                    if len(folders) < _MOST_FOLDERS:
                        folders.append(path)
                else:
                    seen[path] = opened.signature
                    settled = settled and opened.settled
                    if is_inside(opened.real, self._root) or not opened.real.startswith(_SYSTEM):
                        found.setdefault(opened.real, NamedFile(text, opened.real, opened.digest))
        files = found.values() if len(found) < 2 else sorted(found.values(), key=lambda each: each.path)
        entered = tuple((path, *numbers) for path, numbers in inside.items())
        return Look(tuple(files), tuple(seen.items()), entered, settled)

    def _open(self, path: str, *, bare: bool) -> "_Opened | tuple[int, int] | None":
        """A file, read; device and number of a directory; None if there is nothing."""
        if bare and not os.access(path, os.F_OK):  # most words without a slash name no file
            return None
        linked = False
        try:
            descriptor = os.open(path, _READ | os.O_NOFOLLOW)
        except OSError as problem:
            linked = problem.errno == errno.ELOOP
            if not linked:
                return None if problem.errno in _MISSING else _unread(path)
            try:
                descriptor = os.open(path, _READ)
            except OSError:
                return _unread(path)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                return status.st_dev, status.st_ino
            mark, settled = signature(status), is_settled(status)
            digest = self._digests.get(mark)
            if digest is None:
                digest = _digest(descriptor, status)
                if settled:
                    self._digests[mark] = digest
            return _Opened(os.path.realpath(path) if linked else path, digest, mark, settled)
        finally:
            os.close(descriptor)


class _Opened(Struct, frozen=True, gc=False):
    #: Where it is; if its name is a link, where that leads.
    real: str
    digest: str
    signature: Signature
    settled: bool


def _digest(descriptor: int, status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "(not a file)"
    if status.st_size > MOST_BYTES:
        return f"(not covered: larger than {MOST_BYTES >> 20} MB)"
    return digest_of(read_all(descriptor, status.st_size))


def _unread(path: str) -> _Opened | None:
    """A file that is there and cannot be opened."""
    try:
        return _Opened(os.path.realpath(path), "(cannot be read)", signature(os.stat(path)), False)
    except (OSError, ValueError):
        return None


def _path(text: str, folder: str, places: Places) -> str | None:
    """The path that a text would mean; None if it names none, or by a variable that is not known."""
    filled = _filled(text, places) if "$" in text or text[0] == "~" else text
    if not filled or len(filled) > _LONGEST or "\0" in filled:
        return None
    path = filled if filled[0] == "/" else f"{folder}/{filled[2:] if filled[:2] == './' else filled}"
    return os.path.normpath(path) if "/." in path or "//" in path or path[-1] == "/" else path


def _texts(lines: Sequence[str]) -> list[str]:
    """Every part of a line that may be a name: between blanks, between quotes, after an equals sign."""
    found: list[str] = []
    for line in lines:
        if ">" in line:
            line = _WRITTEN.sub(lambda match: match[1] or " ", line)  # noqa: PLW2901 the same line, without those
        if '"' in line or "'" in line or "\\" in line:
            found += [match[1] or match[2] or "" for match in _QUOTED.finditer(line)]
            found += [_QUOTES.sub("", part) for part in _BREAKS.split(line)]
        else:
            found += _BREAKS.split(line)
    found += [side for text in found if "=" in text for side in text.split("=", 1)]
    return found


def _filled(text: str, places: Places) -> str | None:
    """The text with its variables."""
    if text.startswith("~/"):
        text = places.home + text[1:]
    unknown = False

    def value(match: re.Match[str]) -> str:
        nonlocal unknown
        known = places.variables.get(match[1] or match[2])
        unknown = unknown or known is None
        return known or ""

    filled = _VARIABLE.sub(value, text)
    return None if unknown or "$" in filled else filled


# Sealed copies: a script runs from the very bytes that were checked, not from what is on disk by then


def sealed_files(
    spec: CommandSpec, files: Sequence[NamedFile], trusted: frozenset[str] | None
) -> dict[str, bytes] | str:
    """The bytes of every file that a command names, by the text that names it; or why that cannot be had.

    `trusted` holds the digests that count; None: those of now.
    """
    contents: dict[str, bytes] = {}
    for file in files:
        content = read_file_bytes(file.path)
        if content is None:
            return f"{file.path} cannot be read as a whole, so it cannot be sealed"
        if digest_of(content) not in (trusted if trusted is not None else {file.digest}):
            return f"{file.path} is not the file that was trusted; run `hookline trust`"
        fragments = _fragments(spec, file.text)
        if not fragments or any(fragment in contents for fragment in fragments):
            return f"{file.path} cannot be sealed: write its path as one word of the command"
        contents |= dict.fromkeys(fragments, content)
    # A long name may hold a short one: it is replaced first.
    return {text: contents[text] for text in sorted(contents, key=len, reverse=True)}


def _fragments(spec: CommandSpec, text: str) -> set[str]:
    """The parts of the command that name a file, as they are written there, quotes included."""
    if spec.args is not None:
        words = (spec.command, *spec.args)
        return {text} if any(word == text or word.endswith(f"={text}") for word in words) else set()
    body = _ANY_QUOTES.join(re.escape(letter) for letter in text)
    found: set[str] = set()
    for pattern in (body, f"[\"']{body}", f"[\"']{body}[\"']"):
        for match in re.finditer(f"{NAME_BEGINS}{pattern}{NAME_ENDS}", spec.command):
            if all(match[0].count(quote) % 2 == 0 for quote in "\"'"):
                found.add(match[0])
    # A quoted form holds the plain one.
    return {one for one in found if not any(one != other and one in other for other in found)}
