"""Read Reasonix's settings: `hooks.<Event>` is a flat list of entries, and the project's come before the
user's."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.settings import (
    Fields,
    FileLayout,
    Group,
    HookKind,
    MatcherNote,
    Matching,
    name_or_command,
)
from hookline.dialects.family.tool_regex import read_tool_regex
from hookline.dialects.reasonix.claude_format import TOOL_NAMES
from hookline.dialects.reasonix.events import NAME, TOOL_EVENTS, events_of
from hookline.dialects.reasonix.wire import ClaudeFormatWire, ReasonixWire
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Diagnostic, Path, Repair, Severity
from hookline.model.hook import Hook, Matcher, Scope

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "match": "text", "command": "text", "description": "text", "timeout": "a number", "cwd": "text",
        "env": "an object of texts", "payloadFormat": "text", "name": "text", "contextFile": "text",
        "model_context": "true or false",
    }
)  # fmt: skip
#: Read by some version of the agent, and not here.
_UNREAD: Mapping[str, str] = {
    "contextFile": "contextFile is read from plugins only, not from settings",
    "model_context": "model_context is not read",
}
_CLAUDE = "claude"
#: The released agent's silent reaction to a value of a wrong type.
_LOST_FILE = "Reasonix 1.x then reads no hook of the file"
#: Milliseconds that are too few for a program to start: seconds were meant.
_SECONDS_MEANT = 200
#: The longest timer of the agent; a longer one fires at once.
_LONGEST_MS = 2**31 - 1
#: The project's hooks run first, so that the nearest one decides.
_ORDER: Mapping[Scope, int] = {"managed": 0, "project": 1, "local": 1, "plugin": 2, "user": 3}


def _spec(fields: Fields) -> CommandSpec:
    return CommandSpec(fields["command"], env=fields.get("env", {}), cwd=fields.get("cwd") or None)


KINDS = MappingProxyType({"command": HookKind({}, _spec, name_or_command, ("command",))})


class ClaudeNames(Struct, frozen=True):
    """A matcher for tools by Claude Code's names for them; its own names do not match."""

    inner: Matcher

    @property
    def text(self) -> str:
        return self.inner.text

    def matches(self, subject: str) -> bool:
        return any(map(self.inner.matches, TOOL_NAMES.get(subject, (subject,))))


