"""Find and change guards in Hookline's own files, and trust what was written."""

import os
from collections.abc import Sequence

from hookline.cli.requests import RequestError
from hookline.config.engine import Engine
from hookline.config.install.files import Snapshot
from hookline.dialects.dialect import SUFFIXES, nearest_project, user_directory
from hookline.dialects.registry import OWN_FORMAT
from hookline.documents.document import Format, format_of
from hookline.documents.edit import found_at, read_value, removed, with_value
from hookline.guards import GUARD_NAMES
from hookline.model.diagnostics import Path
from hookline.model.hook import Hook
from hookline.model.run import Mode
from hookline.trust.store import StoreError


def own_hooks(engine: Engine, cwd: str) -> Sequence[Hook]:
    """Return the hooks of Hookline's own files for this directory."""
    return engine.load(cwd).hooks


def guard_of(hook: Hook) -> str:
    """Return the name of the built-in guard that a hook is; empty for any other."""
    name: str = getattr(hook.spec, "name", "") if hook.kind == "builtin" else ""
    return name if name in GUARD_NAMES else ""


def file_for(engine: Engine, cwd: str, *, user: bool) -> str:
    """Return the file of the project or of the user; if it does not exist, the one to write."""
    own = engine.loader.dialect(OWN_FORMAT)
    project = nearest_project(cwd, own.project_files)
    directory = user_directory(os.environ) if user else os.path.join(project, own.directory)
    if directory is None:
        raise RequestError("you have no home directory: set HOME")
    files = [os.path.join(directory, f"hooks.{suffix}") for suffix in SUFFIXES]
    return next((file for file in files if os.path.lexists(file)), files[0])


def format_of_file(file: Snapshot) -> Format:
    return format_of(file.file) or "toml"


def with_mode(before: Snapshot, entry: Path, mode: Mode) -> str:
    """Return the file's text with the entry in this mode; enforcing removes the field."""
    text, form = before.text or "", format_of_file(before)
    if mode == "enforce":
        there = found_at(read_value(text, form), (*entry, "mode")) is not None
        return removed(text, form, (*entry, "mode")) if there else text
    return with_value(text, form, (*entry, "mode"), mode)


def without(before: Snapshot, entry: Path) -> str:
    """Return the file's text without the entry, and without the group and the event that it leaves empty."""
    text, form = before.text or "", format_of_file(before)
    value = read_value(text, form)
    # The path is: hooks, EVENT, number of the group, hooks, number of the entry.
    for container, emptied in ((4, 3), (2, 2), (1, 1)):
        if len(entry) <= container or len(found_at(value, entry[:container])) > 1:
            break
        entry = entry[:emptied]
    return removed(text, form, entry)


def is_trusted(cwd: str, hook: Hook) -> bool:
    engine = Engine()
    same = [
        each
        for each in own_hooks(engine, cwd)
        if each.where.file == hook.where.file and each.name == hook.name
    ]
    return engine.trust is not None and all(
        engine.trust.status(each).runs or each.mode == "off" for each in same
    )


def trust_written(cwd: str, file: str, name: str) -> str | None:
    """Trust the entry that was written, and nothing else of the file. Return why that failed, if it did."""
    engine = Engine()
    written = [hook for hook in own_hooks(engine, cwd) if hook.where.file == file and hook.name == name]
    trust = engine.trust
    if trust is None or trust.trusts_all:
        return None
    try:
        items = [trust.item(hook) for hook in written if trust.is_foreign(hook.where.file, hook.scope)]
        if items:
            trust.accept(items)
    except StoreError as problem:
        return f"it is written, but not trusted yet: {problem}"
    return None if written else f"{file} is written, but Hookline does not read it in {cwd}"
