"""Files that look like hooks and that nobody reads; and `hooks` under a name that is not quite right."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from hookline.checks.context import AGENTS, Here
from hookline.config.files import read_file
from hookline.config.load import Loaded
from hookline.dialects.places import upward
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Where


class _Folder(Struct, frozen=True):
    dialect: str
    #: The file to write.
    right: str


_FOLDERS: Final[Mapping[str, _Folder]] = {
    ".claude": _Folder("claude-code", "settings.json"),
    ".gen": _Folder("gen-code", "settings.json"),
    ".codewhale": _Folder("codewhale", "hooks.toml"),
    ".reasonix": _Folder("reasonix", "settings.json"),
    ".hookline": _Folder("native", "hooks.toml"),
}
_STEMS: Final = ("hooks", "hook", "settings", "setting", "config", "hooks.local", "settings.local")
_SUFFIXES: Final = ("json", "jsonc", "json5", "toml", "yaml", "yml")


def unread_files(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    """Beside files that were looked for: elsewhere nobody expects hooks."""
    read = {found.file for found in loaded.found} | {one.where.file for one in loaded.diagnostics}
    looked_into = {os.path.dirname(file) for file in loaded.looked_for}
    for directory in upward(here.cwd):
        for name, folder in _FOLDERS.items():
            beside = os.path.join(directory, name)
            for file in _suspects(beside) if beside in looked_into else ():
                if file not in read and file not in loaded.looked_for and _has_hooks(file):
                    message = f"{AGENTS[folder.dialect]} reads no file of this name here, so the hooks in it are dead"
                    fix = f"put them into {os.path.join(name, folder.right)}"
                    yield Diagnostic("error", "unread-file", message, read_file(file).where(), fix=fix)


def _suspects(folder: str) -> Iterator[str]:
    for stem in _STEMS:
        for suffix in _SUFFIXES:
            file = os.path.join(folder, f"{stem}.{suffix}")
            if os.path.isfile(file):
                yield file


def _has_hooks(file: str) -> bool:
    """Whether somebody meant it: a list of events or of entries under `hooks`, or no document at all."""
    value = _table(read_file(file, "json" if file.endswith(("jsonc", "json5")) else None))
    return value is None or bool(value.get("hooks"))


def misspelled(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    """`hook` or `Hooks` at the top of a file: every agent takes it for a setting it does not know."""
    del here
    for found in loaded.found:
        if found.unreadable:
            continue
        document = read_file(found.file)
        value = _table(document)
        for path, table in _tables(found.dialect, value or {}):
            for key in table:
                if "hooks" not in table and key.strip().lower() in ("hook", "hooks", "hooks:"):
                    message = f"nobody reads {key!r}, so the hooks in it are dead"
                    where = document.where(*path, key)
                    yield Diagnostic("error", "misspelled-hooks", message, where, fix="write hooks")


def _tables(dialect: str, value: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if dialect != "docker-agent":
        yield (), value
        return
    agents = value.get("agents")
    for name, agent in cast("Mapping[str, Any]", agents).items() if isinstance(agents, Mapping) else ():
        if isinstance(agent, Mapping):
            yield ("agents", name), cast("Mapping[str, Any]", agent)


def _table(document: Document) -> Mapping[str, Any] | None:
    value = document.value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def trust(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    del here
    used = {hook.where.file for hook in loaded.hooks}
    for found in loaded.found:
        if found.needs_trust and found.file in used:
            agent = AGENTS.get(found.dialect, found.dialect)
            message = f"{agent} runs these hooks only once you have trusted this project there"
            yield Diagnostic("info", "needs-trust", message, Where(found.file))
