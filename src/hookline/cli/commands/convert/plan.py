"""What becomes of each entry of a file in another agent: it calls the same program, Hookline runs it, or it is lost."""

import json
import math
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.convert.same import sameness, tool_names
from hookline.cli.commands.convert.script import PLAIN_LINE, Script, Surroundings, read_script
from hookline.cli.commands.convert.trial import Side
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import Dialect, DialectEvent
from hookline.dialects.entry_form import Ending, EntryForm
from hookline.documents.document import Document, read_document
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Path, Where
from hookline.model.events import May
from hookline.model.hook import Hook

How = Literal["direct", "wrapped", "lost"]

#: Seconds that Hookline has beyond the longest of the hooks that it runs.
_MORE: Final = 10
#: Fields whose meaning is in what is written, or that have none for anybody but people.
_CONVERTED: Final = frozenset(
    ("type", "command", "args", "timeout", "env", "shell", "name", "description", "onFailure")
)
_MCP: Final = "mcp__server__tool"
#: A matcher that is a list of names.
_NAMES: Final = re.compile(r"[\w ,|-]+")
#: A tool that no agent has: a matcher that means it means every tool.
_NOBODYS: Final = "zz_nobodys_tool"
_POWERS: Final[Mapping[May, str]] = {
    May.BLOCK: "a block", May.PERMIT: "an allow or ask", May.REWRITE: "a rewrite", May.CONTEXT: "text for the model",
    May.STOP: "the end of the turn",
}  # fmt: skip


class Group(Struct, frozen=True):
    """An entry for the target's file."""

    event: str
    matcher: str | None
    entry: Mapping[str, Any]


class Planned(Struct, frozen=True, kw_only=True):
    """One entry of the file that is converted."""

    where: Where
    event: str
    hook: str
    how: How
    #: Where it is in the target: the events, and the entries if it is direct.
    to: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    #: Why it is not direct.
    why: tuple[str, ...] = ()
    #: What else to know: losses that are left, settings that are others.
    notes: tuple[str, ...] = ()
    #: As it is in the file, for Hookline to run: its group without the entries, and the entry.
    group: Mapping[str, Any] = {}
    source: Mapping[str, Any] = {}
    seconds: float = 0.0
    guards: bool = False


class _Found(Struct, frozen=True, eq=False):
    """One entry of the file: its place, what is written there, and the hook that it is."""

    path: Path
    event: str
    group: Mapping[str, Any]
    entry: Mapping[str, Any]
    hook: Hook | None

    @property
    def label(self) -> str:
        if self.hook is not None:
            return self.hook.name
        return str(self.entry.get("command") or self.entry.get("type") or "?")[:60]


class _Matched(Struct, frozen=True):
    """What a matcher means in the target."""

    #: The matchers that mean it; none: nothing does.
    matchers: Sequence[str | None]
    #: The tools that they are about, as each of the two agents calls them.
    tools: Sequence[tuple[str, str]] = ()
    #: Why they do not mean quite the same, or why there are none.
    why: tuple[str, ...] = ()
    #: What is not in them.
    notes: tuple[str, ...] = ()


