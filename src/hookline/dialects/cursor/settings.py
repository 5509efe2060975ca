"""Read Cursor's hooks.json. One mistake voids the whole file, as in Cursor: `doctor` then names the mistake."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.cursor.events import FIXED, LOOP_LIMIT, NAME, ROWS, TOOLS
from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.flat import FlatFileReader
from hookline.dialects.family.javascript_regex import search_matcher, untestable_note
from hookline.dialects.family.settings import Fields, HookKind, MatcherNote, Matching, labelled
from hookline.dialects.labels import entry_label, shortened
from hookline.handlers.specs import CommandSpec, PromptSpec
from hookline.matching.matchers import OneName, joined
from hookline.model.diagnostics import Diagnostic, Path, Repair
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec, field_of
from hookline.model.hook import Condition, Hook, Matcher, Waiting
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Wire

COMMON: Mapping[str, str] = {
    "type": "text", "timeout": "a number", "failClosed": "true or false", "loop_limit": "anything",
}  # fmt: skip
KINDS: Mapping[str, HookKind] = {
    "command": HookKind(
        {"command": "text"}, lambda fields: CommandSpec(fields["command"]), entry_label, ("command",)
    ),
    "prompt": HookKind(
        {"prompt": "text", "model": "text"}, lambda fields: PromptSpec(fields["prompt"], fields.get("model")),
        labelled("prompt", shortened), ("prompt",), hosted=True,
    ),
}  # fmt: skip
#: A string of the file, whatever is in it.
_STRING = r'"((?:[^"\\\n]|\\.)*+)"?'
_LONG = 3600


class ToolMatcher(Struct, frozen=True):
    """The tools that an event is about; MCP tools have names that begin with a mark."""

    name: str

    @property
    def text(self) -> str:
        return self.name

    def matches(self, subject: str) -> bool:
        return subject.startswith(self.name) if self.name.endswith(":") else subject == self.name


class ArgumentCondition(Struct, frozen=True):
    """A matcher that is tested on an argument of the call: the command, or the type of a subagent."""

    inner: Matcher
    argument: str

    @property
    def text(self) -> str:
        return f"{self.argument} matches {self.inner.text}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        del event, info
        arguments: Any = field_of(payload, "tool_input") or {}
        return self.inner.matches(str(arguments.get(self.argument, "")))


class LoopCondition(Struct, frozen=True):
    """The limit of a hook that sends the agent back to work: then it is skipped."""

    limit: int

    @property
    def text(self) -> str:
        return f"loop_count < {self.limit}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        del event, payload
        count = (info.extra or {}).get("loop_count", 0)
        return not isinstance(count, int) or count < self.limit


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect, common, kinds, default_kind = NAME, COMMON, KINDS, "command"

    def unread(self, key: str, kind: HookKind) -> None:
        message = f"Cursor ignores {key}"
        self.say(
            "warning", "unread-field", message, key, fix=self.file.report.meant(key, [*COMMON, *kind.fields])
        )

    def read_fields(self, kind: HookKind) -> None:
        super().read_fields(replace(kind, required=()) if self.entry.get("command") == "" else kind)

    def condition(self) -> Condition | None:
        own, event = super().condition(), self.group.own_event.name
        if event not in ("stop", "subagentStop"):
            return own
        limit = self.fields.get("loop_limit", LOOP_LIMIT)
        if limit is None:
            return own
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            self.say("error", "bad-limit", "loop_limit is not a whole number above 0, or null", "loop_limit")
            return own
        return joined(own, LoopCondition(limit))

    def doubt_timeout(self, given: Any) -> None:
        if given > _LONG:
            message = f"timeout is {given} seconds, which is {given / _LONG:.1f} hours"
            self.say("warning", "long-timeout", message, "timeout", fix=f"{given / 1000:g}, if these are ms")

    def details(self, waiting: Waiting) -> dict[str, Any]:
        del waiting
        return {"on_failure": "block"} if self.fields.get("failClosed") else {}

    def make_spec(self, kind: HookKind) -> Any:
        spec = super().make_spec(kind)
        if not isinstance(spec, CommandSpec) or self.file.scope not in ("user", "managed"):
            return spec
        return replace(spec, cwd=os.path.dirname(self.file.file))


class FileReader(FlatFileReader):
    entry_reader = EntryReader

    def check(self, settings: Fields) -> bool:
        version: Any = settings.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            message = "version is not a number above 0"
            self.report.say("error", "no-version", message, *(["version"] if "version" in settings else []),
                            fix='write "version": 1', repair=Repair("set", ("version",), 1))  # fmt: skip
        for line, text in enumerate(self.report.document.text.split("\n"), 1):
            if any("//" in found or "/*" in found for found in re.findall(_STRING, text)):
                where = replace(self.report.document.where(), locate=_at(line))
                message = "Cursor takes // inside of a text for a comment and cannot read the file"
                fix, repair = r"write \/\/ instead of //", Repair("escape")
                self.report.diagnostics.append(
                    Diagnostic("error", "slashes-in-text", message, where, None, fix, repair)
                )
        return True

    def hooks(self) -> dict[str, Sequence[Hook]]:
        found, said = super().hooks(), self.report.diagnostics
        wrong = next((at for at, one in enumerate(said) if one.severity == "error"), None)
        if wrong is None:
            return found
        if any(found.values()):
            message = f"{said[wrong].message}, so Cursor ignores all hooks of this file"
            said[wrong] = replace(said[wrong], message=message)
            said[:] = map(_removable, said)
        return {}

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        name = own_event.name
        tool = ToolMatcher(TOOLS[name][0]) if name in TOOLS else None
        if text in ("", "*"):
            return Matching(tool)
        if ROWS[name].subjects == ():
            message = f"{name} has nothing to match, so the matcher is not read"
            return Matching(note=MatcherNote("unread-matcher", message, "remove the matcher"))
        try:
            matcher = search_matcher(text, self.tools.patterns)
        except PatternError as error:
            message = f"matcher: {error}"
            return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
        if name in FIXED:
            return _fixed(name, matcher, tool)
        note = untestable_note(matcher)
        if name in ("beforeShellExecution", "afterShellExecution", "subagentStart"):
            argument = "subagent_type" if name == "subagentStart" else "command"
            return Matching(tool, ArgumentCondition(matcher, argument), note)
        return Matching(matcher, note=note or _other_name(own_event, text, matcher))


def _fixed(name: str, matcher: Matcher, tool: Matcher | None) -> Matching:
    """Test a matcher where it is always tested on the same text."""
    note = untestable_note(matcher)
    if note is not None or matcher.matches(FIXED[name]):
        return Matching(tool, note=note)
    dead = f"the matcher can never match: at {name} it is tested on {FIXED[name]!r}"
    never = OneName(matcher.text, "\0")
    return Matching(never, note=MatcherNote("dead-matcher", dead, "remove the matcher"))


def _other_name(own_event: DialectEvent, text: str, matcher: Matcher) -> MatcherNote | None:
    """Return a note about Claude Code's names of tools, which Cursor does not have."""
    if own_event.event.subject != "tool_name" or text not in _RENAMED or matcher.matches(_RENAMED[text]):
        return None
    return MatcherNote("dead-matcher", f"Cursor has no tool called {text}", f'"{_RENAMED[text]}"')


