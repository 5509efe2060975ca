"""Run Codex CLI's hooks: hooks.json and config.toml in Claude Code's shape, answers in closed objects, a
trusted hash per hook."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from hookline.dialects.dialect import (
    ConfigPath,
    Dialect,
    DialectEvent,
    Layer,
    LoadedHooks,
    Plugins,
    Tools,
    upward,
)
from hookline.dialects.entries import HookCall, closed_in_shell, grouped_entries
from hookline.disk import DISK, Disk
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Vote
from hookline.model.wire import Parsed

if TYPE_CHECKING:
    from hookline.dialects.codex.installer import CodexInstaller
    from hookline.dialects.codex.transcript import CodexTranscripts
    from hookline.dialects.codex.wire import CodexWire

_SYSTEM = "/etc/codex"
#: Files of a directory, in the order in which Codex loads them.
_FILES = ("hooks.json", "config.toml")
#: Codex waits no longer at the end of a session.
LONGEST_AT_END = 3
#: Settings that no other agent with hooks in TOML has.
_OWN_SETTINGS = frozenset(
    {"approval_policy", "sandbox_mode", "sandbox_workspace_write", "model_provider", "mcp_servers", "projects"}
)  # fmt: skip


class Codex(Dialect):
    name = "codex"
    title = "Codex"
    directory = ".codex"
    project_files = (".codex/hooks.json", ".codex/config.toml")
    tested_release = "0.169.0"
    relative_to = "session"
    plugin_variables = frozenset(("PLUGIN_ROOT", "PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"))
    loosening = "switches all hooks off"
    skips_silently = frozenset(("changed-since-trusted", "moved-entry", "unlisted-project"))
    call_file = (
        ".codex/hooks.json in a project, or ~/.codex/hooks.json for all of them; then trust it with /hooks"
    )
    managed_files = (f"{_SYSTEM}/requirements.toml",)
    call_events = (
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SubagentStop",
        "SessionEnd",
    )  # fmt: skip

    @cached_property
    def wire(self) -> "CodexWire":
        from hookline.dialects.codex.wire import CodexWire  # noqa: PLC0415 facts are asked for without it

        return CodexWire()

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        from hookline.dialects.codex.events import dialect_events  # noqa: PLC0415 as above

        return dialect_events()

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List requirements and the system's files, the user's, the project's."""
        return self._places([project], env, DISK)

    def find(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Sequence[ConfigPath]:
        """Return the files of every directory from the root of the repository down to this one."""
        chain = upward(os.path.abspath(cwd), disk)
        return self._places(chain[::-1], env, disk)

    def _places(self, projects: Sequence[str], env: Mapping[str, str], disk: Disk) -> Sequence[ConfigPath]:
        home, own = env.get("HOME", ""), env.get("CODEX_HOME", "")
        # Codex follows links of this variable, and of no other path: its trusted hashes have the path in
        # their keys.
        users = [disk.realpath(own)] if os.path.isabs(own) else []
        inside = any(f"{disk.realpath(own)}/".startswith(f"{disk.realpath(each)}/") for each in projects)
        if os.path.isabs(home) and (inside or not users):
            # A variable that leads into the project must not hide the user's own hooks.
            users.insert(0, os.path.join(home, self.directory))
        return [
            ConfigPath(f"{_SYSTEM}/requirements.toml", "managed"),
            *(ConfigPath(f"{_SYSTEM}/{name}", "managed") for name in (*_FILES, "managed_config.toml")),
            *(ConfigPath(os.path.join(each, name), "user") for each in users for name in _FILES),
            *(
                ConfigPath(os.path.join(each, self.directory, name), "project")
                for each in projects
                for name in _FILES
            ),
        ]

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        del cwd
        own, home = env.get("CODEX_HOME", ""), env.get("HOME", "")
        directory = (
            own if os.path.isabs(own) else os.path.join(home, self.directory) if os.path.isabs(home) else ""
        )
        if not directory or not disk.isdir(f"{directory}/plugins/cache"):
            return Plugins()
        # Only here: most people have no plugins.
        from hookline.dialects.codex.plugins import find_plugins  # noqa: PLC0415 see above

        return find_plugins(directory, settings, disk)

    def recognises(self, value: Any) -> bool:
        """Return True for its settings, or its list of trusted hooks. Its hooks.json looks like those of others."""
        table: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        hooks = table.get("hooks")
        return not _OWN_SETTINGS.isdisjoint(table) or (isinstance(hooks, Mapping) and "state" in hooks)

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 in all its files
        features = settings.get("features")
        off = isinstance(features, Mapping) and cast("Mapping[str, Any]", features).get("hooks") is False
        return {"features.hooks": False} if off else {}

    def switched_off_by(self, settings: Mapping[str, Any]) -> Path:
        return ("features", "hooks") if self.loosens("", settings) else ()

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        from hookline.dialects.codex.settings import read_layers  # noqa: PLC0415 as above

        return read_layers(layers, tools, self.events, self.wire)

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        """Report lines that block by exit 2 silently: Codex treats that as a failure and continues."""
        from hookline.dialects.report import about  # noqa: PLC0415 only for doctor

        for hook in hooks:
            line, row = getattr(hook.spec, "command", ""), self.events[hook.policy.event_name]
            if (
                row.policy.may & Capability.BLOCK
                and re.search(r"\bexit 2\b", line)
                and not re.search(r">&2|/stderr|stderr", line)
            ):
                message = "it exits with 2 and writes nothing to stderr: Codex treats that as a failure and continues"
                yield about(hook, "warning", "silent-block", message, "command", fix="echo why >&2; exit 2")

    def answerable(self, outcome: Outcome, parsed: Parsed) -> Outcome:
        """Drop a rewrite that would need an allow; where Codex asks the user nothing, the allow permits
        nothing more."""
        from hookline.dialects.codex.wire import ASKS_NOTHING  # noqa: PLC0415 as above

        unasked = parsed.info.permission_mode == ASKS_NOTHING and parsed.event.name == "PreToolUse"
        if outcome.edits and unasked and outcome.permission is None and not outcome.stop:
            return replace(outcome, votes=(Vote("allow"),))
        return outcome

    @property
    def installer(self) -> "CodexInstaller":
        from hookline.dialects.codex.installer import CodexInstaller  # noqa: PLC0415 only to install

        return CodexInstaller(self)

    @property
    def transcripts(self) -> "CodexTranscripts":
        from hookline.dialects.codex.transcript import CodexTranscripts  # noqa: PLC0415 only to look back

        return CodexTranscripts()

    def call_entries(self, calls: Sequence[HookCall]) -> str:
        """Close the guards by a shell, because Codex ignores a failed hook; by `sh`, because Codex runs
        hooks in any shell of the user."""
        return grouped_entries([self._entry(call) for call in calls])

    def _entry(self, call: HookCall) -> HookCall:
        from shlex import quote  # noqa: PLC0415 only for these entries

        seconds = LONGEST_AT_END if call.event in ("SessionEnd", "Interrupt") else call.seconds
        closed = closed_in_shell(call.command) if call.guards else call.command
        return replace(call, command=f"sh -c {quote(closed)}", seconds=seconds)


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Codex:
    return Codex()
