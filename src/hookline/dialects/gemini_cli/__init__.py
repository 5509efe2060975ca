"""Run the hooks of Gemini CLI, as its client 0.61.0 does."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from hookline.dialects.dialect import ConfigPath, Dialect, DialectEvent, Layer, LoadedHooks, Plugins, Tools
from hookline.dialects.entries import HookCall, as_json, closed_guards
from hookline.disk import DISK, Disk
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, Capability, EventSpec
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.dialects.gemini_cli.installer import GeminiInstaller
    from hookline.dialects.gemini_cli.transcript import GeminiTranscripts
    from hookline.dialects.gemini_cli.wire import GeminiWire
    from hookline.dialects.own_plugin import OwnPlugin

_PROJECT: Final = ".gemini/settings.json"
#: By the variable that names another file: the file below every other layer, and the one above them.
_DEFAULTS: Final = {
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": (
        "/etc/gemini-cli/system-defaults.json",
        "/Library/Application Support/GeminiCli/system-defaults.json",
    )
}
_SYSTEM: Final = {
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": (
        "/etc/gemini-cli/settings.json",
        "/Library/Application Support/GeminiCli/settings.json",
    )
}
#: A test and an exit, and nothing that prints.
_SILENT: Final = re.compile(
    r"\s*+(?:!\s*+)?(?:grep\s++-q|test|\[)[^;&|]*+(?:&&|\|\|)\s*+(?:\{\s*+)?"
    r"exit\s++[2-9]\d*+\s*+(?:;\s*+)?(?:\}\s*+)?(?:;\s*+)?|\s*+exit\s++[2-9]\d*+\s*+"
)


class GeminiCli(Dialect):
    name = "gemini-cli"
    title = "Gemini CLI"
    directory = ".gemini"
    project_files = (_PROJECT,)
    json_comments = True
    timeout_unit = "ms"
    headless_options = ("-p", "--prompt")
    tested_release = "0.61.0"
    files_without_hooks = ("gemini-extension.json",)
    project_variables = ("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    other_variables = ("GEMINI_CWD", "GEMINI_SESSION_ID", "GEMINI_PLANS_DIR", "GEMINI_API_KEY", "GEMINI_CLI_")
    plugin_variables = frozenset(("extensionPath", "workspacePath", "pathSeparator"))
    call_file = ".gemini/settings.json in a project, or ~/.gemini/settings.json for all of them"
    call_events = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
    managed_files = _SYSTEM["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]

    @cached_property
    def wire(self) -> "GeminiWire":
        from hookline.dialects.gemini_cli.wire import GeminiWire  # noqa: PLC0415 facts are asked for without it

        return GeminiWire()

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        from hookline.dialects.gemini_cli.events import dialect_events  # noqa: PLC0415 as above

        return dialect_events()

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List files, lowest first: the system's defaults, the user's, the project's, the system's own."""
        users = [os.path.join(each, _PROJECT) for each in _homes(env)]
        file = os.path.normpath(os.path.join(project, _PROJECT)) if project else ""
        return [
            *_system(_DEFAULTS, env),
            *(ConfigPath(user, "user") for user in users),
            # In the home directory both are one file, whose hooks must not run twice.
            *([ConfigPath(file, "project")] if file and file not in users else []),
            *_system(_SYSTEM, env),
        ]

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        directories = [os.path.join(home, self.directory) for home in _homes(env)]
        names = ("extensions", "trustedFolders.json")
        there = [
            each for each in directories if any(disk.is_there(os.path.join(each, name)) for name in names)
        ]
        if not there:
            return Plugins()
        # Only here: most people have no extensions.
        from hookline.dialects.gemini_cli.extensions import find_extensions  # noqa: PLC0415 see above

        return find_extensions(there, cwd, settings, disk)

    def user_directory(self, env: Mapping[str, str]) -> str | None:
        return next((os.path.join(home, self.directory) for home in _homes(env)), None)

    def recognises(self, value: Any) -> bool:
        """Return True for groups under events that no other agent has."""
        hooks: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
        own = {name for name, one in self.events.items() if name != one.event.name}
        return isinstance(hooks, Mapping) and not own.isdisjoint(cast("Mapping[str, Any]", hooks))

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 in all its files
        """Return settings that switch off every hook, or those it names."""
        given = settings.get("hooksConfig")
        return {"hooksConfig": given} if isinstance(given, Mapping) else {}

    def switched_off_by(self, settings: Mapping[str, Any]) -> Path:
        config = self.loosens("", settings).get("hooksConfig", {})
        return ("hooksConfig", "enabled") if config.get("enabled") is False else ()

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        from hookline.dialects.gemini_cli.settings import read_layers  # noqa: PLC0415 as above

        return read_layers(layers, tools, self.events, self.wire)

    def recorded_events(self, name: str) -> Sequence[DialectEvent]:
        from hookline.dialects.gemini_cli.events import recorded_events_of  # noqa: PLC0415 as above

        return recorded_events_of(self.events[name])

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        """Report silent exits: an exit code without text denies nothing there."""
        from hookline.dialects.report import about  # noqa: PLC0415 only for doctor

        for hook in hooks:
            if hook.policy.may & Capability.BLOCK and _SILENT.fullmatch(
                getattr(hook.spec, "command", "")[:2000]
            ):
                message = "it exits silently, so Gemini CLI runs the call"
                fix = "print the reason to stderr before exit 2"
                yield about(hook, "error", "silent-exit", message, "command", fix=fix)

    @property
    def own_plugin(self) -> "OwnPlugin":
        from hookline.dialects.own_plugin import OwnPlugin, about  # noqa: PLC0415 only to install

        return OwnPlugin(
            "extensions/hookline-plugin",
            "gemini-extension.json",
            # Two extensions of one name would be one.
            lambda version, servers: {**about(version), "name": "hookline-plugin", "mcpServers": servers},
        )

    @property
    def installer(self) -> "GeminiInstaller":
        from hookline.dialects.gemini_cli.installer import GeminiInstaller  # noqa: PLC0415 only to install

        return GeminiInstaller(self)

    @property
    def transcripts(self) -> "GeminiTranscripts":
        from hookline.dialects.gemini_cli.transcript import GeminiTranscripts  # noqa: PLC0415 only to look back

        return GeminiTranscripts()

    def call_entries(self, calls: Sequence[HookCall]) -> str:
        """Write entries in milliseconds, closed where Hookline cannot be started: exit 1 and a signal let a
        call pass there."""
        closed = closed_guards(calls)
        return as_json({"hooks": {call.event: [{"hooks": [_entry(call)]}] for call in closed}})


