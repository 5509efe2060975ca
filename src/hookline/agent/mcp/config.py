"""Read the MCP servers of a session: `.mcp.json` of the project and the user, `mcp_servers` of settings
files.

Entries are read one by one: a bad one is reported and does not hide the others. A project's entry that the
user has not trusted is not read at all: no environment variable is looked up for it, and it replaces no other
entry.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import upward, user_directories
from hookline.dialects.files import read_file
from hookline.documents.document import Document
from hookline.journal.redaction import MARK, holds_a_secret, secret_forms
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.safe_text import bare_url, one_line
from hookline.trust.command_paths import quoted
from hookline.trust.items import TrustItem

if TYPE_CHECKING:
    from hookline.trust.trust import Trust

Source = Literal["user", "project", "local"]
_SOURCES: tuple[Source, ...] = ("user", "project", "local")
Kind = Literal["stdio", "http", "sse"]
#: Seconds that a call may take, and that a server may take to connect.
CALL_SECONDS = 60.0
START_SECONDS = 30.0
_LONGEST_WAIT = 24 * 3600.0
#: A shorter value hides nothing, and would be found in every text.
_SHORTEST_SECRET = 4
_DELIMITERS = re.compile(r"[/:?#@&=\[\]]")
#: An address in a message, up to a blank or a quote.
_ADDRESS = re.compile(r"\b\w++://[^\s'\"<>]+")
#: An unclosed one reaches to the end of the text and is not replaced.
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*+)(:-([^}]*+))?(?:\}|(\Z))")
#: The values of `type`.
_KINDS: Mapping[str, Kind] = {"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"}
_OWN_DIRECTORIES = frozenset({".hookline", "hookline"})
_TABLES = ("mcp_servers", "mcpServers")
#: `.mcp.json` is a file of other agents too, and they count in milliseconds.
_MILLISECONDS, _SECONDS = 1000.0, 1.0


class ServerEntry(Struct, frozen=True, kw_only=True):
    """Fields of an entry."""

    type: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    timeout: float | None = None
    startup_timeout: float | None = None
    disabled: bool = False


class ServerSpec(Struct, frozen=True, kw_only=True):
    """A server's settings, as it is started or reached."""

    name: str
    source: Source
    where: Where
    kind: Kind
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = {}
    timeout: float = CALL_SECONDS
    startup_timeout: float = START_SECONDS
    #: How it is reached, for messages: as its entry says it, without user, password and query. Values of variables
    #: may be secrets, so their names stay.
    reached: str = ""
    #: Returns True while the user's trust covers it and the files it names; None where it needs none.
    trusted: Callable[[], bool] | None = None
    #: Texts that no message may show, each with its replacement.
    secrets: tuple[tuple[str, str], ...] = ()

    def hide(self, text: str) -> str:
        """Remove the server's secrets, in any form, from a text about it."""
        forms = {
            form: instead
            for value, instead in self.secrets
            for form in (*secret_forms(value), repr(value)[1:-1], value.replace("'", "\\'"))
        }
        for form in sorted(forms, key=len, reverse=True):
            if len(form) >= _SHORTEST_SECRET:
                text = text.replace(form, forms[form])
        return _ADDRESS.sub(lambda found: bare_url(found[0]), text)


