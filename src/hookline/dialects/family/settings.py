"""Read settings files: `hooks` -> event -> groups with a matcher -> entries. Every mistake is found, with its
line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent, Layer, Tools
from hookline.dialects.labels import command_label, shortened
from hookline.dialects.report import LoadReport
from hookline.documents.document import misshaped
from hookline.handlers.specs import HttpSpec, McpToolSpec
from hookline.matching.matchers import can_match, joined, problem
from hookline.model.diagnostics import Path, Repair, Severity
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope, Waiting
from hookline.model.wire import Wire

Fields = Mapping[str, Any]  # an object of a settings file, for example an entry

#: The usual type of a shape, tried before the whole test.
_TYPES: Mapping[str | None, type] = {"text": str, "a number": int, "true or false": bool}
#: No timeout is longer: a year.
LONGEST_TIMEOUT = 31_536_000
#: Ends of names that say a unit.
_UNITS = ("ms", "msec", "millis", "milliseconds", "sec", "secs", "seconds", "_s")


class HookKind(Struct, frozen=True):
    """One type of hook: the fields it reads besides the common ones, and the settings of its handler."""

    fields: Mapping[str, str]
    spec: Callable[[Fields], Any]
    #: Makes the name of a hook of this type that has none.
    label: Callable[[Fields], str]
    required: tuple[str, ...] = ()
    #: It needs something of the host (a model, a server). Where the host has none, the file is not at fault.
    hosted: bool = False
    #: A host's own type: fields that are not listed are its own, not mistakes.
    open: bool = False
    #: The handler that runs it, where that has another name.
    handler: str = ""


class MatcherNote(Struct, frozen=True):
    """An error in a matcher."""

    code: str
    message: str
    fix: str | None = None
    severity: Severity = "warning"
    #: The matcher that was certainly meant.
    instead: str | None = None


class Matching(Struct, frozen=True):
    """A matcher, read."""

    matcher: Matcher | None = None
    condition: Condition | None = None
    note: MatcherNote | None = None
    #: The reason why the entries of the group cannot be used.
    broken: str | None = None


EVERYTHING = Matching()


class Group(Struct, frozen=True, eq=False):
    """The facts that the entries of one group share."""

    own_event: DialectEvent
    text: str = ""
    matching: Matching = EVERYTHING


class FileLayout(Struct, frozen=True):
    """The position of the hooks in a file, and their form."""

    #: Events with groups of entries, with entries, or with both; or a list of entries that name their event.
    forms: tuple[Literal["groups", "entries", "list"], ...] = ("groups",)
    #: The keys that lead to them; `*` is any key.
    path: tuple[str, ...] = ("hooks",)


class EntryReader:
    """A reader of one entry. An entry with an error gives no hook; the others of its file stay."""

    dialect: ClassVar[str]
    #: The fields that every type reads.
    common: ClassVar[Mapping[str, str]]
    kinds: Mapping[str, HookKind]
    default_kind: ClassVar[str | None] = None
    null_is_absent: ClassVar[bool] = False
    #: An `if` without text is no condition. False: it is a mistake.
    empty_if_is_absent: ClassVar[bool] = True
    #: The severity of an `if` that can never hold at the event. An error drops the entry.
    never_runs: ClassVar[Severity] = "error"
    #: False: an entry whose timeout cannot be used still runs, with the usual one.
    drops_bad_timeout: ClassVar[bool] = True

    def __init__(self, file: "FileReader", group: Group, entry: Fields, path: Path) -> None:
        self.file = file
        self.group = group
        self.entry = entry
        self.path = path
        self.kind = ""
        self.name: str | None = None
        self.fields: dict[str, Any] = {}
        self.mistakes: list[str] = []
        #: Set where it differs from the file's.
        self.wire: Wire | None = None

    def hooks(self) -> Sequence[Hook]:
        """Return hooks: usually one; none for an entry that cannot be used."""
        kind = self.find_kind()
        if kind is None:
            return ()
        self.name = kind.label(self.entry) or self.kind
        self.read_fields(kind)
        hook = self.hook(kind)
        return () if hook is None else (hook,)

    def hook(self, kind: HookKind) -> Hook | None:
        condition, waiting, timeout = self.condition(), self.waiting(), self.timeout()
        details = self.details(waiting)
        spec = None if self.mistakes else self.spec(kind)
        broken = self.why_broken(spec)
        if self.mistakes and broken is None:
            return None
        file, group = self.file, self.group
        return Hook(
            name=self.name or self.kind,
            event=group.own_event.event,
            policy=group.own_event.policy,
            wire=self.wire or file.wire,
            kind=kind.handler or self.kind,
            spec=spec,
            matcher=group.matching.matcher,
            condition=condition,
            timeout=timeout,
            waiting=waiting,
            status_message=self.fields.get("statusMessage") or None,
            dialect=self.dialect,
            scope=file.scope,
            where=file.report.document.where(*self.path),
            broken=broken,
            **details,
        )

    def details(self, waiting: Waiting) -> dict[str, Any]:  # noqa: ARG002 for overrides
        """Return further fields of the hook: once, identity, on_failure."""
        return {}

    def why_broken(self, spec: Any) -> str | None:  # noqa: ARG002 for overrides
        """Return why the hook is kept and cannot run; None if it runs, or was dropped for its mistakes."""
        return None

    def say(
        self,
        severity: Severity,
        code: str,
        message: str,
        *path: str | int,
        fix: str | None = None,
        repair: Repair | None = None,
    ) -> None:
        """Report a mistake. The path of a repair is one of the entry, too."""
        if severity == "error":
            self.mistakes.append(message)
        if repair is not None:
            repair = replace(repair, path=(*self.path, *repair.path))
        self.file.report.say(
            severity, code, message, *self.path, *path, fix=fix, hook=self.name, repair=repair
        )

    def find_kind(self) -> HookKind | None:
        kind: Any = self.entry.get("type")
        if kind is None and ("type" not in self.entry or self.null_is_absent):
            kind = self.default_kind
            if kind is None:
                fix = f"one of {', '.join(self.kinds)}"
                self.say("error", "missing-field", "a hook needs a type", fix=fix)
                return None
        if not isinstance(kind, str):
            self.say("error", "wrong-type", f"type is {misshaped(kind, 'text')}", "type")
            return None
        self.kind = kind
        if kind not in self.kinds:
            fix, close = self.file.report.meant(kind, self.kinds), self.file.report.certain(kind, self.kinds)
            repair = None if close is None else Repair("set", ("type",), close)
            message = f"no hook type is called {kind!r}"
            self.say("error", "unknown-type", message, "type", fix=fix, repair=repair)
        return self.kinds.get(kind)

    def read_fields(self, kind: HookKind) -> None:
        shapes, fields = self.file.shapes(self, kind), self.fields
        for key, value in self.entry.items():
            shape = shapes.get(key) or ("anything" if kind.open else None)
            if shape in _TYPES and type(value) is _TYPES[shape]:  # most are
                fields[key] = value
            elif shape is None:
                self.unread(key, kind)
            elif value is None and self.null_is_absent:
                continue
            elif (instead := misshaped(value, shape)) is not None:
                number = _number(value) if shape in ("a number", "a whole number") else None
                fix = None if number is None else f"{number}, without quotes"
                repair = None if number is None else Repair("set", (key,), number)
                self.say("error", "wrong-type", f"{key} is {instead}", key, fix=fix, repair=repair)
            else:
                fields[key] = value
        for key in kind.required:
            if key not in self.entry or (self.null_is_absent and self.entry[key] is None):
                fix = self.file.setting(key, '"..."')
                self.say("error", "missing-field", f"a {self.kind} hook needs {key}", fix=fix)
            elif key in self.fields and not self.fields[key].strip():
                self.say("error", "missing-field", f"{key} is empty", key, fix=f"write the {key} to use")

    def unread(self, key: str, kind: HookKind) -> None:
        if any(key in other.fields for other in self.kinds.values()):
            message = f"{key} is not read by {self.kind} hooks"
            self.say("warning", "unread-field", message, key, fix=f"remove {key}")
        else:
            known = [*self.common, *kind.fields]
            fix, close = self.file.report.meant(key, known), self.file.report.certain(key, known)
            shape = self.file.shapes(self, kind).get(close or "", "anything")
            # `timeoutMs` names a unit that the field may not have.
            fits = close not in self.entry and misshaped(self.entry[key], shape) is None
            fits = fits and not (close == "timeout" and key.lower().endswith(_UNITS))
            repair = Repair("rename", (key,), close) if close is not None and fits else None
            message = f"no field is called {key!r}, so it is ignored"
            self.say("warning", "unknown-field", message, key, fix=fix, repair=repair)

    def condition(self) -> Condition | None:
        """Return the matcher's condition and the entry's own `if`."""
        text, shared = self.fields.get("if"), self.group.matching.condition
        if text is None or (not text and self.empty_if_is_absent):
            return shared
        try:
            condition = self.rule(text)
        except PatternError as error:
            self.say("error", "bad-pattern", f"if: {error}", "if")
            return shared
        return joined(shared, self.possible(condition, "if"))

    def rule(self, text: str) -> Condition | None:
        """Read an `if`."""
        # Most entries have no `if`: they do not pay for loading the rules.
        from hookline.matching.tool_rules import tool_condition  # noqa: PLC0415 - as said

        return tool_condition(text, self.file.tools.patterns, self.file.tools.shell)

    def possible(self, condition: Condition | None, key: str) -> Condition | None:
        impossible = problem(condition, self.group.own_event.event)
        if impossible is not None:
            message = f"{impossible}, so this hook never runs"
            self.say(self.never_runs, "never-runs", message, key, fix=f"remove {key}")
        return condition

    def waiting(self) -> Waiting:
        background, rewake = self.fields.get("async", False), self.fields.get("asyncRewake", False)
        if not background and not rewake:
            return "wait"
        if background and rewake:
            self.say("warning", "async-twice", "asyncRewake already means async", "async", fix="remove async")
        own_event, key = self.group.own_event, "asyncRewake" if rewake else "async"
        if own_event.event.guard:
            message = f"an async hook cannot stop anything at {own_event.name}"
            self.say("warning", "async-guard", message, key, fix=f"remove {key}")
        return "rewake" if rewake else "async"

    def timeout(self) -> float:
        seconds = self.fields.get("timeout")
        if seconds is not None and 0 < seconds < float("inf"):
            self.doubt_timeout(seconds)
            return float(min(seconds, LONGEST_TIMEOUT))
        usual = self.usual_timeout()
        if seconds is not None:
            self.bad_timeout(f"timeout is {seconds}, not seconds above 0", f"{usual:g} seconds")
        return usual

    def usual_timeout(self) -> float:
        return self.group.own_event.timeout

    def bad_timeout(self, message: str, usual: str, *, dropped: bool = True) -> None:
        fix, path = f"leave it out for {usual}", (*self.path, "timeout")
        if dropped and self.drops_bad_timeout:
            repair = Repair("remove", ("timeout",))
            self.say("error", "bad-timeout", message, "timeout", fix=fix, repair=repair)
        else:
            message, repair = f"{message}, so {usual} are used", Repair("remove", path)
            self.file.report.say(
                "error", "bad-timeout", message, *path, fix=fix, hook=self.name, repair=repair
            )

    def doubt_timeout(self, given: Any) -> None:
        """Warn where another unit seems to be meant."""

    def spec(self, kind: HookKind) -> Any:
        handler = self.file.tools.handlers.get(kind.handler or self.kind)
        if handler is None:
            self.say("error", "no-handler", f"no handler for {self.kind} hooks was given", "type")
            return None
        spec = self.make_spec(kind)
        wrong = handler.problem(spec)
        if wrong is not None:
            # If only this host lacks something, the file has no mistake: the hook stays, and fails when it
            # should run.
            self.say("warning" if kind.hosted else "error", "cannot-run", wrong)
        return spec

    def make_spec(self, kind: HookKind) -> Any:
        return kind.spec(self.fields)


class FileReader:
    """A reader of one settings file: the hooks of each event it names."""

    entry_reader: ClassVar[type[EntryReader]]
    #: For JSON Schemas. Several where a file may have several forms.
    layouts: ClassVar[tuple[FileLayout, ...]] = (FileLayout(),)
    group_fields: ClassVar[tuple[str, ...]] = ("matcher", "hooks")
    null_matcher_is_absent: ClassVar[bool] = True
    #: Entries of a group that cannot be used are read all the same.
    keeps_broken_groups: ClassVar[bool] = False
    #: The path of the events in the file.
    table_path: Path = ("hooks",)

    def __init__(self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: Wire) -> None:
        self.report = LoadReport(layer.document)
        self.file = layer.config_path.file
        self.scope: Scope = layer.config_path.scope
        self.tools = tools
        self.events = events
        self.wire = wire
        #: Most groups of a file share a few matchers, and most entries a type.
        self._matchings: dict[tuple[str, str], Matching] = {}
        self._shapes: dict[str, Mapping[str, str]] = {}

    def hooks(self) -> dict[str, Sequence[Hook]]:
        """Return hooks by event. An event whose hooks are not read at all is missing."""
        found: dict[str, Sequence[Hook]] = {}
        for name, value in self.hooks_table().items():
            own_event = self.events.get(name)
            if own_event is None:
                self.report.unknown("event", name, self.events, *self.table_path, name)
                continue
            hooks = self.event_hooks(own_event, value, (*self.table_path, name))
            if hooks is not None:
                found[name] = hooks
        return found

    def hooks_table(self) -> Fields:
        """Return the value of `hooks`; other keys are other settings."""
        value = self.report.document.value
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            return self.unusable("the file does not hold an object with hooks in it")
        settings = cast("Fields", value)
        self.report_misplaced(settings)
        if not self.check(settings):
            return {}
        for key in map(str, self.table_path):
            inner = settings.get(key, {})
            if not isinstance(inner, Mapping):
                return self.unusable(f"{key} is {misshaped(inner, 'an object')}", *self.table_path)
            settings = cast("Fields", inner)
        return settings

    def report_misplaced(self, settings: Fields, *path: str | int) -> None:
        for key in settings:
            if key in self.events:
                message = f"{key} is outside `hooks` and is ignored"
                repair = Repair("move", (*path, key), (*path, *self.table_path, key))
                fix = f"write hooks.{key}"
                self.report.say("error", "misplaced-event", message, *path, key, fix=fix, repair=repair)

    def unusable(self, message: str, *path: str | int) -> Fields:
        """Report that the file has no readable hooks."""
        self.report.say("error", "not-an-object", message, *path)
        return {}

    def check(self, settings: Fields) -> bool:  # noqa: ARG002 for overrides
        """Report the file's other errors; return False if its hooks are not read."""
        return True

    def event_hooks(self, own_event: DialectEvent, groups: Any, path: Path) -> Sequence[Hook] | None:
        if not isinstance(groups, list):
            fix = f"[{{{self.setting('hooks', '[...]')}}}]"
            message = f"{own_event.name} is not a list of groups"
            sole = isinstance(groups, Mapping) and "hooks" in groups
            repair = Repair("list", path) if sole else None
            return self.refuse(own_event, "not-a-list", message, path, fix, repair=repair) or None
        return [
            hook
            for index, group in enumerate(cast("list[Any]", groups))
            for hook in self.group_hooks(own_event, group, (*path, index))
        ]

    def refuse(
        self,
        own_event: DialectEvent,
        code: str,
        message: str,
        path: Path,
        fix: str | None = None,
        matcher: Matcher | None = None,
        repair: Repair | None = None,
    ) -> Sequence[Hook]:
        """Report a value that cannot be read as hooks."""
        del own_event, matcher
        self.report.say("error", code, message, *path, fix=fix, repair=repair)
        return ()

    def group_hooks(self, own_event: DialectEvent, group: Any, path: Path) -> Sequence[Hook]:
        if not isinstance(group, dict):
            return self.refuse(own_event, "not-an-object", "a group is not an object with hooks", path)
        table = cast("Fields", group)
        unknown = [key for key in table if key not in self.group_fields]
        entries = table.get("hooks")
        if not isinstance(entries, list):
            # Only this is reported: an entry without its group, or `hooks` misspelled, is one mistake.
            fix, repair = self._list_fix(table, unknown, path)
            message = "a group needs a list of hooks"
            return self.refuse(own_event, "missing-field", message, path, fix, repair=repair)
        for key in unknown:
            self.report.unknown("field", key, self.group_fields, *path, key, severity="warning")
        shared = self.shared(own_event, table, path)
        if shared.matching.broken is not None and not self.keeps_broken_groups:
            return ()
        return [
            hook
            for index, entry in enumerate(cast("list[Any]", entries))
            for hook in self.entry_hooks(shared, entry, (*path, "hooks", index))
        ]

    def shared(self, own_event: DialectEvent, table: Fields, path: Path) -> Group:
        text = table.get("matcher", "")
        if text is None and self.null_matcher_is_absent:
            text = ""
        if not isinstance(text, str):
            message, where = f"matcher is {misshaped(text, 'text')}", (*path, "matcher")
            names = None if misshaped(text, "a list of texts") else "|".join(cast("list[str]", text))
            repair = Repair("set", where, names) if names else None
            fix = f'one text: "{names or "Edit|Write"}"'
            self.report.say("error", "wrong-type", message, *where, fix=fix, repair=repair)
            return Group(own_event, "", Matching(broken=message))
        return Group(own_event, text, self.matching(own_event, text, path))

    def shapes(self, entry: EntryReader, kind: HookKind) -> Mapping[str, str]:
        """Return every field that entries of a type read."""
        if entry.kind not in self._shapes:
            self._shapes[entry.kind] = {**entry.common, **kind.fields}
        return self._shapes[entry.kind]

    def entry_hooks(self, group: Group, entry: Any, path: Path) -> Sequence[Hook]:
        if isinstance(entry, dict):
            return self.entry_reader(self, group, cast("Fields", entry), path).hooks()
        matcher, message = group.matching.matcher, "a hook is not an object"
        return self.refuse(group.own_event, "not-an-object", message, path, matcher=matcher)

    def matching(self, own_event: DialectEvent, text: str, path: Path) -> Matching:
        key = (own_event.policy.event_name, text)
        matching = self._matchings.get(key)
        if matching is None:
            matching = self._matchings[key] = self.read_matcher(own_event, text)
        if (note := matching.note) is not None:
            where = (*path, "matcher")
            repair = None if note.instead is None else Repair("set", where, note.instead)
            self.report.say(note.severity, note.code, note.message, *where, fix=note.fix, repair=repair)
        return matching

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher at an event."""
        raise NotImplementedError

    def setting(self, key: str, value: str) -> str:
        """Return a setting as it is written in this file."""
        return f"{key} = {value}" if self.file.endswith(".toml") else f'"{key}": {value}'

    def _list_fix(self, table: Fields, unknown: Sequence[str], path: Path) -> tuple[str, Repair | None]:
        if "hooks" in table:
            sole = isinstance(table["hooks"], Mapping)
            return self.setting("hooks", "[{...}]"), Repair("list", (*path, "hooks")) if sole else None
        misspelled = next(
            (key for key in unknown if self.report.nearest(key, self.group_fields) == "hooks"), None
        )
        if misspelled is not None:
            return f"write hooks instead of {misspelled}", Repair("rename", (*path, misspelled), "hooks")
        is_entry = "type" in table or "command" in table
        fix = f"put the entry into {self.setting('hooks', '[...]')}"
        return fix, Repair("group", path) if is_entry else None


def milliseconds_meant(given: float) -> Repair | None:
    """Return the repair of a timeout in seconds that was certainly given in milliseconds."""
    return Repair("set", ("timeout",), int(given // 1000)) if given >= 5000 and given % 1000 == 0 else None


def _number(value: Any) -> int | float | None:
    """Return the number that a text in quotes is; None for any other value."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return None if number is None else int(number) if number.is_integer() else number


