"""Agents described in a file: Docker Agent's YAML, or the same in Hookline's own format with native hooks."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from hookline.agent.subagents import AgentType
from hookline.config.files import read_file
from hookline.documents.document import Document
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.errors import ConfigError
from hookline.model.events import EVENTS

ROOT = "root"
Whose = Literal["docker-agent", "native"]


class AgentDefinition(Struct, frozen=True, kw_only=True):
    """One agent of a file. What is not there is as it would be without a definition."""

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


class Definitions(Struct, frozen=True, kw_only=True):
    file: str
    whose: Whose
    agents: Mapping[str, AgentDefinition]
    document: Document
    #: What is there and means nothing here: told, and no reason to stop.
    notices: tuple[Diagnostic, ...] = ()

    def root(self, name: str | None) -> AgentDefinition:
        """The agent that was asked for, else `root`, else the first. Raises ConfigError."""
        wanted = name or (ROOT if ROOT in self.agents else next(iter(self.agents)))
        found = self.agents.get(wanted)
        if found is None:
            close = nearest(wanted, self.agents)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(self.agents)}"
            raise ConfigError([_wrong(self.document, f"there is no agent {wanted!r}; {hint}", ("agents",))])
        return found

    def types(self, root: AgentDefinition) -> tuple[AgentType, ...]:
        """The sub-agents of an agent, as kinds of sub-agents."""
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


_FIELDS = tuple(name for name in AgentDefinition.__struct_fields__ if name != "name")
#: Fields of Docker Agent that change nothing here; its hooks are read by its dialect.
_ELSEWHERE = frozenset({"hooks", "redact_secrets"})
_UNUSED = frozenset(
    {"toolsets", "commands", "handoffs", "welcome_message", "skills", "code_mode_tools", "num_history_items",
     "add_description_parameter", "rag", "structured_output", "fallback", "cache", "use_default_tools"}
)  # fmt: skip


def read_definitions(file: str) -> Definitions:
    """Raises ConfigError with everything that is wrong, each with its line."""
    document = read_file(file)
    value: Any = document.value
    if value is None:
        raise ConfigError(document.diagnostics)
    top: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    agents: Any = top.get("agents")
    if not isinstance(agents, Mapping) or not agents:
        raise ConfigError(
            [_wrong(document, "an agent definition has a table `agents` with a name for each", ())]
        )
    whose = _whose(file, cast("Mapping[str, Any]", agents))
    reading = _Reading(document, cast("Mapping[str, Any]", agents), _models(top), whose)
    found = {name: reading.agent(name) for name in cast("Mapping[str, Any]", agents)}
    reading.check_sub_agents(found)
    if reading.errors:
        raise ConfigError(reading.errors)
    return Definitions(
        file=file, whose=whose, agents=found, document=document, notices=tuple(reading.notices)
    )


def _whose(file: str, agents: Mapping[str, Any]) -> Whose:
    """A definition in TOML, or with hooks under Hookline's own names, is Hookline's."""
    if file.endswith(".toml"):
        return "native"
    named = {event for agent in agents.values() for event in _events_of(agent)}
    return "native" if named & EVENTS.keys() else "docker-agent"


def _events_of(agent: Any) -> Iterator[str]:
    hooks: Any = cast("Mapping[str, Any]", agent).get("hooks") if isinstance(agent, Mapping) else None
    if isinstance(hooks, Mapping):
        yield from (str(event) for event in cast("Mapping[str, Any]", hooks))


def _models(top: Mapping[str, Any]) -> Mapping[str, str]:
    """Models that the file gives names to, as `provider:model`."""
    given: Any = top.get("models")
    found: dict[str, str] = {}
    if not isinstance(given, Mapping):
        return found
    for name, entry in cast("Mapping[str, Any]", given).items():
        if isinstance(entry, Mapping):
            fields = cast("Mapping[str, Any]", entry)
            found[str(name)] = f"{fields.get('provider', 'openai')}:{fields.get('model', name)}"
    return found


class _Reading:
    def __init__(
        self, document: Document, agents: Mapping[str, Any], models: Mapping[str, str], whose: Whose
    ) -> None:
        self._document = document
        self._agents = agents
        self._models = models
        self._whose = whose
        self.errors: list[Diagnostic] = []
        self.notices: list[Diagnostic] = []

    def agent(self, name: str) -> AgentDefinition:
        given: Any = self._agents[name]
        if not isinstance(given, Mapping):
            self.errors.append(_wrong(self._document, f"agent {name} is not a table", ("agents", name)))
            return AgentDefinition(name=name)
        fields = {
            key: value
            for key, value in cast("Mapping[str, Any]", given).items()
            if self._takes(key, value, ("agents", name, str(key)))
        }
        if isinstance(fields.get("model"), str):
            fields["model"] = self._model(fields["model"])
        return msgspec.convert({**fields, "name": name}, AgentDefinition)

    def _takes(self, key: str, value: Any, path: Path) -> bool:
        """Whether a field is one of ours with a value that fits; what else it is, is said."""
        if key in _FIELDS:
            try:
                msgspec.convert({key: value}, AgentDefinition)
            except msgspec.ValidationError as problem:
                self.errors.append(_wrong(self._document, f"{key}: {problem}", path))
                return False
            return True
        if key in _ELSEWHERE:
            return False
        close = nearest(key, (*_FIELDS, *_ELSEWHERE))
        if self._whose == "docker-agent" and (key in _UNUSED or close is None):
            message = f"{key} means nothing to this agent and is left aside"
            self.notices.append(Diagnostic("info", "unused-field", message, self._document.where(*path)))
            return False
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(_FIELDS)}"
        self.errors.append(_wrong(self._document, f"there is no field {key!r}; {hint}", path))
        return False

    def _model(self, given: str) -> str:
        if given in self._models:
            return self._models[given]
        # Docker Agent writes openai/gpt-5 where everybody here writes openai:gpt-5.
        return given.replace("/", ":", 1) if self._whose == "docker-agent" and ":" not in given else given

    def check_sub_agents(self, found: Mapping[str, AgentDefinition]) -> None:
        for name, agent in found.items():
            for place, wanted in enumerate(agent.sub_agents):
                if wanted not in found:
                    close = nearest(wanted, found)
                    hint = f"; did you mean {close!r}?" if close else ""
                    path: Path = ("agents", name, "sub_agents", place)
                    message = f"there is no agent {wanted!r} in this file{hint}"
                    self.errors.append(_wrong(self._document, message, path))


def _wrong(document: Document, message: str, path: Path) -> Diagnostic:
    return Diagnostic("error", "bad-definition", message, document.where(*path))
