"""The hooks of Claude Code, as its client 2.1.325 runs them."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from hookline.dialects.dialect import (
    COMMANDS,
    SKILLS,
    USUAL_EVENTS,
    Definitions,
    Dialect,
    DialectEvent,
    Layer,
    Place,
    Plugins,
    Reading,
    Tools,
    is_there,
    upward,
)
from hookline.documents.document import Document
from hookline.model.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from hookline.dialects.claude_code.installer import ClaudeCodeInstaller
    from hookline.dialects.claude_code.settings import SettingsReader
    from hookline.dialects.claude_code.transcript import ClaudeTranscripts
    from hookline.dialects.claude_code.wire import ClaudeCodeWire
    from hookline.dialects.install import HookCall

_PROJECT: Final = ".claude/settings.json"
_LOCAL: Final = ".claude/settings.local.json"
#: In the folder of plugins: every plugin that is installed, and where it is.
_INSTALLED: Final = "installed_plugins.json"
_MANAGED: Final = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
#: The event at which exit 2 keeps a tool from running.
_CLOSED: Final = "PreToolUse"
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
    """Built once per engine. The environment may raise two of its limits, as it does for the client."""
    return ClaudeCode(os.environ if env is None else env)


class ClaudeCode(Dialect):
    name = "claude-code"
    title = "Claude Code"
    folder = ".claude"
    project_files = (_PROJECT, _LOCAL)
    plugin_manifest = ".claude-plugin/plugin.json"
    shares = frozenset(("commands", "skills", "rules", "instructions", "permissions", "command_hooks"))
    definitions = (
        SKILLS,
        COMMANDS,
        Definitions(
            "agents",
            "while agent {} runs",
            renamed=MappingProxyType({"Stop": "SubagentStop"}),
            in_plugins=False,
            used=False,
        ),
    )
    fails_closed_by = MappingProxyType({"command": '"onFailure": "block"', "http": '"onFailure": "block"'})
    project_variables = ("CLAUDE_PROJECT_DIR",)
    own_variables = ("CLAUDE_ENV_FILE",)
    plugin_variables = frozenset(("CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"))
    model_refusal = b'{"ok": false, "reason": "x"}'
    call_file = ".claude/settings.json in a project, or ~/.claude/settings.json for all of them"
    call_events = USUAL_EVENTS

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

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """Managed, user, project, local. A file of `--settings` is named by the caller."""
        root, users = project.rstrip("/"), [self.user_folder(env)]
        own = os.path.realpath(upward(os.path.abspath(project))[-1]) if "CLAUDE_CONFIG_DIR" in env else None
        if own is not None and f"{os.path.realpath(users[0] or '/')}/".startswith(f"{own}/"):
            # A variable that leads into the project must not hide the user's own hooks.
            users.insert(0, self.user_folder({"HOME": env.get("HOME", "")}))
        return [
            *(Place(file, "managed") for file in _MANAGED),
            *(Place(f"{each.rstrip('/')}/settings.json", "user") for each in dict.fromkeys(users) if each),
            Place(f"{root}/{_PROJECT}", "project"),
            Place(f"{root}/{_LOCAL}", "local"),
        ]

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], read: Callable[[str], Document]
    ) -> Plugins:
        folder = env.get("CLAUDE_CODE_PLUGIN_CACHE_DIR") or f"{self.user_folder(env) or ''}/plugins"
        if not is_there(f"{folder}/{_INSTALLED}"):
            return Plugins()
        # Only here: most people have no plugins.
        from hookline.dialects.claude_code.plugins import PluginFinder  # noqa: PLC0415 see above

        return PluginFinder(cwd, settings, read).find(folder, read(f"{folder}/{_INSTALLED}"))

    def user_folder(self, env: Mapping[str, str]) -> str | None:
        home = env.get("HOME", "")
        return env.get("CLAUDE_CONFIG_DIR") or (f"{home.rstrip('/')}/.claude" if home else None)

    def recognises(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        table = cast("Mapping[str, Any]", value)
        return "claude-code" in str(table.get("$schema", "")) or not _OWN_SETTINGS.isdisjoint(table)

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 in all its files
        return {key: settings[key] for key in _LOOSENING if key in settings}

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        if self._reader is None:
            # Only here: `hookline hook` answers Claude Code without reading its files.
            from hookline.dialects.claude_code.events import session_end_budget  # noqa: PLC0415 see above
            from hookline.dialects.claude_code.settings import SettingsReader  # noqa: PLC0415 see above

            home, budget = self._env.get("HOME", ""), session_end_budget(self._env)
            self._reader = SettingsReader(self.events, self.wire, home, budget)
        return self._reader.read(layers, tools)

    @property
    def installer(self) -> "ClaudeCodeInstaller":
        from hookline.dialects.claude_code.installer import ClaudeCodeInstaller  # noqa: PLC0415 only to install

        return ClaudeCodeInstaller(self)

    @property
    def transcripts(self) -> "ClaudeTranscripts":
        from hookline.dialects.claude_code.transcript import ClaudeTranscripts  # noqa: PLC0415 only to look back

        return ClaudeTranscripts()

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Closed where Claude Code itself cannot start Hookline, or gives up waiting.

        Releases before 2.1.295 know no `onFailure`, and drop it when they write the file: there the shell closes.
        """
        from hookline.dialects.install import closed_in_shell, grouped_entries  # noqa: PLC0415 only to install

        closed = [
            replace(call, command=closed_in_shell(call.command)) if call.event == _CLOSED else call
            for call in calls
        ]
        return grouped_entries(closed, onFailure="block")
