"""Read agents described in a file, in another agent's format or in Hookline's own, with their hooks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.session_hooks import Additions, builtin_hooks
from hookline.agent.subagents.subagent import AgentType
from hookline.config.engine import Engine
from hookline.dialects.dialect import Dialect
from hookline.dialects.files import read_file
from hookline.dialects.registry import every_dialect
from hookline.documents.document import Document
from hookline.matching.nearest import nearest
from hookline.model import events as e
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.errors import ConfigError
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Answer, Condition, Hook
from hookline.model.session_info import SessionInfo

ROOT = "root"


class AgentDefinition(Struct, frozen=True, kw_only=True):
    """One agent of a file. A field that is not set has its default."""

    name: str = ""
    model: str | None = None
    description: str = ""
    instruction: str = ""
    sub_agents: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    max_iterations: int | None = None
    add_date: bool = False
    add_environment_info: bool = False
    add_prompt_files: tuple[str, ...] = ()


class AgentDefinitions(Struct, frozen=True, kw_only=True):
    file: str
    #: The dialect it is written in.
    dialect: Dialect
    agents: Mapping[str, AgentDefinition]
    document: Document
    #: Fields that are not supported: reported, but no error.
    notices: tuple[Diagnostic, ...] = ()

    def root(self, name: str | None) -> AgentDefinition:
        """Return the agent with this name, else `root`, else the first. Raises ConfigError."""
        wanted = name or (ROOT if ROOT in self.agents else next(iter(self.agents)))
        found = self.agents.get(wanted)
        if found is None:
            close = nearest(wanted, self.agents)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(self.agents)}"
            raise ConfigError([_wrong(self.document, f"unknown agent {wanted!r}; {hint}", ("agents",))])
        return found

    def types(self, root: AgentDefinition) -> tuple[AgentType, ...]:
        """Return the subagents of an agent, as types."""
        return tuple(
            AgentType(
                name=each.name,
                description=each.description or each.instruction[:200],
                instruction=each.instruction,
                tools=each.tools,
                model=each.model,
                max_iterations=each.max_iterations,
            )
            for each in (self.agents[name] for name in root.sub_agents)
        )


_TOP = ("agents", "models")
_FIELDS = tuple(name for name in AgentDefinition.__struct_fields__ if name != "name")
#: Read by the dialect of the file.
_ELSEWHERE = frozenset({"hooks", "redact_secrets"})


def read_definitions(file: str) -> AgentDefinitions:
    """Read a file of definitions. Raises ConfigError with every mistake and its line."""
    document = read_file(file)
    value: Any = document.value
    if value is None and document.diagnostics:
        raise ConfigError(document.diagnostics)
    top: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    agents: Any = top.get("agents")
    if not isinstance(agents, Mapping) or not agents:
        raise ConfigError(
            [_wrong(document, "an agent definition needs a table `agents` with a name for each", ())]
        )
    tables = {str(name): agent for name, agent in cast("Mapping[Any, Any]", agents).items()}
    reader = _Reader(document, tables, _dialect_of(file, tables))
    reader.top(top)
    found = {name: reader.agent(name) for name in tables}
    reader.check_sub_agents(found)
    if reader.errors:
        raise ConfigError(sorted(reader.errors, key=lambda said: said.where.line or 0))
    return AgentDefinitions(
        file=file, dialect=reader.dialect, agents=found, document=document, notices=tuple(reader.notices)
    )


def _dialect_of(file: str, agents: Mapping[str, Any]) -> Dialect:
    """Return the dialect of a file. A definition in TOML, or with hooks under Hookline's own names, is Hookline's."""
    own, *others = sorted(
        (each for each in every_dialect() if each.agent_file is not None or not each.has_agent),
        key=lambda each: each.has_agent,
    )
    if file.endswith(".toml"):
        return own
    named = {event for agent in agents.values() for event in _events_of(agent)}
    return own if named & EVENTS.keys() else others[0]


def _events_of(agent: Any) -> Iterator[str]:
    hooks: Any = cast("Mapping[str, Any]", agent).get("hooks") if isinstance(agent, Mapping) else None
    if isinstance(hooks, Mapping):
        yield from (str(event) for event in cast("Mapping[str, Any]", hooks))


class _Reader:
    def __init__(self, document: Document, agents: Mapping[str, Any], dialect: Dialect) -> None:
        self._document = document
        self._agents = agents
        self._models: dict[str, str] = {}
        self.dialect = dialect
        self._format = dialect.agent_file
        self.errors: list[Diagnostic] = []
        self.notices: list[Diagnostic] = []

    def top(self, top: Mapping[str, Any]) -> None:
        """Read what is beside the agents: named models, and in Hookline's own format nothing else."""
        if self._format is None:
            for key in map(str, top):
                if key not in _TOP:
                    self._wrong(f"unknown field {key!r}; there are {', '.join(_TOP)}", (key,))
        models: Any = top.get("models")
        if models is not None and not isinstance(models, Mapping):
            self._wrong("models is not a table", ("models",))
        elif models is not None:
            for name, entry in cast("Mapping[Any, Any]", models).items():
                self._named_model(str(name), entry)

    def _named_model(self, name: str, entry: Any) -> None:
        path: Path = ("models", name)
        if not isinstance(entry, Mapping):
            self._wrong(f"the model {name} is not a table with provider and model", path)
            return
        given = cast("Mapping[str, Any]", entry)
        parts = [given.get("provider", "openai"), given.get("model", name)]
        for key, value in zip(("provider", "model"), parts, strict=True):
            if not isinstance(value, str) or not value:
                self._wrong(f"the model {name}: {key} is not text", (*path, key))
        self._models[name] = ":".join(map(str, parts))

    def agent(self, name: str) -> AgentDefinition:
        given: Any = self._agents[name]
        if not isinstance(given, Mapping):
            self._wrong(f"agent {name} is not a table", ("agents", name))
            return AgentDefinition(name=name)
        fields = {
            str(key): value
            for key, value in cast("Mapping[Any, Any]", given).items()
            if self._takes(str(key), value, ("agents", name, str(key)))
        }
        if isinstance(fields.get("model"), str):
            fields["model"] = self._model(fields["model"])
        return msgspec.convert({**fields, "name": name}, AgentDefinition)

    def _takes(self, key: str, value: Any, path: Path) -> bool:
        """Return True if the field is ours and its value fits; anything else is reported."""
        if key in _FIELDS:
            try:
                msgspec.convert({key: value}, AgentDefinition)
            except msgspec.ValidationError as problem:
                self._wrong(f"{key}: {str(problem).partition(' - at ')[0]}", path)
                return False
            return True
        if key in _ELSEWHERE:
            return False
        close = nearest(key, (*_FIELDS, *_ELSEWHERE))
        if self._format is not None and (key in self._format.unused or close is None):
            message = f"`{key}` is not supported and was ignored"
            self.notices.append(Diagnostic("info", "unused-field", message, self._document.where(*path)))
            return False
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(_FIELDS)}"
        self._wrong(f"unknown field {key!r}; {hint}", path)
        return False

    def _model(self, given: str) -> str:
        if given in self._models:
            return self._models[given]
        if self._format is None or ":" in given:
            return given
        return given.replace(self._format.model_separator, ":", 1)

    def check_sub_agents(self, found: Mapping[str, AgentDefinition]) -> None:
        for name, agent in found.items():
            for index, wanted in enumerate(agent.sub_agents):
                if wanted not in found:
                    close = nearest(wanted, found)
                    hint = f"; did you mean {close!r}?" if close else ""
                    path: Path = ("agents", name, "sub_agents", index)
                    self._wrong(f"unknown agent {wanted!r} in this file{hint}", path)

    def _wrong(self, message: str, path: Path) -> None:
        self.errors.append(_wrong(self._document, message, path))


