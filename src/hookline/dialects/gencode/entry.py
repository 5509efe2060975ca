"""One hook entry of gen-code as a hook, with every mistake in it found."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import Spelled, Tools
from hookline.dialects.gencode.fields import ALL, BY_TYPE, COMMON, SHAPES, SHELLS, SPECS, label
from hookline.dialects.gencode.vocabulary import NAME
from hookline.dialects.reporting import Report
from hookline.documents.shapes import misshaped
from hookline.matching.conditions import joined, problem
from hookline.matching.nearest import nearest
from hookline.matching.toolrules import tool_condition
from hookline.model.diagnostics import Path, Severity
from hookline.model.errors import PatternError
from hookline.model.hook import Condition, Hook, Matcher, Scope, Waiting
from hookline.model.wire import Wire

#: Longer than anything that was meant: a year.
_LONGEST = 31_536_000
_TWO_HOURS = 7_200
#: Types that need a model, which the host may have or not.
_HOSTED = frozenset({"prompt", "agent"})
#: How a plugin's command names the directory of its plugin.
_ROOTS = ("GEN_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")


class Surroundings(Struct, frozen=True, eq=False):
    """What is the same for all entries of a file."""

    tools: Tools
    wire: Wire
    report: Report
    scope: Scope
    #: The directory of the plugin the file belongs to.
    plugin_root: str | None = None


class Group(Struct, frozen=True, eq=False):
    """What the entries of one group share."""

    spelled: Spelled
    matcher_text: str = ""
    matcher: Matcher | None = None
    condition: Condition | None = None


def read_entry(around: Surroundings, group: Group, entry: Mapping[str, Any], path: Path) -> Hook | None:
    """The hook; None for an entry that cannot be one, with the reason in the report."""
    kind: Any = entry.get("type")
    if kind is None or kind == "":
        kind = "command"
    if not isinstance(kind, str):
        around.report.say("error", "wrong-type", f"type is {misshaped(kind, 'text')}", *path, "type")
        return None
    if kind not in SPECS:
        around.report.unknown("type", kind, SPECS, *path, "type")
        return None
    return _EntryReader(around, group, kind, entry, path).hook()


class _EntryReader:
    """Reads one entry; made for it and thrown away."""

    def __init__(
        self, around: Surroundings, group: Group, kind: str, entry: Mapping[str, Any], path: Path
    ) -> None:
        self._around = around
        self._group = group
        self._kind = kind
        self._entry = entry
        self._path = path
        self._name = label(kind, entry)
        self._fields: dict[str, Any] = {}
        self._sound = True

    def hook(self) -> Hook | None:
        self._read_fields()
        condition, waiting, timeout = self._condition(), self._waiting(), self._timeout()
        spec = self._spec() if self._sound else None
        if not self._sound:
            return None
        fields, group = self._fields, self._group
        once = fields.get("once", False)
        return Hook(
            name=self._name,
            event=group.spelled.event,
            policy=group.spelled.policy,
            wire=self._around.wire,
            kind=self._kind,
            spec=spec,
            matcher=group.matcher,
            condition=condition,
            timeout=timeout,
            waiting=waiting,
            once=once,
            status_message=fields.get("statusMessage") or None,
            dialect=NAME,
            scope=self._around.scope,
            where=self._around.report.document.where(*self._path),
            identity=self._once_key() if once else None,
        )

    def _say(
        self, severity: Severity, code: str, message: str, *path: str | int, fix: str | None = None
    ) -> None:
        if severity == "error":
            self._sound = False
        self._around.report.say(
            severity,
            code, message, *self._path, *path, fix=fix, hook=self._name,
        )  # fmt: skip

    def _read_fields(self) -> None:
        shapes = SHAPES[self._kind]
        for key, value in self._entry.items():
            shape = shapes.get(key)
            if shape is None:
                self._unread(key)
            elif value is None:
                continue
            elif (instead := misshaped(value, shape)) is not None:
                self._say("error", "wrong-type", f"{key} is {instead}", key)
            else:
                self._fields[key] = value
        needed = next(iter(BY_TYPE[self._kind]))
        if self._entry.get(needed) is None:
            self._say("error", "missing-field", f"a {self._kind} hook needs {needed}")
        elif needed in self._fields and not self._fields[needed].strip():
            self._say("error", "missing-field", f"{needed} is empty", needed)

    def _unread(self, key: str) -> None:
        if key in ALL:
            message = f"{key} is not read by {self._kind} hooks"
            self._say("warning", "unread-field", message, key, fix=f"remove {key}")
            return
        close = nearest(key, [*COMMON, *BY_TYPE[self._kind]])
        message = f"no field is called {key!r}, so it is not read"
        self._say("warning", "unknown-field", message, key, fix=f"did you mean {close}?" if close else None)

    def _condition(self) -> Condition | None:
        text = self._fields.get("if")
        if not text:
            return self._group.condition
        tools = self._around.tools
        try:
            condition = tool_condition(text, tools.patterns, tools.shell)
        except PatternError as error:
            self._say("error", "bad-pattern", f"if: {error}", "if")
            return None
        impossible = problem(condition, self._group.spelled.event)
        if impossible is not None:
            # It stays: whoever fires the event is told why it did not run.
            message = f"{impossible}, so this hook never runs"
            self._say("warning", "never-runs", message, "if", fix="remove if")
        return joined(self._group.condition, condition)

    def _waiting(self) -> Waiting:
        background, rewake = self._fields.get("async", False), self._fields.get("asyncRewake", False)
        if background and rewake:
            self._say(
                "warning", "async-twice", "asyncRewake already means async", "async", fix="remove async"
            )
        spelled = self._group.spelled
        if (background or rewake) and spelled.event.guard:
            message = f"a hook nobody waits for cannot stop anything at {spelled.name}"
            key = "asyncRewake" if rewake else "async"
            self._say("warning", "async-guard", message, key, fix=f"remove {key}")
        return "rewake" if rewake else "async" if background else "wait"

    def _timeout(self) -> float:
        usual = self._group.spelled.timeout
        seconds = self._fields.get("timeout")
        if seconds is None:
            return usual
        if seconds <= 0:
            message = f"timeout is {seconds}, which is read as {usual:g} seconds"
            self._say(
                "warning", "bad-timeout", message, "timeout", fix="write seconds above 0, or leave it out"
            )
            return usual
        if (seconds >= 1000 and seconds % 1000 == 0) or seconds > _TWO_HOURS:
            shown = f"{seconds:,} seconds" if seconds <= _LONGEST else "more than a year"
            fix = f"{seconds // 1000} for {seconds:,} milliseconds" if seconds <= _LONGEST else None
            message = f"timeout is {shown}: it counts seconds, not milliseconds"
            self._say("warning", "timeout-unit", message, "timeout", fix=fix)
        return float(min(seconds, _LONGEST))

    def _spec(self) -> Any:
        handler = self._around.tools.handlers.get(self._kind)
        if handler is None:
            self._say("error", "no-handler", f"no handler for {self._kind} hooks was given", "type")
            return None
        shell = self._fields.get("shell", "")
        if shell not in SHELLS:
            message = f"there is no shell {shell!r}, so sh is used"
            self._say("warning", "unknown-shell", message, "shell", fix="sh or powershell")
        spec = self._in_plugin(SPECS[self._kind](self._fields))
        wrong = handler.problem(spec)
        if wrong is not None:
            # What only this host lacks is no mistake of the file: the hook stays, and says that it did not run.
            self._say("warning" if self._kind in _HOSTED else "error", "cannot-run", wrong)
        return spec

    def _in_plugin(self, spec: Any) -> Any:
        root = self._around.plugin_root
        if root is None or self._kind != "command":
            return spec
        command = spec.command
        for name in _ROOTS:
            command = command.replace(f"${{{name}}}", root)
        return replace(spec, command=command, env=dict.fromkeys(_ROOTS, root))

    def _once_key(self) -> object:
        """Runs once per session for equal entries under one matcher of one file, also after a reload."""
        fields = self._fields
        what = fields.get("command") or fields.get("prompt") or fields.get("url")
        how = fields.get("shell") if self._kind == "command" else fields.get("model")
        file = self._around.report.document.file
        return (NAME, file, self._group.matcher_text, self._kind, what, fields.get("if"), how)
