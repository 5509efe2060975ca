"""Reasonix's settings: `hooks.<Event>` is a flat list of entries, and the project's come before the user's."""

import math
import os
import re
import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent, Layer, Place, Reading, Tools
from hookline.dialects.labels import command_label, shortened
from hookline.dialects.reasonix.claude_format import EitherName
from hookline.dialects.reasonix.events import NAME, TOOL_EVENTS, events_of
from hookline.dialects.report import Report
from hookline.handlers.command import CommandSpec
from hookline.matching.matchers import regex_or_names
from hookline.matching.tool_rules import looks_like_tool_pattern
from hookline.model.diagnostics import Diagnostic, Path, Severity
from hookline.model.errors import PatternError
from hookline.model.hook import Hook, Matcher, Scope
from hookline.model.wire import Wire

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "match": "text",
        "command": "text",
        "description": "text",
        "timeout": "a number",
        "cwd": "text",
        "env": "an object of texts",
        "payloadFormat": "text",
        "name": "text",
        "contextFile": "text",
        "model_context": "true or false",
    }
)
#: Read by some version of the agent, and by nothing here: what would be different without a word is said.
_UNREAD: Mapping[str, str] = {
    "contextFile": "contextFile is read from plugins alone, not from settings",
    "model_context": "model_context is not read",
}
_CLAUDE = "claude"

#: Plain names joined by | need no regular expression to mean the same.
_NAMES = frozenset(string.ascii_letters + string.digits + "_-|")
#: A star that repeats the letter before it, where somebody meant "anything".
_GLOB = re.compile(r"[\w|-]*\w\*[\w|*-]*|\*[\w|*-]+")
#: No tool has a blank or a comma in its name; in a count or a class they mean something.
_BLANK = re.compile(r"[,\s]")
_COUNTS_AND_CLASSES = re.compile(r"\{[^}]*\}|\[[^\]]*\]")
#: Whoever writes one of these knows what a regular expression is.
_ANYTHING = re.compile(r"[\\.]")
#: Shorter than any program needs to start; whoever wrote it thought of seconds.
_SECONDS_MEANT = 200
#: The longest a timer of the agent runs; beyond it, it goes off at once.
_LONGEST_MS = 2**31 - 1


class Wires(Struct, frozen=True):
    own: Wire
    claude: Wire


