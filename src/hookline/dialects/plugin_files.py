"""Find plugins below a directory, and keep the files they name inside of them."""

import os
from collections.abc import Iterator

from hookline.dialects.dialect import Plugin
from hookline.model.diagnostics import Diagnostic, Where


def subdirectories(folder: str) -> Iterator[str]:
    """Yield the directories of a directory that are not hidden, by name; none where it is not there."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if not name.startswith(".") and os.path.isdir(path):
            yield path


def is_inside(root: str, file: str) -> bool:
    """Return True if a file is in a directory, with links followed."""
    return f"{os.path.realpath(file)}/".startswith(os.path.realpath(root).rstrip("/") + "/")


def outside(plugin: Plugin, where: Where) -> Diagnostic:
    """Report a file that a plugin names and that is not its own."""
    message = f"it is outside of {plugin.root}, the directory of the plugin {plugin.name}, and not read"
    return Diagnostic("error", "bad-plugin", message, where, fix="put it into the plugin")
