"""One entry as the hooks it stands for, with every mistake in it found."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.dialects.codewhale.conditions import read_condition
from hookline.dialects.codewhale.texts import LABEL_CHARS, one_line
from hookline.dialects.codewhale.vocabulary import BY_NAME, LAUNCHES, NAME, Row
from hookline.dialects.dialect import Spelled
from hookline.dialects.labels import command_label
from hookline.dialects.reporting import Report
from hookline.handlers.command import CommandSpec
from hookline.handlers.registry import Handler
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import NOWHERE, Path, Where
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
    spellings: Mapping[str, Spelled]
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
        spelled = self._around.spellings[row.spelled]
        background = fields.get("background", False) and row.spelled != "shell_env"
        strict = not fields.get("continue_on_error", True)
        return [
            make_hook(
                event,
                spelled,
                self._around.wire,
                spec,
                name=self._label(),
                condition=condition,
                timeout=spelled.timeout if timeout is None else timeout,
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
        condition, mistakes = read_condition(table, row)
        for mistake in mistakes:
            say = self._say if mistake.fatal else self._warn
            say(mistake.code, mistake.message, "condition", *mistake.path, fix=mistake.fix)
        return condition

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
        if row.spelled == "shell_env":
            message = "shell_env hooks are always waited for, so background is not read"
            self._warn("unread-field", message, "background", fix="remove background")
        elif row.steers:
            message = f"nobody waits for a background hook, so it can change nothing at {row.spelled}"
            self._warn("async-guard", message, "background", fix="remove background")


def _misspelled(entry: Mapping[str, Any]) -> Mapping[str, str]:
    missing = [field for field in ("event", "command") if field not in entry]
    unknown = [key for key in entry if key not in FIELDS] if missing else []
    return {field: key for key in unknown if (field := nearest(key, FIELDS)) in missing}


def make_hook(
    event: EventSpec[Any],
    spelled: Spelled,
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
        policy=spelled.policy,
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
