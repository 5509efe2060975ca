"""Read agent files: `agents.<name>.hooks`, the flags that add builtin hooks, and the user's own
`settings.hooks`.

Docker Agent refuses some mistakes when it loads a file; such an entry is dropped. Others (an unknown type or
builtin, a prompt that cannot be parsed) it finds when the hook is due, and the hook has then failed; such an
entry stays as a hook that cannot run, so a guard that fails closed there does so here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.docker_agent.conditions import OfAgent
from hookline.dialects.docker_agent.events import DockerEvents, PolicyRow
from hookline.dialects.docker_agent.specs import DECISION_SCHEMA, builtin_spec, command_spec, model_spec
from hookline.dialects.docker_agent.templates import TemplateError
from hookline.dialects.docker_agent.wire import DockerWire
from hookline.dialects.family import settings as family
from hookline.dialects.family.settings import Fields, FileLayout, Group, HookKind, Matching
from hookline.dialects.family.tool_regex import read_tool_regex
from hookline.dialects.labels import command_label
from hookline.handlers.specs import BuiltinSpec
from hookline.matching.matchers import joined
from hookline.model.diagnostics import Path, Repair, Severity
from hookline.model.events import Capability
from hookline.model.hook import Condition, Hook, Waiting
from hookline.model.policy import Reaction
from hookline.model.wire import Wire

NAME = "docker-agent"

#: Every field of an entry; its shape is checked whatever the type of the hook.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "type": "text",
        "command": "text",
        "args": "anything",
        "timeout": "a whole number",
        "name": "text",
        "env": "anything",
        "working_dir": "text",
        "on_error": "text",
        "strict_output": "true or false",
        "model": "text",
        "prompt": "text",
        "schema": "text",
    }
)
_COMMON = frozenset({"type", "timeout", "name", "on_error", "strict_output"})
#: Further fields that each type reads.
READ_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "command": ("command", "env", "working_dir"),
        "builtin": ("command", "args", "env", "working_dir"),
        "model": ("model", "prompt", "schema"),
    }
)
GROUP_FIELDS = ("matcher", "preempt_yolo", "hooks")

_REACTIONS: Mapping[str, Reaction] = {"warn": "warn", "ignore": "pass", "block": "block"}
#: Mistakes that Docker Agent finds when the hook is due; a command without its command it refuses at once.
_FOUND_LATE = ("missing-field", "unknown-type", "unknown-schema", "bad-template", "no-handler", "cannot-run")
_LONGEST_LABEL = 60
#: No hook needs more seconds: milliseconds were meant.
_SUSPICIOUS_TIMEOUT = 1000

#: Builtins of Docker Agent that Hookline leaves to its host.
_NOT_HERE = frozenset({
    "add_directory_listing", "add_git_diff", "add_git_status", "add_recent_commits", "add_user_info", "http_post",
    "limit_large_tool_results", "max_iterations", "redact_secrets", "safer_shell", "snapshot", "unload",
})  # fmt: skip
#: Agent flags that add a builtin of the same name, and the events at which it runs.
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "add_date": ("turn_start",),
    "add_environment_info": ("session_start",),
    "add_prompt_files": ("turn_start",),
    "redact_secrets": ("pre_tool_use", "before_llm_call", "tool_response_transform"),
}


def label(fields: Fields) -> str:
    """Return the entry's name, else the program it runs."""
    for key in ("name", "command", "model", "type"):
        text = fields.get(key)
        if isinstance(text, str) and text.strip():
            return command_label(text) if key == "command" else " ".join(text.split())[:_LONGEST_LABEL]
    return "hook"


def identity_of(fields: Fields, agent: str) -> object:
    """Return the whole definition; an empty field is the same as a missing one."""
    given = {key: value for key, value in fields.items() if value}
    return agent, msgspec.json.encode(given, order="sorted")


