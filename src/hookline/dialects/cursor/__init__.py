"""Run Cursor's hooks, as its SDK 1.1.0 does: flat entries in hooks.json, and the hooks of Claude Code's files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from hookline.dialects.dialect import ConfigPath
from hookline.dialects.family.agent import FamilyDialect
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.dialects.cursor.installer import CursorInstaller
    from hookline.dialects.entries import HookCall

_SYSTEM: Final = ("/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json")
_IMPORTED: Final = ("settings.local.json", "settings.json")


class Cursor(FamilyDialect):
    name = "cursor"
    title = "Cursor"
    directory = ".cursor"
    user_file = "hooks.json"
    project_files = (".cursor/hooks.json",)
    json_comments = True
    project_variables = ("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    plugin_variables = frozenset(("CURSOR_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"))
    fails_closed_by = {"command": "failClosed: true"}  # noqa: RUF012 a fact, never changed
    unsearched = "team hooks of the dashboard, and plugins"
    call_file = ".cursor/hooks.json in a project, or ~/.cursor/hooks.json for all of them"
    # preToolUse sees every tool that runs on this machine: with the events of single tools, guards would run twice.
    managed_files = _SYSTEM
    call_events = (
        "sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "subagentStart",
        "subagentStop", "stop", "sessionEnd",
    )  # fmt: skip

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List files in the order in which hooks run: the system's, the project's, the user's, then Claude Code's."""
        home = env.get("HOME", "")
        users = [home] if os.path.isabs(home) else []
        found = [ConfigPath(file, "managed") for file in _SYSTEM]
        if project not in users:
            found.append(ConfigPath(os.path.join(project, self.project_files[0]), "project"))
        found += [ConfigPath(os.path.join(each, self.project_files[0]), "user") for each in users]
        scopes = ("local", "project")
        found += [
            ConfigPath(os.path.join(project, ".claude", name), scope)
            for name, scope in zip(_IMPORTED, scopes, strict=True)
            if project not in users
        ]
        return [*found, *(ConfigPath(os.path.join(each, ".claude/settings.json"), "user") for each in users)]

    def recognises(self, value: Any) -> bool:
        """Return True for events that only Cursor has."""
        hooks: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
        own = (
            "beforeShellExecution",
            "beforeMCPExecution",
            "beforeReadFile",
            "beforeSubmitPrompt",
            "afterFileEdit",
        )
        return isinstance(hooks, Mapping) and any(name in hooks for name in own)

    def field_path(self, entry: Path, field: str) -> Path:
        """Return the path; an entry itself has its matcher."""
        return (*entry, field) if "hooks" not in entry[1:] else super().field_path(entry, field)

    @property
    def installer(self) -> "CursorInstaller":
        from hookline.dialects.cursor.installer import CursorInstaller  # noqa: PLC0415 only to install

        return CursorInstaller(self, self.user_path)

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Write flat entries. Cursor itself closes a guard that cannot run, if its entry says so; the shell says
        why."""
        from hookline.dialects.entries import as_json, closed_guards  # noqa: PLC0415 only to install

        entries = {
            call.event: [
                {
                    "command": call.command,
                    "timeout": call.seconds,
                    **({"failClosed": True} if call.guards else {}),
                }
            ]
            for call in closed_guards(calls)
        }
        return as_json({"version": 1, "hooks": entries})

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        from hookline.dialects.cursor.checks import findings  # noqa: PLC0415 only for doctor

        return findings(hooks)


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Cursor:
    return Cursor()
