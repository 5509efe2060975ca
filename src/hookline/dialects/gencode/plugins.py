"""Find gen-code's plugins: installed ones, active ones, and their files with hooks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import ConfigPath, Layer, Plugin, Plugins
from hookline.dialects.files import read_file
from hookline.dialects.plugin_files import leads_inside, outside, subdirectories
from hookline.disk import Disk
from hookline.model.diagnostics import Diagnostic, Where

#: Variables by which entries name the directory of their plugin.
ROOTS = ("GEN_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")
#: The first of these that is there describes a plugin.
_MANIFESTS = (".gen-plugin/plugin.json", ".claude-plugin/plugin.json", "plugin.json")
_USUAL = "hooks/hooks.json"
_INSTALLED = "installed_plugins.json"
#: Directories beside the plugins that are none themselves.
_RESERVED = frozenset({"cache", "marketplaces"})


def plugin_directories(home: str, project: str) -> dict[str, bool]:
    """Return the directories of plugins, each with True if they are on there unless settings say otherwise."""
    users = {os.path.join(home, ".gen/plugins"): True} if os.path.isabs(home) else {}
    return users | {os.path.join(project, ".gen", name): False for name in ("plugins", "plugins-local")}


def find_plugins(directories: Mapping[str, bool], settings: Sequence[Layer], disk: Disk) -> Plugins:
    """Find the files with hooks of every plugin. The last settings file that names a plugin switches it."""
    switches = {name: (layer, on) for layer in settings for name, on in _switches(layer).items()}
    config_paths: list[ConfigPath] = []
    off: list[tuple[ConfigPath, str]] = []
    said: list[Diagnostic] = []
    for plugin, usually_on in _installed(directories, disk):
        layer, on = switches.get(plugin.name, (None, usually_on))
        files, wrong = _files(plugin, disk)
        found = [ConfigPath(file, "plugin", plugin) for file in files]
        if on:
            config_paths += found
            said += wrong
        elif layer is None:
            off += [(place, f"no settings file enables the plugin {plugin.name}") for place in found]
        else:
            by = layer.document.where("enabledPlugins", plugin.name)
            off += [(place, f"{by} switches the plugin {plugin.name} off") for place in found]
    return Plugins(tuple(config_paths), tuple(off), tuple(said))


def _switches(layer: Layer) -> dict[str, bool]:
    given = _table(_table(layer.document.value).get("enabledPlugins"))
    return {name: on for name, on in given.items() if isinstance(on, bool)}


def _installed(directories: Mapping[str, bool], disk: Disk) -> list[tuple[Plugin, bool]]:
    """Return every plugin by its name, and True if it is on by default. Of two with one name the later is used."""
    found: dict[str, tuple[Plugin, bool]] = {}
    for directory, on in directories.items():
        for root in subdirectories(directory, disk):
            name = os.path.basename(root)
            if name not in _RESERVED:
                found[name] = (Plugin(name, root), on)
    for directory in directories:
        for name, root in _listed(os.path.join(directory, _INSTALLED), disk):
            if os.path.isabs(root) and disk.isdir(root):
                found[name] = (Plugin(name, root.rstrip("/")), True)
    return [found[name] for name in sorted(found)]


def _listed(file: str, disk: Disk) -> Iterator[tuple[str, str]]:
    """Yield names and directories, in either form that gen-code has had for the list."""
    value: Any = read_file(file, disk=disk).value if disk.lexists(file) else None
    if isinstance(value, list):
        for each in map(_table, cast("list[Any]", value)):
            yield str(each.get("source", "")), str(each.get("path", ""))
    for name, installs in _table(_table(value).get("plugins")).items():
        if isinstance(installs, list) and installs:
            yield name, str(_table(cast("list[Any]", installs)[0]).get("installPath", ""))


def _files(plugin: Plugin, disk: Disk) -> tuple[list[str], list[Diagnostic]]:
    """Return the files with its hooks: the manifest itself, those it names, else the usual one."""
    usual = os.path.join(plugin.root, _USUAL)
    files, named, where = [usual] if disk.lexists(usual) else [], None, Where(usual)
    manifest = next((f for name in _MANIFESTS if disk.lexists(f := os.path.join(plugin.root, name))), None)
    if manifest is not None:
        document = read_file(manifest, disk=disk)
        named, where = _table(document.value).get("hooks"), document.where("hooks")
        if document.value is None:
            files.insert(0, manifest)
    if isinstance(named, Mapping):
        files = [cast("str", manifest)]
    elif isinstance(named, str | list):
        names = [named] if isinstance(named, str) else cast("list[Any]", named)
        files = [_path(plugin, str(name)) for name in names]
    own = [file for file in files if leads_inside(plugin.root, file, disk)]
    return own, [outside(plugin, where)] if len(own) < len(files) else []


def _path(plugin: Plugin, name: str) -> str:
    for variable in ROOTS:
        name = name.replace(f"${{{variable}}}", plugin.root)
    return os.path.normpath(os.path.join(plugin.root, name))


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
