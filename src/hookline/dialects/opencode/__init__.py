"""Ask Hookline from inside OpenCode 1.18: a plugin file, no hooks of OpenCode's own."""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hookline.dialects.dialect import ConfigPath, Layer, LoadedHooks, Plugins, Tools, upward
from hookline.dialects.family.agent import FamilyDialect
from hookline.disk import DISK, Disk
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.opencode.installer import OpenCodeInstaller


class OpenCode(FamilyDialect):
    name = "opencode"
    title = "OpenCode"
    directory = ".opencode"
    user_file = "plugin/hookline.js"
    project_files = (".opencode/plugin/hookline.js",)
    call_file = "~/.config/opencode/plugin/hookline.js, by hookline install opencode"
    call_events = ("session.created", "chat.message", "tool.execute.before", "tool.execute.after")
    unsearched = "plugins, which are code"
    #: Its directory below the user's configuration, all directories of a project, and its package for plugins.
    config_directory = "opencode"
    project_directories: tuple[str, ...] = (".opencode",)
    plugin_package = "@opencode-ai/plugin"

    def _module(self, name: str) -> Any:
        return import_module(f"{__name__}.{name}")

    def homes(self, env: Mapping[str, str]) -> list[str]:
        home, moved = env.get("HOME", ""), env.get("XDG_CONFIG_HOME", "")
        config = [each for each in (moved, os.path.join(home, ".config")) if os.path.isabs(each)]
        return [os.path.join(each, self.config_directory) for each in config]

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List nothing: OpenCode has no file with hooks."""
        del project, env
        return ()

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        del layers, tools
        return LoadedHooks()

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        """Name plugins that are not Hookline's: they may hold guards, which hold only in OpenCode."""
        del settings
        directories = [
            os.path.join(each, name)
            for each in upward(os.path.abspath(cwd), disk)
            for name in self.project_directories
        ]
        found = [
            os.path.join(directory, name, file)
            for directory in dict.fromkeys((*directories, *self.homes(env)))
            for name in ("plugin", "plugins")
            if disk.isdir(os.path.join(directory, name))
            for file in sorted(disk.listdir(os.path.join(directory, name)))
            if file.endswith((".js", ".ts")) and file != os.path.basename(self.user_file)
        ]
        if not found:
            return Plugins()
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        message = (
            f"a plugin of {self.title} found{more}: plugins are code, so Hookline does not run them elsewhere"
        )
        return Plugins(diagnostics=(Diagnostic("info", "agent-not-read", message, Where(found[0])),))

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Return the plugin itself."""
        from hookline.dialects.opencode.installer import plugin_text  # noqa: PLC0415 only to install

        return plugin_text({call.event: call.command for call in calls}, self.name)

    @property
    def installer(self) -> "OpenCodeInstaller":
        from hookline.dialects.opencode.installer import OpenCodeInstaller  # noqa: PLC0415 only to install

        return OpenCodeInstaller(self, self.user_path, self.plugin_package)


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> OpenCode:
    return OpenCode()