class ServersFound(Struct, frozen=True):
    """Usable servers, and what is wrong with the others."""

    specs: tuple[ServerSpec, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    #: Those that the project brings.
    items: tuple[TrustItem, ...] = ()
    #: Those of them that the user has not trusted, by name.
    untrusted: Mapping[str, TrustItem] = {}


def mcp_files(cwd: str, env: Mapping[str, str]) -> Iterator[tuple[Source, str]]:
    """Yield every path of a `.mcp.json`, from the weakest to the strongest."""
    for user in reversed(user_directories(env)):
        yield "user", os.path.join(user, "mcp.json")
        yield "user", os.path.join(user, ".mcp.json")
    for directory in reversed(upward(os.path.abspath(cwd))):
        yield "project", os.path.join(directory, ".mcp.json")


def find_servers(
    cwd: str, env: Mapping[str, str], settings: Sequence[Document], trust: "Trust | None" = None
) -> ServersFound:
    """Find all servers. If two have the same name, the one nearer to the project wins.

    Without `trust` everything counts as trusted.
    """
    found: dict[str, ServerSpec | None] = {}
    said: list[Diagnostic] = []
    items: list[TrustItem] = []
    untrusted: dict[str, TrustItem] = {}
    for source in _SOURCES:
        for document, scale in (*_mcp_documents(cwd, env, source, said), *_settings(settings, source, env)):
            reader = ServerEntryReader(document, source, env, scale)
            entries = list(_entries(document, said))
            own: dict[str, _Item] = {}
            foreign = trust is not None and trust.is_foreign(document.file, source)
            if trust is not None and foreign:
                own = dict(_items(document, entries, found, trust, cwd))
                trust.accept_hashes([each.item for each in own.values()])
                items += [each.item for each in own.values()]
            refused = {name: each.item for name, each in own.items() if not each.is_trusted()}
            untrusted |= refused
            for table, name, entry in entries:
                if name in refused:
                    continue
                spec = reader.read(name, entry, table, name)
                trusted = own[name].is_trusted if name in own else None
                # An entry that is not a server replaces no other, either.
                if name in own or not foreign:
                    found[name] = replace(spec, trusted=trusted) if spec is not None else None
            said.extend(reader.said)
    specs = tuple(spec for spec in found.values() if spec is not None)
    return ServersFound(specs, tuple(said), tuple(items), untrusted)


def _entries(document: Document, said: list[Diagnostic]) -> Iterator[tuple[str, str, Any]]:
    """Yield each entry with its table and its name."""
    value: Any = document.value
    tables: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    for table in _TABLES:
        given: Any = tables.get(table)
        if isinstance(given, Mapping):
            for name, entry in cast("Mapping[Any, Any]", given).items():
                yield table, str(name), entry
        elif given is not None:
            message = f"{table} is not a table"
            said.append(Diagnostic("error", "bad-mcp-server", message, document.where(table)))


def _items(
    document: Document,
    entries: Sequence[tuple[str, str, Any]],
    found: Mapping[str, ServerSpec | None],
    trust: "Trust",
    cwd: str,
) -> Iterator[tuple[str, "_Item"]]:
    """Yield the entries of a project's file as trust items, with the files that their commands name."""
    for table, name, given in entries:
        if not isinstance(given, Mapping):
            continue
        entry = cast("Mapping[str, Any]", given)
        if entry.get("disabled") is True and name not in found:
            continue  # it does nothing, unless it switches off a server of the user
        directory: Any = entry.get("cwd")
        start = os.path.join(cwd, directory) if isinstance(directory, str) and "$" not in directory else cwd
        words = [_word(text, start) for text in _texts(entry)]
        where, facts = document.where(table, name), {**entry, "name": name}
        yield name, _Item(trust, partial(trust.server_item, where, name, facts, words, start))


class _Item:
    """A server of the project, and the user's trust in it, now and when it is started."""

    def __init__(self, trust: "Trust", make: Callable[[], TrustItem]) -> None:
        self.item = make()
        self._trust = trust
        self._make = make

    def is_trusted(self) -> bool:
        return self._trust.allows(self._make())


def _word(text: str, directory: str) -> str:
    """Return a text of an entry in a form that may name files: a shell line, or a quoted word that no shell reads."""
    plain = not any(each.isspace() for each in text) or os.path.lexists(os.path.join(directory, text))
    return quoted(text) if plain else text


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in an entry."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[Any, Any]", value).values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _texts(each)


def _mcp_documents(
    cwd: str, env: Mapping[str, str], source: Source, said: list[Diagnostic]
) -> Iterator[tuple[Document, float]]:
    for whose, file in mcp_files(cwd, env):
        if whose == source and os.path.lexists(file):
            document = read_file(file)
            said.extend(document.diagnostics)
            yield document, _MILLISECONDS


def _settings(
    documents: Sequence[Document], source: Source, env: Mapping[str, str]
) -> Iterator[tuple[Document, float]]:
    """Yield Hookline's own settings files, which were read already."""
    of_user = user_directories(env)
    for document in documents:
        directory = os.path.dirname(document.file)
        if os.path.basename(directory) not in _OWN_DIRECTORIES:
            continue
        local = ".local." in os.path.basename(document.file)
        whose: Source = "user" if directory in of_user else "local" if local else "project"
        if whose == source:
            yield document, _SECONDS


