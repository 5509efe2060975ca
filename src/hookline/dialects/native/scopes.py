"""Combine native files: they add up. Only the user switches a hook off, by its name."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from hookline.dialects.dialect import DialectEvent, Disabled, Followed, Layer, LoadedHooks, Tools
from hookline.dialects.native.settings import FileReader
from hookline.documents.document import misshaped
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.hook import Hook, Scope
from hookline.model.wire import Wire

_DISABLE: Final = "disable"
_ACTIONS: Final = "actions"
_FOUND: Final[frozenset[Scope]] = frozenset(("managed", "user", "project", "local"))
#: Files of other scopes were named one by one, and come between these as they were named.
_FIRST: Final[Mapping[Scope, int]] = {"managed": 0, "user": 1, "local": 3}


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    """Read managed hooks, the user's, the project's, then local ones. Of two formats in one directory the
    first is read."""
    places: dict[str, list[Layer]] = {}
    for number, layer in enumerate(layers):
        # Files that were named one by one are all meant.
        found = layer.config_path.scope in _FOUND
        key = layer.config_path.file.rpartition(".")[0] if found else f"{number}"
        places.setdefault(key, []).append(layer)
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    disabled: list[Disabled] = []
    followed: list[Followed] = []
    unused: list[str] = []
    for first, *others in places.values():
        unused += [other.config_path.file for other in others]
        # In a directory that may not be searched the formats are unknown.
        known = [each for each in others if not (_unreadable(first) and _unreadable(each))]
        diagnostics += _two_formats(first.config_path.file, [each.config_path.file for each in known])
        reader = FileReader(first, tools, events, wire)
        hooks += reader.all_hooks()
        disabled += _disabled(reader)
        followed += _followed(reader)
        diagnostics += reader.report.diagnostics
    hooks.sort(key=lambda hook: _FIRST.get(hook.scope, 2))
    return LoadedHooks(tuple(hooks), tuple(diagnostics), tuple(unused), tuple(disabled), tuple(followed))


def _disabled(reader: FileReader) -> Sequence[Disabled]:
    """Return the hooks that the file switches off. Only the user's own file can."""
    document = reader.report.document
    value: Any = document.value
    names: Any = cast("Mapping[str, Any]", value).get(_DISABLE) if isinstance(value, Mapping) else None
    if names is None:
        return ()
    if reader.scope != "user":
        _refuse(reader)
        return ()
    instead = misshaped(names, "a list of texts")
    if instead is not None:
        message = f"{_DISABLE} is {instead}, so it switches nothing off"
        reader.report.say("error", "wrong-type", message, _DISABLE, fix=reader.setting(_DISABLE, '["name"]'))
        return ()
    if reader.twice_below((_DISABLE,)):  # it is unknown which of the two lists was meant
        return ()
    return [
        Disabled(name, document.where(_DISABLE, index)) for index, name in enumerate(cast("list[str]", names))
    ]


def _followed(reader: FileReader) -> Sequence[Followed]:
    """Return the hooks of other formats that the file makes follow actions. It only adds to what guards see."""
    document = reader.report.document
    value: Any = document.value
    given: Any = cast("Mapping[str, Any]", value).get(_ACTIONS) if isinstance(value, Mapping) else None
    if given is None:
        return ()
    if given == "all":
        return (Followed("all", document.where(_ACTIONS)),)
    if misshaped(given, "a list of texts") is not None:
        message = f'{_ACTIONS} is neither "all" nor a list of hooks or files, so it counts as "all"'
        reader.report.say("error", "wrong-type", message, _ACTIONS, fix=reader.setting(_ACTIONS, '"all"'))
        return (Followed("all", document.where(_ACTIONS)),)
    names = cast("list[str]", given)
    return [Followed(name, document.where(_ACTIONS, index)) for index, name in enumerate(names)]


def _refuse(reader: FileReader) -> None:
    yours = "~/.config/hookline/hooks.toml"
    if reader.scope in _FOUND:
        message = f"{_DISABLE} has no effect here: hooks are switched off only by the user's own file"
        reader.report.say("error", "misplaced-disable", message, _DISABLE, fix=f"move it to {yours}")
    else:
        message = f"{_DISABLE} is used only where the file is {yours}"
        reader.report.say("info", "misplaced-disable", message, _DISABLE)


def _unreadable(layer: Layer) -> bool:
    return any(each.code == "unreadable" for each in layer.document.diagnostics)


def _two_formats(first: str, others: Sequence[str]) -> list[Diagnostic]:
    """Report two formats in one directory: that is never intended, and guessing would disable hooks."""
    if not others:
        return []
    names = ", ".join(os.path.basename(other) for other in others)
    message = f"{names} is not read, because {os.path.basename(first)} is in the same directory"
    fix = f"keep one of {os.path.basename(first)}, {names}"
    return [Diagnostic("error", "two-formats", message, Where(others[0]), fix=fix)]
