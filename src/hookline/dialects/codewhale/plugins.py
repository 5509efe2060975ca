"""Find CodeWhale's plugins: installed ones, and their files with hooks.

CodeWhale stores beside them which content the user has reviewed; Hookline uses its own trust instead.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import ConfigPath, Plugin, Plugins
from hookline.dialects.files import read_file
from hookline.dialects.plugin_files import leads_inside, outside, subdirectories
from hookline.disk import Disk
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic

#: The first of these that is there describes a plugin; with the keys under which each has CodeWhale's own
#: part.
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    "plugin.json": ("extensions", "net.codewhale", "hooks", "path"),
    "plugin.toml": ("hooks", "path"),
}


def find_plugins(directories: Sequence[str], disk: Disk) -> Plugins:
    """Find the files with hooks of every plugin. Of two plugins with one name the first is used."""
    config_paths: list[ConfigPath] = []
    said: list[Diagnostic] = []
    roots = (root for each in reversed(directories) for root in subdirectories(each, disk))
    found = {os.path.basename(root): root for root in roots}
    for name, root in sorted(found.items()):
        plugin = Plugin(name, root)
        manifest = next((each for each in _MANIFESTS if disk.lexists(os.path.join(root, each))), None)
        if manifest is None:
            continue
        document = read_file(os.path.join(root, manifest), disk=disk)
        path = _at(document.value, _MANIFESTS[manifest])
        said += document.diagnostics
        if isinstance(path, str):
            files, wrong = _files(plugin, path, document, _MANIFESTS[manifest], disk)
            config_paths += [ConfigPath(file, "plugin", plugin) for file in files]
            said += wrong
    return Plugins(tuple(config_paths), (), tuple(said))


def _at(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
    return value


def _files(
    plugin: Plugin, path: str, document: Document, keys: Sequence[str], disk: Disk
) -> tuple[list[str], Iterator[Diagnostic]]:
    """Return one file, or every TOML file of a directory, by name; and their errors."""
    named, where = os.path.normpath(os.path.join(plugin.root, path)), document.where(*keys)
    if not disk.lexists(named):
        message = f"there is no {path} in the plugin {plugin.name}, so it brings no hooks"
        return [], iter([Diagnostic("error", "bad-plugin", message, where, fix="name an existing file")])
    listed = leads_inside(plugin.root, named, disk) and disk.isdir(named)
    inside = sorted(disk.listdir(named)) if listed else None
    files = (
        [named]
        if inside is None
        else [os.path.join(named, each) for each in inside if each.endswith(".toml")]
    )
    own = [file for file in files if leads_inside(plugin.root, file, disk)]
    return own, (outside(plugin, where) for _ in files[len(own) :])