class Planner:
    """Plans one file. Nothing is written, and no hook is run."""

    def __init__(
        self,
        loader: Loader,
        source: Dialect,
        target: Dialect,
        document: Document,
        project: str,
        *,
        in_project: bool,
    ) -> None:
        self._loader = loader
        self._source, self._target = source, target
        self._document = document
        self._loaded: Loaded = loader.document(document, name=source.name)
        self._forms = (_form(source), _form(target))
        self._around = Surroundings(project, source.project_variables, self._forms[0].line, in_project)

    def entries(self) -> list[Planned]:
        return [self._planned(found) for found in self._found()]

    def _found(self) -> Iterator[_Found]:
        """Every entry in the order of the file, also those that the source's agent would not run."""
        # One entry may be hooks at several moments; the first is the one that it is named after.
        hooks = {hook.where.path: hook for hook in reversed(self._loaded.hooks)}
        for base, table in self._source.hook_tables(_object(self._document.value)):
            events = table.get("hooks")
            if not isinstance(events, Mapping):
                if events is not None:
                    yield _Found((*base, "hooks"), "hooks", {}, {}, None)
                continue
            for event, groups in cast("Mapping[str, Any]", events).items():
                for path, around, entry in _entries((*base, "hooks", event), groups):
                    yield _Found(path, event, around, entry, hooks.get(path))

    def _planned(self, found: _Found) -> Planned:
        hook = found.hook
        if hook is None or hook.broken is not None or hook.mode == "off":
            return self._lost(found, *self._why_unused(found))
        events = self._events(hook)
        if not events:
            return self._lost(found, f"{self._target.title} has no event like {found.event}")
        event = events[0]
        matched = self._matched(hook, event)
        if not matched.matchers:
            return self._lost(found, *matched.why)
        reasons = [*matched.why, *self._unwritable(found, hook, event)]
        script = read_script(hook.spec, self._around) if isinstance(hook.spec, CommandSpec) else None
        if not reasons and script is not None:
            planned = self._direct(found, hook, event, script, matched)
            if isinstance(planned, Planned):
                return planned
            reasons = list(planned)
        planned = self._wrapped(found, hook, events, script, reasons)
        return (
            replace(planned, notes=(*matched.notes, *planned.notes)) if planned.how == "wrapped" else planned
        )

    def _events(self, hook: Hook) -> list[DialectEvent]:
        """The target's events that are the moments of a hook, those that are nothing else first."""
        own = [each.event for each in self._source.moments(hook.policy.event_name)]
        found = [
            (each.event not in own, each)
            for name, each in self._target.events.items()
            if any(moment.event in own for moment in self._target.moments(name))
        ]
        return [each for _other, each in sorted(found, key=lambda pair: pair[0])]

    # --- what cannot be converted

    def _lost(self, found: _Found, *why: str) -> Planned:
        return Planned(
            where=self._document.where(*found.path), event=found.event, hook=found.label, how="lost", why=why
        )

    def _why_unused(self, found: _Found) -> Sequence[str]:
        if found.hook is not None and found.hook.mode == "off":
            return ("it is switched off",)
        about = [
            one.message
            for one in self._loaded.diagnostics
            if one.severity == "error" and _concerns(one.where.path, found.path)
        ]
        return about or (f"{self._source.title} does not run it",)

    def _unwritable(self, found: _Found, hook: Hook, event: DialectEvent) -> Iterator[str]:
        """What an entry of the target cannot say."""
        title = self._target.title
        if not isinstance(hook.spec, CommandSpec):
            yield f"is of type {found.entry.get('type')}, and its answer cannot be seen"
        if hook.condition is not None:
            yield f"has a condition, {hook.condition.text}, which {title} does not know"
        if hook.waiting == "rewake" or (hook.waiting == "async" and "async" not in self._forms[1].fields):
            yield f"runs in the background, which {title} does not know"
        if isinstance(hook.spec, CommandSpec) and any("${" in word for word in hook.spec.args or ()):
            yield "has variables in its arguments, which no shell fills in"
        if hook.rewrites:
            yield f"sees what hooks before it rewrote, which {title} does not know"
        moments = {each.event for each in self._target.moments(event.name)}
        if moments != {each.event for each in self._source.moments(hook.policy.event_name)}:
            yield f"runs at {found.event}, and {event.name} is not quite that in {title}"

    # --- matchers

    def _matched(self, hook: Hook, event: DialectEvent) -> _Matched:
        matcher, subject = hook.matcher, hook.event.subject
        pairs = tool_names(self._source.tools, self._target.tools) if subject == "tool_name" else []
        if matcher is None:
            return _Matched((None,), pairs)
        if subject == "tool_name":
            return self._matched_tools(hook, event, pairs)
        title = self._target.title
        if not hook.event.subjects:
            same = self._read(event, matcher.text)
            plain = re.fullmatch(r"\w+", matcher.text) is not None
            why = f"has the matcher {matcher.text!r}, which {title} may read in another way"
            return _Matched((matcher.text,)) if same is not None and plain else _Matched((None,), why=(why,))
        values = [value for value in hook.event.subjects if matcher.matches(value)]
        if values and len(values) == len(hook.event.subjects):
            return _Matched((None,))
        known = [value for value in values if self._read(event, value) is not None]
        if not known:
            return _Matched((), why=(f"{title} has no {subject} that the matcher {matcher.text!r} means",))
        notes = [f"{title} has no {subject} like {value}" for value in values if value not in known]
        return _Matched(["|".join(known)] if self._forms[1].lists_values else known, notes=tuple(notes))

    def _matched_tools(self, hook: Hook, event: DialectEvent, pairs: Sequence[tuple[str, str]]) -> _Matched:
        matcher, title = cast("Any", hook.matcher), self._target.title
        meant = [pair for pair in pairs if matcher.matches(pair[0])]
        names = list(dict.fromkeys(ours for _theirs, ours in meant))
        servers = matcher.matches(_MCP) or "mcp" in matcher.text
        same_names = self._source.tools.mcp == self._target.tools.mcp
        if not names and not servers:
            return _Matched((), why=(f"{title} has no tool that the matcher {matcher.text!r} means",))
        notes = tuple(self._without_counterpart(matcher, pairs))
        kept = self._read(event, matcher.text)
        if kept is not None and kept.matcher is not None and (same_names or not servers):
            alike = {ours for _theirs, ours in pairs if kept.matcher.matches(ours)}
            if alike == set(names) and kept.matcher.matches(_MCP) == matcher.matches(_MCP):
                return _Matched((matcher.text,), meant, notes=notes)
        if servers:
            other = "calls MCP tools otherwise" if not same_names else "cannot read it as it is"
            why = f"has the matcher {matcher.text!r}, and {title} {other}"
            return _Matched((None,), meant, (why,), notes)
        return _Matched((self._forms[1].exact_names.format("|".join(names)),), meant, notes=notes)

    def _without_counterpart(self, matcher: Any, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Tools that a matcher names and the target does not have."""
        if matcher.matches(_NOBODYS):
            return
        table, met = self._source.tools, {theirs for theirs, _ours in pairs}
        for name, tool in table.tools.items():
            if matcher.matches(name) and name not in met and not tool.narrow and name not in table.told_only:
                yield f"{self._target.title} has no tool like {name}"
        for name in re.split(r"[|,]", matcher.text) if _NAMES.fullmatch(matcher.text) else ():
            if (
                table.tool(name.strip()) is None
                and name.strip() not in met
                and not name.strip().startswith("mcp")
            ):
                yield f"{self._source.title} has no tool {name.strip()}, and {self._target.title} has none like it"

    def _read(
        self,
        event: DialectEvent,
        matcher: str | None,
        entry: Mapping[str, Any] | None = None,
        known: Collection[str] = (),
    ) -> Hook | None:
        """The hook that an entry would be in the target; None where the target's reader has anything to say of it.

        But for timeouts, which are the source's own in another unit, and mistakes that the source's reader knows.
        """
        group = {"hooks": [entry or {"type": "command", "command": "true"}]}
        value = {"hooks": {event.name: [group if matcher is None else {"matcher": matcher, **group}]}}
        document = read_document(json.dumps(value), "json", "converted.json")
        loaded = self._loader.document(document, name=self._target.name)
        said = [one for one in loaded.diagnostics if one.severity != "info" and one.code not in known]
        said = [one for one in said if one.where.path[-1:] != ("timeout",)]
        return next(iter(loaded.hooks), None) if not said else None

    # --- entries

    def _direct(
        self,
        found: _Found,
        hook: Hook,
        event: DialectEvent,
        script: Script,
        matched: _Matched,
    ) -> Planned | Sequence[str]:
        """The entry that calls the program itself, or why there can be none."""
        spec, matchers = cast("CommandSpec", hook.spec), matched.matchers
        entry, notes = self._entry(found, hook, event, self._line(spec, Ending()))
        known = {one.code for one in self._loaded.diagnostics if _concerns(one.where.path, found.path)}
        ours = self._read(event, matchers[0], entry, known)
        if ours is None:
            return (f"cannot be written for {self._target.title} without a warning of its own",)
        sides = Side(self._source, hook, self._forms[0]), Side(self._target, ours, self._forms[1])
        same = sameness(*sides, script, matched.tools)
        if same.ending is None:
            return same.why
        entry, notes = self._entry(found, hook, event, self._line(spec, same.ending))
        if matchers[0] is not None and hook.event.subject != "tool_name" and not hook.event.subjects:
            notes = (*notes, f"the matcher names a {hook.event.subject} of {self._source.title}")
        notes = (*matched.notes, *notes, *self._remarks(hook, event))
        return Planned(
            where=self._document.where(*found.path), event=found.event, hook=found.label, how="direct",
            to=(event.name,), groups=tuple(Group(event.name, matcher, entry) for matcher in matchers), notes=notes,
        )  # fmt: skip

    def _remarks(self, hook: Hook, event: DialectEvent) -> Iterator[str]:
        """What is peculiar to the event, in either of the agents."""
        sides = ((self._source, hook.policy.event_name), (self._target, event.name))
        for (dialect, name), form in zip(sides, self._forms, strict=True):
            if name in form.remarks:
                yield f"{name} of {dialect.title} {form.remarks[name]}"

    def _entry(
        self, found: _Found, hook: Hook, event: DialectEvent, line: str
    ) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        form = self._forms[1]
        timeout, notes = self._timeout(hook, event)
        entry: dict[str, Any] = {"type": "command", "command": line, **timeout}
        for key, value in found.entry.items():
            if key in form.fields:
                entry[key] = value
            elif key not in _CONVERTED:
                notes = (*notes, f"{key} is left out: {self._target.title} has no such field")
        return entry, notes

    def _line(self, spec: CommandSpec, ending: Ending) -> str:
        """The line as its own agent runs it."""
        source, target = self._forms
        line = spec.command if spec.args is None else shlex.join((spec.command, *spec.args))
        alike = spec.args is not None or source.line == target.line or PLAIN_LINE.fullmatch(line)
        # An agent may replace $NAME in a line by its value, quoted for a place that this is not.
        for name in self._source.project_variables:
            line = re.sub(rf"\$({re.escape(name)})\b", r"${\1}", line)
        if not alike:
            line = source.line.format(shlex.quote(line))
        if not ending:
            return line
        return ending.line(line) if target.known_shell else f"sh -c {shlex.quote(ending.line(line))}"

    def _timeout(self, hook: Hook, event: DialectEvent) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """In the target's unit, and only where it is not what the target takes anyway."""
        form, seconds, notes = self._forms[1], hook.timeout, list[str]()
        most = form.longest.get(event.name)
        if most is not None and seconds > most:
            notes.append(
                f"timeout: {self._target.title} waits at most {most:g} s at {event.name}, not {seconds:g}"
            )
            seconds = most
        in_ms = self._target.timeout_unit == "ms"
        given = seconds * 1000 if in_ms else seconds
        if form.whole_timeouts and given != int(given):
            given = math.ceil(given)
            notes.append(
                f"timeout: {self._target.title} counts whole {'milliseconds' if in_ms else 'seconds'}: {given}"
            )
        if given == (event.timeout * 1000 if in_ms else event.timeout):
            return {}, tuple(notes)
        return {"timeout": int(given) if given == int(given) else given}, tuple(notes)

    def _wrapped(
        self,
        found: _Found,
        hook: Hook,
        events: Sequence[DialectEvent],
        script: Script | None,
        why: Sequence[str],
    ) -> Planned:
        """Hookline runs the entry as it is, in the target."""
        if hook.kind in ("prompt", "agent", "mcp_tool"):
            needs = "a model" if hook.kind != "mcp_tool" else "a server of its agent"
            return self._lost(found, f"{hook.kind} hooks need {needs}, which Hookline does not have there")
        powers = self._source.events[hook.policy.event_name].policy.may & hook.event.may
        if script is not None and not script.answers:
            powers &= May.BLOCK | (May.CONTEXT if script.prints else May.NOTHING)
        event, title = events[0], self._target.title
        missing = [name for power, name in _POWERS.items() if powers & power and not event.policy.may & power]
        notes = [f"{title} cannot be told {name} at {event.name}" for name in missing]
        there = {moment.event for each in events for moment in self._target.moments(each.name)}
        notes += [
            f"{title} has no event for {each.event.name}, at which it runs as well"
            for each in self._source.moments(hook.policy.event_name)
            if each.event not in there
        ]
        notes += self._remarks(hook, event)
        if hook.waiting == "rewake":
            notes.append(f"{title} cannot be woken by it")
        return Planned(
            where=self._document.where(*found.path), event=found.event, hook=found.label, how="wrapped",
            to=tuple(each.name for each in events), why=tuple(why), notes=tuple(notes), group=found.group,
            source=found.entry, seconds=hook.timeout + _MORE, guards=event.guards,
        )  # fmt: skip


def _form(dialect: Dialect) -> EntryForm:
    form = dialect.entry_form
    if form is None:
        raise ValueError(f"{dialect.name} has no form of entries")
    return form


def _concerns(path: Path, entry: Path) -> bool:
    return entry[: len(path)] == path or path[: len(entry)] == entry


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _entries(path: Path, groups: Any) -> Iterator[tuple[Path, Mapping[str, Any], Mapping[str, Any]]]:
    """The entries of an event with the groups around them; what has another shape is one that is no entry."""
    if not isinstance(groups, list):
        yield path, {}, {}
        return
    for number, group in enumerate(cast("list[Any]", groups)):
        entries = _object(group).get("hooks")
        if not isinstance(entries, list):
            yield (*path, number), {}, {}
            continue
        around = {key: value for key, value in _object(group).items() if key != "hooks"}
        for index, entry in enumerate(cast("list[Any]", entries)):
            yield (*path, number, "hooks", index), around, _object(entry)