class ServerEntryReader:
    """Reader of one document's entries. `scale` is the number of its time units in a second."""

    def __init__(self, document: Document, source: Source, env: Mapping[str, str], scale: float) -> None:
        self._document = document
        self._source: Source = source
        self._env = env
        self._scale = scale
        self.said: list[Diagnostic] = []

    def read(self, name: str, given: Any, *path: str) -> ServerSpec | None:
        """Read an entry; return None if it is disabled, or cannot be used, which is reported."""
        found = len(self.said)
        if not name.isprintable():
            self._wrong(
                f"a name with control characters, so the server is not used: {one_line(name, 60)}", *path
            )
            return None
        if not isinstance(given, Mapping):
            self._wrong(f"the MCP server {name} is not a table", *path)
            return None
        entry = self._entry(name, cast("Mapping[str, Any]", given), path)
        if entry is None or entry.disabled:
            return None
        spec = self._spec(name, entry, path)
        failed = any(diagnostic.severity == "error" for diagnostic in self.said[found:])
        return None if failed else spec

    def _entry(self, name: str, given: Mapping[str, Any], path: tuple[str, ...]) -> ServerEntry | None:
        fields: dict[str, Any] = {}
        fine = True
        for key, value in given.items():
            if key not in ServerEntry.__struct_fields__:
                self._unknown(name, str(key), path)
                continue
            try:
                fields[key] = msgspec.structs.asdict(
                    msgspec.convert({key: value}, ServerEntry, strict=False)
                )[key]
            except msgspec.ValidationError as problem:
                fine = False
                self._wrong(
                    f"the MCP server {name}: {key}: {str(problem).partition(' - at ')[0]}", *path, str(key)
                )
        return ServerEntry(**fields) if fine else None

    def _spec(self, name: str, entry: ServerEntry, path: tuple[str, ...]) -> ServerSpec | None:
        kind = self._kind(name, entry, path)
        if kind is None:
            return None
        filled = _Variables(self._env)
        spec = ServerSpec(
            name=name,
            source=self._source,
            where=self._document.where(*path),
            kind=kind,
            command=tuple(filled.text(word) for word in (entry.command or "", *entry.args))
            if kind == "stdio"
            else (),
            env=filled.texts(entry.env),
            cwd=filled.text(entry.cwd) if entry.cwd else None,
            url=filled.text(entry.url or ""),
            headers=filled.texts(entry.headers),
            timeout=self._seconds(entry.timeout, CALL_SECONDS),
            startup_timeout=self._seconds(entry.startup_timeout, START_SECONDS),
            reached=" ".join((entry.command or "", *entry.args))
            if kind == "stdio"
            else bare_url(entry.url or ""),
        )
        spec = replace(spec, secrets=tuple(_secrets(spec, filled.used).items()))
        if filled.missing:
            names = ", ".join(dict.fromkeys(filled.missing))
            self._wrong(
                f"the MCP server {name} is not started: {names} is not set; "
                "set it, or write ${NAME:-default} instead",
                *path,
            )
        return spec

    def _kind(self, name: str, entry: ServerEntry, path: tuple[str, ...]) -> Kind | None:
        if entry.type is None:
            kind: Kind | None = "http" if entry.url and not entry.command else "stdio"
        else:
            kind = _KINDS.get(entry.type)
        if kind is None:
            known = ", ".join(_KINDS)
            self._wrong(
                f"the MCP server {name}: unknown type {entry.type!r}; there are {known}", *path, "type"
            )
        elif kind == "stdio" and not entry.command:
            self._wrong(f"the MCP server {name} needs a command (or a url)", *path)
            return None
        elif kind != "stdio" and not (entry.url or "").startswith(("http://", "https://", "${")):
            self._wrong(f"the MCP server {name} needs a url that begins with http:// or https://", *path)
            return None
        return kind

    def _seconds(self, given: float | None, default: float) -> float:
        if given is None or not given > 0:
            return default
        return min(given / self._scale, _LONGEST_WAIT)

    def _unknown(self, name: str, key: str, path: tuple[str, ...]) -> None:
        close = nearest(key, ServerEntry.__struct_fields__)
        hint = f"; did you mean {close!r}?" if close else " and was ignored"
        message = f"the MCP server {name}: {key!r} is not supported{hint}"
        where = self._document.where(*path, key)
        self.said.append(Diagnostic("warning" if close else "info", "unused-field", message, where))

    def _wrong(self, message: str, *path: str) -> None:
        self.said.append(Diagnostic("error", "bad-mcp-server", message, self._document.where(*path)))


def _secrets(spec: ServerSpec, used: Mapping[str, str]) -> dict[str, str]:
    """Return possible secrets of an entry, each with its replacement."""
    values = [*spec.headers.values(), *_secrets_of_address(spec.url)]
    # A path is more use to a reader than it is to a thief.
    values += [text for name, text in spec.env.items() if text[:1] != "/" or holds_a_secret(name, text)]
    found = dict.fromkeys(values, MARK)
    for name, value in used.items():
        # Errors may quote a piece of an unreadable address.
        pieces = _DELIMITERS.split(value) if spec.url else ()
        found |= dict.fromkeys((value, *pieces), f"${{{name}}}")
    return found


def _secrets_of_address(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    user = parts.netloc.rpartition("@")[0]
    for text in (user, *user.split(":", 1), parts.query, parts.fragment):
        yield text
        yield unquote(text)
    yield from (value for _name, value in parse_qsl(parts.query))


class _Variables:
    """Replacer of `${NAME}` and `${NAME:-default}` by environment variables."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.missing: list[str] = []
        #: Names and values of those that were found.
        self.used: dict[str, str] = {}

    def text(self, given: str) -> str:
        return _VARIABLE.sub(self._value, given)

    def texts(self, given: Mapping[str, str]) -> Mapping[str, str]:
        return {name: self.text(value) for name, value in given.items()}

    def _value(self, found: re.Match[str]) -> str:
        if found[4] is not None:
            return found[0]
        value = self._env.get(found[1])
        if value:
            self.used[found[1]] = value
            return value
        if found[2] is None:
            self.missing.append(found[1])
        return found[3] or ""