class HookOwner(Struct, frozen=True, eq=False):
    """The agent whose hooks are read: the wire for them, and the condition that this agent is at work."""

    wire: Callable[[bool], Wire]
    condition: Condition | None = None
    #: Hooks of different agents are never the same hook.
    name: str = ""


class PolicyGroup(Group, frozen=True, eq=False):
    """A group of entries, and every event at which they run."""

    recorded_events: Sequence[PolicyRow] = ()


class EntryReader(family.EntryReader):
    file: "FileReader"
    group: PolicyGroup
    dialect = NAME
    common = FIELDS
    null_is_absent = True

    def __init__(self, file: "FileReader", group: PolicyGroup, entry: Fields, path: Path) -> None:
        # An empty type is a missing one.
        given = (
            {key: value for key, value in entry.items() if key != "type"}
            if entry.get("type") == ""
            else entry
        )
        super().__init__(file, group, given, path)
        self.kinds = file.kinds
        self._broken: str | None = None

    def hooks(self) -> Sequence[Hook]:
        """Return one hook for each event of the entry."""
        found, others = super().hooks(), self.group.recorded_events[1:]
        if not others:
            return found
        again = [
            replace(
                hook,
                event=recorded.own_event.event,
                policy=recorded.own_event.policy,
                condition=joined(recorded.row.when, self.file.owner.condition),
                on_failure=self._reaction(recorded),
            )
            for hook in found
            for recorded in others
        ]
        return [*found, *again]

    def hook(self, kind: HookKind) -> Hook | None:
        self.wire = self.file.owner.wire(self.fields.get("strict_output", False))
        return super().hook(kind)

    def condition(self) -> Condition | None:
        return joined(self.group.recorded_events[0].row.when, self.file.owner.condition)

    def _reaction(self, recorded: PolicyRow) -> Reaction | None:
        return None if recorded.row.closed else _REACTIONS.get(self.fields.get("on_error", ""))

    def say(
        self,
        severity: Severity,
        code: str,
        message: str,
        *path: str | int,
        fix: str | None = None,
        repair: Repair | None = None,
    ) -> None:
        if code == "cannot-run" and self.fields.get("command") in _NOT_HERE:
            severity, message = (
                "warning",
                f"Docker Agent has the builtin {self.fields['command']}, Hookline has not",
            )
            fix = "here the hook fails, unless the host provides it"
        late = code in _FOUND_LATE and (code != "missing-field" or self.kind != "command")
        if severity == "error" and late:
            if code != "cannot-run":  # its handler reports that when the hook is due
                self._broken = self._broken or message
            self.file.report.say(severity, code, message, *self.path, *path, fix=fix, hook=self.name)
        else:
            super().say(severity, code, message, *path, fix=fix, repair=repair)

    def why_broken(self, spec: Any) -> str | None:
        del spec
        return None if self.mistakes else self._broken

    def find_kind(self) -> HookKind | None:
        kind = super().find_kind()
        return self.file.unknown_kind if kind is None and self.kind else kind

    def read_fields(self, kind: HookKind) -> None:
        super().read_fields(kind)
        for key, value in self.fields.items():
            if value and key not in _COMMON and key not in kind.fields:
                message = f"{key} is not read by {self.kind} hooks"
                self.say("warning", "unread-field", message, key, fix=f"remove {key}")
        self._convert("args", _texts, "a list of texts", "[text]")
        self._convert("env", _text_table, "an object of texts", "{NAME: text}")
        self._check_on_error()
        self._check_schema()

    def _convert(self, key: str, convert: Callable[[Any], Any], shape: str, example: str) -> None:
        if key in self.fields:
            value = convert(self.fields[key])
            if value is None:
                self.say("error", "wrong-type", f"{key} is not {shape}", key, fix=f"{key}: {example}")
            self.fields[key] = value

    def _check_on_error(self) -> None:
        reaction, row = self.fields.get("on_error"), self.group.recorded_events[0].row
        if not reaction:
            return
        if reaction not in _REACTIONS:
            fix = f"one of {', '.join(_REACTIONS)}"
            self.say("error", "bad-on-failure", f"on_error is {reaction!r}", "on_error", fix=fix)
        elif reaction == "block" and not row.may & Capability.BLOCK:
            message = f"on_error is block, but {row.name} cannot block"
            self.say("error", "bad-on-failure", message, "on_error", fix="warn or ignore")
        elif row.closed and reaction != "block":
            message = f"on_error is not read at {row.name}, whose hooks always fail closed"
            self.say("warning", "unread-field", message, "on_error", fix="remove on_error")

    def _check_schema(self) -> None:
        schema, row = self.fields.get("schema"), self.group.recorded_events[0].row
        if schema == DECISION_SCHEMA and not row.may & Capability.PERMIT:
            message = f"{schema} decides nothing at {row.name}, which takes no decision"
            self.say("warning", "dead-schema", message, "schema", fix="remove schema")
        elif schema and schema != DECISION_SCHEMA and self.kind == "model":
            fix = self.file.report.meant(schema, (DECISION_SCHEMA,))
            self.say("error", "unknown-schema", f"no schema is called {schema!r}", "schema", fix=fix)

    def details(self, waiting: Waiting) -> dict[str, Any]:
        del waiting
        identity = identity_of(self.fields, self.file.owner.name)
        return {"on_failure": self._reaction(self.group.recorded_events[0]), "identity": identity}

    def timeout(self) -> float:
        if self.fields.get("timeout") == 0:
            usual = self.usual_timeout()
            self.bad_timeout("timeout is 0, not seconds above 0", f"{usual:g} seconds", dropped=False)
            return usual
        return super().timeout()

    def doubt_timeout(self, given: int) -> None:
        if given >= _SUSPICIOUS_TIMEOUT:
            message = f"timeout is {given:,} seconds, which is {given / 60:.0f} minutes"
            fix = f"{max(given // 1000, 1)} for {given:,} milliseconds"
            self.say(
                "warning",
                "long-timeout",
                message,
                "timeout",
                fix=fix,
                repair=family.milliseconds_meant(given),
            )

    def spec(self, kind: HookKind) -> Any:
        if self._broken is not None:
            return None
        try:
            return super().spec(kind)
        except TemplateError as error:
            fix = 'prompt: "May it {{ .ToolInput | toJSON }}?"'
            self.say("error", "bad-template", f"prompt: {error}", "prompt", fix=fix)
            return None


