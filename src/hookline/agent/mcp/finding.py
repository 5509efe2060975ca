"""Where MCP servers are configured: `.mcp.json` of the project and the user, `mcp_servers` of settings files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from hookline.agent.mcp.specs import EntryReader, ServerSpec, Source
from hookline.config.files import read_file
from hookline.config.sources import upward, user_directory
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic

_OWN_FOLDERS = frozenset({".hookline", "hookline"})
_TABLES = ("mcp_servers", "mcpServers")
#: `.mcp.json` is other agents' file too, and they count in milliseconds.
_MILLISECONDS, _SECONDS = 1000.0, 1.0


class ServersFound(Struct, frozen=True):
    """Servers by name, and what is wrong with those that are not among them."""

    specs: tuple[ServerSpec, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def mcp_files(cwd: str, env: Mapping[str, str]) -> Iterator[tuple[Source, str]]:
    """Every `.mcp.json` that may be there, from the weakest to the strongest."""
    user = user_directory(env)
    if user is not None:
        yield "user", os.path.join(user, "mcp.json")
        yield "user", os.path.join(user, ".mcp.json")
    for directory in reversed(upward(os.path.abspath(cwd))):
        yield "project", os.path.join(directory, ".mcp.json")


def find_servers(cwd: str, env: Mapping[str, str], settings: Sequence[Document]) -> ServersFound:
    """All of them; where a name stands twice, the file that is nearer to the project wins."""
    found: dict[str, ServerSpec | None] = {}
    said: list[Diagnostic] = []
    for source in ("user", "project", "local"):
        for document, scale in (*_mcp_documents(cwd, env, source, said), *_settings(settings, source, env)):
            reader = EntryReader(document, source, env, scale)
            for table in _TABLES:
                found.update(_table(reader, document, table))
            said.extend(reader.said)
    return ServersFound(tuple(spec for spec in found.values() if spec is not None), tuple(said))


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
    """Those of Hookline's own settings files, which were read already."""
    user = user_directory(env)
    for document in documents:
        folder = os.path.dirname(document.file)
        if os.path.basename(folder) not in _OWN_FOLDERS:
            continue
        local = ".local." in os.path.basename(document.file)
        whose: Source = "user" if folder == user else "local" if local else "project"
        if whose == source:
            yield document, _SECONDS


def _table(reader: EntryReader, document: Document, table: str) -> Mapping[str, ServerSpec | None]:
    value: Any = document.value
    given: Any = cast("Mapping[str, Any]", value).get(table) if isinstance(value, Mapping) else None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        wrong = Diagnostic("error", "bad-mcp-server", f"{table} is not a table", document.where(table))
        reader.said.append(wrong)
        return {}
    entries = cast("Mapping[str, Any]", given)
    return {str(name): reader.read(str(name), entry, table, str(name)) for name, entry in entries.items()}
