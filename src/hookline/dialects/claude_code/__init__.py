"""The hooks of Claude Code, as its client 2.1.325 runs them."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from hookline.dialects.claude_code.events import default_timeout, dialect_events, session_end_budget
from hookline.dialects.claude_code.wire import ClaudeCodeWire
from hookline.dialects.dialect import Dialect, DialectEvent, Layer, Place, Reading, ReversibleWire, Tools
from hookline.dialects.labels import command_label
from hookline.handlers.command import CommandSpec
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.dialects.claude_code.settings import SettingsReader

_PROJECT: Final = ".claude/settings.json"
_LOCAL: Final = ".claude/settings.local.json"
_MANAGED: Final = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
#: Settings that no other agent with such a file has.
_OWN_SETTINGS: Final = frozenset(
    {
        "allowManagedHooksOnly", "allowedHttpHookUrls", "httpHookAllowedEnvVars", "enabledPlugins",
        "extraKnownMarketplaces", "outputStyle", "cleanupPeriodDays", "includeCoAuthoredBy", "spinnerTipsEnabled",
    }
)  # fmt: skip


def dialect(env: Mapping[str, str] | None = None) -> Dialect:
    """Built once per engine. The environment may raise two of its limits, as it does for the client."""
    return ClaudeCode(os.environ if env is None else env)


class ClaudeCode:
    def __init__(self, env: Mapping[str, str]) -> None:
        self._wire = ClaudeCodeWire()
        self._events = dialect_events(env)
        self._home = env.get("HOME", "")
        self._session_end = session_end_budget(env)
        self._reader: SettingsReader | None = None

    @property
    def name(self) -> str:
        return "claude-code"

    @property
    def wire(self) -> ReversibleWire:
        return self._wire

    @property
    def events(self) -> Mapping[str, DialectEvent]:
        return self._events

    @property
    def project_files(self) -> Sequence[str]:
        return (_PROJECT, _LOCAL)

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """Managed, user, project, local. What `--settings` and plugins add is given by whoever knows them."""
        home = env.get("HOME", "")
        config = env.get("CLAUDE_CONFIG_DIR") or (f"{home.rstrip('/')}/.claude" if home else "")
        root = project.rstrip("/")
        places = [Place(file, "managed") for file in _MANAGED]
        if config:
            places.append(Place(f"{config.rstrip('/')}/settings.json", "user"))
        places.append(Place(f"{root}/{_PROJECT}", "project", needs_trust=True))
        places.append(Place(f"{root}/{_LOCAL}", "local", needs_trust=True))
        return places

    def recognises(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        table = cast("Mapping[str, Any]", value)
        return "claude-code" in str(table.get("$schema", "")) or not _OWN_SETTINGS.isdisjoint(table)

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        if self._reader is None:
            # Only here: who answers Claude Code as one of its hooks reads none of its files.
            from hookline.dialects.claude_code.settings import SettingsReader  # noqa: PLC0415 see above

            self._reader = SettingsReader(self._events, self._wire, self._home, self._session_end)
        return self._reader.read(layers, tools)

    def moments(self, name: str) -> Sequence[DialectEvent]:
        return (self.events[name],)

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        return Hook(
            name=command_label(command),
            event=own_event.event,
            policy=own_event.policy,
            wire=self._wire,
            kind="command",
            spec=CommandSpec(command=command),
            timeout=default_timeout(own_event.name, "command"),
            dialect=self.name,
            scope="flag",
        )