def _wrong(document: Document, message: str, path: Path) -> Diagnostic:
    return Diagnostic("error", "bad-definition", message, document.where(*path))


class _ForAgent(Struct, frozen=True):
    """A condition that holds for one agent of the file.

    The session's own agent, and any subagent the file does not define, counts as the chosen agent: a guard is
    never lost because of a name.
    """

    chosen: str
    known: frozenset[str]
    #: None: `further` says itself which agent it is for.
    name: str | None
    further: Condition | None = None

    @property
    def text(self) -> str:
        mine = [] if self.name is None else [f"the agent is {self.name}"]
        return "; ".join([*mine, *([self.further.text] if self.further is not None else [])])

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:
        agent = info.agent_type if info.agent_type in self.known else self.chosen
        if self.name is not None and agent != self.name:
            return False
        if self.name is None:
            info = replace(info, agent_type=agent)
        return self.further is None or self.further.holds(event, payload, info)


def definition_hooks(
    engine: Engine, definitions: AgentDefinitions, chosen: str
) -> tuple[Sequence[Hook], Sequence[Diagnostic]]:
    """Return the hooks of a definition, each for its own agent. `chosen` is the agent that runs the session."""
    known = frozenset(definitions.agents)
    if definitions.dialect.agent_file is not None:
        # With the path under which the loader may find the same file.
        loaded = engine.loader.files([os.path.abspath(definitions.file)], definitions.dialect.name)
        return [_chosen(hook, chosen, known) for hook in loaded.hooks], loaded.diagnostics
    hooks: list[Hook] = []
    said: list[Diagnostic] = []
    for name, agent in definitions.agents.items():
        reading = engine.loader.document(_part(definitions.document, ("agents", name)))
        said.extend(reading.diagnostics)
        additions = Additions(
            date=agent.add_date, environment=agent.add_environment_info, files=agent.add_prompt_files
        )
        begins = e.SESSION_START if name == chosen else e.SUBAGENT_START
        flags = builtin_hooks(engine.make_hook, additions, begins)
        hooks.extend(
            replace(hook, condition=_ForAgent(chosen, known, name, hook.condition))
            for hook in (*reading.hooks, *flags)
        )
    return hooks, said


def _chosen(hook: Hook, chosen: str, known: frozenset[str]) -> Hook:
    """Limit a hook to its agent; that dialect calls the session's own agent `root`."""
    if hook.condition is None:
        return hook
    return replace(hook, condition=_ForAgent(chosen, known, None, hook.condition))


def _part(document: Document, path: Path) -> Document:
    """Return a table of a document as a separate document, with the lines of the file."""
    value: Any = document.value
    for step in path:
        value = cast("Mapping[Any, Any]", value)[step]
    hooks = cast("Mapping[str, Any]", value).get("hooks")
    part = {"hooks": hooks} if hooks is not None else {}
    return Document(document.file, part, (), (), lambda below: document.locate((*path, *below)))
