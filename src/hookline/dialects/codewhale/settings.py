"""CodeWhale's configuration: `[hooks]` of the user's config.toml, files of plugins, a project's hooks.toml.

The entries of all of them are one list, in that order. What holds for all hooks (on or off, the timeout that
replaces all others, the working directory) is the user's alone to say.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.codewhale.conditions import ConditionReader
from hookline.dialects.codewhale.events import BY_NAME, LAUNCHES, NAME, Row
from hookline.dialects.codewhale.texts import LABEL_CHARS, one_line
from hookline.dialects.dialect import DialectEvent, Layer, Reading, Tools
from hookline.dialects.labels import command_label
from hookline.dialects.report import Report
from hookline.handlers.command import CommandSpec
from hookline.handlers.registry import Handler
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import NOWHERE, Diagnostic, Path, Where
from hookline.model.events import SESSION_START, EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope, Waiting
from hookline.model.policy import Reaction
from hookline.model.wire import Wire

#: What may stand beside the entries, and what may stand in one; with their shapes.
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


#: Some thirty years: a number of any size can stand in a file.
_LONGEST = 1_000_000_000


class Launch(Struct, frozen=True):
    """session_start happens once per launch there, so a session that starts anew inside of one is none."""

    text: str = "startup|resume"

    def matches(self, subject: str) -> bool:
        return subject in LAUNCHES


class Surroundings(Struct, frozen=True, eq=False):
    """What is the same for all entries of a file."""

    handlers: Mapping[str, Handler]
    wire: Wire
    events: Mapping[str, DialectEvent]
    scope: Scope
    report: Report

    def seconds(self, key: str, value: int, *path: str | int) -> float:
        """Whole thousands of seconds are milliseconds that somebody brought along from another agent."""
        if value >= 1000 and value % 1000 == 0:
            shown = f"{value:,} of them are {value // 60:,} minutes" if value < _LONGEST else "a lot of them"
            fix = f"{key} = {value // 1000} if these are milliseconds" if value < _LONGEST else None
            self.report.say("warning", "timeout-unit", f"{key} counts seconds: {shown}", *path, fix=fix)
        return float(min(value, _LONGEST))


class EntryReader:
    """Reads one entry; made for it and thrown away."""

    def __init__(self, around: Surroundings, entry: Mapping[str, Any], path: Path) -> None:
        self._around = around
        self._report = around.report
        self._entry = entry
        self._path = path
        self._sound = True
        #: Needed fields that are there under a name nobody knows.
        self._meant = _misspelled(entry)

    def hooks(self) -> Sequence[Hook]:
        """One hook per moment its event stands for; none when something is wrong with the entry."""
        entry = {key: value for key, value in self._entry.items() if key not in self._meant.values()}
        fields, self._sound = self._report.fields(entry, FIELDS, *self._path, hook=self._label())
        row = self._row(fields)
        command = self._command(fields)
        condition = self._condition(fields, row) if row is not None else None
        timeout = self._timeout(fields)
        if row is None or command is None or not self._sound:
            return ()
        spec = CommandSpec(command)
        if not self._can_run(spec):
            return ()
        self._check_background(fields, row)
        own_event = self._around.events[row.event_name]
        background = fields.get("background", False) and row.event_name != "shell_env"
        strict = not fields.get("continue_on_error", True)
        return [
            make_hook(
                event,
                own_event,
                self._around.wire,
                spec,
                name=self._label(),
                condition=condition,
                timeout=own_event.timeout if timeout is None else timeout,
                waiting="async" if background else "wait",
                # How a background hook ends is nobody's business there: it is on record, and that is all.
                on_failure="pass" if background else "block" if strict else None,
                scope=self._around.scope,
                where=self._report.document.where(*self._path),
            )
            for event in row.events
        ]

    def _say(self, code: str, message: str, *path: str | int, fix: str | None = None) -> None:
        self._sound = False
        self._report.say("error", code, message, *self._path, *path, fix=fix, hook=self._label())

    def _warn(self, code: str, message: str, *path: str | int, fix: str | None = None) -> None:
        self._report.say("warning", code, message, *self._path, *path, fix=fix, hook=self._label())

    def _label(self) -> str:
        return label(self._entry.get("name"), self._entry.get("command"))

    def _row(self, fields: Mapping[str, Any]) -> Row | None:
        name = fields.get("event")
        if name is None:
            if "event" not in self._entry:
                self._missing("event", "a hook needs an event", f"one of {', '.join(BY_NAME)}")
            return None
        row = BY_NAME.get(name)
        if row is None:
            self._sound = False
            self._report.unknown("event", name, BY_NAME, *self._path, "event")
        return row

    def _command(self, fields: Mapping[str, Any]) -> str | None:
        command: str | None = fields.get("command")
        if command is None:
            if "command" not in self._entry:
                self._missing("command", "a hook needs a command")
        elif not command.strip():
            self._say("missing-field", "command is empty", "command")
            return None
        return command

    def _missing(self, field: str, message: str, fix: str | None = None) -> None:
        meant = self._meant.get(field)
        if meant is None:
            self._say("missing-field", message, fix=fix)
        else:
            shown = f"{message}, and no field is called {meant[:40]!r}"
            self._say("missing-field", shown, meant, fix=f"did you mean {field}?")

    def _condition(self, fields: Mapping[str, Any], row: Row) -> Condition | None:
        table = fields.get("condition")
        if table is None:
            return None
        return ConditionReader(row, self._report_at).read(table, ("condition",))

    def _report_at(
        self, severity: str, code: str, message: str, *path: str | int, fix: str | None = None
    ) -> None:
        (self._say if severity == "error" else self._warn)(code, message, *path, fix=fix)

    def _timeout(self, fields: Mapping[str, Any]) -> float | None:
        seconds: int | None = fields.get("timeout_secs")
        if seconds is None:
            return None
        if seconds <= 0:
            message = f"timeout_secs is {seconds}, not seconds above 0"
            self._say("bad-timeout", message, "timeout_secs", fix="leave it out for 30 seconds")
            return None
        return self._around.seconds("timeout_secs", seconds, *self._path, "timeout_secs")

    def _can_run(self, spec: CommandSpec) -> bool:
        handler = self._around.handlers.get("command")
        wrong = "no handler for commands was given" if handler is None else handler.problem(spec)
        if wrong is not None:
            self._say("cannot-run", wrong, "command")
        return wrong is None

    def _check_background(self, fields: Mapping[str, Any], row: Row) -> None:
        if not fields.get("background", False):
            return
        if row.event_name == "shell_env":
            message = "shell_env hooks are always waited for, so background is not read"
            self._warn("unread-field", message, "background", fix="remove background")
        elif row.steers:
            message = f"nobody waits for a background hook, so it can change nothing at {row.event_name}"
            self._warn("async-guard", message, "background", fix="remove background")


def _misspelled(entry: Mapping[str, Any]) -> Mapping[str, str]:
    missing = [field for field in ("event", "command") if field not in entry]
    unknown = [key for key in entry if key not in FIELDS] if missing else []
    return {field: key for key in unknown if (field := nearest(key, FIELDS)) in missing}


def make_hook(
    event: EventSpec[Any],
    own_event: DialectEvent,
    wire: Wire,
    spec: CommandSpec,
    *,
    name: str,
    condition: Condition | None = None,
    timeout: float = 30.0,
    waiting: Waiting = "wait",
    on_failure: Reaction | None = None,
    scope: Scope = "flag",
    where: Where = NOWHERE,
) -> Hook:
    matcher: Matcher | None = Launch() if event is SESSION_START else None
    return Hook(
        name=name,
        event=event,
        policy=own_event.policy,
        wire=wire,
        kind="command",
        spec=spec,
        matcher=matcher,
        condition=condition,
        timeout=timeout,
        waiting=waiting,
        on_failure=on_failure,
        dialect=NAME,
        scope=scope,
        where=where,
    )


def label(name: Any, command: Any) -> str:
    """Its name on one line, else the program it runs: a name from a file must not draw on a terminal."""
    shown = one_line(name, LABEL_CHARS) if isinstance(name, str) else ""
    return shown or (
        one_line(command_label(command), LABEL_CHARS) if isinstance(command, str) else "(unnamed)"
    )


Layout = Literal["user", "plugin", "project"]

_LAYOUTS: Mapping[Scope, Layout] = {"plugin": "plugin", "project": "project", "local": "project"}
#: Layers run in this order, whatever order they are given in; several of one kind in the order given.
_ORDER: tuple[Layout, ...] = ("user", "plugin", "project")


class Settings(Struct):
    """What holds for all hooks."""

    enabled: bool = True
    timeout: float | None = None
    working_dir: str | None = None


class _Table(Struct, frozen=True):
    """Where the entries of one file stand, and its own settings."""

    entries: Sequence[Any]
    path: Path
    settings: Mapping[str, Any]


def layout_of(layer: Layer) -> Layout:
    """By where the file was found; a file somebody named may have either shape, so its shape tells."""
    scope = layer.place.scope
    if scope in _LAYOUTS:
        return _LAYOUTS[scope]
    if scope in ("flag", "session") and isinstance(_under_hooks(layer.document.value), list):
        return "project"
    return "user"


def read_layers(
    layers: Sequence[Layer], tools: Tools, dialect_events: Mapping[str, DialectEvent], wire: Wire
) -> Reading:
    ordered = sorted(layers, key=lambda layer: _ORDER.index(layout_of(layer)))
    settings = Settings()
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    for layer in ordered:
        report = Report(layer.document)
        around = Surroundings(tools.handlers, wire, dialect_events, layer.place.scope, report)
        hooks.extend(_LayerReading(layer, layout_of(layer), around, settings).hooks())
        diagnostics.extend(report.diagnostics)
    diagnostics.extend(_silent_in_codewhale(ordered))
    if not settings.enabled:
        return Reading((), tuple(diagnostics))
    return Reading(tuple(_settled(hook, settings) for hook in hooks), tuple(diagnostics))


def _settled(hook: Hook, settings: Settings) -> Hook:
    """With what the user says for all hooks: there, a timeout for all replaces each hook's own."""
    changes: dict[str, Any] = {}
    if settings.timeout is not None:
        changes["timeout"] = settings.timeout
    if settings.working_dir is not None:
        changes["spec"] = replace(hook.spec, cwd=settings.working_dir)
    return replace(hook, **changes) if changes else hook


