"""Run the hooks of Claude Code, as its client 2.1.327 does."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from hookline.dialects.dialect import (
    COMMANDS,
    SKILLS,
    USUAL_EVENTS,
    ConfigPath,
    DefinitionFiles,
    Dialect,
    DialectEvent,
    Layer,
    LoadedHooks,
    Plugin,
    Plugins,
    Tools,
    nearest_project,
    upward,
)
from hookline.disk import DISK, Disk
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from hookline.dialects.claude_code.installer import ClaudeCodeInstaller
    from hookline.dialects.claude_code.settings import SettingsReader
    from hookline.dialects.claude_code.transcript import ClaudeTranscripts
    from hookline.dialects.claude_code.wire import ClaudeCodeWire
    from hookline.dialects.entries import HookCall
    from hookline.dialects.own_plugin import OwnPlugin

_PROJECT: Final = ".claude/settings.json"
_LOCAL: Final = ".claude/settings.local.json"
#: In the directory of plugins: every installed plugin, and its directory.
_INSTALLED: Final = "installed_plugins.json"
_MANAGED: Final = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
#: Earlier releases drop the field when they write the file.
_FAILS_CLOSED: Final = '"onFailure": "block", which Claude Code reads since 2.1.295'
#: The events at which exit 2 keeps a tool from running, and a prompt from the model.
_CLOSED: Final = ("PreToolUse", "UserPromptSubmit")
#: Settings of one level that change the hooks of all.
_LOOSENING: Final = ("disableAllHooks", "allowedHttpHookUrls", "httpHookAllowedEnvVars", "enabledPlugins")
#: Settings that no other agent with such a file has.
_OWN_SETTINGS: Final = frozenset(
    {
        "allowManagedHooksOnly", "allowedHttpHookUrls", "httpHookAllowedEnvVars", "enabledPlugins",
        "extraKnownMarketplaces", "outputStyle", "cleanupPeriodDays", "includeCoAuthoredBy", "spinnerTipsEnabled",
    }
)  # fmt: skip


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,
) -> "ClaudeCode":
    """Build the dialect once per engine. The environment may raise two of its limits, as it does for the client."""
    return ClaudeCode(os.environ if env is None else env)


class ClaudeCode(Dialect):
    name = "claude-code"
    title = "Claude Code"
    directory = ".claude"
    project_files = (_PROJECT, _LOCAL)
    definitions = (
        SKILLS,
        COMMANDS,
        DefinitionFiles(
            "agents",
            "while agent {} runs",
            renamed=MappingProxyType({"Stop": "SubagentStop"}),
            in_plugins=False,
            used=False,
        ),
    )
    tested_release = "2.1.327"
    relative_to = "session"
    fails_closed_by = MappingProxyType(dict.fromkeys(("command", "http"), _FAILS_CLOSED))
    project_variables = ("CLAUDE_PROJECT_DIR",)
    own_variables = ("CLAUDE_ENV_FILE",)
    files_without_hooks = (".claude.json",)
    other_variables = ("CLAUDE_CODE_", "CLAUDE_CONFIG_DIR", "CLAUDE_EFFORT", "CLAUDE_PID")
    plugin_variables = frozenset(("CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"))
    model_refusal = b'{"ok": false, "reason": "x"}'
    call_file = ".claude/settings.json in a project, or ~/.claude/settings.json for all of them"
    call_events = USUAL_EVENTS
    managed_files = _MANAGED
    inside_event = "PreToolUse"
    shell_setting = ("env", "CLAUDE_CODE_SHELL")

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._reader: SettingsReader | None = None

    @cached_property
    def wire(self) -> "ClaudeCodeWire":
        from hookline.dialects.claude_code.wire import ClaudeCodeWire  # noqa: PLC0415 facts are asked for without it

        return ClaudeCodeWire()

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        from hookline.dialects.claude_code.events import dialect_events  # noqa: PLC0415 as above

        return dialect_events(self._env)

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List the files: managed, user, project, local. A file of `--settings` is named by the caller."""
        return self._places(project, env, DISK)

    def find(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Sequence[ConfigPath]:
        return self._places(nearest_project(cwd, self.project_files, disk), env, disk)

    def _places(self, project: str, env: Mapping[str, str], disk: Disk) -> Sequence[ConfigPath]:
        root, users = project.rstrip("/"), [self.user_directory(env)]
        moved = "CLAUDE_CONFIG_DIR" in env
        own = disk.realpath(upward(os.path.abspath(project), disk)[-1]) if moved else None
        if own is not None and f"{disk.realpath(users[0] or '/')}/".startswith(f"{own}/"):
            # A variable that leads into the project must not hide the user's own hooks.
            users.insert(0, self.user_directory({"HOME": env.get("HOME", "")}))
        return [
            *(ConfigPath(file, "managed") for file in _MANAGED),
            *(
                ConfigPath(f"{each.rstrip('/')}/settings.json", "user")
                for each in dict.fromkeys(users)
                if each
            ),
            ConfigPath(f"{root}/{_PROJECT}", "project"),
            ConfigPath(f"{root}/{_LOCAL}", "local"),
        ]

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        directory = env.get("CLAUDE_CODE_PLUGIN_CACHE_DIR") or f"{self.user_directory(env) or ''}/plugins"
        if not disk.is_there(f"{directory}/{_INSTALLED}"):
            return Plugins()
        # Only here: most people have no plugins.
        from hookline.dialects.claude_code.plugins import PluginFinder  # noqa: PLC0415 see above
        from hookline.dialects.files import read_file  # noqa: PLC0415 see above

        installed = read_file(f"{directory}/{_INSTALLED}", disk=disk)
        return PluginFinder(cwd, settings, disk).find(directory, installed)

    def plugin_at(self, root: str, disk: Disk = DISK) -> Sequence[ConfigPath]:
        """Return the usual file of a plugin, and those that its manifest names; of each plugin that is listed here."""
        is_plugin, lists = (
            disk.is_there(f"{root}/{file}") for file in (self.listed.plugin_manifest, self.listed.plugin_list)
        )
        if not is_plugin and not lists:
            return ()
        from hookline.dialects.claude_code.plugins import PluginFinder, listed_plugins  # noqa: PLC0415 see above

        roots = [root] if is_plugin else []
        roots += listed_plugins(root, self.listed.plugin_list, disk) if lists else []
        return [
            ConfigPath(file, "plugin", plugin)
            for plugin in (Plugin(os.path.basename(each), each) for each in dict.fromkeys(roots))
            for file in dict.fromkeys(PluginFinder(plugin.root, (), disk).files(plugin))
        ]

    def user_directory(self, env: Mapping[str, str]) -> str | None:
        home = env.get("HOME", "")
        return env.get("CLAUDE_CONFIG_DIR") or (f"{home.rstrip('/')}/.claude" if home else None)

    def recognises(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        table = cast("Mapping[str, Any]", value)
        return "claude-code" in str(table.get("$schema", "")) or not _OWN_SETTINGS.isdisjoint(table)

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 in all its files
        return {key: settings[key] for key in _LOOSENING if key in settings}

    def switched_off_by(self, settings: Mapping[str, Any]) -> Path:
        return ("disableAllHooks",) if settings.get("disableAllHooks") is True else ()

    def overrulers(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Iterator[Diagnostic]:
        """Report mods, which can overrule hooks."""
        project = nearest_project(cwd, self.project_files, disk)
        user = self.user_directory(env)
        directories = [f"{each.rstrip('/')}/skills" for each in (user, f"{project}/{self.directory}") if each]
        if not any(map(disk.isdir, directories)):
            return
        from hookline.dialects.claude_code.mods import find_mods, mod_findings  # noqa: PLC0415 few have any
        from hookline.dialects.files import read_file  # noqa: PLC0415 as above

        managed = next(
            (file for file in _MANAGED if disk.isfile(file) and read_file(file, disk=disk).value), ""
        )
        yield from mod_findings(find_mods(list(dict.fromkeys(directories)), disk), managed)

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        if self._reader is None:
            # Only here: `hookline hook` answers Claude Code without reading its files.
            from hookline.dialects.claude_code.events import session_end_budget  # noqa: PLC0415 see above
            from hookline.dialects.claude_code.settings import SettingsReader  # noqa: PLC0415 see above

            home, budget = self._env.get("HOME", ""), session_end_budget(self._env)
            self._reader = SettingsReader(self.events, self.wire, home, budget)
        return self._reader.read(layers, tools)

    @property
    def own_plugin(self) -> "OwnPlugin":
        from hookline.dialects.own_plugin import OwnPlugin, about  # noqa: PLC0415 only to install

        return OwnPlugin(
            "skills/hookline",
            ".claude-plugin/plugin.json",
            lambda version, _: about(version),
            servers=".mcp.json",
        )

    @property
    def installer(self) -> "ClaudeCodeInstaller":
        from hookline.dialects.claude_code.installer import ClaudeCodeInstaller  # noqa: PLC0415 only to install

        return ClaudeCodeInstaller(self)

    @property
    def transcripts(self) -> "ClaudeTranscripts":
        from hookline.dialects.claude_code.transcript import ClaudeTranscripts  # noqa: PLC0415 only to look back

        return ClaudeTranscripts()

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Close the entries where Claude Code itself cannot start Hookline, or stops waiting.

        Releases before 2.1.295 do not have `onFailure`, and drop it when they write the file: there the shell
        closes.
        """
        from hookline.dialects.entries import closed_in_shell, grouped_entries  # noqa: PLC0415 only to install

        closed = [
            replace(call, command=closed_in_shell(call.command)) if call.event in _CLOSED else call
            for call in calls
        ]
        return grouped_entries(closed, onFailure="block")
