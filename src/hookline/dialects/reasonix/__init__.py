"""Run Reasonix's hooks: `.reasonix/settings.json`, command hooks that answer by exit code and by marked
lines.

Not supported of the v1 line: hooks that come with plugins (contextFile, REASONIX_* variables), PostLLMCall
text instead of the reasoning, model_context, settings files in GB18030, and most of the tables by which
`payloadFormat: claude` renames tools and arguments.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.dialect import ConfigPath, Dialect, DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.entries import HookCall, as_json, closed_guards
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.dialects.installer import Installer
    from hookline.dialects.reasonix.wire import ReasonixWire

#: Events of the hook system that was proposed to Reasonix; its 1.x releases ignore entries under these names.
_NOT_IN_RELEASES = frozenset({"TurnStart", "TurnEnd", "PreModelCall", "PostModelCall"})


class Reasonix(Dialect):
    name = "reasonix"
    title = "Reasonix"
    repeats_entries = True
    directory = ".reasonix"
    unsearched = "plugins"
    project_files = (".reasonix/settings.json",)
    timeout_unit = "ms"
    event_key = "event"
    #: Its entries may ask for Claude Code's payloads.
    speaks = ("claude-code",)
    call_file = ".reasonix/settings.json in a project, or ~/.reasonix/settings.json for all of them"
    call_events = (
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TurnEnd", "Stop", "SessionEnd",
    )  # fmt: skip

    @cached_property
    def wire(self) -> "ReasonixWire":
        from hookline.dialects.reasonix.wire import ReasonixWire  # noqa: PLC0415 facts are asked for without it

        return ReasonixWire(self.events)

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        from hookline.dialects.reasonix.events import dialect_events  # noqa: PLC0415 as above

        return dialect_events()

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List the directory that REASONIX_HOME names before the usual one."""
        own, home = env.get("REASONIX_HOME", ""), env.get("HOME", "")
        homes = [own, os.path.join(home, self.directory) if os.path.isabs(home) else ""]
        files = [os.path.normpath(f"{each}/settings.json") for each in homes if os.path.isabs(each)]
        users = [ConfigPath(file, "user") for file in dict.fromkeys(files)]
        file = os.path.normpath(os.path.join(project, self.project_files[0])) if project else ""
        # In the home directory both are one file, whose hooks must not run twice.
        return users if not file or file in files else [ConfigPath(file, "project"), *users]

    def recognises(self, value: Any) -> bool:
        """Return True for entries with a command right under its events: other agents have groups there, or
        other names."""
        hooks = _mapping(_mapping(value).get("hooks"))
        entries = [
            _mapping(entry)
            for name, some in hooks.items()
            if name in self.events and isinstance(some, list)
            for entry in cast("list[Any]", some)
        ]
        return any("command" in each for each in entries) and not any("hooks" in each for each in entries)

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        from hookline.dialects.reasonix.settings import read_layers  # noqa: PLC0415 as above

        return read_layers(layers, tools, self.events, self.wire)

    def recorded_events(self, name: str) -> Sequence[DialectEvent]:
        from hookline.dialects.reasonix.events import events_of  # noqa: PLC0415 as above

        known = self.events[name]
        return [DialectEvent(event, known.policy, known.timeout) for event in events_of(known)]

    def field_path(self, entry: Path, field: str) -> Path:
        """Return the path; the entry itself has the matcher."""
        return (*entry, "match" if field == "matcher" else field)

    @property
    def installer(self) -> "Installer":
        from hookline.dialects.installer import Installer  # noqa: PLC0415 only to install

        return Installer(self, self._user_settings)

    def _user_settings(self, env: Mapping[str, str]) -> str | None:
        return next((config_path.file for config_path in self.config_paths("", env)), None)

    def call_entries(self, calls: Sequence[HookCall]) -> str:
        """Write a flat list for each event, in milliseconds; guards are closed in the shell, because Reasonix
        only warns of other failures than exit 2."""
        closed = closed_guards(calls)
        entries = {call.event: [{"command": call.command, "timeout": call.seconds * 1000}] for call in closed}
        return as_json({"hooks": entries})

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        from hookline.dialects.reasonix.wire import ClaudeFormatWire  # noqa: PLC0415 only for doctor
        from hookline.dialects.report import about  # noqa: PLC0415 only for doctor

        for hook in hooks:
            name = hook.policy.event_name
            if name in _NOT_IN_RELEASES:
                message = f"Reasonix 1.x has no event {name} and ignores this entry; Hookline runs it"
                yield about(hook, "info", "not-in-releases", message)
            if isinstance(hook.wire, ClaudeFormatWire):
                message = "Reasonix 1.x ignores payloadFormat in settings and gives this hook its own payload"
                yield about(hook, "info", "not-in-releases", message, "payloadFormat")


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Reasonix:
    return Reasonix()


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
