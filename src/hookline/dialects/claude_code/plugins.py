"""Find Claude Code's plugins: installed ones, enabled ones, and their files with hooks."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookline.dialects.claude_code.settings import (
    PRECEDENCE,
    as_list,
    as_table,
    settings_of,
    table_of,
)
from hookline.dialects.dialect import ConfigPath, Layer, Plugin, Plugins
from hookline.dialects.files import read_file
from hookline.dialects.plugin_files import leads_inside, outside
from hookline.disk import Disk
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Severity, Where

_USUAL: Final = "hooks/hooks.json"
_MANIFEST: Final = ".claude-plugin/plugin.json"


def listed_plugins(root: str, file: str, disk: Disk) -> list[str]:
    """Return the directories of the plugins that a repository lists and has itself."""
    listed = as_table(read_file(os.path.join(root, file), disk=disk).value)
    below = as_table(listed.get("metadata")).get("pluginRoot")
    base = os.path.join(root, below) if isinstance(below, str) else root
    sources = [as_table(entry).get("source") for entry in as_list(listed.get("plugins"))]
    found = [os.path.normpath(os.path.join(base, source)) for source in sources if isinstance(source, str)]
    return [each for each in found if leads_inside(root, each, disk) and disk.isdir(each)]


class PluginFinder:
    """A search for the files of every installed plugin. `settings` say which plugins are enabled."""

    def __init__(self, cwd: str, settings: Sequence[Layer], disk: Disk) -> None:
        self._cwd = cwd
        ranks = {scope: rank for rank, scope in enumerate(PRECEDENCE)}
        self._settings = sorted(settings, key=lambda layer: ranks.get(layer.config_path.scope, len(ranks)))
        self._managed_only = settings_of(settings).managed_only
        self._disk = disk
        self._said: list[Diagnostic] = []

    def find(self, directory: str, installed: Document) -> Plugins:
        """Find the files below the directory, by the list of plugins installed there."""
        config_paths: list[ConfigPath] = []
        off: list[tuple[ConfigPath, str]] = []
        self._said += installed.diagnostics
        listed: Any = as_table(installed.value).get("plugins")
        if not isinstance(listed, Mapping) and installed.value is not None:
            self._say(installed.where("plugins"), "it lists no plugins, so none is read", "install one again")
        for name, entries in as_table(listed).items():
            nearest = min(map(as_table, as_list(entries) or [entries]), key=self._distance)
            root, version = (str(nearest.get(key, "")) for key in ("installPath", "version"))
            data = re.sub(r"[^\w-]", "-", name, flags=re.ASCII)
            plugin = Plugin(name, root.rstrip("/"), version, f"{directory}/data/{data}")
            why_off, said = self._why_off(name), len(self._said)
            if os.path.isabs(root) and self._disk.isdir(root):
                found = [ConfigPath(file, "plugin", plugin) for file in dict.fromkeys(self.files(plugin))]
                config_paths += found if why_off is None else []
                off += [(place, why_off) for place in found] if why_off is not None else []
            else:
                message = f"the plugin {name} is enabled, but its directory {root} is not there"
                self._say(installed.where("plugins", name), message, "install it again", "warning")
            if why_off is not None:
                del self._said[said:]  # it does not run, whatever its mistakes are
        return Plugins(tuple(config_paths), tuple(off), tuple(self._said))

    def _distance(self, entry: Mapping[str, Any]) -> int:
        """Rank an entry: a plugin may be installed for a project and for the user; this project's comes first."""
        project = entry.get("projectPath")
        return 1 if not isinstance(project, str) else 0 if leads_inside(project, self._cwd, self._disk) else 2

    def _why_off(self, name: str) -> str | None:
        """Return why a plugin is off, or None. The strongest settings file that names it decides."""
        for layer in self._settings:
            said = as_table(table_of(layer).get("enabledPlugins")).get(name)
            if said and self._managed_only and layer.config_path.scope != "managed":
                return f"allowManagedHooksOnly switches the plugin {name} off"
            if said is not None:
                by = layer.document.where("enabledPlugins", name)
                return None if said else f"{by} switches the plugin {name} off"
        return f"the plugin {name} is installed, but enabledPlugins of no settings file has it"

    def files(self, plugin: Plugin) -> Iterator[str]:
        """Yield the usual file, and those in the manifest: files that it names, or hooks in the manifest itself."""
        usual, manifest = (os.path.join(plugin.root, name) for name in (_USUAL, _MANIFEST))
        if self._disk.is_there(usual) and self._is_own(plugin, usual, Where(usual)):
            yield usual
        if not self._disk.is_there(manifest) or not self._is_own(plugin, manifest, Where(manifest)):
            return
        document = read_file(manifest, disk=self._disk)
        named: Any = as_table(document.value).get("hooks")
        if document.value is None or not isinstance(named, str | list | None):
            yield manifest
        names: list[Any] = [named] if isinstance(named, str) else as_list(named)
        for index, name in enumerate(names):
            where = document.where("hooks", index)
            file = os.path.normpath(os.path.join(plugin.root, str(name)))
            if not isinstance(name, str) or not name.startswith("./"):
                self._say(where, "not the name of a file, so it is not read", 'write "./..."')
            elif file == usual:
                self._say(where, "this file is read anyway", "remove it: Claude Code refuses it", "warning")
            elif self._is_own(plugin, file, where):
                yield file

    def _is_own(self, plugin: Plugin, file: str, where: Where) -> bool:
        if leads_inside(plugin.root, file, self._disk):
            return True
        self._said.append(outside(plugin, where))
        return False

    def _say(self, where: Where, message: str, fix: str, severity: Severity = "error") -> None:
        self._said.append(Diagnostic(severity, "bad-plugin", message, where, fix=fix))