class EntryReader:
    """Reads one entry of one file; made for it and thrown away."""

    def __init__(
        self, report: Report, tools: Tools, wires: Wires, own_event: DialectEvent, scope: Scope
    ) -> None:
        self._report = report
        self._tools = tools
        self._wires = wires
        self._own_event = own_event
        self._scope: Scope = scope
        self._path: Path = ()
        self._name: str | None = None

    def hooks(self, entry: Mapping[str, Any], path: Path) -> list[Hook]:
        """One hook per event the entry registers on; none when it cannot be used."""
        self._path = path
        own = entry.get("name")
        self._name = (shortened(own) or None) if isinstance(own, str) else None
        command = entry.get("command")
        if not self._has_command(entry):
            return []
        self._name = self._label(entry, str(command))
        fields, sound = self._report.fields(entry, FIELDS, *path, hook=self._name)
        for key, message in _UNREAD.items():
            if key in fields:
                self._say("warning", "unread-field", message, key, fix=f"remove {key}")
        claude = self._claude(fields)
        matcher, readable = self._matcher(fields.get("match"), claude=claude)
        timeout = self._timeout(fields.get("timeout"))
        spec = CommandSpec(command=str(command), env=fields.get("env", {}), cwd=fields.get("cwd") or None)
        if not (sound and readable and self._runs(spec)):
            return []
        where = self._report.document.where(*path)
        return [
            Hook(
                name=self._name,
                event=event,
                policy=self._own_event.policy,
                wire=self._wires.claude if claude else self._wires.own,
                kind="command",
                spec=spec,
                matcher=matcher,
                timeout=timeout,
                dialect=NAME,
                scope=self._scope,
                where=where,
            )
            for event in events_of(self._own_event)
        ]

    def _say(
        self, severity: Severity, code: str, message: str, *path: str | int, fix: str | None = None
    ) -> None:
        self._report.say(severity, code, message, *self._path, *path, fix=fix, hook=self._name)

    def _has_command(self, entry: Mapping[str, Any]) -> bool:
        command = entry.get("command")
        if isinstance(command, str) and command.strip():
            return True
        if "hooks" in entry and command is None:
            fix = "put match and command into the entry itself"
            self._say("error", "nested-group", "Reasonix has no groups: an entry is one hook", fix=fix)
        elif command is None:
            self._say("error", "missing-field", "a hook needs a command", fix='"command": "..."')
        elif isinstance(command, str):
            self._say("error", "missing-field", "command is empty", "command", fix="say what to run")
        else:
            self._say("error", "wrong-type", "command is not text", "command", fix="one line for the shell")
        return False

    def _label(self, entry: Mapping[str, Any], command: str) -> str:
        name = entry.get("name")
        own = shortened(name) if isinstance(name, str) else ""
        return own or command_label(command)

    def _claude(self, fields: Mapping[str, Any]) -> bool:
        word = fields.get("payloadFormat")
        if word not in (None, "", _CLAUDE):
            message = f"payloadFormat is {word[:40]!r}, so the payload is Reasonix's own"
            self._say(
                "warning", "unknown-format", message, "payloadFormat", fix=f'"{_CLAUDE}", or leave it out'
            )
        return word == _CLAUDE

    def _matcher(self, text: str | None, *, claude: bool) -> tuple[Matcher | None, bool]:
        """The matcher, and whether it could be read; one that could not never fires there."""
        if text is None or text.strip() in ("", "*"):
            return None, True
        if self._own_event.name not in TOOL_EVENTS:
            message = f"match is not read at {self._own_event.name}, so this hook runs every time"
            self._say("warning", "unread-matcher", message, "match", fix="remove match")
            return None, True
        try:
            matcher = regex_or_names(text, self._tools.patterns, anchored=True, plain=_NAMES)
        except PatternError as error:
            self._say("error", "bad-pattern", f"match: {error}", "match")
            return None, False
        fix = None if _NAMES.issuperset(text) else _meant(text)
        if fix is not None:
            message = "match is a regular expression for the whole name of a tool, and this one fits none"
            self._say("warning", "dead-matcher", message, "match", fix=fix)
        return (EitherName(matcher) if claude and matcher is not None else matcher), True

    def _timeout(self, milliseconds: float | None) -> float:
        usual = self._own_event.timeout
        if milliseconds is None:
            return usual
        fix = f"leave it out for {usual * 1000:.0f} milliseconds"
        if not math.isfinite(milliseconds) or not 0 < milliseconds <= _LONGEST_MS:
            message = f"timeout is {milliseconds:g}, so the usual {usual * 1000:.0f} milliseconds hold"
            self._say("warning", "bad-timeout", message, "timeout", fix=fix)
            return usual
        if milliseconds < _SECONDS_MEANT:
            message = f"timeout counts milliseconds: {milliseconds:g} is {milliseconds / 1000:g} seconds"
            self._say("warning", "timeout-unit", message, "timeout", fix=f"{milliseconds * 1000:.0f}")
        return milliseconds / 1000

    def _runs(self, spec: CommandSpec) -> bool:
        handler = self._tools.handlers.get("command")
        wrong = "no handler for command hooks was given" if handler is None else handler.problem(spec)
        if wrong is not None:
            self._say("error", "cannot-run", wrong, "command")
        return wrong is None


def _meant(text: str) -> str | None:
    """What a pattern that fits no tool was probably meant to be."""
    if "(" in text and looks_like_tool_pattern(text):
        return f'"{text.partition("(")[0]}": arguments are in the payload, not in match'
    if _ANYTHING.search(text):
        return None
    if _BLANK.search(_COUNTS_AND_CLASSES.sub("", text)):
        return '"' + "|".join(re.split(r"[\s,|]+", text.strip())) + '"'
    return f'"{text.replace("*", ".*")}"' if "*" in text and _GLOB.fullmatch(text) else None


FOLDER = ".reasonix"
FILE = "settings.json"

