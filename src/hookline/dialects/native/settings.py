"""The native configuration: events, groups with a matcher, handler entries. Every mistake is found.

A bad entry never silences the others. At an event whose hooks guard something it stays as a hook that
cannot run, so that its policy decides what that means; elsewhere it is dropped with its error.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.native.entries import EntryReader, Group, Surroundings, stands_twice
from hookline.dialects.native.events import NativePolicies
from hookline.documents.document import Document
from hookline.documents.shapes import misshaped
from hookline.handlers.registry import Handler
from hookline.matching.conditions import problem
from hookline.matching.matchers import RegexMatcher, can_match, native_matcher
from hookline.matching.nearest import nearest
from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic, Path, Severity, Where
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope
from hookline.model.wire import Wire

#: Tools that agents have: who writes a regular expression that none of them fits had some of them in mind.
_USUAL_TOOLS = (
    "Bash", "Edit", "Write", "Read", "MultiEdit", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch",
    "Task", "Agent", "mcp__x__y",
)  # fmt: skip


class NativeReading(Struct, frozen=True):
    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    #: The events this file says something about, be it right or wrong: its layer replaces them.
    events_named: frozenset[str] = frozenset()


class NativeReader:
    """Reads any number of documents for one engine: same events, handlers and compiled patterns."""

    def __init__(
        self,
        *,
        events: Mapping[str, EventSpec[Any]],
        policies: NativePolicies,
        handlers: Mapping[str, Handler],
        wire: Wire,
        patterns: Patterns,
        shell: ShellReader,
    ) -> None:
        self._events = events
        self._policies = policies
        self._handlers = handlers
        self._wire = wire
        self._patterns = patterns
        self._shell = shell

    def read(self, document: Document, scope: Scope) -> NativeReading:
        around = Surroundings(self._handlers, self._wire, self._patterns, self._shell, scope)
        return _DocumentReading(document, around, self._events, self._policies).reading()


class _DocumentReading:
    """One document being read."""

    def __init__(
        self,
        document: Document,
        around: Surroundings,
        events: Mapping[str, EventSpec[Any]],
        policies: NativePolicies,
    ) -> None:
        self._document = document
        self._around = around
        self._events = events
        self._policies = policies
        self._diagnostics = list(document.diagnostics)
        self._hooks: list[Hook] = []

    def reading(self) -> NativeReading:
        table = self._table()
        named = [name for name in table if name in self._events]
        for name, groups in table.items():
            event = self._events.get(name)
            if event is None:
                self._unknown_event(name)
            else:
                self._read_event(event, groups)
        return NativeReading(tuple(self._hooks), tuple(self._diagnostics), frozenset(named))

    def _say(
        self, severity: Severity, code: str, message: str, *path: str | int, fix: str | None = None
    ) -> None:
        self._diagnostics.append(Diagnostic(severity, code, message, self._document.where(*path), fix=fix))

    def _table(self) -> Mapping[str, Any]:
        """What stands under `hooks`; other keys are other people's settings."""
        value = self._document.value
        if value is None:
            problem = next((one for one in self._document.diagnostics if one.severity == "error"), None)
            if problem is not None:
                self._close_all_guards(problem.message)
            return {}
        if not isinstance(value, Mapping):
            self._say("error", "not-a-table", "the file does not hold an object with hooks in it")
            self._close_all_guards("the file does not hold an object with hooks in it")
            return {}
        settings = cast("Mapping[str, Any]", value)
        for key in settings:
            if key in self._events:
                fix = f"hooks.{key}"
                self._say(
                    "error",
                    "misplaced-event",
                    f"{key} stands outside hooks, where nobody reads it",
                    key,
                    fix=fix,
                )
        if self._disabled(settings):
            return {}
        if self._stands_twice(("hooks",)):
            # The first table is lost, and with it which events it guarded.
            self._close_all_guards(stands_twice(("hooks",)))
        hooks = settings.get("hooks", {})
        if not isinstance(hooks, Mapping):
            self._say("error", "not-a-table", "hooks is not an object of events", "hooks")
            self._close_all_guards("hooks is not an object of events")
            return {}
        return cast("Mapping[str, Any]", hooks)

    def _close_all_guards(self, why: str) -> None:
        """Nobody knows what such a file guarded, so nothing it may have guarded goes ahead."""
        if not self._hooks:  # once is enough
            for event in self._events.values():
                self._keep_broken(event, f"{self._document.file}: {why}", ("hooks",))

    def _disabled(self, settings: Mapping[str, Any]) -> bool:
        key = "disableAllHooks"
        value = settings.get(key, False)
        instead = misshaped(value, "true or false")
        if instead is not None:
            self._say(
                "error", "wrong-type", f"{key} is {instead}, so the hooks stay on", key, fix=f"{key}: true"
            )
        if value is not True or self._stands_twice((key,)):
            return False
        self._say("info", "disabled", f"{key} turns all hooks of this file off", key)
        return True

    def _unknown_event(self, name: str) -> None:
        close = nearest(name, self._events)
        fix = f"did you mean {close}?" if close else "see `hookline events`"
        self._say("error", "unknown-event", f"no event is called {name!r}", "hooks", name, fix=fix)

    def _read_event(self, event: EventSpec[Any], groups: Any) -> None:
        path: Path = ("hooks", event.name)
        if self._stands_twice(path):
            self._keep_broken(event, stands_twice(path), path)
        if not isinstance(groups, list):
            self._refuse(
                event, "not-a-list", f"{event.name} is not a list of groups", path, fix="[{hooks = [...]}]"
            )
            return
        for index, group in enumerate(cast("list[Any]", groups)):
            self._read_group(event, group, (*path, index))

    def _read_group(self, event: EventSpec[Any], group: Any, path: Path) -> None:
        if not isinstance(group, Mapping):
            self._refuse(event, "not-a-table", "a group is not an object with hooks", path)
            return
        table = cast("Mapping[str, Any]", group)
        for key in table:
            if key not in ("matcher", "hooks", "description"):
                close = nearest(key, ("matcher", "hooks"))
                fix = f"did you mean {close}?" if close else None
                self._say(
                    "warning", "unknown-field", f"no field of a group is called {key!r}", *path, key, fix=fix
                )
        if self._stands_twice((*path, "hooks")):
            # Which hooks were meant is not known, so none of those that are left speaks for the others.
            self._keep_broken(event, stands_twice(("hooks",)), path)
            return
        entries = table.get("hooks")
        if not isinstance(entries, list):
            missing = "a group needs a list of hooks"
            fix = "hooks = [{...}]" if "hooks" in table else "put the entry into hooks = [...]"
            self._refuse(event, "missing-field", missing, path, fix=fix)
            return
        shared = self._group(event, table, path)
        for index, entry in enumerate(cast("list[Any]", entries)):
            self._read_entry(shared, entry, (*path, "hooks", index))

    def _read_entry(self, group: Group, entry: Any, path: Path) -> None:
        if not isinstance(entry, Mapping):
            self._refuse(group.event, "not-a-table", "a hook is not an object", path, group=group)
            return
        where = self._document.where(*path)
        reader = EntryReader(self._around, group, cast("Mapping[str, Any]", entry), where)
        hook = reader.hook(*self._twice_below(path))
        self._diagnostics.extend(reader.diagnostics)
        if hook is not None:
            self._hooks.append(hook)

    def _group(self, event: EventSpec[Any], table: Mapping[str, Any], path: Path) -> Group:
        policy = self._policies.of(event)
        text = table.get("matcher")
        where: Path = (*path, "matcher")
        if text is not None and not isinstance(text, str):
            self._say("error", "wrong-type", "matcher is not text", *where)
            return Group(event, policy, broken="matcher is not text")
        broken = next((stands_twice((key,)) for key in table if self._stands_twice((*path, key))), None)
        if self._stands_twice(where):
            return Group(event, policy, text, broken=broken)
        try:
            matcher, condition = native_matcher(text, self._around.patterns, self._around.shell)
        except PatternError as error:
            self._say("error", "bad-pattern", f"matcher: {error}", *where)
            return Group(event, policy, text, broken=f"matcher: {error}")
        if matcher is not None and event.subject is None:
            message = f"{event.name} has nothing to match, so the matcher is not read"
            self._say("warning", "unread-matcher", message, *where, fix="remove the matcher")
            return Group(event, policy, text, broken=broken)
        impossible = self._impossible(event, matcher, condition)
        if impossible is not None:
            self._say("warning", "dead-matcher", impossible, *where)
        elif event.subject == "tool_name" and self._fits_only_a_beginning(matcher):
            message = f"matcher {text!r} fits no usual tool: natively the whole name must match"
            self._say("warning", "dead-matcher", message, *where, fix=f"{text}.*")
        return Group(event, policy, text, matcher, condition, broken)

    def _impossible(
        self, event: EventSpec[Any], matcher: Matcher | None, condition: Condition | None
    ) -> str | None:
        if not can_match(matcher, event.subjects):
            known = ", ".join(event.subjects)
            return f"the matcher can never match: {event.subject} is one of {known}"
        return problem(condition, event)

    def _fits_only_a_beginning(self, matcher: Matcher | None) -> bool:
        """Whether it was written for an agent that searches in the name, where `^B` finds Bash."""
        if not isinstance(matcher, RegexMatcher) or not matcher.text.startswith("^"):
            return False
        if any(matcher.matches(tool) for tool in _USUAL_TOOLS):
            return False
        anywhere = self._around.patterns.expression(matcher.text, anchored=False)
        return any(anywhere.found(tool) for tool in _USUAL_TOOLS)

    def _stands_twice(self, path: Path) -> bool:
        """Which of the two was meant is not ours to guess."""
        return any(duplicate.path == path for duplicate in self._document.duplicates)

    def _twice_below(self, path: Path) -> Iterator[Path]:
        for duplicate in self._document.duplicates:
            if duplicate.path[: len(path)] == path:
                yield duplicate.path[len(path) :]

    def _refuse(
        self,
        event: EventSpec[Any],
        code: str,
        message: str,
        path: Path,
        *,
        group: Group | None = None,
        fix: str | None = None,
    ) -> None:
        self._say("error", code, message, *path, fix=fix)
        self._keep_broken(event, message, path, group)

    def _keep_broken(
        self, event: EventSpec[Any], message: str, path: Path, group: Group | None = None
    ) -> None:
        if not event.guard:
            return
        where: Where = self._document.where(*path)
        self._hooks.append(
            Hook(
                name=".".join(str(part) for part in path),
                event=event,
                policy=self._policies.of(event),
                wire=self._around.wire,
                kind="command",
                matcher=group.matcher if group is not None else None,
                scope=self._around.scope,
                where=where,
                broken=message,
            )
        )