def _under_hooks(value: Any) -> Any:
    return cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None


def _silent_in_codewhale(layers: Sequence[Layer]) -> list[Diagnostic]:
    """A project's hooks beside a config.toml without `[hooks]`: they run here, and would not run there."""
    users = [layer for layer in layers if layout_of(layer) == "user" and layer.document.value is not None]
    others = [layer for layer in layers if layout_of(layer) != "user" and _under_hooks(layer.document.value)]
    if not users or not others or any(_under_hooks(layer.document.value) is not None for layer in users):
        return []
    message = "CodeWhale itself runs no hooks while this file has no [hooks] table; Hookline does"
    where = users[0].document.where()
    return [Diagnostic("info", "off-in-its-agent", message, where, fix="add [hooks] to switch them on there")]


class _LayerReading:
    """One file being read."""

    def __init__(self, layer: Layer, layout: Layout, around: Surroundings, settings: Settings) -> None:
        self._document = layer.document
        self._layout = layout
        self._around = around
        self._report = around.report
        self._settings = settings
        #: What a plugin's file says for its own hooks.
        self._own_timeout: float | None = None

    def hooks(self) -> list[Hook]:
        table = self._table()
        if table is None:
            return []
        switched_on = self._read_settings(table)
        found = [self._hook(entry, (*table.path, index)) for index, entry in enumerate(table.entries)]
        return [hook for several in found for hook in several] if switched_on else []

    def _table(self) -> _Table | None:
        value = self._document.value
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self._report.say("error", "not-a-table", "the file does not hold a table with hooks in it")
            return None
        root = cast("Mapping[str, Any]", value)
        return self._user_table(root) if self._layout == "user" else self._own_table(root)

    def _user_table(self, root: Mapping[str, Any]) -> _Table | None:
        """`[hooks]` beside the agent's other settings."""
        if "hooks" not in root:
            return None
        hooks = root["hooks"]
        if isinstance(hooks, list):
            message = "hooks is a list here, and only a project's hooks.toml has it so"
            self._report.say("error", "not-a-table", message, "hooks", fix="[[hooks.hooks]]")
            return None
        if not isinstance(hooks, Mapping):
            self._report.say("error", "not-a-table", "hooks is not a table", "hooks", fix="[hooks]")
            return None
        settings = cast("Mapping[str, Any]", hooks)
        for key in settings:
            if key != "hooks" and key not in SETTINGS:
                known = [*SETTINGS, "hooks"]
                self._report.unknown("field", key, known, "hooks", key, severity="warning")
        return _Table(self._entries(settings, "hooks", "hooks"), ("hooks", "hooks"), settings)

    def _own_table(self, root: Mapping[str, Any]) -> _Table | None:
        """A file that holds nothing but hooks, with the entries at its root."""
        if isinstance(root.get("hooks"), Mapping):
            message = "hooks is a table here, as in config.toml; this file lists its hooks at the root"
            self._report.say("error", "not-a-list", message, "hooks", fix="[[hooks]]")
            return None
        for key in root:
            if key != "hooks" and key not in SETTINGS:
                known = [*SETTINGS, "hooks"]
                self._report.unknown("field", key, known, key, severity="warning")
        return _Table(self._entries(root, "hooks"), ("hooks",), root)

    def _entries(self, table: Mapping[str, Any], *path: str) -> Sequence[Any]:
        entries = table.get("hooks", ())
        if isinstance(entries, list | tuple):
            return cast("Sequence[Any]", entries)
        fix = f"[[{'.'.join(path)}]]"
        self._report.say("error", "not-a-list", f"{'.'.join(path)} is not a list of hooks", *path, fix=fix)
        return ()

    def _read_settings(self, table: _Table) -> bool:
        """Whether the file's hooks are in force."""
        root = table.path[:-1]
        given = {key: value for key, value in table.settings.items() if key in SETTINGS}
        if self._layout == "project":
            for key in given:
                message = f"{key} is not read in a project's file: only your own config.toml sets it"
                self._report.say("warning", "unread-field", message, *root, key, fix=f"remove {key}")
            return True
        good, _ = self._report.fields(given, SETTINGS, *root)
        enabled = good.get("enabled", True)
        timeout = self._timeout_for_all(good.get("default_timeout_secs"), *root)
        working_dir = good.get("working_dir") or None
        if not enabled:
            what = "all hooks" if self._layout == "user" else "the hooks of this file"
            self._report.say("info", "disabled", f"enabled = false turns {what} off", *root, "enabled")
        if self._layout == "plugin":
            return self._read_plugin_settings(enabled, timeout, working_dir, *root)
        self._settings.enabled = enabled
        self._settings.timeout = timeout
        self._settings.working_dir = working_dir
        return enabled

    def _read_plugin_settings(
        self, enabled: bool, timeout: float | None, working_dir: str | None, *root: str | int
    ) -> bool:
        self._own_timeout = timeout
        if working_dir is not None:
            message = "a plugin's file may not say where hooks run"
            fix = "remove working_dir"
            self._report.say("error", "unread-field", message, *root, "working_dir", fix=fix)
        return enabled

    def _timeout_for_all(self, seconds: Any, *root: str | int) -> float | None:
        if seconds is None:
            return None
        if seconds <= 0:
            message = f"default_timeout_secs is {seconds}, not seconds above 0, so it is not used"
            fix = "leave it out to let each hook keep its own timeout"
            self._report.say("error", "bad-timeout", message, *root, "default_timeout_secs", fix=fix)
            return None
        return self._around.seconds("default_timeout_secs", seconds, *root, "default_timeout_secs")

    def _hook(self, entry: Any, path: Path) -> Sequence[Hook]:
        if not isinstance(entry, Mapping):
            self._report.say("error", "not-a-table", "a hook is not a table", *path)
            return ()
        hooks = EntryReader(self._around, cast("Mapping[str, Any]", entry), path).hooks()
        if self._own_timeout is None:
            return hooks
        return [replace(hook, timeout=self._own_timeout) for hook in hooks]
