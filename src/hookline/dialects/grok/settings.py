"""Read Grok Build's hook files: groups as in Claude Code, and hooks of every file of the directories."""

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.flat import all_layers
from hookline.dialects.family.settings import Fields, HookKind, MatcherNote, Matching, labelled
from hookline.dialects.family.tool_regex import PLAIN, dead_note
from hookline.dialects.grok.events import NAME, ROWS
from hookline.dialects.grok.tools import OTHER_NAMES
from hookline.dialects.labels import entry_label, url_label
from hookline.handlers.specs import CommandSpec
from hookline.matching.matchers import OtherNames, regex_or_names
from hookline.model.errors import PatternError
from hookline.model.hook import Waiting
from hookline.model.wire import Wire

_KINDS: Mapping[str, HookKind] = {
    "command": HookKind(
        {"command": "text"}, lambda fields: CommandSpec(fields["command"]), entry_label, ("command",)
    ),
    "http": HookKind(family.HTTP_FIELDS, family.http_spec, labelled("url", url_label), ("url",)),
}


class EntryReader(family.EntryReader):
    dialect, kinds, common = NAME, _KINDS, {"type": "text", "timeout": "a number"}
    drops_bad_timeout = False

    def unread(self, key: str, kind: HookKind) -> None:
        del kind
        self.say("warning", "unread-field", f"Grok Build ignores {key}", key, fix=f"remove {key}")

    def make_spec(self, kind: HookKind) -> Any:
        spec = super().make_spec(kind)
        if self.kind == "http" and not spec.url.startswith("https://"):
            message = (
                "Grok Build calls https addresses outside of private networks alone, and says nothing else"
            )
            self.say("error", "never-called", message, "url", fix="use a command")
        return spec

    def details(self, waiting: Waiting) -> dict[str, Any]:
        del waiting
        return {"identity": (NAME, self.kind, self.fields.get("command") or self.fields.get("url"))}


class FileReader(family.FileReader):
    entry_reader = EntryReader

    def hooks_table(self) -> Fields:
        """Return the events; Grok Build skips unknown ones in silence, and takes Cursor's spelling of its own."""
        return {name[:1].upper() + name[1:]: value for name, value in super().hooks_table().items()}

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher: a regular expression for the whole name, or for Claude Code's name of the tool."""
        if text in ("", "*"):
            return family.EVERYTHING
        if ROWS[own_event.name].subjects == ():
            return Matching(
                note=MatcherNote("unread-matcher", f"{own_event.name} reads no matcher", "remove it")
            )
        try:
            matcher = regex_or_names(text, self.tools.patterns, anchored=True, plain=PLAIN)
        except PatternError as error:
            message = f"matcher: {error}, so Grok Build drops these hooks"
            return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
        if matcher is None or own_event.event.subject != "tool_name":
            return Matching(matcher)
        return Matching(OtherNames(matcher, OTHER_NAMES), note=dead_note(text))


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    return all_layers(FileReader, layers, tools, events, wire)
