"""Find the hooks of Codex's plugins: those that the user's config.toml enables, in its cache of plugins."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.dialects.codex.trust import as_table
from hookline.dialects.dialect import ConfigPath, Layer, Plugin, Plugins
from hookline.dialects.files import read_file
from hookline.dialects.plugin_files import leads_inside, outside, subdirectories
from hookline.disk import Disk
from hookline.model.diagnostics import Diagnostic, Where

#: The first of these that is there describes a plugin.
_MANIFESTS = (".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json")
_USUAL = "hooks/hooks.json"


def find_plugins(home: str, settings: Sequence[Layer], disk: Disk) -> Plugins:
    """Find the files with hooks of installed plugins; only the user's own settings enable one."""
    tables = [as_table(layer.document.value) for layer in settings if layer.config_path.scope == "user"]
    if any(as_table(table.get("features")).get("plugins") is False for table in tables):
        return Plugins()
    config_paths: list[ConfigPath] = []
    off: list[tuple[ConfigPath, str]] = []
    said: list[Diagnostic] = []
    for table in tables:
        for name, entry in as_table(table.get("plugins")).items():
            for plugin in _installed(home, name, disk):
                files, wrong = _files(plugin, disk)
                found = [ConfigPath(file, "plugin", plugin) for file in files]
                if as_table(entry).get("enabled") is False:
                    off += [(each, f"your config.toml switches the plugin {name} off") for each in found]
                else:
                    config_paths += found
                    said += wrong
    return Plugins(tuple(config_paths), tuple(off), tuple(said))


def _installed(home: str, name: str, disk: Disk) -> Iterator[Plugin]:
    """Yield the newest version of a plugin in the cache."""
    own, _, market = name.partition("@")
    if not own or "/" in name or ".." in name:
        return
    versions = [*subdirectories(os.path.join(home, "plugins/cache", market, own), disk)]
    if versions:
        root = max(versions, key=lambda each: disk.stat(each).st_mtime)
        yield Plugin(
            name, root, os.path.basename(root), os.path.join(home, "plugins/data", f"{own}-{market}")
        )


def _files(plugin: Plugin, disk: Disk) -> tuple[list[str], list[Diagnostic]]:
    """Return the files with hooks: those that the manifest names, else the usual one."""
    manifest = next((file for each in _MANIFESTS if disk.isfile(file := f"{plugin.root}/{each}")), "")
    value: Any = read_file(manifest, disk=disk).value if manifest else {}
    named: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
    paths = (
        [named]
        if isinstance(named, str)
        else cast("list[Any]", named)
        if isinstance(named, list)
        else [_USUAL]
    )
    files: list[str] = []
    wrong: list[Diagnostic] = []
    for each in paths:
        file = os.path.normpath(os.path.join(plugin.root, str(each)))
        if not leads_inside(plugin.root, file, disk):
            wrong.append(outside(plugin, Where(manifest)))
        elif disk.isfile(file):
            files.append(file)
    return files, wrong
