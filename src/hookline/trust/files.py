"""Find the files that a command names, and their digests.

Every text of a command that names a file in some way is covered, except data that a known program only reads: a
file too many costs a question, one too few could be exchanged unseen. A script's imports, and programs found
through PATH outside the project, are not covered.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from hookline.disk import DISK, Disk
from hookline.handlers.specs import NAME_BEGINS, NAME_ENDS, CommandSpec
from hookline.trust.command_paths import CommandPaths, is_plain, names_in, paths_of, words_of
from hookline.trust.digest import sha256
from hookline.trust.items import FileSnapshot, NamedFile, Signature, signature
from hookline.trust.project import is_inside

#: Larger files are named, but not covered.
MOST_BYTES = 5 << 20
#: Directories whose files belong to the system: a user who can change them needs no hook to run code.
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
        "sys",
        "boot",
        "dev",
        # Names of machines: opening a file there would connect to them.
        "net",
        "Network",
    )
)
#: In a system directory, but every user can write there.
_SHARED = "/dev/shm/"  # noqa: S108 it is not written to
#: A time of change this recent, in nanoseconds, can hide another change: clocks of file systems are coarse.
_COARSE = 50_000_000

#: Files that hooks write. An executable file with such a name is a program all the same.
_RECORDS = (".log", ".jsonl", ".out", ".err")
#: Scripts that run without being executable, if a command passes them to an interpreter.
_SCRIPTS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1")

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_MISSING = frozenset((errno.ENOENT, errno.ENOTDIR))
#: Limits per command: directories to search, paths to check, and directory entries per pattern. A hostile
#: file must not make users wait.
_MOST_DIRECTORIES = 16
_MOST_PATHS = 2000
_MOST_ENTRIES = 2000
_MOST_PATTERNS = 16

_ANY_QUOTES = r"[\"'\\]*"


def read_all(descriptor: int, size: int) -> bytes:
    """Return the content of a file of about that size, up to one byte more than is covered."""
    content = os.read(descriptor, size + 1)
    if len(content) == size:
        return content
    parts = [content]
    left = MOST_BYTES + 1 - len(content)
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_file_bytes(path: str, disk: Disk = DISK) -> bytes | None:
    """Return the content of a regular file that is small enough to be covered."""
    try:
        descriptor = disk.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
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


def is_settled(found: os.stat_result) -> bool:
    """Return True if a later change will certainly show in the times of the file."""
    return time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _COARSE


class FileFinder:
    """Finds the files that command lines name, and reads them."""

    def __init__(self, root: str, disk: Disk = DISK) -> None:
        self.disk = disk
        self._root = root
        self._below = root.rstrip(os.sep) + os.sep
        #: By signature, if a later change certainly changes the signature.
        self._digests: dict[Signature, str] = {}

    def snapshot(self, lines: Sequence[str], paths: CommandPaths) -> FileSnapshot:
        """Read everything that lines may name."""
        return _FileSearch(self, paths).snapshot(lines)

    def snapshot_words(self, line: str, directory: str) -> FileSnapshot | None:
        """Read a line of plain words, as most are; return None where the full search is needed.

        It finds what the full search finds, in half the time.
        """
        if not is_plain(line):
            return None
        seen: dict[str, Signature | None] = {}
        files: list[NamedFile] = []
        settled = True
        for text in line.split():
            path = text if text[0] == "/" else f"{directory}/{text[2:] if text[:2] == './' else text}"
            if path in seen:
                continue
            if "/" not in text and not self.disk.exists(path):
                seen[path] = None
                continue
            if not path.startswith(self._below):
                return None
            opened = self.open(path, bare=False)
            if type(opened) is not _Opened or opened.real is not path:
                return None
            seen[path] = opened.signature
            settled = settled and opened.settled
            if opened.executable or not (path.endswith(_RECORDS) or _is_read_only(line, text, path)):
                files.append(NamedFile(text, path, opened.digest))
        if len(files) > 1:
            files.sort(key=lambda each: each.path)
        return FileSnapshot(tuple(files), tuple(seen.items()), (), settled)

    def is_covered(self, path: str) -> bool:
        """Return True unless the path belongs to the system; the project may be there, too."""
        return path.startswith((self._below, _SHARED)) or not path.startswith(_SYSTEM)

    def counts(self, opened: "_Opened", home: str) -> bool:
        """Return True if trust covers a file; files that a hook writes are not covered: they change with
        every run."""
        path = opened.real
        if opened.executable:
            return self.is_covered(path)
        if path.startswith(self._below) or is_inside(path, home):
            return not path.endswith(_RECORDS)
        return path.endswith(_SCRIPTS) and self.is_covered(path)

    def is_left_out(self, path: str) -> bool:
        """Return True if a path must not even be opened: opening a device may have effects."""
        if self.is_covered(path):
            return False
        in_system = f"{self._root}/".startswith(_SYSTEM)
        return not (in_system and is_inside(self.disk.realpath(path), self._root))

    def open(self, path: str, *, bare: bool) -> "_Opened | tuple[int, int] | None":
        """Return a file, read; device and number of a directory; None if there is nothing."""
        if bare and not self.disk.exists(path):  # most words without a slash name no file
            return None
        linked = False
        try:
            descriptor = self.disk.open(path, _READ | os.O_NOFOLLOW)
        except OSError as problem:
            linked = problem.errno == errno.ELOOP
            if not linked:
                return None if problem.errno in _MISSING else _unread(path, self.disk)
            try:
                descriptor = self.disk.open(path, _READ)
            except OSError:
                return _unread(path, self.disk)
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
            real = self.disk.realpath(path) if linked else path
            return _Opened(real, digest, mark, settled, bool(status.st_mode & 0o111))
        finally:
            os.close(descriptor)


class _FileSearch:
    """One search for the files of one command."""

    __slots__ = ("_directories", "_finder", "_found", "_inside", "_lines", "_paths", "_seen", "_settled")

    def __init__(self, finder: FileFinder, paths: CommandPaths) -> None:
        self._finder = finder
        self._paths = paths
        self._found: dict[str, NamedFile] = {}
        self._seen: dict[str, Signature | None] = {}
        self._inside: dict[str, tuple[int, int]] = {}
        self._directories = [paths.directory]
        self._settled = True
        self._lines: Sequence[str] = ()

    def snapshot(self, lines: Sequence[str]) -> FileSnapshot:
        self._lines = lines
        names, left = names_in(lines), _MOST_PATHS
        assigned = names.assigned
        for directory in self._directories:
            for text in names.texts:
                if left <= 0:
                    break
                for path in paths_of(text, directory, self._paths, assigned):
                    left -= 1
                    if path not in self._seen and path not in self._inside:
                        self._add(text, path)
            for pattern in names.patterns[:_MOST_PATTERNS]:
                for path in paths_of(pattern, directory, self._paths, assigned):
                    self._add_fitting(pattern, path)
        if left <= 0 or len(names.patterns) > _MOST_PATTERNS:
            self._found[_MANY] = NamedFile("", _MANY, "(not covered: the command has too many words)")
        found = self._found.values()
        files = found if len(found) < 2 else sorted(found, key=lambda each: each.path)
        entered = tuple((path, *numbers) for path, numbers in self._inside.items())
        return FileSnapshot(tuple(files), tuple(self._seen.items()), entered, self._settled)

    def _add(self, text: str, path: str) -> None:
        if self._finder.is_left_out(path):
            return
        opened = self._finder.open(path, bare="/" not in text)
        if opened is None:
            self._seen[path] = None
        elif isinstance(opened, tuple):
            # After `cd DIR` names are relative to it. Its times change with every file in it.
            self._inside[path] = opened
            if len(self._directories) < _MOST_DIRECTORIES:
                self._directories.append(path)
        else:
            self._seen[path] = opened.signature
            self._settled = self._settled and opened.settled
            if self._finder.counts(opened, self._paths.home) and not self._is_data(text, opened):
                self._found.setdefault(opened.real, NamedFile(text, opened.real, opened.digest))

    def _is_data(self, text: str, opened: "_Opened") -> bool:
        """Return True if each line that has the text only reads the file."""
        lines = [line for line in self._lines if text in line]
        return (
            bool(lines)
            and not opened.executable
            and all(_is_read_only(line, text, opened.real) for line in lines)
        )

    def _add_fitting(self, pattern: str, path: str) -> None:
        """Add the files that a pattern matches. Another one may match at any time."""
        self._settled = False
        fitting = fitting_paths(path, disk=self._finder.disk) if not self._finder.is_left_out(path) else []
        if fitting is None:
            self._found[path] = NamedFile(pattern, path, "(not covered: too many files may fit)")
        for each in fitting or ():
            self._add(pattern, each)


def _is_read_only(line: str, text: str, path: str) -> bool:
    """Return True if a line only reads a file, which is not a script: then its content is data."""
    if path.endswith(_SCRIPTS):
        return False
    from hookline.trust.data_files import is_data  # noqa: PLC0415 few commands name other files

    return is_data(line, text)


#: Represents names that were not searched for.
_MANY = "(further names)"


def fitting_paths(pattern: str, most: int = _MOST_ENTRIES, disk: Disk = DISK) -> list[str] | None:
    """Return the paths that match a shell pattern; None if that would take too many reads."""
    from hookline.matching.name_patterns import name_fits  # noqa: PLC0415 few commands have patterns
    from hookline.matching.patterns import LONGEST_PATH  # noqa: PLC0415 as above

    paths, left = ["/"], most
    for part in pattern.strip("/").split("/"):
        if not paths or len(paths[0]) > LONGEST_PATH:
            return []
        if not any(letter in part for letter in "*?["):
            paths = [os.path.join(path, part) for path in paths]
            continue
        below: list[str] = []
        for path in paths:
            try:
                names = disk.listdir(path)
            except OSError:
                continue
            left -= len(names)
            if left < 0:
                return None
            shown = [name for name in names if name[0] != "." or part[0] == "."]
            below += [os.path.join(path, name) for name in sorted(shown) if name_fits(name, part)]
        paths = below
    return paths


class _Opened(Struct, frozen=True, gc=False):
    #: Its real path, links followed.
    real: str
    digest: str
    signature: Signature
    settled: bool
    executable: bool = True


def _digest(descriptor: int, status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "(not a file)"
    if status.st_size > MOST_BYTES:
        return f"(not covered: larger than {MOST_BYTES >> 20} MB)"
    return sha256(read_all(descriptor, status.st_size)).hexdigest()


def _unread(path: str, disk: Disk) -> _Opened | None:
    """Return a file that exists and cannot be opened."""
    try:
        return _Opened(disk.realpath(path), "(cannot be read)", signature(disk.stat(path)), False)
    except (OSError, ValueError):
        return None


# Sealed copies: a script runs from the very bytes that were checked, not from those on disk by then


def sealed_files(
    spec: CommandSpec, files: Sequence[NamedFile], trusted: Mapping[str, str] | None, disk: Disk = DISK
) -> dict[str, bytes] | str:
    """Return the bytes of every file that a command names, by the text that names it; or why that is not
    possible.

    `trusted` holds the required digests, by the same texts; None takes the current ones.
    """
    contents: dict[str, bytes] = {}
    words = words_of((spec.command, *(spec.args or ())))
    for file in files:
        content = read_file_bytes(file.path, disk)
        if content is None:
            return f"{file.path} cannot be read as a whole, so it cannot be sealed"
        if sha256(content).hexdigest() != (file.digest if trusted is None else trusted.get(file.text)):
            return f"{file.path} is not the file that was trusted"
        fragments = _fragments(spec, file.text)
        if not fragments and trusted is None and file.text not in words:
            continue  # a part of a word, such as `FILE:PATH`: the user's own commands may have such
        if not fragments or any(fragment in contents for fragment in fragments):
            return f"{file.path} cannot be sealed: write its path as one word of the command"
        contents |= dict.fromkeys(fragments, content)
    # A long name may hold a short one: it is replaced first.
    return {text: contents[text] for text in sorted(contents, key=len, reverse=True)}


def _fragments(spec: CommandSpec, text: str) -> set[str]:
    """Return the parts of the command that name a file, as they are written there, quotes included."""
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