class EntryReader(family.EntryReader):
    """A reader of one entry. It has no type and no group: it is one command with its own matcher."""

    file: "FileReader"
    dialect, common, kinds, default_kind = NAME, FIELDS, KINDS, "command"
    drops_bad_timeout = False

    def hooks(self) -> Sequence[Hook]:
        if self.entry.get("command") is None:
            # Only this is reported: another field with the command in it is the same mistake.
            self.name = name_or_command(self.entry) or None
            if "hooks" in self.entry:
                fix = "put match and command into the entry itself"
                self.say("error", "nested-group", "Reasonix has no groups: an entry is one hook", fix=fix)
            else:
                self.say("error", "missing-field", "a hook needs a command", fix='"command": "..."')
            return ()
        found, own_event = super().hooks(), self.group.own_event
        events = events_of(own_event)
        if events == (own_event.event,):
            return found
        return [replace(hook, event=event) for hook in found for event in events]

    def say(
        self,
        severity: Severity,
        code: str,
        message: str,
        *path: str | int,
        fix: str | None = None,
        repair: Repair | None = None,
    ) -> None:
        shown = f"{message}; {_LOST_FILE}" if code == "wrong-type" else message
        super().say(severity, code, shown, *path, fix=fix, repair=repair)

    def find_kind(self) -> HookKind | None:
        self.kind = "command"
        return KINDS["command"]

    def unread(self, key: str, kind: HookKind) -> None:
        # An entry without a command is one mistake, whatever its fields are called.
        if self.entry.get("command") is not None:
            super().unread(key, kind)

    def hook(self, kind: HookKind) -> Hook | None:
        for key, message in _UNREAD.items():
            if key in self.fields:
                self.say("warning", "unread-field", message, key, fix=f"remove {key}")
        matching = self.file.read_matcher(self.group.own_event, self.fields.get("match", ""))
        if (note := matching.note) is not None:
            self.say(note.severity, note.code, note.message, "match", fix=note.fix)
        if self._speaks_claude():
            self.wire, matcher = self.file.claude_wire, matching.matcher
            matching = Matching(None if matcher is None else ClaudeNames(matcher))
        self.group = Group(self.group.own_event, "", matching)
        return super().hook(kind)

    def _speaks_claude(self) -> bool:
        word = self.fields.get("payloadFormat")
        if word not in (None, "", _CLAUDE):
            message = f"payloadFormat is {word[:40]!r}, so the payload is Reasonix's own"
            fix = f'"{_CLAUDE}", or leave it out'
            self.say("warning", "unknown-format", message, "payloadFormat", fix=fix)
        return word == _CLAUDE

    def timeout(self) -> float:
        usual, milliseconds = self.usual_timeout(), self.fields.get("timeout")
        if milliseconds is None:
            return usual
        if not 0 < milliseconds <= _LONGEST_MS:
            message = f"timeout is {milliseconds:g}, not milliseconds above 0"
            self.bad_timeout(message, f"{usual * 1000:.0f} milliseconds")
            return usual
        if isinstance(milliseconds, float):
            message = f"timeout is {milliseconds:g}, not a whole number: {_LOST_FILE}"
            self.say("warning", "not-in-releases", message, "timeout", fix=f"{milliseconds:.0f}")
        if milliseconds < _SECONDS_MEANT:
            message = f"timeout counts milliseconds: {milliseconds:g} is {milliseconds / 1000:g} seconds"
            repair = Repair("set", ("timeout",), int(milliseconds * 1000))
            fix = f"{milliseconds * 1000:.0f}"
            self.say("warning", "timeout-unit", message, "timeout", fix=fix, repair=repair)
        return milliseconds / 1000


class FileReader(family.FileReader):
    entry_reader = EntryReader
    layouts = (FileLayout(("entries",)),)

    def __init__(
        self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: ReasonixWire
    ) -> None:
        super().__init__(layer, tools, events, wire)
        self.claude_wire = ClaudeFormatWire(events)

    def event_hooks(self, own_event: DialectEvent, groups: Any, path: Path) -> Sequence[Hook] | None:
        if not isinstance(groups, list):
            fix = '[{"command": "..."}]'
            message = f"{own_event.name} is not a list of entries; {_LOST_FILE}"
            return self.refuse(own_event, "not-a-list", message, path, fix)
        entries, shared = cast("list[Any]", groups), Group(own_event)
        return [
            hook
            for index, entry in enumerate(entries)
            for hook in self.entry_hooks(shared, entry, (*path, index))
        ]

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        if text.strip() in ("", "*") or own_event.name in TOOL_EVENTS:
            return read_tool_regex(text, self.tools.patterns, "match")
        message = f"match is not read at {own_event.name}, so this hook runs every time"
        return Matching(note=MatcherNote("unread-matcher", message, "remove match"))


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: ReasonixWire
) -> LoadedHooks:
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    user: str | None = None
    for layer in sorted(layers, key=lambda each: _ORDER.get(each.config_path.scope, 4)):
        file = FileReader(layer, tools, events, wire)
        if layer.config_path.scope == "user" and user is not None:
            message = f"ignored: {user} takes precedence"
            file.report.say("info", "not-in-force", message, fix="keep one of the two")
        else:
            found = file.hooks()
            # In the order of the events, as the agent lists them, not of the file.
            hooks.extend(hook for name in events for hook in found.get(name, ()))
            user = layer.config_path.file if layer.config_path.scope == "user" else user
        diagnostics.extend(file.report.diagnostics)
    return LoadedHooks(tuple(hooks), tuple(diagnostics))
