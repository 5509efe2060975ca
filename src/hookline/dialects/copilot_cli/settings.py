"""Read Copilot CLI's hook files: flat entries with a line for bash, in every file of two directories."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hookline.dialects.copilot_cli.events import NAME
from hookline.dialects.copilot_cli.tools import TABLE
from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.flat import FlatFileReader, all_layers
from hookline.dialects.family.settings import Fields, FileLayout, HookKind, MatcherNote, Matching
from hookline.dialects.family.tool_regex import PLAIN, dead_note
from hookline.dialects.labels import command_label
from hookline.handlers.specs import CommandSpec
from hookline.matching.matchers import regex_or_names
from hookline.model.errors import PatternError
from hookline.model.wire import Wire


def _line(fields: Fields) -> str:
    found = fields.get("bash") or fields.get("command")
    return found if isinstance(found, str) else ""


def _spec(fields: Fields) -> CommandSpec:
    env, cwd = fields.get("env", {}), fields.get("cwd") or None
    return CommandSpec(_line(fields), shell="bash", env=env, cwd=cwd)  # noqa: S604 as Copilot CLI does


_KINDS: Mapping[str, HookKind] = {
    "command": HookKind(
        {"bash": "text", "command": "text", "powershell": "text", "cwd": "text", "env": "an object of texts",
         "timeoutSec": "a number", "comment": "text"},
        _spec,
        lambda fields: command_label(_line(fields)) if _line(fields) else "",
    )
}  # fmt: skip


class EntryReader(family.EntryReader):
    dialect, kinds, default_kind = NAME, _KINDS, "command"
    common: ClassVar[Mapping[str, str]] = {"type": "text", "timeout": "a number"}
    drops_bad_timeout = False

    def read_fields(self, kind: HookKind) -> None:
        super().read_fields(kind)
        if not _line(self.fields).strip():
            self.say("error", "missing-field", "a hook needs a line for bash", fix='"bash": "..."')
        if "timeoutSec" in self.fields:
            self.fields["timeout"] = self.fields["timeoutSec"]


class FileReader(FlatFileReader):
    entry_reader = EntryReader
    layouts = (FileLayout(("entries", "groups")),)

    def grouped(
        self, own_event: DialectEvent, table: Fields, path: tuple[str | int, ...]
    ) -> Sequence[family.Hook]:
        """Read a group of Claude Code's form, which files of Claude Code have."""
        return self.group_hooks(own_event, table, path)

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher: a regular expression for the whole name, in the spelling of the event."""
        if text == "" or not own_event.event.subject:
            return family.EVERYTHING
        try:
            matcher = regex_or_names(text, self.tools.patterns, anchored=True, plain=PLAIN)
        except PatternError as error:
            message = f"matcher: {error}, so this hook never runs"
            return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
        if own_event.event.subject != "tool_name":
            return Matching(matcher)
        return Matching(matcher, note=_other_case(own_event.name, text) or dead_note(text))


def _other_case(event: str, text: str) -> MatcherNote | None:
    """Return a note about a name in the spelling of the other kind of event."""
    native = event[:1].islower()
    known = TABLE.aliases if native else {name: alias for alias, name in TABLE.aliases.items()}
    if text not in known or text == known[text]:
        return None
    return MatcherNote("dead-matcher", f"the tool is called {known[text]} at {event}", f'"{known[text]}"')


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    return all_layers(FileReader, layers, tools, events, wire)
