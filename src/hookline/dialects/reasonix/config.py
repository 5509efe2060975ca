"""Reasonix's settings: `hooks.<Event>` is a flat list of entries, and the project's come before the user's."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import Layer, Place, Reading, Spelled, Tools
from hookline.dialects.reasonix.entry import EntryReader, Wires
from hookline.dialects.reporting import Report
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook, Scope

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
    return users if own in files else [Place(own, "project", needs_trust=True), *users]


def recognises(value: Any, spellings: Mapping[str, Spelled]) -> bool:
    """Entries with a command right under its events: other agents have groups there, or other names."""
    hooks = _mapping(_mapping(value).get("hooks"))
    lists = [
        cast("list[Any]", some)
        for name, some in hooks.items()
        if name in spellings and isinstance(some, list)
    ]
    entries = [_mapping(entry) for some in lists for entry in some]
    return any("command" in entry for entry in entries) and not any("hooks" in entry for entry in entries)


def read(layers: Sequence[Layer], tools: Tools, spellings: Mapping[str, Spelled], wires: Wires) -> Reading:
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    user: str | None = None
    for layer in sorted(layers, key=lambda each: _ORDER.get(each.place.scope, 4)):
        report = Report(layer.document)
        if layer.place.scope == "user" and user is not None:
            message = f"it is not read, because {user} is there"
            report.say("info", "not-in-force", message, fix="keep one of the two")
        else:
            hooks.extend(_hooks(report, layer.place.scope, tools, spellings, wires))
            user = layer.place.file if layer.place.scope == "user" else user
        diagnostics.extend(report.diagnostics)
    return Reading(tuple(hooks), tuple(diagnostics))


def _hooks(
    report: Report, scope: Scope, tools: Tools, spellings: Mapping[str, Spelled], wires: Wires
) -> list[Hook]:
    table = _table(report, spellings)
    for name in table:
        if name not in spellings:
            report.unknown("event", name, spellings, "hooks", name)
    hooks: list[Hook] = []
    # In the order of the events, as the agent lists them, not of the file.
    for name, spelled in spellings.items():
        if name in table:
            reader = EntryReader(report, tools, wires, spelled, scope)
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


def _table(report: Report, spellings: Mapping[str, Spelled]) -> Mapping[str, Any]:
    """What stands under `hooks`; the other keys of the file are other settings."""
    value = report.document.value
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        report.say("error", "not-a-table", "the file does not hold an object with hooks in it")
        return {}
    settings = cast("Mapping[str, Any]", value)
    for key in settings:
        if key in spellings:
            message = f"{key} stands outside hooks, where nobody reads it"
            report.say("error", "misplaced-event", message, key, fix=f'"hooks": {{"{key}": [...]}}')
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, Mapping):
        report.say("error", "not-a-table", "hooks is not an object of events", "hooks")
        return {}
    return cast("Mapping[str, Any]", hooks)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