def never_matches(event: EventSpec[Any], matcher: Matcher | None, condition: Condition | None) -> str | None:
    """Return why a matcher can never match at an event, or None."""
    if can_match(matcher, event.subjects):
        return problem(condition, event)
    return f"the matcher can never match: {event.subject} is one of {', '.join(event.subjects)}"


def labelled(key: str, label: Callable[[str], str]) -> Callable[[Fields], str]:
    """Make a label of one field."""
    return lambda fields: label(fields[key]) if isinstance(fields.get(key), str) else ""


HTTP_FIELDS: Mapping[str, str] = {
    "url": "text", "headers": "an object of texts", "allowedEnvVars": "a list of texts",
}  # fmt: skip


def name_or_command(fields: Fields) -> str:
    """Name a hook by its `name`, else by its command."""
    name, command = fields.get("name"), fields.get("command")
    own = shortened(name) if isinstance(name, str) else ""
    return own or (command_label(command) if isinstance(command, str) else "")


def http_spec(fields: Fields) -> HttpSpec:
    return HttpSpec(fields["url"], fields.get("headers", {}), tuple(fields.get("allowedEnvVars", ())))


def mcp_tool_spec(fields: Fields) -> McpToolSpec:
    return McpToolSpec(fields["server"], fields["tool"], fields.get("input", {}))
