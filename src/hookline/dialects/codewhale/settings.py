"""Read CodeWhale's configuration: `[hooks]` of the user's config.toml, files of plugins, a project's
hooks.toml.

The entries of all of them are one list, in that order. Only the user's own file has settings for all hooks
(on or off, the timeout that replaces all others, the working directory).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.codewhale.conditions import ConditionReader
from hookline.dialects.codewhale.events import BY_NAME, LAUNCHES, NAME, EventRow
from hookline.dialects.codewhale.texts import LABEL_CHARS, one_line
from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.settings import EVERYTHING, Fields, FileLayout, Group, HookKind, Matching
from hookline.dialects.labels import command_label
from hookline.handlers.specs import CommandSpec
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Path, Repair
from hookline.model.events import SESSION_START
from hookline.model.hook import Condition, Hook, Scope, Waiting
from hookline.model.wire import Wire

Layout = Literal["user", "plugin", "project"]

_LAYOUTS: Mapping[Scope, Layout] = {"plugin": "plugin", "project": "project", "local": "project"}
#: Layers run in this order, whatever order they are given in; several of one kind in the order given.
_ORDER: tuple[Layout, ...] = ("user", "plugin", "project")

#: The settings next to the entries, and the fields of an entry; with their shapes.
SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "enabled": "true or false",
        "default_timeout_secs": "a whole number",
        "working_dir": "text",
    }
)
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "event": "text",
        "command": "text",
        "name": "text",
        "timeout_secs": "a whole number",
        "background": "true or false",
        "continue_on_error": "true or false",
        "condition": "an object",
    }
)
#: Some thirty years: a file can hold a number of any size.
_LONGEST = 1_000_000_000


class Launch(Struct, frozen=True):
    """session_start happens once per launch there, so a session that starts again within one does not match."""

    text: str = "startup|resume"

    def matches(self, subject: str) -> bool:
        return subject in LAUNCHES


def label(fields: Fields) -> str:
    """Return its name on one line, else the program it runs: a name from a file must not control the terminal."""
    name, command = fields.get("name"), fields.get("command")
    shown = one_line(name, LABEL_CHARS) if isinstance(name, str) else ""
    return shown or (
        one_line(command_label(command), LABEL_CHARS) if isinstance(command, str) else "(unnamed)"
    )


def _matching(own_event: DialectEvent) -> Matching:
    return Matching(Launch()) if own_event.event is SESSION_START else EVERYTHING


_COMMAND = HookKind({}, lambda fields: CommandSpec(fields["command"]), label)


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect = NAME
    common = FIELDS
    kinds: Mapping[str, HookKind] = MappingProxyType({"command": _COMMAND})

    @property
    def row(self) -> EventRow | None:
        return BY_NAME.get(self.fields.get("event", ""))

    def hooks(self) -> Sequence[Hook]:
        """Return one hook per event of the entry."""
        hooks, row = super().hooks(), self.row
        return [replace(hook, event=event) for hook in hooks for event in (row.events if row else ())]

    def find_kind(self) -> HookKind:
        """Return the one kind: all hooks are commands; entries have no `type`."""
        self.kind = "command"
        return _COMMAND

    def read_fields(self, kind: HookKind) -> None:
        super().read_fields(kind)
        name = self.fields.get("event")
        if name is not None and name not in BY_NAME:
            self.mistakes.append("unknown event")
            self.file.report.unknown("event", name, BY_NAME, *self.path, "event")
        if "event" not in self.entry:
            self._missing("event", "a hook needs an event", f"one of {', '.join(BY_NAME)}")
        if "command" not in self.entry:
            self._missing("command", "a hook needs a command")
        elif not self.fields.get("command", "-").strip():
            self.say("error", "missing-field", "command is empty", "command")

    def _missing(self, field: str, message: str, fix: str | None = None) -> None:
        misspelled = next((key for key in self.entry if self._meant(key) == field), None)
        if misspelled is None:
            self.say("error", "missing-field", message, fix=fix)
        else:
            message = f"{message}, and no field is called {misspelled[:40]!r}"
            self.say("error", "missing-field", message, misspelled, fix=f"did you mean {field}?")

    def _meant(self, key: str) -> str | None:
        """Return the needed field that an unknown key was probably meant to be."""
        field = None if key in FIELDS else nearest(key, FIELDS)
        return field if field in ("event", "command") and field not in self.entry else None

    def unread(self, key: str, kind: HookKind) -> None:
        if key in ("match", "matcher", "if"):
            message = f"no field is called {key!r}: it runs for every tool"
            fix = 'condition = { type = "tool_name", name = "exec_shell" }, with the tool that is meant'
            self.say("warning", "unknown-field", message, key, fix=fix)
        elif self._meant(key) is None:
            super().unread(key, kind)

    def condition(self) -> Condition | None:
        table, row = self.fields.get("condition"), self.row
        return (
            None
            if table is None or row is None
            else ConditionReader(row, self.say).read(table, ("condition",))
        )

    def waiting(self) -> Waiting:
        row = self.row
        if not self.fields.get("background") or row is None:
            return "wait"
        if row.event_name == "shell_env":
            message = "shell_env hooks are always waited for, so background is not read"
            self.say("warning", "unread-field", message, "background", fix="remove background")
            return "wait"
        if row.steers:
            message = f"a background hook cannot change anything at {row.event_name}"
            self.say("warning", "async-guard", message, "background", fix="remove background")
        return "async"

    def details(self, waiting: Waiting) -> dict[str, Any]:
        """Return further fields: the end of a background hook has no effect there; it is only recorded."""
        strict = not self.fields.get("continue_on_error", True)
        return {"on_failure": "pass" if waiting == "async" else "block" if strict else None}

    def timeout(self) -> float:
        usual, seconds = self.usual_timeout(), self.fields.get("timeout_secs")
        if seconds is None:
            return usual
        if seconds <= 0:
            message = f"timeout_secs is {seconds}, not seconds above 0"
            self.say(
                "error", "bad-timeout", message, "timeout_secs", fix=f"leave it out for {usual:g} seconds"
            )
            return usual
        return self.file.seconds(seconds, *self.path, "timeout_secs")

    def spec(self, kind: HookKind) -> Any:
        handler, spec = self.file.tools.handlers.get(self.kind), self.make_spec(kind)
        wrong = "no handler for command hooks was given" if handler is None else handler.problem(spec)
        if wrong is not None:
            self.say("error", "no-handler" if handler is None else "cannot-run", wrong, "command")
        return spec


class Settings(Struct, frozen=True):
    """A file's settings for all hooks."""

    enabled: bool = True
    timeout: float | None = None
    working_dir: str | None = None


