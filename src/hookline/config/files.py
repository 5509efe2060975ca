"""A configuration file as a document. Whatever stands there, the result says what is wrong with it."""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hookline.documents.document import LIMIT, Document, Format, format_of, read_document
from hookline.model.diagnostics import Diagnostic, Path, Where
from hookline.model.hook import Scope


def read_file(file: str, format: Format | None = None, *, limit: int = LIMIT) -> Document:  # noqa: A002 - as in documents
    known = format or format_of(file)
    if known is None:
        return _refused(file, "unknown-format", "the name ends in none of .toml, .yaml, .yml, .json")
    try:
        raw, found = _bytes(file, limit)
    except OSError as error:
        return _refused(file, "unreadable", f"it cannot be read: {error.strerror or error}")
    if not stat.S_ISREG(found.st_mode):
        return _refused(file, "not-a-file", f"it is {_kind(found.st_mode)}, not a file")
    if len(raw) > limit:
        return _refused(file, "too-big", f"it has more than the {limit:,} bytes that are read")
    text, broken_at = _text(raw)
    if broken_at is not None:
        return _refused(file, "not-text", "it is not UTF-8 text", raw.count(b"\n", 0, broken_at) + 1)
    document = read_document(text, known, file, limit=limit)
    return _with(document, _owned(file, found))


def _bytes(file: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Opened without waiting: a pipe that somebody left in the place of a file must not hang us."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return b"", found
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read(limit + 1), found
    finally:
        os.close(descriptor)


def _text(raw: bytes) -> tuple[str, int | None]:
    """The text, or where it stops being one; a zero byte is in no text that somebody wrote."""
    zero = raw.find(b"\0")
    if zero >= 0:
        return "", zero
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return "", error.start


def _owned(file: str, found: os.stat_result) -> tuple[Diagnostic, ...]:
    """Whoever may write the file decides what runs here."""
    warnings: list[Diagnostic] = []
    if found.st_mode & stat.S_IWOTH:
        message = "everybody on this machine may write this file"
        warnings.append(
            Diagnostic("warning", "world-writable", message, Where(file), fix=f"chmod o-w {file}")
        )
    if found.st_uid not in (os.getuid(), 0):
        message = f"it belongs to another user (uid {found.st_uid})"
        warnings.append(Diagnostic("warning", "foreign-owner", message, Where(file)))
    return tuple(warnings)


def _kind(mode: int) -> str:
    return "a directory" if stat.S_ISDIR(mode) else "a device or a pipe"


def _with(document: Document, more: tuple[Diagnostic, ...]) -> Document:
    if not more:
        return document
    diagnostics = (*more, *document.diagnostics)
    return Document(document.file, document.value, diagnostics, document.duplicates, document.locate)


def _refused(file: str, code: str, message: str, line: int | None = None) -> Document:
    def at_problem(_path: Path) -> int | None:
        return line

    diagnostic = Diagnostic("error", code, message, Where(file, (), at_problem))
    return Document(file, None, (diagnostic,), (), at_problem)


#: In this order: where two stand side by side, the first one is in force.
SUFFIXES = ("toml", "yaml", "yml", "json")

Layer = Literal["user", "project", "local"]


class Source(Struct, frozen=True):
    """One place a configuration may stand; `files` are those that are there, the first one in force."""

    layer: Layer
    #: Without its suffix.
    stem: str
    files: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        return self.layer

    @property
    def looked_for(self) -> tuple[str, ...]:
        return tuple(f"{self.stem}.{suffix}" for suffix in SUFFIXES)


def native_sources(
    cwd: str, env: Mapping[str, str] | None = None, home: str | None = None
) -> tuple[Source, ...]:
    """Every place, in the order of its layers, also where nothing stands: `doctor` tells both."""
    user = user_directory(os.environ if env is None else env, home)
    directories = upward(os.path.abspath(cwd))
    found = [_source("user", os.path.join(user, "hooks"))] if user is not None else []
    found.append(_nearest("project", directories, "hooks"))
    if user is not None:
        found.append(_source("local", os.path.join(user, "hooks.local")))
    found.append(_nearest("local", directories, "hooks.local"))
    return tuple(found)


def user_directory(env: Mapping[str, str], home: str | None = None) -> str | None:
    """None when the user has no home: then nobody's configuration is read, least of all the root's."""
    configured = env.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(configured):
        return os.path.join(configured, "hookline")
    home = home or env.get("HOME", "")
    return os.path.join(home, ".config", "hookline") if os.path.isabs(home) else None


def _nearest(layer: Layer, directories: Sequence[str], name: str) -> Source:
    """Each name for itself: a local file deep down must not hide the project's own."""
    sources = [_source(layer, os.path.join(directory, ".hookline", name)) for directory in directories]
    return next((source for source in sources if source.files), sources[0])


def upward(start: str) -> list[str]:
    """Up to and with the root of the git repository; outside of one only the directory itself.

    Whoever can write to /tmp must not decide what runs in every directory below it.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return [start]
        chain.append(parent)
    return chain


def _source(layer: Layer, stem: str) -> Source:
    present = tuple(f"{stem}.{suffix}" for suffix in SUFFIXES if os.path.lexists(f"{stem}.{suffix}"))
    return Source(layer, stem, present)
