"""Make a dialect of tables: facts in its `__init__`, and modules of its directory that have the usual names.

A small dialect subclasses `FamilyDialect`. Its directory has `events.py` with `events()`, `settings.py` with
`read_layers(layers, tools, events, wire)` and `wire.py` with `wire()`.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from hookline.dialects.dialect import (
    ConfigPath,
    Dialect,
    DialectEvent,
    Layer,
    LoadedHooks,
    ReversibleWire,
    Tools,
    nearest_project,
)
from hookline.disk import DISK, Disk

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.installer import Installer


class FamilyDialect(Dialect):
    """An agent whose hooks look like Claude Code's."""

    #: The variable that names its directory instead of the one in the home directory.
    home_variable: ClassVar[str] = ""
    #: The user's file for our entries, below that directory.
    user_file: ClassVar[str] = "settings.json"
    #: True if every JSON file beside that one, and beside the project's, holds hooks too.
    whole_directories: ClassVar[bool] = False

    def _module(self, name: str) -> Any:
        """Import a module of its directory: facts are asked for without it."""
        return import_module(f"{type(self).__module__}.{name}")

    @cached_property
    def wire(self) -> ReversibleWire:
        found: ReversibleWire = self._module("wire").wire()
        return found

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        found: Mapping[str, DialectEvent] = self._module("events").events()
        return found

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        found: LoadedHooks = self._module("settings").read_layers(layers, tools, self.events, self.wire)
        return found

    def homes(self, env: Mapping[str, str]) -> list[str]:
        """List its directories of the user, the usual one last: a variable must not hide the user's own hooks."""
        home = env.get("HOME", "")
        named = [env.get(self.home_variable, "")] if self.home_variable else []
        usual = [os.path.join(home, self.directory)] if os.path.isabs(home) else []
        return list(dict.fromkeys(os.path.normpath(each) for each in (*named, *usual) if os.path.isabs(each)))

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List the user's file, then the project's."""
        users = [os.path.join(each, self.user_file) for each in self.homes(env)]
        files = (
            [os.path.normpath(os.path.join(project, name)) for name in self.project_files] if project else []
        )
        # In the home directory both are one file, whose hooks must not run twice.
        return [
            *(ConfigPath(file, "user") for file in users),
            *(ConfigPath(file, "project") for file in files if file not in users),
        ]

    def owns(self, file: str) -> bool:
        directory = f"/{os.path.dirname(self.project_files[0])}/"
        return super().owns(file) or (self.whole_directories and directory in file and file.endswith(".json"))

    def find(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Sequence[ConfigPath]:
        """List the files, and those beside them where the agent reads whole directories."""
        watched = [os.path.dirname(name) for name in self.project_files] if self.whole_directories else ()
        usual = self.config_paths(nearest_project(cwd, (*self.project_files, *watched), disk), env)
        if not self.whole_directories:
            return usual
        found: dict[str, ConfigPath] = {}
        for known in usual:
            directory = os.path.dirname(known.file)
            names = sorted(disk.listdir(directory)) if disk.isdir(directory) else []
            for name in [*(each for each in names if each.endswith(".json")), os.path.basename(known.file)]:
                file = os.path.join(directory, name)
                found.setdefault(file, ConfigPath(file, known.scope))
        return list(found.values())

    def user_path(self, env: Mapping[str, str]) -> str | None:
        """Return the user's file for our entries."""
        return next((os.path.join(each, self.user_file) for each in self.homes(env)), None)

    @property
    def installer(self) -> "Installer":
        from hookline.dialects.installer import Installer  # noqa: PLC0415 only to install

        return Installer(self, self.user_path)

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        from hookline.dialects.entries import grouped_entries  # noqa: PLC0415 only to install

        return grouped_entries(self.closed(calls))

    def closed(self, calls: "Sequence[HookCall]") -> "list[HookCall]":
        """Return entries that block where Hookline cannot be started, for an agent that ignores a failed hook."""
        from hookline.dialects.entries import closed_guards  # noqa: PLC0415 only to install

        return closed_guards(calls)