class FileReader(family.FileReader):
    entry_reader = EntryReader
    layouts = (FileLayout(("list",), ("hooks", "hooks")), FileLayout(("list",)))

    def __init__(self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: Wire) -> None:
        super().__init__(layer, tools, events, wire)
        self.layout = self._layout()
        #: None: the file has no table of hooks.
        self.settings: Settings | None = None

    def _layout(self) -> Layout:
        """Return the layout by where the file was found; a file that was named may have either shape, so its
        shape decides."""
        if self.scope in ("flag", "session") and isinstance(self.under_hooks, list):
            return "project"
        return _LAYOUTS.get(self.scope, "user")

    @property
    def under_hooks(self) -> Any:
        value = self.report.document.value
        return cast("Fields", value).get("hooks") if isinstance(value, Mapping) else None

    def read(self) -> Iterator[Hook]:
        """Yield its hooks, unless it switches them off."""
        path: Path = ("hooks",) if self.layout == "user" else ()
        table = self._table()
        if table is None:
            return
        for key in table:
            if key != "hooks" and key not in SETTINGS:
                self.report.unknown("field", key, [*SETTINGS, "hooks"], *path, key, severity="warning")
        entries = table.get("hooks", ())
        path = (*path, "hooks")
        if not isinstance(entries, list | tuple):
            name = ".".join(map(str, path))
            self.report.say("error", "not-a-list", f"{name} is not a list of hooks", *path, fix=f"[[{name}]]")
            entries = ()
        self.settings = settings = self._settings(table, path[:-1])
        for index, entry in enumerate(cast("Sequence[Any]", entries)):
            hooks = self._entry(entry, (*path, index))
            if settings.enabled and self.layout == "plugin" and settings.timeout is not None:
                hooks = [replace(hook, timeout=settings.timeout) for hook in hooks]
            yield from hooks if settings.enabled else ()

    def _table(self) -> Fields | None:
        """Return `[hooks]` among the agent's other settings; or a file of nothing but hooks, with the entries
        at its root."""
        value, hooks = self.report.document.value, self.under_hooks
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.unusable("the file does not hold an object with hooks in it")
        elif self.layout != "user":
            if not isinstance(hooks, Mapping):
                return cast("Fields", value)
            message = "hooks is an object, as in config.toml; this file lists its hooks at the root"
            self.report.say("error", "not-a-list", message, "hooks", fix="[[hooks]]")
        elif isinstance(hooks, Mapping):
            return cast("Fields", hooks)
        elif isinstance(hooks, list):
            message = "hooks is a list, which only a project's hooks.toml has"
            self.report.say("error", "not-an-object", message, "hooks", fix="[[hooks.hooks]]")
        elif "hooks" in value:
            self.report.say("error", "not-an-object", "hooks is not an object", "hooks", fix="[hooks]")
        return None

    def _settings(self, table: Fields, path: Path) -> Settings:
        given = {key: value for key, value in table.items() if key in SETTINGS}
        if self.layout == "project":
            for key in given:
                message = f"{key} is not read in a project's file: only your own config.toml sets it"
                self.report.say("warning", "unread-field", message, *path, key, fix=f"remove {key}")
            return Settings()
        good, _ = self.report.fields(given, SETTINGS, *path)
        enabled, working_dir = good.get("enabled", True), good.get("working_dir") or None
        if not enabled:
            what = "all hooks" if self.layout == "user" else "the hooks of this file"
            self.report.say("info", "disabled", f"enabled = false turns {what} off", *path, "enabled")
        if working_dir is not None and self.layout == "plugin":
            message = "a plugin's file may not set where hooks run"
            self.report.say("error", "unread-field", message, *path, "working_dir", fix="remove working_dir")
        timeout = self._timeout_for_all(good.get("default_timeout_secs"), (*path, "default_timeout_secs"))
        return Settings(enabled, timeout, working_dir)

    def _timeout_for_all(self, seconds: int | None, path: Path) -> float | None:
        if seconds is None:
            return None
        if seconds > 0:
            return self.seconds(seconds, *path)
        message = f"default_timeout_secs is {seconds}, not seconds above 0, so it is not used"
        fix = "leave it out to let each hook keep its own timeout"
        self.report.say("error", "bad-timeout", message, *path, fix=fix)
        return None

    def seconds(self, value: int, *path: str | int) -> float:
        """Return seconds; warn about whole thousands: most likely milliseconds, as another agent counts them."""
        key = path[-1]
        if value >= 1000 and value % 1000 == 0:
            shown = f"{value:,} seconds" if value < _LONGEST else "more than thirty years"
            fix = f"{key} = {value // 1000} if these are milliseconds" if value < _LONGEST else None
            message = f"{key} is {shown}: it counts seconds, not milliseconds"
            repair = Repair("set", path, value // 1000) if fix else None
            self.report.say("warning", "timeout-unit", message, *path, fix=fix, repair=repair)
        return float(min(value, _LONGEST))

    def _entry(self, entry: Any, path: Path) -> Sequence[Hook]:
        """Read an entry. One whose event is missing or unknown is read all the same, for its other mistakes."""
        name = cast("Fields", entry).get("event") if isinstance(entry, Mapping) else None
        own_event = self.events[name if isinstance(name, str) and name in self.events else "turn_end"]
        return self.entry_hooks(Group(own_event, matching=_matching(own_event)), entry, path)


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    found = [FileReader(layer, tools, events, wire) for layer in layers]
    found.sort(key=lambda file: _ORDER.index(file.layout))
    # The user may have settings under the agent's former name as well: only the later ones are used.
    users = [file for file in found if file.scope == "user"]
    for file in users[:-1]:
        message = f"ignored: {users[-1].file} takes precedence"
        file.report.say("info", "not-in-force", message, fix="keep one of the two")
    files = [file for file in found if file not in users[:-1]]
    hooks = [hook for file in files for hook in file.read()]
    diagnostics = [one for file in found for one in file.report.diagnostics]
    given = [file.settings for file in files if file.layout == "user" and file.settings is not None]
    settings = given[-1] if given else Settings()
    in_force = [_settled(hook, settings) for hook in hooks] if settings.enabled else ()
    unused = tuple(file.file for file in users[:-1])
    return LoadedHooks(tuple(in_force), (*diagnostics, *_off_in_its_agent(files)), unused)


def _settled(hook: Hook, settings: Settings) -> Hook:
    """Apply the user's settings for all hooks. As in CodeWhale, a timeout for all replaces each hook's own."""
    if settings.timeout is not None:
        hook = replace(hook, timeout=settings.timeout)
    if settings.working_dir is not None:
        hook = replace(hook, spec=replace(hook.spec, cwd=settings.working_dir))
    return hook


def _off_in_its_agent(files: Sequence[FileReader]) -> Iterator[Diagnostic]:
    """Report a project's hooks next to a config.toml without `[hooks]`: they run here, and would not run there."""
    users = [file for file in files if file.layout == "user" and file.report.document.value is not None]
    others = any(file.under_hooks for file in files if file.layout != "user")
    if users and others and all(file.under_hooks is None for file in users):
        message = "CodeWhale itself runs no hooks while this file has no [hooks] table; Hookline does"
        fix = "add [hooks] to switch them on there"
        yield Diagnostic("info", "off-in-its-agent", message, users[0].report.document.where(), fix=fix)


def as_own_hook(hook: Hook, own_event: DialectEvent, command: str) -> Hook:
    """Make a hook from the command line, named and matched as an entry would be."""
    return replace(hook, name=label({"command": command}), matcher=_matching(own_event).matcher)