#: The project's hooks run first, so that the nearest one decides.
_ORDER: Mapping[Scope, int] = {"managed": 0, "project": 1, "local": 1, "plugin": 2, "user": 3}


def places(project: str, env: Mapping[str, str]) -> Sequence[Place]:
    """The home that REASONIX_HOME names is looked into before the usual one."""
    homes: list[str] = []
    if os.path.isabs(env.get("REASONIX_HOME", "")):
        homes.append(env["REASONIX_HOME"])
    if os.path.isabs(env.get("HOME", "")):
        homes.append(os.path.join(env["HOME"], FOLDER))
    files = list(dict.fromkeys(os.path.normpath(os.path.join(home, FILE)) for home in homes))
    users = [Place(file, "user") for file in files]
    if not project:
        return users
    own = os.path.normpath(os.path.join(project, FOLDER, FILE))
    # In the home directory both are one file, whose hooks must not run twice.
    return users if own in files else [Place(own, "project"), *users]


def recognises(value: Any, dialect_events: Mapping[str, DialectEvent]) -> bool:
    """Entries with a command right under its events: other agents have groups there, or other names."""
    hooks = _mapping(_mapping(value).get("hooks"))
    lists = [
        cast("list[Any]", some)
        for name, some in hooks.items()
        if name in dialect_events and isinstance(some, list)
    ]
    entries = [_mapping(entry) for some in lists for entry in some]
    return any("command" in entry for entry in entries) and not any("hooks" in entry for entry in entries)


def read(
    layers: Sequence[Layer], tools: Tools, dialect_events: Mapping[str, DialectEvent], wires: Wires
) -> Reading:
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    user: str | None = None
    for layer in sorted(layers, key=lambda each: _ORDER.get(each.place.scope, 4)):
        report = Report(layer.document)
        if layer.place.scope == "user" and user is not None:
            message = f"it is not read, because {user} is there"
            report.say("info", "not-in-force", message, fix="keep one of the two")
        else:
            hooks.extend(_hooks(report, layer.place.scope, tools, dialect_events, wires))
            user = layer.place.file if layer.place.scope == "user" else user
        diagnostics.extend(report.diagnostics)
    return Reading(tuple(hooks), tuple(diagnostics))


def _hooks(
    report: Report, scope: Scope, tools: Tools, dialect_events: Mapping[str, DialectEvent], wires: Wires
) -> list[Hook]:
    table = _table(report, dialect_events)
    for name in table:
        if name not in dialect_events:
            report.unknown("event", name, dialect_events, "hooks", name)
    hooks: list[Hook] = []
    # In the order of the events, as the agent lists them, not of the file.
    for name, event_name in dialect_events.items():
        if name in table:
            reader = EntryReader(report, tools, wires, event_name, scope)
            hooks.extend(_event_hooks(report, reader, name, table[name]))
    return hooks


def _event_hooks(report: Report, reader: EntryReader, name: str, entries: Any) -> list[Hook]:
    if not isinstance(entries, list):
        message = f"{name} is not a list of entries"
        report.say("error", "not-a-list", message, "hooks", name, fix='[{"command": "..."}]')
        return []
    hooks: list[Hook] = []
    for index, entry in enumerate(cast("list[Any]", entries)):
        path = ("hooks", name, index)
        if isinstance(entry, Mapping):
            hooks.extend(reader.hooks(cast("Mapping[str, Any]", entry), path))
        else:
            report.say("error", "not-a-table", "an entry is not an object", *path, fix='{"command": "..."}')
    return hooks


def _table(report: Report, dialect_events: Mapping[str, DialectEvent]) -> Mapping[str, Any]:
    """What stands under `hooks`; the other keys of the file are other settings."""
    value = report.document.value
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        report.say("error", "not-a-table", "the file does not hold an object with hooks in it")
        return {}
    settings = cast("Mapping[str, Any]", value)
    for key in settings:
        if key in dialect_events:
            message = f"{key} stands outside hooks, where nobody reads it"
            report.say("error", "misplaced-event", message, key, fix=f'"hooks": {{"{key}": [...]}}')
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, Mapping):
        report.say("error", "not-a-table", "hooks is not an object of events", "hooks")
        return {}
    return cast("Mapping[str, Any]", hooks)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
