"""Run the hooks of Kimi Code, as its client 2.1.0 does: `[[hooks]]` of the user's config.toml."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.dialect import ConfigPath
from hookline.dialects.family.agent import FamilyDialect
from hookline.model.diagnostics import Path
from hookline.model.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.kimi_code.installer import KimiInstaller


class KimiCode(FamilyDialect):
    name = "kimi-code"
    title = "Kimi Code"
    directory = ".kimi-code"
    user_file = "config.toml"
    home_variable = "KIMI_CODE_HOME"
    project_files = (".kimi-code/config.toml",)
    unsearched = "plugins"
    call_file = "~/.kimi-code/config.toml; it has no file for a project"
    call_events = (
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
        "Stop", "SubagentStop", "SessionEnd",
    )  # fmt: skip

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List the user's file: a project has none."""
        del project
        return [ConfigPath(os.path.join(each, self.user_file), "user") for each in self.homes(env)]

    def recognises(self, value: Any) -> bool:
        """Return True for a list of hooks that name events only Kimi Code has."""
        hooks: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
        listed = cast("list[Any]", hooks) if isinstance(hooks, list) else []
        own = ("TurnStarted", "PermissionResult", "UserPromptQueued", "SessionHeartbeat", "TaskStarted")
        return any(isinstance(each, Mapping) and cast("Any", each).get("event") in own for each in listed)

    def field_path(self, entry: Path, field: str) -> Path:
        """Return the path; an entry itself has its matcher."""
        return (*entry, field)

    @property
    def installer(self) -> "KimiInstaller":
        from hookline.dialects.kimi_code.installer import KimiInstaller  # noqa: PLC0415 only to install

        return KimiInstaller(self, self.user_path)

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Write tables of TOML; Kimi Code takes at most 600 seconds."""
        from hookline.dialects.entries import quoted  # noqa: PLC0415 only to install

        tables = (
            f"[[hooks]]\nevent = {quoted(call.event)}\ncommand = {quoted(call.command)}\n"
            f"timeout = {min(call.seconds, 600)}\n"
            for call in self.closed(calls)
        )
        return "\n".join(tables)


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> KimiCode:
    return KimiCode()
