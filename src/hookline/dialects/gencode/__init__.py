"""Run gen-code's hooks: JSON settings of its own and of Claude Code, answers in Claude Code's shape, hooks
run in order."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.dialect import (
    USUAL_EVENTS,
    ConfigPath,
    Dialect,
    DialectEvent,
    Layer,
    LoadedHooks,
    Plugins,
    Tools,
    nearest_project,
)
from hookline.disk import DISK, Disk
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Scope

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.gencode.installer import GenCodeInstaller
    from hookline.dialects.gencode.wire import GenCodeWire

_DIRECTORIES = (".claude", ".gen")
_PROJECT_FILES: tuple[tuple[str, Scope], ...] = (
    ("settings.json", "project"),
    ("settings.local.json", "local"),
)


class GenCode(Dialect):
    name = "gen-code"
    title = "gen-code"
    directory = ".gen"
    project_files = (".gen/settings.json", ".gen/settings.local.json")
    project_variables = ("GEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    plugin_variables = frozenset(("GEN_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"))
    call_file = ".gen/settings.json in a project, or ~/.gen/settings.json for all of them"
    call_events = USUAL_EVENTS

    def __init__(self, rows: Mapping[str, EventSpec[Any]] = EVENTS) -> None:
        self._rows = rows

    @cached_property
    def wire(self) -> "GenCodeWire":
        from hookline.dialects.gencode.events import rows_of  # noqa: PLC0415 facts are asked for without it
        from hookline.dialects.gencode.wire import GenCodeWire  # noqa: PLC0415 as above

        return GenCodeWire(rows_of(self._rows))

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        from hookline.dialects.gencode.events import dialect_events, rows_of  # noqa: PLC0415 as above

        return dialect_events(rows_of(self._rows))

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List files, lowest first: the user's, the project's, local ones; Claude Code's file before its own
        each time."""
        found: list[ConfigPath] = []
        home = env.get("HOME", "")
        if os.path.isabs(home):
            found += [ConfigPath(os.path.join(home, each, "settings.json"), "user") for each in _DIRECTORIES]
        for name, scope in _PROJECT_FILES:
            found += [ConfigPath(os.path.join(project, each, name), scope) for each in _DIRECTORIES]
        return found

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        from hookline.dialects.gencode.plugins import find_plugins, plugin_directories  # noqa: PLC0415 as above

        project = nearest_project(cwd, self.project_files, disk)
        directories = plugin_directories(env.get("HOME", ""), project)
        # Only then the files are read: most people have no plugins.
        there = any(map(disk.isdir, directories))
        return find_plugins(directories, settings, disk) if there else Plugins()

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return events that its own file names: they replace those of the files below it, an empty list included."""
        hooks = settings.get("hooks") if f"/{self.directory}/" in file else None
        found = {key: settings[key] for key in ("enabledPlugins",) if settings.get(key)}
        if isinstance(hooks, Mapping):
            found["replaces"] = sorted(map(str, cast("Mapping[str, Any]", hooks)))
        return found

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        from hookline.dialects.gencode.settings import read_layers  # noqa: PLC0415 as above

        return read_layers(layers, tools, self.events, self.wire)

    @property
    def installer(self) -> "GenCodeInstaller":
        from hookline.dialects.gencode.installer import GenCodeInstaller  # noqa: PLC0415 only to install

        return GenCodeInstaller(self)

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Close the guards in the shell: gen-code goes on after any other failure than exit 2."""
        from hookline.dialects.entries import closed_guards, grouped_entries  # noqa: PLC0415 only to install

        return grouped_entries(closed_guards(calls))


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> GenCode:
    return GenCode(events)
