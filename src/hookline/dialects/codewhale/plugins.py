"""CodeWhale's plugins: which are installed, and the files in which they have hooks.

CodeWhale keeps beside them which content the user has reviewed; in Hookline the user's trust takes that place.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import Place, Plugin, Plugins
from hookline.dialects.plugin_files import is_inside, outside, subdirectories
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic

#: The first of these that is there describes a plugin; with the keys under which each has CodeWhale's own part.
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    "plugin.json": ("extensions", "net.codewhale", "hooks", "path"),
    "plugin.toml": ("hooks", "path"),
}

Read = Callable[[str], Document]


def find_plugins(directories: Sequence[str], read: Read) -> Plugins:
    """Find the files with hooks of every plugin. Of two plugins with one name the first counts."""
    places: list[Place] = []
    said: list[Diagnostic] = []
    found = {os.path.basename(root): root for each in reversed(directories) for root in subdirectories(each)}
    for name, root in sorted(found.items()):
        plugin = Plugin(name, root)
        manifest = next((each for each in _MANIFESTS if os.path.lexists(os.path.join(root, each))), None)
        if manifest is None:
            continue
        document = read(os.path.join(root, manifest))
        path = _at(document.value, _MANIFESTS[manifest])
        said += document.diagnostics
        if isinstance(path, str):
            files, wrong = _files(plugin, path, document, _MANIFESTS[manifest])
            places += [Place(file, "plugin", plugin) for file in files]
            said += wrong
    return Plugins(tuple(places), (), tuple(said))


def _at(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
    return value


def _files(
    plugin: Plugin, path: str, document: Document, keys: Sequence[str]
) -> tuple[list[str], Iterator[Diagnostic]]:
    """Return one file, or every TOML file of a directory, by name; and what is wrong with them."""
    named, where = os.path.normpath(os.path.join(plugin.root, path)), document.where(*keys)
    if not os.path.lexists(named):
        message = f"there is no {path} in the plugin {plugin.name}, so it brings no hooks"
        return [], iter([Diagnostic("error", "bad-plugin", message, where, fix="name what is there")])
    inside = sorted(os.listdir(named)) if is_inside(plugin.root, named) and os.path.isdir(named) else None
    files = (
        [named]
        if inside is None
        else [os.path.join(named, each) for each in inside if each.endswith(".toml")]
    )
    own = [file for file in files if is_inside(plugin.root, file)]
    return own, (outside(plugin, where) for _ in files[len(own) :])