def _entry(call: HookCall) -> dict[str, Any]:
    return {"type": "command", "name": "hookline", "command": call.command, "timeout": call.seconds * 1000}


def trust_rule(rules: Mapping[str, Any], cwd: str) -> tuple[str, Any] | None:
    """Return the rule about a directory: that of the longest path."""
    here = os.path.abspath(cwd)
    for directory, rule in sorted(rules.items(), key=lambda rule: -len(rule[0])):
        root = os.path.dirname(directory) if rule == "TRUST_PARENT" else directory
        if f"{here}/".startswith(root.rstrip("/") + "/"):
            return directory, rule
    return None


def _homes(env: Mapping[str, str]) -> list[str]:
    """List the directory that a variable names, and the usual one: a variable must not hide the user's own hooks."""
    found = (env.get("GEMINI_CLI_HOME", ""), env.get("HOME", ""))
    return list(dict.fromkeys(os.path.normpath(each) for each in found if os.path.isabs(each)))


def _system(files: Mapping[str, Sequence[str]], env: Mapping[str, str]) -> list[ConfigPath]:
    named = [ConfigPath(env[name], "user") for name in files if os.path.isabs(env.get(name, ""))]
    return named + [ConfigPath(file, "managed") for usual in files.values() for file in usual]


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> GeminiCli:
    return GeminiCli()
