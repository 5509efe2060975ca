"""Read Qwen Code's settings: groups of hooks, the project's before the user's, and a timeout in either unit."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.javascript_regex import search_matcher, untestable_note
from hookline.dialects.family.settings import Fields, Group, HookKind, MatcherNote, Matching, labelled
from hookline.dialects.family.tool_regex import dead_note
from hookline.dialects.labels import entry_label, shortened, url_label
from hookline.dialects.qwen_code.events import NAME
from hookline.dialects.qwen_code.tools import OTHER_NAMES
from hookline.handlers.specs import CommandSpec, PromptSpec
from hookline.matching.matchers import OtherNames
from hookline.model.diagnostics import Path
from hookline.model.errors import PatternError
from hookline.model.hook import Hook, Waiting
from hookline.model.wire import Wire

#: From here on a number is milliseconds.
_MILLISECONDS = 1000
_KINDS: Mapping[str, HookKind] = {
    "command": HookKind(
        {"command": "text", "async": "true or false", "env": "an object of texts", "name": "text",
         "description": "text"},
        lambda fields: CommandSpec(fields["command"], env=fields.get("env", {})), entry_label, ("command",),
    ),
    "http": HookKind(family.HTTP_FIELDS, family.http_spec, labelled("url", url_label), ("url",)),
    "prompt": HookKind(
        {"prompt": "text", "model": "text"}, lambda fields: PromptSpec(fields["prompt"], fields.get("model")),
        labelled("prompt", shortened), ("prompt",), hosted=True,
    ),
}  # fmt: skip
_USUAL: Mapping[str, float] = {"http": 600.0, "prompt": 30.0}


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect, kinds = NAME, _KINDS
    common: ClassVar[Mapping[str, str]] = {"type": "text", "timeout": "a number", "statusMessage": "text"}
    drops_bad_timeout = False

    def usual_timeout(self) -> float:
        return _USUAL.get(self.kind, super().usual_timeout())

    def timeout(self) -> float:
        seconds = super().timeout()
        given = self.fields.get("timeout")
        if self.kind != "command" or not isinstance(given, int | float) or given < _MILLISECONDS:
            return seconds
        message = f"timeout counts seconds; Qwen Code reads {given} as milliseconds, which an older one meant"
        self.say("warning", "old-timeout-unit", message, "timeout", fix=f"{given / 1000:g}")
        return given / 1000

    def details(self, waiting: Waiting) -> dict[str, Any]:
        del waiting
        identity = (NAME, self.kind, self.fields.get("command") or id(self))
        return {"rewrites": self.file.sequential, "identity": identity}


class FileReader(family.FileReader):
    entry_reader = EntryReader
    group_fields = ("matcher", "sequential", "hooks", "description")
    #: Of the group that is being read.
    sequential = False

    def shared(self, own_event: DialectEvent, table: Fields, path: Path) -> Group:
        self.sequential = table.get("sequential") is True
        return super().shared(own_event, table, path)

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher: searched for anywhere in a name of the tool; elsewhere in the subject."""
        if text in ("", "*"):
            return family.EVERYTHING
        try:
            matcher = search_matcher(text, self.tools.patterns)
        except PatternError as error:
            message = f"matcher: {error}, so these hooks never run"
            return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
        note = untestable_note(matcher)
        if own_event.event.subject != "tool_name":
            return Matching(matcher if own_event.event.subject else None, note=note)
        return Matching(OtherNames(matcher, OTHER_NAMES), note=note or dead_note(text))


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    """Read the project's hooks first, then the user's; one switch turns all of them off."""
    order = sorted(layers, key=lambda layer: layer.config_path.scope == "user")
    files = [FileReader(layer, tools, events, wire) for layer in order]
    hooks = [hook for file in files for some in file.hooks().values() for hook in some]
    off = [layer.document.where("disableAllHooks") for layer in order if _is_off(layer)]
    if off:
        hooks = [replace(hook, mode="off", disabled_by=off[0]) for hook in hooks]
    return LoadedHooks(
        tuple[Hook, ...](hooks), tuple(one for file in files for one in file.report.diagnostics)
    )


def _is_off(layer: Layer) -> bool:
    value: Any = layer.document.value
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("disableAllHooks") is True
