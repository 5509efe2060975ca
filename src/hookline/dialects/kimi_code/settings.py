"""Read the `[[hooks]]` tables of Kimi Code's config.toml."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.flat import FlatFileReader, all_layers
from hookline.dialects.family.javascript_regex import search_matcher, untestable_note
from hookline.dialects.family.settings import FileLayout, HookKind, MatcherNote, Matching
from hookline.dialects.kimi_code.events import NAME
from hookline.dialects.labels import entry_label
from hookline.handlers.specs import CommandSpec
from hookline.model.errors import PatternError
from hookline.model.hook import Hook, Waiting
from hookline.model.wire import Wire

_LONGEST = 600
_KINDS: Mapping[str, HookKind] = {
    "command": HookKind({}, lambda fields: CommandSpec(fields["command"]), entry_label, ("command",))
}


class EntryReader(family.EntryReader):
    """A reader of one table, which is closed: it has no further fields."""

    dialect, kinds, default_kind = NAME, _KINDS, "command"
    common: ClassVar[Mapping[str, str]] = {"event": "text", "command": "text", "timeout": "a whole number"}

    def timeout(self) -> float:
        given = self.fields.get("timeout")
        if isinstance(given, int) and not 1 <= given <= _LONGEST:
            self.bad_timeout(f"timeout is {given}, not whole seconds from 1 to {_LONGEST}", "30 seconds")
            return self.usual_timeout()
        return super().timeout()

    def unread(self, key: str, kind: HookKind) -> None:
        del kind
        fix = self.file.report.meant(key, ["matcher", *self.common])
        self.say("error", "unknown-field", f"Kimi Code takes no field {key!r} in a hook", key, fix=fix)

    def details(self, waiting: Waiting) -> dict[str, Any]:
        del waiting
        return {"identity": (NAME, self.group.own_event.name, self.fields.get("command"))}


class FileReader(FlatFileReader):
    entry_reader = EntryReader
    layouts = (FileLayout(("list",)),)

    def hooks(self) -> dict[str, Sequence[Hook]]:
        value: Any = self.report.document.value
        listed: Any = cast("dict[str, Any]", value).get("hooks", []) if isinstance(value, dict) else []
        if not isinstance(listed, list):
            self.report.say(
                "error", "not-a-list", "hooks is not a list of tables", "hooks", fix="write [[hooks]]"
            )
            return {}
        found: dict[str, list[Hook]] = {}
        for at, entry in enumerate(cast("list[Any]", listed)):
            name: Any = cast("dict[str, Any]", entry).get("event") if isinstance(entry, dict) else None
            if not isinstance(name, str):
                self.report.say("error", "missing-field", "a hook needs an event", "hooks", at)
            elif name not in self.events:
                self.report.unknown("event", name, self.events, "hooks", at, "event")
            else:
                found.setdefault(name, []).extend(self.flat_hooks(self.events[name], entry, ("hooks", at)))
        return dict(found)

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher: a regular expression that may match anywhere; `*` alone is none and never matches."""
        if text == "":
            return family.EVERYTHING
        try:
            matcher = search_matcher(text, self.tools.patterns)
        except PatternError as error:
            fix = "remove the matcher" if text == "*" else None
            message = f"matcher: {error}, so this hook never runs"
            return Matching(note=MatcherNote("bad-pattern", message, fix, "error"), broken=message)
        note = untestable_note(matcher)
        return Matching(matcher if own_event.event.subject else None, note=note)


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    return all_layers(FileReader, layers, tools, events, wire)
