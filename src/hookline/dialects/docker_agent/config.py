"""Agent files: `agents.<name>.hooks`, the flags that stand for hooks, and the user's own `settings.hooks`."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from hookline.dialects.dialect import Layer, Reading, Tools
from hookline.dialects.docker_agent.conditions import OfAgent
from hookline.dialects.docker_agent.entry import EntryReader, Group, Owner
from hookline.dialects.docker_agent.fields import GROUP
from hookline.dialects.docker_agent.matchers import Matchers
from hookline.dialects.docker_agent.vocabulary import Vocabulary
from hookline.dialects.docker_agent.wire import DockerWire
from hookline.dialects.reporting import Report
from hookline.handlers.builtin import BuiltinSpec
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.hook import Hook, Scope
from hookline.model.wire import Wire

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
            spellings = self._vocabulary.spellings
            wire = DockerWire(spellings, agent=self._agent, strict=strict, environ=self._environ)
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
            if key in self._vocabulary.spellings:
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
            if name not in self._vocabulary.spellings:
                self._report.unknown("event", name, self._vocabulary.spellings, *place)
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
