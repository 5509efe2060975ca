"""Read a configuration file as a document, with a diagnostic for every error of the file itself."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from msgspec.structs import replace

from hookline.dialects.dialect import SUFFIXES, ConfigPath, Dialect, Layer, user_directories
from hookline.disk import DISK, Disk, read_at_most
from hookline.documents.document import LIMIT, Document, Format, format_of, read_document
from hookline.model.diagnostics import Diagnostic, Path, Where

#: Codes of findings about who can write a file: they concern the machine, not the content.
OWNERSHIP = frozenset({"world-writable", "foreign-owner"})
#: At the top of the user's settings: payloads of events are kept beside the journal.
KEEP_PAYLOADS: Final = "keep_payloads"
#: At the top of the user's settings: seconds for which a question waits that no user at the agent can answer.
APPROVALS: Final = "approvals"
#: The administrator's settings of a fleet; `USER_FLEET` are those of a user below the home directory. No
#: variable but HOME is used.
MANAGED_FLEET = "/etc/hookline/fleet.toml"
_OWN_FLEET = (".config", "hookline", "fleet.toml")


def fleet_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """List the files that may hold settings of a fleet; the first existing one is used."""
    home = env.get("HOME", "")
    return (MANAGED_FLEET, os.path.join(home, *_OWN_FLEET)) if os.path.isabs(home) else (MANAGED_FLEET,)


def settings_files(env: Mapping[str, str], disk: Disk = DISK) -> list[str]:
    """List the existing settings of the user."""
    files = [
        os.path.join(directory, f"settings.{suffix}")
        for directory in user_directories(env)
        for suffix in SUFFIXES
    ]
    return [file for file in files if disk.is_there(file)]


def payload_settings(env: Mapping[str, str], disk: Disk = DISK) -> Iterator[tuple[Document, object]]:
    """Yield the user's settings about keeping payloads, right or wrong, each with its file."""
    return user_setting(KEEP_PAYLOADS, env, disk)


def user_setting(key: str, env: Mapping[str, str], disk: Disk = DISK) -> Iterator[tuple[Document, object]]:
    """Yield the values of a key at the top of the user's own settings, each with its file."""
    for file in settings_files(env, disk):
        # Every hook runs this, and most settings do not mention it: those are not parsed.
        with suppress(OSError):
            if key.encode() in _bytes(file, LIMIT, disk)[0]:
                document = read_file(file, disk=disk)
                value: Any = document.value
                if isinstance(value, Mapping) and key in value:
                    yield document, cast("Mapping[str, object]", value)[key]


def read_file(
    file: str,
    format: Format | None = None,  # noqa: A002 - as in documents
    *,
    limit: int = LIMIT,
    comments: bool = False,
    disk: Disk = DISK,
) -> Document:
    known = format or format_of(file)
    if known is None:
        return _refused(file, "unknown-format", "the name ends in none of .toml, .yaml, .yml, .json")
    return _read(
        file, limit, lambda text: read_document(text, known, file, limit=limit, comments=comments), disk
    )


def layer_of(dialect: Dialect, config_path: ConfigPath, disk: Disk = DISK) -> Layer:
    """Read a file of a dialect as its agent reads JSON."""
    return Layer(config_path, read_file(config_path.file, comments=dialect.json_comments, disk=disk))


def unused_document(file: str, instead: str) -> Document:
    """Represent a file that XDG_CONFIG_HOME leads to, which is not read."""
    message = f"it is not read, because Hookline ignores XDG_CONFIG_HOME: move it to {instead}, or remove it"
    return _refused(file, "not-read", message)


def read_front_matter_of(file: str, disk: Disk = DISK) -> Document:
    """Read the front matter of a Markdown file, with the lines of that file."""
    from hookline.documents.front_matter import read_front_matter  # noqa: PLC0415 - few files have any

    return _read(file, LIMIT, lambda text: read_front_matter(text, file).document, disk)


def _read(file: str, limit: int, parse: Callable[[str], Document], disk: Disk) -> Document:
    try:
        raw, found = _bytes(file, limit, disk)
    except OSError as error:
        return _refused(file, "unreadable", f"it cannot be read: {error.strerror or error}")
    if not stat.S_ISREG(found.st_mode):
        kind = "a directory" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
        return _refused(file, "not-a-file", f"it is {kind}, not a file")
    if len(raw) > limit:
        return _refused(file, "too-big", f"it is larger than the limit of {limit:,} bytes")
    text, broken_at = _text(raw)
    if broken_at is not None:
        return _refused(file, "not-text", "it is not UTF-8 text", raw.count(b"\n", 0, broken_at) + 1)
    document, warnings = parse(text), _owned(file, found)
    return replace(document, diagnostics=(*warnings, *document.diagnostics)) if warnings else document


def _bytes(file: str, limit: int, disk: Disk) -> tuple[bytes, os.stat_result]:
    """Read a file without blocking: a named pipe instead of the file must not hang the caller."""
    descriptor = disk.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return b"", found
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return read_at_most(stream, found.st_size, limit), found
    finally:
        os.close(descriptor)


def _text(raw: bytes) -> tuple[str, int | None]:
    """Return the text, or the offset of the first byte that is not text. A zero byte is not text."""
    zero = raw.find(b"\0")
    if zero >= 0:
        return "", zero
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return "", error.start


def _owned(file: str, found: os.stat_result) -> tuple[Diagnostic, ...]:
    """Return warnings about users who can write the file, because they decide what runs here."""
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


def _refused(file: str, code: str, message: str, line: int | None = None) -> Document:
    def at_problem(_path: Path) -> int | None:
        return line

    diagnostic = Diagnostic("error", code, message, Where(file, (), at_problem))
    return Document(file, None, (diagnostic,), (), at_problem)
