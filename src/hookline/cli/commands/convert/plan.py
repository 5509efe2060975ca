"""Plan what each hook of a file means in another agent, and which calls of Hookline that agent needs for them."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from hookline.actions.kinds import KINDS
from hookline.cli.commands.convert.meaning import differences
from hookline.cli.commands.hook.entries import faster, hook_command, pinned_program
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import Dialect, DialectEvent
from hookline.dialects.entries import HookCall
from hookline.documents.document import read_document
from hookline.model.diagnostics import Path, Where
from hookline.model.events import EventSpec
from hookline.model.hook import Hook

#: Seconds that Hookline has beyond the hooks that it runs.
_MORE: Final = 10
_MCP: Final = "mcp__server__tool"
#: A matcher that is a list of names.
_NAMES: Final = re.compile(r"[\w ,|-]+")
#: A tool that no agent has: a matcher that means it means every tool.
_NOBODYS: Final = "zz_nobodys_tool"
#: Kinds of hooks that `hookline hook` cannot run, and what they need.
_NEEDS: Final = {"prompt": "a model", "agent": "a model", "mcp_tool": "a server of its agent"}


class ConvertedEntry(Struct, frozen=True, kw_only=True):
    """One entry of the file."""

    #: File and line.
    source: str
    event: str
    hook: str
    how: Literal["wrapped", "lost"]
    #: The other agent's events at which Hookline runs it; none if it is lost.
    to: tuple[str, ...] = ()
    #: Why it is lost.
    why: tuple[str, ...] = ()
    #: Differences there.
    notes: tuple[str, ...] = ()


class Planner:
    """Planner of one file. Nothing is written, and no hook is run."""

    def __init__(self, loader: Loader, file: str, source: Dialect, target: Dialect) -> None:
        self._loader = loader
        self._file, self._source, self._target = file, source, target
        # As `hookline hook --config` reads it.
        self._loaded: Loaded = loader.files([file], source.name)
        self._wrapped: dict[str, list[Hook]] = {}

    def entries(self) -> list[ConvertedEntry]:
        """Return every entry in the order of the file, also those that the source's agent would not run."""
        # One entry may be hooks at several events; the first is the one that it is named after.
        hooks = {hook.where.path: hook for hook in reversed(self._loaded.hooks)}
        bad = [
            one
            for one in self._loaded.diagnostics
            if one.severity == "error" and not any(_concerns(one.where.path, path) for path in hooks)
        ]
        found = sorted((*hooks.values(), *bad), key=lambda each: each.where.line or 0)
        return [
            self._entry(each) if isinstance(each, Hook) else self._lost(each.where, each.message)
            for each in found
        ]

    def calls(self) -> list[HookCall]:
        """Return one call of Hookline at each event of the target that a hook of the file needs.

        Call it after `entries`.
        """
        program = faster(pinned_program())
        said = self._loader.whose(self._file) == self._source.name
        config, source = self._file, "" if said else self._source.name
        return [
            HookCall(
                name,
                hook_command(program, self._target, name, config, source),
                int(_seconds(hooks)) + _MORE,
                self._target.events[name].guards,
            )
            for name, hooks in self._wrapped.items()
        ]

    # --- one entry

    def _entry(self, hook: Hook) -> ConvertedEntry:
        where, title = hook.where, self._target.title
        if hook.broken is not None or hook.mode == "off":
            return self._lost(where, *self._why_unused(hook), hook=hook)
        events = self._events(hook)
        if not events:
            name = hook.policy.event_name
            of = f" of {self._source.title}" if name in self._target.events else ""
            return self._lost(where, f"{title} has no event like {name}{of}", hook=hook)
        if hook.kind in _NEEDS:
            why = f"{hook.kind} hooks need {_NEEDS[hook.kind]}, which Hookline does not have there"
            return self._lost(where, why, hook=hook)
        met, notes = self._matched(hook, events[0])
        if not met:
            return self._lost(where, *notes, hook=hook)
        for event in events:
            self._wrapped.setdefault(event.name, []).append(hook)
        return ConvertedEntry(
            source=str(where), event=hook.policy.event_name, hook=hook.name, how="wrapped",
            to=tuple(event.name for event in events), notes=(*notes, *self._notes(hook, events)),
        )  # fmt: skip

    def _lost(self, where: Where, *why: str, hook: Hook | None = None) -> ConvertedEntry:
        names = [str(step) for step in where.path if isinstance(step, str) and step != "hooks"]
        event = hook.policy.event_name if hook is not None else names[0] if names else "hooks"
        label = hook.name if hook is not None else "?"
        return ConvertedEntry(source=str(where), event=event, hook=label, how="lost", why=why)

    def _why_unused(self, hook: Hook) -> Sequence[str]:
        if hook.mode == "off":
            return ("it is switched off",)
        about = [
            one.message
            for one in self._loaded.diagnostics
            if one.severity == "error" and _concerns(one.where.path, hook.where.path)
        ]
        return about or (f"{self._source.title} does not run it",)

    def _events(self, hook: Hook) -> list[DialectEvent]:
        """Return the target's events at which the hook runs, one for each of its own.

        Where several names of the target are one event, the hook runs at those at which Hookline usually
        runs.
        """
        found: dict[str, DialectEvent] = {}
        for own in self._source.recorded_events(hook.policy.event_name):
            asked = {
                name: each for name, each in self._target.events.items() if own.event in self._asked(name)
            }
            exact = {name: each for name, each in asked.items() if each.event is own.event} or asked
            usual = {name: each for name, each in exact.items() if name in self._target.call_events}
            found |= usual or dict(list(exact.items())[:1])
        return list(found.values())

    def _asked(self, name: str) -> set[EventSpec[Any]]:
        """Return the events that Hookline dispatches when the target fires this one of its own."""
        return {
            asked
            for each in self._target.recorded_events(name)
            for asked in self._target.asked_at(each.event)
        }

    def _notes(self, hook: Hook, events: Sequence[DialectEvent]) -> Iterator[str]:
        title = self._target.title
        for event in events:
            yield from differences(self._source, hook, self._target, event)
        there = {each for event in events for each in self._asked(event.name)}
        for each in self._source.recorded_events(hook.policy.event_name):
            if each.event not in there:
                yield f"{title} has no event for {each.event.name}, at which it runs as well"
        yield from (f"{each.name} of {title} {each.remark}" for each in events if each.remark)
        own = self._source.events[hook.policy.event_name]
        if own.remark:
            yield f"{own.name} of {self._source.title} {own.remark}"
        if hook.waiting != "wait":
            yield "it runs in the background, and is ended a few seconds after Hookline has answered"
        if hook.waiting == "rewake":
            yield f"{title} cannot be woken by it"

    # --- matchers

    def _matched(self, hook: Hook, event: DialectEvent) -> tuple[bool, Sequence[str]]:
        """Return True if the target has anything that the matcher matches; and what it lacks."""
        matcher, subject, title = hook.matcher, hook.event.subject, self._target.title
        if matcher is None:
            return True, ()
        if subject == "tool_name":
            return self._matched_tools(matcher)
        known = [value for value in hook.event.subjects if self._reads(event, value)]
        values = [value for value in hook.event.subjects if matcher.matches(value)]
        missing = [value for value in values if value not in known]
        if not known or len(values) == len(hook.event.subjects):
            return True, ()
        if missing == values:
            return False, (f"{title} has no {subject} that the matcher {matcher.text!r} means",)
        return True, [f"{title} has no {subject} like {value}" for value in missing]

    def _matched_tools(self, matcher: Any) -> tuple[bool, Sequence[str]]:
        title, met = self._target.title, self._tools()
        if not any(map(matcher.matches, met)) and not matcher.matches(_MCP) and "mcp" not in matcher.text:
            return False, (f"{title} has no tool that the matcher {matcher.text!r} means",)
        return True, list(self._without_counterpart(matcher, met))

    def _tools(self) -> set[str]:
        """Return the names by which hooks of the source see calls of the target's tools."""
        source, target = self._source.tools, self._target.tools
        called = [
            kind
            for kind in KINDS
            if any(name not in target.translated_only for name, _ in target.tools_of(kind))
        ]
        return {name for kind in called for name, _form in source.tools_of(kind)} | {
            name for name in target.tools if name in source.tools and name not in target.translated_only
        }

    def _without_counterpart(self, matcher: Any, met: set[str]) -> Iterator[str]:
        """Yield tools that a matcher names and the target does not have."""
        if matcher.matches(_NOBODYS):
            return
        table, title, there = self._source.tools, self._target.title, self._target.tools
        for name, tool in table.tools.items():
            if (
                matcher.matches(name)
                and name not in met
                and not tool.narrow
                and name not in table.translated_only
            ):
                yield f"{title} has no tool like {name}"
        for part in re.split(r"[|,]", matcher.text) if _NAMES.fullmatch(matcher.text) else ():
            name = part.strip()
            known = name in met or name.startswith("mcp") or there.tool(name) is not None
            if table.tool(name) is None and not known:
                yield f"{self._source.title} has no tool {name}, and {title} has none like it"

    def _reads(self, event: DialectEvent, matcher: str) -> bool:
        """Return True if the target's reader has no finding about a matcher at its event."""
        group = {"matcher": matcher, "hooks": [{"type": "command", "command": "true"}]}
        document = read_document(json.dumps({"hooks": {event.name: [group]}}), "json", "converted.json")
        loaded = self._loader.document(document, name=self._target.name)
        return not any(one.severity != "info" for one in loaded.diagnostics)


def _seconds(hooks: Sequence[Hook]) -> float:
    """Return how long the hooks of one event take at most: hooks that may run one after another take the sum."""
    parallel = [hook.timeout for hook in hooks if hook.policy.run == "parallel"]
    serial = [hook.timeout for hook in hooks if hook.policy.run != "parallel"]
    return max((*parallel, sum(serial)))


def _concerns(path: Path, entry: Path) -> bool:
    return entry[: len(path)] == path or path[: len(entry)] == entry
