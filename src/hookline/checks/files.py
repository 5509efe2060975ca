"""Files that look like hooks and that nobody reads; and `hooks` under a name that is not quite right."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from hookline.checks.context import CheckContext
from hookline.config.files import read_file
from hookline.config.load import Loaded
from hookline.dialects.places import upward
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Where

_STEMS: Final = ("hooks", "hook", "settings", "setting", "config", "hooks.local", "settings.local")
_SUFFIXES: Final = ("json", "jsonc", "json5", "toml", "yaml", "yml")


def unread_files(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Beside files that were looked for: elsewhere nobody expects hooks."""
    read = {found.file for found in loaded.found} | {one.where.file for one in loaded.diagnostics}
    looked_into = {os.path.dirname(file) for file in loaded.looked_for}
    for directory in upward(context.cwd):
        for dialect in (context.loader.dialect(name) for name in context.loader.names):
            beside = os.path.join(directory, dialect.folder)
            for file in _suspects(beside) if dialect.folder and beside in looked_into else ():
                if file not in read and file not in loaded.looked_for and _has_hooks(file):
                    message = f"{dialect.title} reads no file of this name here, so the hooks in it are dead"
                    fix = f"put them into {dialect.project_files[0]}"
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


def misspelled(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """`hook` or `Hooks` at the top of a file: every agent takes it for a setting it does not know."""
    for found in loaded.found:
        if found.unreadable:
            continue
        document = read_file(found.file)
        value = _table(document)
        for path, table in context.loader.dialect(found.dialect).hook_tables(value or {}):
            for key in table:
                if "hooks" not in table and key.strip().lower() in ("hook", "hooks", "hooks:"):
                    message = f"nobody reads {key!r}, so the hooks in it are dead"
                    where = document.where(*path, key)
                    yield Diagnostic("error", "misspelled-hooks", message, where, fix="write hooks")


def _table(document: Document) -> Mapping[str, Any] | None:
    value = document.value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def trust(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    used = {hook.where.file for hook in loaded.hooks}
    for found in loaded.found:
        if found.needs_trust and found.file in used:
            message = f"{context.title(found.dialect)} runs these hooks only once you have trusted this project there"
            yield Diagnostic("info", "needs-trust", message, Where(found.file))
