"""gen-code's settings files, and how they are laid over each other.

For each event the highest `.gen` file that names it decides alone, an empty list included. Only where none does,
the `.claude` files count, one after another. Only where those have nothing either, plugins do.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct

from hookline.dialects.dialect import Layer, Reading, Spelled, Tools
from hookline.dialects.gencode.entry import Group, Surroundings, read_entry
from hookline.dialects.gencode.matchers import EVERYTHING, Matching, read_matcher
from hookline.dialects.reporting import Report
from hookline.documents.shapes import misshaped
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.hook import Hook
from hookline.model.wire import Wire

_Kind = Literal["own", "claude", "plugin"]
#: What `.claude` files say about these is not taken over: consent given to one agent is not given to another.
_NOT_INHERITED = frozenset({"PermissionRequest"})
_GROUP_FIELDS = ("matcher", "hooks")


class _File(Struct, frozen=True):
    """One file, read: the hooks of each event it names."""

    kind: _Kind
    hooks: Mapping[str, Sequence[Hook]]
    diagnostics: Sequence[Diagnostic]


def read_layers(
    layers: Sequence[Layer], tools: Tools, spellings: Mapping[str, Spelled], wire: Wire
) -> Reading:
    files = [_FileReader(layer, tools, spellings, wire).file() for layer in layers]
    hooks = [hook for name in spellings for hook in _in_force(name, files)]
    return Reading(tuple(hooks), tuple(one for file in files for one in file.diagnostics))


def _in_force(event: str, files: Sequence[_File]) -> Sequence[Hook]:
    own = [file.hooks[event] for file in files if file.kind == "own" and event in file.hooks]
    if own:
        return own[-1]
    for kind in ("claude", "plugin"):
        lists = [file.hooks[event] for file in files if file.kind == kind and event in file.hooks]
        if lists:
            return [hook for hooks in lists for hook in hooks]
    return ()


class _FileReader:
    """Reads one file; made for it and thrown away."""

    def __init__(self, layer: Layer, tools: Tools, spellings: Mapping[str, Spelled], wire: Wire) -> None:
        self._report = Report(layer.document)
        self._spellings = spellings
        self._kind: _Kind = _kind(layer)
        self._tools = tools
        root = _plugin_root(layer.place.file) if self._kind == "plugin" else None
        self._around = Surroundings(tools, wire, self._report, layer.place.scope, root)
        #: Most groups of a file share a few matchers.
        self._matchings: dict[tuple[str, str], Matching] = {}

    def file(self) -> _File:
        hooks: dict[str, Sequence[Hook]] = {}
        for name, groups in self._table().items():
            spelled = self._spellings.get(name)
            if spelled is None:
                self._report.unknown("event", name, self._spellings, "hooks", name)
            elif not isinstance(groups, list):
                self._report.say(
                    "error",
                    "not-a-list",
                    f"{name} is not a list of groups",
                    "hooks",
                    name,
                    fix='[{"hooks": [...]}]',
                )
            elif self._kind == "claude" and name in _NOT_INHERITED:
                message = f"gen-code does not take over the {name} hooks of a .claude file"
                self._report.say(
                    "warning", "not-inherited", message, "hooks", name, fix="put them into .gen/settings.json"
                )
            else:
                hooks[name] = self._event(spelled, cast("list[Any]", groups))
        return _File(self._kind, hooks, self._report.diagnostics)

    def _table(self) -> Mapping[str, Any]:
        """What stands under `hooks`; other keys are other settings."""
        value = self._report.document.value
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self._report.say("error", "not-an-object", "the file does not hold an object with hooks in it")
            return {}
        settings = cast("Mapping[str, Any]", value)
        for key in settings:
            if key in self._spellings:
                message = f"{key} stands outside hooks, where nobody reads it"
                self._report.say("error", "misplaced-event", message, key, fix=f"hooks.{key}")
        hooks = settings.get("hooks")
        if isinstance(hooks, Mapping):
            return cast("Mapping[str, Any]", hooks)
        # A plugin's manifest may name the file its hooks are in.
        if hooks is not None and not (self._kind == "plugin" and isinstance(hooks, str)):
            self._report.say("error", "not-an-object", f"hooks is {misshaped(hooks, 'an object')}", "hooks")
        return {}

    def _event(self, spelled: Spelled, groups: Sequence[Any]) -> Sequence[Hook]:
        hooks: list[Hook] = []
        for index, group in enumerate(groups):
            self._group(spelled, group, ("hooks", spelled.name, index), hooks)
        return hooks

    def _group(self, spelled: Spelled, group: Any, path: Path, hooks: list[Hook]) -> None:
        if not isinstance(group, Mapping):
            self._report.say("error", "not-an-object", "a group is not an object with hooks", *path)
            return
        table = cast("Mapping[str, Any]", group)
        entries, text = table.get("hooks"), table.get("matcher")
        if not isinstance(entries, list):
            fix = '"hooks": [{...}]' if "hooks" in table else 'put the entry into "hooks": [...]'
            self._report.say("error", "missing-field", "a group needs a list of hooks", *path, fix=fix)
            return
        for key in table:
            if key not in _GROUP_FIELDS:
                self._report.unknown("field", key, _GROUP_FIELDS, *path, key, severity="warning")
        if text is not None and not isinstance(text, str):
            wrong = f"matcher is {misshaped(text, 'text')}"
            self._report.say("error", "wrong-type", wrong, *path, "matcher")
            return
        matching = self._matching(spelled, text or "", path)
        shared = Group(spelled, text or "", matching.matcher, matching.condition)
        for index, entry in enumerate(cast("list[Any]", entries)):
            here: Path = (*path, "hooks", index)
            if not isinstance(entry, Mapping):
                self._report.say("error", "not-an-object", "a hook is not an object", *here)
                continue
            hook = read_entry(self._around, shared, cast("Mapping[str, Any]", entry), here)
            if hook is not None:
                hooks.append(hook)

    def _matching(self, spelled: Spelled, text: str, path: Path) -> Matching:
        if not text:
            return EVERYTHING
        key = (spelled.name, text)
        matching = self._matchings.get(key)
        if matching is None:
            matching = read_matcher(text, spelled.event, self._tools.patterns, self._tools.shell)
            self._matchings[key] = matching
        if matching.doubt is not None:
            doubt = matching.doubt
            self._report.say("warning", doubt.code, doubt.message, *path, "matcher", fix=doubt.fix)
        return matching


def _kind(layer: Layer) -> _Kind:
    if layer.place.scope == "plugin":
        return "plugin"
    return "claude" if os.path.basename(os.path.dirname(layer.place.file)) == ".claude" else "own"


def _plugin_root(file: str) -> str:
    """Hooks stand in hooks/hooks.json below the plugin, or in its manifest."""
    directory = os.path.dirname(file)
    below = os.path.basename(directory) in ("hooks", ".gen-plugin", ".claude-plugin")
    return os.path.dirname(directory) if below else directory
