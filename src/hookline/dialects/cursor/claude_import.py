"""Read hooks of Claude Code's settings as Cursor imports them: fewer events, other tool names, and no switch."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from msgspec.structs import replace

from hookline.dialects.cursor.events import NAME, ROWS
from hookline.dialects.cursor.settings import KINDS
from hookline.dialects.dialect import DialectEvent, Layer, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.javascript_regex import search_matcher
from hookline.dialects.family.settings import Fields, HookKind, MatcherNote, Matching
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Path
from hookline.model.errors import PatternError
from hookline.model.hook import Hook
from hookline.model.wire import Wire

#: Cursor's event for each that it imports; the others are dropped.
EVENTS: Mapping[str, str] = {
    "PreToolUse": "preToolUse", "PostToolUse": "postToolUse", "UserPromptSubmit": "beforeSubmitPrompt", "Stop": "stop",
    "SubagentStop": "subagentStop", "SessionStart": "sessionStart", "SessionEnd": "sessionEnd",
    "PreCompact": "preCompact",
}  # fmt: skip
_TOOLS: Mapping[str, str] = {"Bash": "Shell", "Edit": "Write"}
_DROPPED = "Glob"


class EntryReader(family.EntryReader):
    """A reader of an entry: fields that Cursor does not know are passed over, and the hook runs."""

    file: "ImportReader"
    dialect, kinds, default_kind = NAME, KINDS, None
    common: ClassVar[Mapping[str, str]] = {"type": "text", "timeout": "a number"}
    drops_bad_timeout = False

    def find_kind(self) -> HookKind | None:
        kind = self.entry.get("type")
        if kind in self.kinds:
            return super().find_kind()
        self.say("warning", "not-imported", f"Cursor does not import {kind} hooks", "type")
        return None

    def unread(self, key: str, kind: HookKind) -> None:
        del kind
        if key in ("if", "async", "once", "asyncRewake"):
            self.say("warning", "unread-field", f"Cursor ignores {key}: the hook runs all the same", key)

    def make_spec(self, kind: HookKind) -> Any:
        spec = super().make_spec(kind)
        in_home = self.file.scope == "user" and isinstance(spec, CommandSpec)
        return replace(spec, cwd=os.path.dirname(self.file.file)) if in_home else spec


class ImportReader(family.FileReader):
    """A reader of one settings file of Claude Code. `disableAllHooks` is not honoured."""

    entry_reader = EntryReader

    def __init__(self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: Wire) -> None:
        known = {theirs: events[own] for theirs, own in EVENTS.items()}
        super().__init__(layer, tools, known, wire)

    def hooks(self) -> dict[str, Sequence[Hook]]:
        """Return hooks; a file without any matcher is not imported at all."""
        table = self.hooks_table()
        if not any(_has_matcher(groups) for groups in table.values()):
            if table:
                message = "Cursor imports a settings file only if one of its groups has a matcher"
                self.report.say(
                    "warning", "not-imported", message, "hooks", fix='add "matcher": "*" to a group'
                )
            return {}
        found: dict[str, Sequence[Hook]] = {}
        for name, groups in table.items():
            if name not in self.events:
                self.report.say("warning", "not-imported", f"Cursor does not import {name}", "hooks", name)
            elif (hooks := self.event_hooks(self.events[name], groups, ("hooks", name))) is not None:
                found[name] = hooks
        return found

    def group_hooks(self, own_event: DialectEvent, group: Any, path: Path) -> Sequence[Hook]:
        matcher = cast("Fields", group).get("matcher") if isinstance(group, dict) else None
        if isinstance(matcher, str) and matcher == _DROPPED:
            self.report.say("warning", "not-imported", f"Cursor has no tool {_DROPPED}", *path, "matcher")
            return ()
        return super().group_hooks(own_event, group, path)

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        if text in ("", "*") or ROWS[own_event.name].subjects == () or own_event.event.subject != "tool_name":
            return family.EVERYTHING
        renamed = "|".join(_own_name(part) for part in text.split("|") if part != _DROPPED)
        try:
            return Matching(search_matcher(renamed, self.tools.patterns))
        except PatternError as error:
            message = f"matcher: {error}"
            return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)


def _own_name(part: str) -> str:
    """Return Cursor's name of a tool; the server of an MCP tool is lost."""
    if part.startswith("mcp__") and part.count("__") >= 2:
        return f"MCP:{part.split('__', 2)[2]}"
    return _TOOLS.get(part, part)


def _has_matcher(groups: Any) -> bool:
    listed = cast("list[Any]", groups) if isinstance(groups, list) else []
    return any(isinstance(group, dict) and "matcher" in group for group in listed)