_RENAMED = {
    "Bash": "Shell",
    "Edit": "Write",
    "MultiEdit": "Write",
    "bash": "Shell",
    "shell": "Shell",
    "LS": "List",
}


def _at(line: int) -> Callable[[Path], int | None]:
    def located(_path: Path) -> int | None:
        return line

    return located


def _removable(one: Diagnostic) -> Diagnostic:
    """Return a finding with the repair that lets the others of the file run: without an entry that never can."""
    entry = one.where.path[:3]
    if one.severity != "error" or one.repair is not None or len(entry) < 3:
        return one
    return replace(one, fix=one.fix or "write it right, or remove it", repair=Repair("remove", entry))


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    """Read Cursor's own files, then those of Claude Code; a hook of those that Cursor's files have too is dropped."""
    from hookline.dialects.cursor.claude_import import ImportReader  # noqa: PLC0415 it needs this module

    files: list[family.FileReader] = []
    hooks: list[Hook] = []
    own: set[tuple[str, str]] = set()
    for layer in layers:
        imported = "/.claude/" in layer.config_path.file
        file = (ImportReader if imported else FileReader)(layer, tools, events, wire)
        files.append(file)
        for hook in [hook for some in file.hooks().values() for hook in some]:
            key = (hook.policy.event_name, cast("str", getattr(hook.spec, "command", "")))
            if not imported:
                own.add(key)
            elif key in own:
                continue
            hooks.append(hook)
    return LoadedHooks(tuple(hooks), tuple(one for file in files for one in file.report.diagnostics))