class FileReader(family.FileReader):
    entry_reader = EntryReader
    group_fields = GROUP_FIELDS
    layouts = (
        FileLayout(("groups", "entries"), ("agents", "*", "hooks")),
        FileLayout(("groups", "entries"), ("settings", "hooks")),
    )

    def __init__(self, layer: Layer, tools: Tools, events: DockerEvents, environ: Mapping[str, str]) -> None:
        super().__init__(layer, tools, events.by_name, DockerWire(events.by_name, environ=environ))
        self.recorded_events = events
        self.kinds = {
            "command": HookKind(
                _read_by("command"), lambda fields: command_spec(fields, environ), label, ("command",)
            ),
            "builtin": HookKind(
                _read_by("builtin"), lambda fields: builtin_spec(fields, environ), label, ("command",)
            ),
            "model": HookKind(
                _read_by("model"), model_spec, label, ("model", "prompt"), hosted=True, handler="prompt"
            ),
        }
        #: An unknown type reads anything, and never runs.
        self.unknown_kind = HookKind(FIELDS, lambda _: None, label, handler="command")
        self._environ = environ
        self.owner = self._owner("root")

    def read(self) -> Iterator[Hook]:
        top = self._table(self.report.document.value, "the file", ())
        if "hooks" in top:
            message = "hooks is outside `agents` and is ignored"
            self.report.say("error", "misplaced-hooks", message, "hooks", fix="agents.root.hooks")
        agents = self._table(top.get("agents"), "agents", ("agents",))
        names = [name for name, agent in agents.items() if isinstance(agent, Mapping)]
        root = "root" if "root" in names else next(iter(names), "root")
        for name, agent in agents.items():
            path: Path = ("agents", name)
            self.owner = self._owner(name, root, frozenset(names) - {name})
            table = self._table(agent, f"agent {name}", path)
            self.report_misplaced(table, *path)
            yield from self._event_table(table.get("hooks"), (*path, "hooks"))
            yield from self._flags(table, path)
        settings = self._table(top.get("settings"), "settings", ("settings",))
        self.owner = self._owner(root)
        yield from self._event_table(settings.get("hooks"), ("settings", "hooks"))

    def _owner(self, name: str, root: str = "", others: frozenset[str] = frozenset()) -> HookOwner:
        wires: dict[bool, Wire] = {}

        def wire(strict: bool) -> Wire:
            if strict not in wires:
                wires[strict] = DockerWire(self.events, agent=name, strict=strict, environ=self._environ)
            return wires[strict]

        return HookOwner(wire, OfAgent(name, others, root=name == root), name) if others else HookOwner(wire)

    def _table(self, value: Any, what: str, path: Path) -> Fields:
        if isinstance(value, Mapping):
            return cast("Fields", value)
        if value is not None:
            self.report.say("error", "not-an-object", f"{what} is not an object", *path)
        return {}

    def _event_table(self, value: Any, path: Path) -> Iterator[Hook]:
        for name, entries in self._table(value, "hooks", path).items():
            own_event = self.events.get(name)
            if own_event is None:
                self.report.unknown("event", name, self.events, *path, name)
            elif entries is not None:
                yield from self.event_hooks(own_event, entries, (*path, name)) or ()

    def event_hooks(self, own_event: DialectEvent, groups: Any, path: Path) -> Sequence[Hook] | None:
        if self.recorded_events.takes_matchers(own_event.name):
            return super().event_hooks(own_event, groups, path)
        if not isinstance(groups, list):
            message = f"{own_event.name} is not a list of hooks"
            return self.refuse(own_event, "not-a-list", message, path, f"{own_event.name}: [...]")
        recorded_events = self.recorded_events.of(own_event.name)
        group = PolicyGroup(recorded_events[0].own_event, recorded_events=recorded_events)
        return [
            hook
            for index, entry in enumerate(cast("list[Any]", groups))
            for hook in self._flat_hooks(group, entry, (*path, index))
        ]

    def _flat_hooks(self, group: PolicyGroup, entry: Any, path: Path) -> Sequence[Hook]:
        if isinstance(entry, Mapping) and "hooks" in entry:
            message = f"{group.own_event.name} has no matcher: its list holds the hooks themselves"
            return self.refuse(group.own_event, "unread-matcher", message, path, "move the hooks up")
        return self.entry_hooks(group, entry, path)

    def group_hooks(self, own_event: DialectEvent, group: Any, path: Path) -> Sequence[Hook]:
        if not isinstance(group, Mapping):
            return super().group_hooks(own_event, group, path)
        table = cast("Fields", group)
        if "hooks" not in table or None in table.values():
            table = {key: value for key, value in table.items() if value is not None}
        if "type" not in table:
            entries = table.setdefault("hooks", [])
            if not isinstance(entries, list):
                fix = self.setting("hooks", "[{type: ...}]")
                return self.refuse(own_event, "not-a-list", "hooks is not a list", (*path, "hooks"), fix)
        return super().group_hooks(own_event, table, path)

    def shared(self, own_event: DialectEvent, table: Fields, path: Path) -> PolicyGroup:
        group = super().shared(own_event, table, path)
        preempts = table.get("preempt_yolo", False)
        problem: str | None = None
        if not isinstance(preempts, bool):
            problem = "preempt_yolo is not true or false"
            self.report.say("error", "wrong-type", problem, *path, "preempt_yolo")
        elif preempts and own_event.name != "pre_tool_use":
            problem = f"preempt_yolo is only for pre_tool_use, not for {own_event.name}"
            self.report.say(
                "error", "unread-field", problem, *path, "preempt_yolo", fix="remove preempt_yolo"
            )
        matching = group.matching if problem is None else Matching(broken=problem)
        if matching.broken is None and not table["hooks"]:
            message = "the group has no hooks, so nothing runs"
            self.report.say("warning", "no-hooks", message, *path, fix="remove it")
        recorded_events = self.recorded_events.of(own_event.name, preempts=preempts is True)
        return PolicyGroup(
            recorded_events[0].own_event if recorded_events else own_event,
            group.text,
            matching,
            recorded_events,
        )

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a regular expression for the whole name of a tool; nothing or `*` is every tool."""
        del own_event
        return read_tool_regex(text, self.tools.patterns)

    def setting(self, key: str, value: str) -> str:
        return f"{key}: {value}"

    def _flags(self, agent: Fields, path: Path) -> Iterator[Hook]:
        for flag, events in _FLAGS.items():
            args = self._flag_args(flag, agent.get(flag), path)
            if args is None:
                continue
            entry = {"type": "builtin", "command": flag, "args": args}
            for event in events:
                recorded_events = self.recorded_events.of(event)
                group = PolicyGroup(recorded_events[0].own_event, recorded_events=recorded_events)
                yield from self.entry_hooks(group, entry, (*path, flag))

    def _flag_args(self, flag: str, value: Any, path: Path) -> list[str] | None:
        """Return the arguments of the builtin; None if the flag is off, or cannot be used."""
        if not value:
            return None
        takes_files = flag == "add_prompt_files"
        args = _texts(value) if takes_files else [] if value is True else None
        if args is None:
            shape = "a list of file names" if takes_files else "true or false"
            fix = f"{flag}: {'[AGENTS.md]' if takes_files else 'true'}"
            self.report.say("error", "wrong-type", f"{flag} is not {shape}", *path, flag, fix=fix)
            return None
        handler = self.tools.handlers.get("builtin")
        problem = "there are no builtins" if handler is None else handler.problem(BuiltinSpec(flag))
        if problem is not None:
            self.report.say("error", "cannot-run", f"{flag} does nothing here: {problem}", *path, flag)
            return None
        return args


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: DockerEvents, environ: Mapping[str, str]
) -> LoadedHooks:
    """Add every layer to the ones before; the hooks of one event run in the order of the event table."""
    files = [FileReader(layer, tools, events, environ) for layer in layers]
    hooks = [hook for file in files for hook in file.read()]
    hooks.sort(key=lambda hook: events.order(hook.policy))
    return LoadedHooks(tuple(hooks), tuple(one for file in files for one in file.report.diagnostics))


def as_docker_hook(hook: Hook, events: DockerEvents, command: str) -> Hook:
    """Make a hook of `--hook EVENT=COMMAND`, named and identified like an entry of a file."""
    fields = {"type": "command", "command": command}
    when = events.recorded_events[events.order(hook.policy)].row.when
    return replace(hook, name=label(fields), condition=when, identity=identity_of(fields, ""))


def _read_by(kind: str) -> Mapping[str, str]:
    return {key: FIELDS[key] for key in READ_BY[kind]}


def _text_table(value: Any) -> dict[str, str] | None:
    if not isinstance(value, dict):
        return None
    table = cast("dict[str, Any]", value)
    values = _texts(list(table.values()))
    return None if values is None else dict(zip(table, values, strict=True))


def _texts(values: Any) -> list[str] | None:
    """Return texts; whole numbers and truth values are converted."""
    if not isinstance(values, list):
        return None
    known = [str(each).lower() if isinstance(each, int) else each for each in cast("list[Any]", values)]
    return cast("list[str]", known) if all(isinstance(each, str) for each in known) else None
