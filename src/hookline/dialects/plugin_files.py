"""Find plugins below a directory, and keep the files they name inside of them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import Dialect, Plugin
from hookline.disk import Disk
from hookline.model.diagnostics import Diagnostic, Where


def subdirectories(directory: str, disk: Disk) -> Iterator[str]:
    """Yield the directories of a directory that are not hidden, by name; none where it is not there."""
    for name in sorted(disk.listdir(directory)) if disk.isdir(directory) else ():
        path = os.path.join(directory, name)
        if not name.startswith(".") and disk.isdir(path):
            yield path


def leads_inside(root: str, file: str, disk: Disk) -> bool:
    """Return True if a file is in a directory, with links followed."""
    return f"{disk.realpath(file)}/".startswith(disk.realpath(root).rstrip("/") + "/")


def outside(plugin: Plugin, where: Where) -> Diagnostic:
    """Report a file that a plugin names and that is not its own."""
    message = f"it is outside of {plugin.root}, the directory of the plugin {plugin.name}, and not read"
    return Diagnostic("error", "bad-plugin", message, where, fix="put it into the plugin")


def plugin_dialect(dialects: Sequence[Dialect], path: str, disk: Disk) -> Dialect | None:
    """Return the dialect of a file that belongs to a plugin; of several the one that knows its events best."""
    found = [
        dialect
        for dialect in dialects
        if path.endswith(f"/{dialect.plugin_file}")
        and any(each.file == path for each in dialect.plugin_at(path[: -len(dialect.plugin_file) - 1], disk))
    ]
    if len(found) <= 1:
        return found[0] if found else None
    from hookline.dialects.files import read_file  # noqa: PLC0415 few directories are plugins of two agents

    value: Any = read_file(path, disk=disk).value
    events: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
    names = list(cast("Mapping[str, Any]", events)) if isinstance(events, Mapping) else []
    return max(found, key=lambda dialect: sum(name in dialect.events for name in names))
