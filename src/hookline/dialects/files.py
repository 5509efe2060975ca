"""A configuration file as a document, with a diagnostic for everything that is wrong with the file itself."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from hookline.dialects.dialect import SUFFIXES, Dialect, Layer, Place, is_there, user_directories
from hookline.documents.document import LIMIT, Document, Format, format_of, read_document
from hookline.model.diagnostics import Diagnostic, Path, Where

#: Codes of what `read_file` says about who can write a file: a matter of the machine, not of what is in it.
OWNERSHIP = frozenset({"world-writable", "foreign-owner"})
#: At the top of the user's settings: payloads of events are kept beside the journal.
KEEP_PAYLOADS: Final = "keep_payloads"
#: The administrator's settings of a fleet, and those of a user below the home directory. No variable but HOME counts.
MANAGED_FLEET = "/etc/hookline/fleet.toml"
_OWN_FLEET = (".config", "hookline", "fleet.toml")


def fleet_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """Where settings of a fleet may be; the first one that is there counts."""
    home = env.get("HOME", "")
    return (MANAGED_FLEET, os.path.join(home, *_OWN_FLEET)) if os.path.isabs(home) else (MANAGED_FLEET,)


def settings_files(env: Mapping[str, str]) -> list[str]:
    """The settings of the user that are there."""
    files = [
        os.path.join(folder, f"settings.{suffix}") for folder in user_directories(env) for suffix in SUFFIXES
    ]
    return [file for file in files if is_there(file)]


def payload_settings(env: Mapping[str, str]) -> Iterator[tuple[Document, object]]:
    """What the user's settings say of keeping payloads, right or wrong, each with its file."""
    for file in settings_files(env):
        # Every hook comes by here, and most settings say nothing of it: those are not parsed.
        with suppress(OSError):
            if KEEP_PAYLOADS.encode() in _bytes(file, LIMIT)[0]:
                document = read_file(file)
                value: Any = document.value
                if isinstance(value, Mapping) and KEEP_PAYLOADS in value:
                    yield document, cast("Mapping[str, object]", value)[KEEP_PAYLOADS]


def read_file(
    file: str,
    format: Format | None = None,  # noqa: A002 - as in documents
    *,
    limit: int = LIMIT,
    comments: bool = False,
) -> Document:
    known = format or format_of(file)
    if known is None:
        return _refused(file, "unknown-format", "the name ends in none of .toml, .yaml, .yml, .json")
    return _read(file, limit, lambda text: read_document(text, known, file, limit=limit, comments=comments))


def layer_of(dialect: Dialect, place: Place) -> Layer:
    """A file of a dialect, read as its agent reads JSON."""
    return Layer(place, read_file(place.file, comments=dialect.json_comments))


def unused_document(file: str, instead: str) -> Document:
    """Stand for a file that XDG_CONFIG_HOME leads to, which is not read."""
    message = f"it is not read, because XDG_CONFIG_HOME does not count: move it to {instead}, or remove it"
    return _refused(file, "not-read", message)


def read_front_matter_of(file: str) -> Document:
    """The front matter of a Markdown file, with the lines of that file."""
    from hookline.documents.front_matter import read_front_matter  # noqa: PLC0415 - few files have any

    return _read(file, LIMIT, lambda text: read_front_matter(text, file).document)


def _read(file: str, limit: int, parse: Callable[[str], Document]) -> Document:
    try:
        raw, found = _bytes(file, limit)
    except OSError as error:
        return _refused(file, "unreadable", f"it cannot be read: {error.strerror or error}")
    if not stat.S_ISREG(found.st_mode):
        return _refused(file, "not-a-file", f"it is {_kind(found.st_mode)}, not a file")
    if len(raw) > limit:
        return _refused(file, "too-big", f"it is larger than the limit of {limit:,} bytes")
    text, broken_at = _text(raw)
    if broken_at is not None:
        return _refused(file, "not-text", "it is not UTF-8 text", raw.count(b"\n", 0, broken_at) + 1)
    return _with(parse(text), _owned(file, found))


def _bytes(file: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Opened without blocking: a named pipe in place of the file must not hang the caller."""
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
    """The text, or the offset of the first byte that is not text. A zero byte is not text."""
    zero = raw.find(b"\0")
    if zero >= 0:
        return "", zero
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return "", error.start


def _owned(file: str, found: os.stat_result) -> tuple[Diagnostic, ...]:
    """Warnings about who can write the file, because they decide what runs here."""
    warnings: list[Diagnostic] = []
    if found.st_mode & stat.S_IWOTH:
        message = "every user of this machine can write this file"
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
