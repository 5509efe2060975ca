"""Agent files: `agents.<name>.hooks`, the flags that stand for hooks, and the user's own `settings.hooks`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.dialect import Layer, Reading, Tools
from hookline.dialects.docker_agent.conditions import OfAgent
from hookline.dialects.docker_agent.events import TIMEOUT, Moment, Vocabulary
from hookline.dialects.docker_agent.matchers import Matchers
from hookline.dialects.docker_agent.specs import JUDGES, ShellSpec, expanded, expanded_path, model_spec
from hookline.dialects.docker_agent.templates import TemplateError, template
from hookline.dialects.docker_agent.wire import DockerWire
from hookline.dialects.report import Report
from hookline.handlers.builtin import BuiltinSpec
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import May
from hookline.model.hook import Condition, Hook, Matcher, Scope
from hookline.model.policy import Reaction
from hookline.model.wire import Wire

#: Every field with its shape.
SHAPES: Mapping[str, str] = MappingProxyType(
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
#: What each type reads.
READ_BY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "command": _COMMON | {"command", "env", "working_dir"},
        "builtin": _COMMON | {"command", "args", "env", "working_dir"},
        "model": _COMMON | {"model", "prompt", "schema"},
    }
)
NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"command": ("command",), "builtin": ("command",), "model": ("model", "prompt")}
)
GROUP: Mapping[str, str] = MappingProxyType(
    {"matcher": "text", "preempt_yolo": "true or false", "hooks": "anything"}
)


PUBLIC_NAME = "docker-agent"

_KINDS = {"command": "command", "builtin": "builtin", "model": "prompt"}
_REACTIONS: Mapping[str, Reaction] = {"warn": "warn", "ignore": "pass", "block": "block"}
#: Builtins under the name Docker Agent has for them.
_BUILTINS = {"add_context": "context"}
_EXAMPLES = {
    "command": "command: ./check.sh",
    "model": "model: openai/gpt-5-mini",
    "prompt": 'prompt: "May it {{ .ToolInput | toJSON }}?"',
}
_LONGEST_LABEL = 60
#: More seconds than anybody waits for a hook: somebody meant milliseconds.
_SUSPICIOUS = 1000


class Owner(Struct, frozen=True, eq=False):
    """Whose hooks they are: the wire for them, and when that agent is the one at work."""

    wires: Callable[[bool], Wire]
    scope: Scope
    condition: Condition | None = None
    #: Hooks of different owners are never the same hook.
    name: str = ""


class Group(Struct, frozen=True, eq=False):
    """What the entries of one group share."""

    moments: list[Moment]
    matcher: Matcher | None = None


class EntryReader:
    """Reads the definitions of one document."""

    def __init__(self, report: Report, tools: Tools, environ: Mapping[str, str]) -> None:
        self._report = report
        self._tools = tools
        self._environ = environ

    def hooks(self, entry: Any, group: Group, owner: Owner, path: Path) -> list[Hook]:
        """One hook for each moment it runs at; none for a definition that cannot be used."""
        if not isinstance(entry, Mapping):
            self._report.say("error", "not-a-table", "a hook is not an object", *path, fix="- type: command")
            return []
        table = {key: value for key, value in cast("Mapping[str, Any]", entry).items() if value is not None}
        kind = self._kind(table, path)
        if kind is None:
            return []
        fields, sound = self._report.fields(table, SHAPES, *path, hook=label(table))
        sound = self._listed(fields, path) and sound
        sound = self._complete(kind, table, fields, path) and sound
        sound = self._on_error(fields, group, path) and sound
        timeout, in_time = self._timeout(fields, path)
        if not (sound and in_time):
            return []
        return self._built(kind, fields, timeout, group, owner, path)

    def _kind(self, table: Mapping[str, Any], path: Path) -> str | None:
        kind = table.get("type")
        if isinstance(kind, str) and kind:
            return kind
        if kind in (None, ""):
            known = ", ".join(_KINDS)
            self._report.say("error", "missing-field", "a hook needs a type", *path, fix=f"one of {known}")
        else:
            self._report.say(
                "error", "wrong-type", "type is not text", *path, "type", fix=f"one of {', '.join(_KINDS)}"
            )
        return None

    def _listed(self, fields: dict[str, Any], path: Path) -> bool:
        """`args` and `env` as texts; whole numbers and truths are written as they stand."""
        sound = True
        if "args" in fields:
            args = _texts(fields["args"])
            if args is None:
                sound = False
                self._report.say(
                    "error", "wrong-type", "args is not a list of texts", *path, "args", fix="args: [text]"
                )
            else:
                fields["args"] = args
        if "env" in fields:
            env = _text_table(fields["env"])
            if env is None:
                sound = False
                self._report.say(
                    "error",
                    "wrong-type",
                    "env is not an object of texts",
                    *path,
                    "env",
                    fix="env: {NAME: text}",
                )
            else:
                fields["env"] = env
        return sound

    def _complete(self, kind: str, table: Mapping[str, Any], fields: Mapping[str, Any], path: Path) -> bool:
        """A builtin or a model hook without its name or prompt fails when it is due; a command is refused."""
        sound = True
        for key in NEEDED.get(kind, ()):
            if str(fields.get(key, "")).strip():
                continue
            sound = sound and kind != "command"
            if key in fields or key not in table:  # else its type is wrong, and that was said
                place = (*path, key) if key in fields else path
                message = f"a {kind} hook needs {key}"
                self._report.say("error", "missing-field", message, *place, fix=_EXAMPLES[key])
        read = READ_BY.get(kind)
        for key, value in fields.items():
            if read is not None and value and key not in read:
                message = f"{key} is not read by {kind} hooks"
                self._report.say("warning", "unread-field", message, *path, key, fix=f"remove {key}")
        return sound

    def _on_error(self, fields: Mapping[str, Any], group: Group, path: Path) -> bool:
        word = fields.get("on_error")
        if not word:
            return True
        row = group.moments[0].row
        if word not in _REACTIONS:
            known = ", ".join(_REACTIONS)
            self._report.say(
                "error", "bad-on-error", f"on_error is {word!r}", *path, "on_error", fix=f"one of {known}"
            )
            return False
        if word == "block" and not row.may & May.BLOCK:
            message = f"on_error is block, but {row.name} cannot block"
            self._report.say("error", "bad-on-error", message, *path, "on_error", fix="warn or ignore")
            return False
        if row.closed and word != "block":
            message = f"on_error is not read at {row.name}, whose hooks always fail closed"
            self._report.say("warning", "unread-field", message, *path, "on_error", fix="remove on_error")
        return True

    def _timeout(self, fields: Mapping[str, Any], path: Path) -> tuple[float, bool]:
        seconds = fields.get("timeout")
        if seconds is None:
            return TIMEOUT, True
        place = (*path, "timeout")
        if seconds < 0:
            self._report.say("error", "bad-timeout", f"timeout is {seconds}", *place, fix="seconds above 0")
            return TIMEOUT, False
        if seconds == 0:
            message = "timeout 0 means the default of 60 seconds"
            self._report.say(
                "warning", "bad-timeout", message, *place, fix="seconds above 0, or leave it out"
            )
            return TIMEOUT, True
        if seconds >= _SUSPICIOUS:
            message = f"timeout counts seconds: {seconds} is {seconds / 60:.0f} minutes"
            fix = f"{max(seconds // 1000, 1)}, if milliseconds were meant"
            self._report.say("warning", "long-timeout", message, *place, fix=fix)
        return float(min(seconds, 10**9)), True

    def _built(
        self, kind: str, fields: dict[str, Any], timeout: float, group: Group, owner: Owner, path: Path
    ) -> list[Hook]:
        spec, broken = self._spec(kind, fields, group, path)
        name = label(fields)
        own = _REACTIONS.get(fields.get("on_error", ""))
        return [
            Hook(
                name=name,
                event=moment.own_event.event,
                policy=moment.own_event.policy,
                wire=owner.wires(fields.get("strict_output", False)),
                kind=_KINDS.get(kind, "command"),
                spec=spec,
                matcher=group.matcher,
                condition=_both(moment.row.when, owner.condition),
                timeout=timeout,
                on_failure=None if moment.row.closed else own,
                dialect=PUBLIC_NAME,
                scope=owner.scope,
                where=self._report.document.where(*path),
                identity=identity_of(fields, owner.name),
                broken=broken,
            )
            for moment in group.moments
        ]

    def _spec(self, kind: str, fields: Mapping[str, Any], group: Group, path: Path) -> tuple[Any, str | None]:
        """What the handler is given, and why the hook fails whenever it is due."""
        if kind not in _KINDS:
            self._report.unknown("type", kind, _KINDS, *path, "type")
            return None, f"no type is called {kind!r}"
        missing = [key for key in NEEDED[kind] if not str(fields.get(key, "")).strip()]
        if missing:
            return None, f"it has no {missing[0]}"
        try:
            spec = self._made(kind, fields)
        except TemplateError as error:
            self._report.say(
                "error", "bad-template", f"prompt: {error}", *path, "prompt", fix=_EXAMPLES["prompt"]
            )
            return None, f"its prompt cannot be read: {error}"
        self._suspect_schema(fields, group, path)
        if kind == "model" and fields.get("schema", "") not in ("", JUDGES):
            self._report.unknown("schema", fields["schema"], (JUDGES,), *path, "schema")
            return None, f"no schema is called {fields['schema']!r}"
        handler = self._tools.handlers.get(_KINDS[kind])
        problem = handler.problem(spec) if handler is not None else f"there is no handler for {kind} hooks"
        if problem is not None:
            # That nobody can be asked is the host's lack, not a mistake in the file.
            severity = "warning" if kind == "model" else "error"
            self._report.say(severity, "cannot-run", problem, *path, hook=label(fields))
        return spec, None if handler is not None else problem

    def _suspect_schema(self, fields: Mapping[str, Any], group: Group, path: Path) -> None:
        row = group.moments[0].row
        if fields.get("schema") == JUDGES and not row.may & May.PERMIT:
            message = f"{JUDGES} decides nothing at {row.name}, which takes no decision"
            self._report.say("warning", "dead-schema", message, *path, "schema", fix="remove schema")

    def _made(self, kind: str, fields: Mapping[str, Any]) -> Any:
        directory = fields.get("working_dir") or None
        cwd = expanded_path(directory, self._environ) if directory else None
        env: Mapping[str, str] = fields.get("env", {})
        if kind == "model":
            return model_spec(fields["model"], template(fields["prompt"]), fields.get("schema", ""))
        if kind == "builtin":
            values = {name: expanded(value, self._environ) for name, value in env.items()}
            name: str = fields["command"].strip()
            return BuiltinSpec(_BUILTINS.get(name, name), tuple(fields.get("args", ())), cwd, values)
        return ShellSpec(fields["command"], cwd=cwd, variables=env)


def label(fields: Mapping[str, Any]) -> str:
    """What people call it: its name, else what it runs."""
    for key in ("name", "command", "model", "type"):
        text = fields.get(key)
        if isinstance(text, str) and text.strip():
            return " ".join(text.split())[:_LONGEST_LABEL]
    return "hook"


def identity_of(fields: Mapping[str, Any], owner: str) -> object:
    """The whole definition; what is empty is the same as what is left out."""
    told = {key: value for key, value in fields.items() if value}
    return owner, msgspec.json.encode(told, order="sorted")


def _text_table(value: Any) -> dict[str, str] | None:
    if not isinstance(value, dict):
        return None
    table = cast("dict[str, Any]", value)
    values = _texts(list(table.values()))
    return None if values is None else dict(zip(table, values, strict=True))


def _texts(values: Any) -> list[str] | None:
    if not isinstance(values, list):
        return None
    texts: list[str] = []
    for value in cast("list[Any]", values):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, int):
            texts.append(str(value).lower())
        else:
            return None
    return texts


def _both(first: Condition | None, second: Condition | None) -> Condition | None:
    if first is None or second is None:
        return first if second is None else second
    # Only files with several agents need it.
    from hookline.matching.conditions import joined  # noqa: PLC0415 - see above

    return joined(first, second)


_ROOT = "root"

#: Agent flags that add a builtin, and where.
_FLAGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "add_date": (("turn_start", "add_date"),),
    "add_environment_info": (("session_start", "add_environment_info"),),
    "add_prompt_files": (("turn_start", "add_prompt_files"),),
    "redact_secrets": (
        ("pre_tool_use", "redact_secrets"),
        ("before_llm_call", "redact_secrets"),
        ("tool_response_transform", "redact_secrets"),
    ),
}


class AgentFiles:
    """Reads the files of one engine."""

    def __init__(self, vocabulary: Vocabulary, environ: Mapping[str, str]) -> None:
        self._vocabulary = vocabulary
        self._environ = environ

    def read(self, layers: list[Layer], tools: Tools) -> Reading:
        """Every layer is added to the ones before; within one moment the order of the vocabulary holds."""
        hooks: list[Hook] = []
        diagnostics: list[Diagnostic] = []
        for layer in layers:
            report = Report(layer.document)
            entries = EntryReader(report, tools, self._environ)
            reading = _FileReading(report, entries, tools, self._vocabulary, layer.place.scope, self._wires)
            hooks.extend(reading.hooks(layer.document.value))
            diagnostics.extend(report.diagnostics)
        hooks.sort(key=lambda hook: self._vocabulary.order(hook.policy))
        return Reading(tuple(hooks), tuple(diagnostics))

    def _wires(self, agent: str) -> "_Wires":
        return _Wires(self._vocabulary, agent, self._environ)


class _Wires:
    """The two wires of one agent, made when first needed."""

    def __init__(self, vocabulary: Vocabulary, agent: str, environ: Mapping[str, str]) -> None:
        self._vocabulary = vocabulary
        self._agent = agent
        self._environ = environ
        self._made: dict[bool, Wire] = {}

    def __call__(self, strict: bool) -> Wire:
        wire = self._made.get(strict)
        if wire is None:
            dialect_events = self._vocabulary.events
            wire = DockerWire(dialect_events, agent=self._agent, strict=strict, environ=self._environ)
            self._made[strict] = wire
        return wire


class _FileReading:
    """One document being read."""

    def __init__(
        self,
        report: Report,
        entries: EntryReader,
        tools: Tools,
        vocabulary: Vocabulary,
        scope: Scope,
        wires: Callable[[str], Callable[[bool], Wire]],
    ) -> None:
        self._report = report
        self._entries = entries
        self._tools = tools
        self._vocabulary = vocabulary
        self._scope: Scope = scope
        self._wires = wires
        self._matchers = Matchers(report, tools.patterns)

    def hooks(self, value: Any) -> list[Hook]:
        if value is None:
            return []
        top = self._table(value, "the file", ())
        if "hooks" in top:
            message = "hooks stands outside agents, where nobody reads it"
            self._report.say("error", "misplaced-hooks", message, "hooks", fix=f"agents.{_ROOT}.hooks")
        agents = self._table(top.get("agents"), "agents", ("agents",))
        names = [name for name, agent in agents.items() if isinstance(agent, Mapping)]
        root = _ROOT if _ROOT in names else next(iter(names), _ROOT)
        found: list[Hook] = []
        for name, agent in agents.items():
            path: Path = ("agents", name)
            others = frozenset(names) - {name}
            condition = OfAgent(name, others, root=name == root) if others else None
            owner = Owner(self._wires(name), self._scope, condition, name if others else "")
            table = self._table(agent, f"agent {name}", path)
            self._misplaced(table, path)
            found += self._events(table.get("hooks"), owner, (*path, "hooks"))
            found += self._flags(table, owner, path)
        settings = self._table(top.get("settings"), "settings", ("settings",))
        everyone = Owner(self._wires(root), self._scope)
        found += self._events(settings.get("hooks"), everyone, ("settings", "hooks"))
        return found

    def _misplaced(self, agent: Mapping[str, Any], path: Path) -> None:
        for key in agent:
            if key in self._vocabulary.events:
                message = f"{key} stands outside hooks, where nobody reads it"
                self._report.say("error", "misplaced-event", message, *path, key, fix=f"hooks.{key}")

    def _table(self, value: Any, what: str, path: Path) -> Mapping[str, Any]:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return cast("Mapping[str, Any]", value)
        self._report.say("error", "not-a-table", f"{what} is not an object", *path)
        return {}

    def _events(self, value: Any, owner: Owner, path: Path) -> list[Hook]:
        found: list[Hook] = []
        for name, entries in self._table(value, "hooks", path).items():
            place: Path = (*path, name)
            if name not in self._vocabulary.events:
                self._report.unknown("event", name, self._vocabulary.events, *place)
            elif entries is not None and not isinstance(entries, list):
                self._report.say("error", "not-a-list", f"{name} is not a list", *place, fix=f"{name}: [...]")
            elif self._vocabulary.takes_matchers(name):
                for index, group in enumerate(cast("list[Any]", entries or ())):
                    found += self._group(name, group, owner, (*place, index))
            else:
                group = Group(self._vocabulary.moments_of(name))
                for index, entry in enumerate(cast("list[Any]", entries or ())):
                    found += self._flat(name, entry, group, owner, (*place, index))
        return found

    def _flat(self, name: str, entry: Any, group: Group, owner: Owner, path: Path) -> list[Hook]:
        if isinstance(entry, Mapping) and "hooks" in entry:
            message = f"{name} has no matcher: its hooks stand in the list itself"
            self._report.say("error", "unread-matcher", message, *path, fix="move the hooks up")
            return []
        return self._entries.hooks(entry, group, owner, path)

    def _group(self, name: str, value: Any, owner: Owner, path: Path) -> list[Hook]:
        if not isinstance(value, Mapping):
            self._report.say(
                "error", "not-a-table", "a group is not an object", *path, fix="- hooks: [{type: ...}]"
            )
            return []
        table = {key: each for key, each in cast("Mapping[str, Any]", value).items() if each is not None}
        if "hooks" not in table and "type" in table:
            message = f"a hook stands directly in {name}, where nobody reads it"
            self._report.say("error", "missing-field", message, *path, fix="- hooks: [{type: ...}]")
            return []
        fields, sound = self._report.fields(table, GROUP, *path)
        entries = fields.get("hooks", [])
        if not isinstance(entries, list):
            self._report.say(
                "error", "not-a-list", "hooks is not a list", *path, "hooks", fix="hooks: [{type: ...}]"
            )
            return []
        preempts = fields.get("preempt_yolo", False)
        if preempts and name != "pre_tool_use":
            message = f"preempt_yolo is only for pre_tool_use, not for {name}"
            self._report.say(
                "error", "unread-field", message, *path, "preempt_yolo", fix="remove preempt_yolo"
            )
            sound = False
        matcher, readable = self._matchers.read(fields.get("matcher", ""), (*path, "matcher"))
        if not (sound and readable):
            return []
        if not entries:
            self._report.say(
                "warning", "no-hooks", "the group has no hooks, so nothing runs", *path, fix="remove it"
            )
        group = Group(self._vocabulary.moments_of(name, preempts=preempts), matcher)
        found: list[Hook] = []
        for index, entry in enumerate(cast("list[Any]", entries)):
            found += self._entries.hooks(entry, group, owner, (*path, "hooks", index))
        return found

    def _flags(self, agent: Mapping[str, Any], owner: Owner, path: Path) -> list[Hook]:
        found: list[Hook] = []
        for flag, entries in _FLAGS.items():
            value = agent.get(flag)
            if not value:
                continue
            args = self._flag_args(flag, value, path)
            if args is None or not self._can_run(entries[0][1], flag, path):
                continue
            for event, builtin in entries:
                entry: dict[str, Any] = {"type": "builtin", "command": builtin} | (
                    {"args": args} if args else {}
                )
                group = Group(self._vocabulary.moments_of(event))
                found += self._entries.hooks(entry, group, owner, (*path, flag))
        return found

    def _flag_args(self, flag: str, value: Any, path: Path) -> list[str] | None:
        """The builtin's arguments; None when the flag has no value it can have."""
        if flag == "add_prompt_files":
            if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[Any]", value)):
                return cast("list[str]", value)
        elif value is True:
            return []
        shape = "a list of file names" if flag == "add_prompt_files" else "true or false"
        self._report.say(
            "error",
            "wrong-type",
            f"{flag} is not {shape}",
            *path,
            flag,
            fix=f"{flag}: {'[AGENTS.md]' if flag == 'add_prompt_files' else 'true'}",
        )
        return None

    def _can_run(self, builtin: str, flag: str, path: Path) -> bool:
        handler = self._tools.handlers.get("builtin")
        problem = handler.problem(BuiltinSpec(builtin)) if handler is not None else "there are no builtins"
        if problem is not None:
            self._report.say("error", "cannot-run", f"{flag} does nothing here: {problem}", *path, flag)
        return problem is None
