"""Run Docker Agent's hooks: its agent files, its wire, its policies."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.dialect import AgentFile, ConfigPath, Dialect, DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.entries import HookCall, closed_guards, quoted
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.dialects.docker_agent.events import DockerEvents
    from hookline.dialects.docker_agent.installer import DockerAgentInstaller
    from hookline.dialects.docker_agent.wire import DockerWire

#: Docker Agent is given its file by name; these are the names its documentation uses.
_PROJECT_FILES = tuple(
    f"{name}.{ending}" for name in ("agent", "docker-agent", "cagent") for ending in ("yaml", "yml")
)
_USER_FILE = (".config", "cagent", "config.yaml")
#: A table with one of these is an agent.
_AGENT_KEYS = frozenset(
    {
        "hooks", "model", "instruction", "toolsets", "sub_agents", "add_date", "add_environment_info",
        "add_prompt_files",
    }
)  # fmt: skip
#: Fields of an agent that change nothing in Hookline's own agent.
_UNUSED = frozenset(
    {
        "toolsets", "commands", "handoffs", "welcome_message", "skills", "code_mode_tools", "num_history_items",
        "add_description_parameter", "rag", "structured_output", "fallback", "cache", "use_default_tools",
    }
)  # fmt: skip


class DockerAgent(Dialect):
    name = "docker-agent"
    title = "Docker Agent"
    project_files = _PROJECT_FILES
    agent_file = AgentFile(_UNUSED, model_separator="/")
    entry_fields = MappingProxyType({"cwd": "working_dir"})
    fails_closed_by = MappingProxyType(dict.fromkeys(("command", "prompt", "builtin"), "on_error: block"))
    call_file = "your agent's YAML, under its agent's name if that is not root"
    call_events = (
        "session_start", "user_prompt_submit", "user_steering_messages_submit", "user_followup_submit",
        "pre_tool_use", "permission_request", "post_tool_use", "stop", "session_end",
    )  # fmt: skip

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    @cached_property
    def _events(self) -> "DockerEvents":
        from hookline.dialects.docker_agent.events import DockerEvents  # noqa: PLC0415 facts are asked for without it

        return DockerEvents()

    @cached_property
    def wire(self) -> "DockerWire":
        from hookline.dialects.docker_agent.wire import DockerWire  # noqa: PLC0415 as above

        return DockerWire(self.events, environ=self._env)

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        return self._events.by_name

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List the agent's file before the user's own hooks, which are added to those of every agent."""
        config_paths = [ConfigPath(os.path.join(project, name), "project") for name in _PROJECT_FILES]
        home = env.get("HOME")
        return [*config_paths, ConfigPath(os.path.join(home, *_USER_FILE), "user")] if home else config_paths

    def recognises(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        agents = cast("Mapping[str, Any]", value).get("agents")
        if not isinstance(agents, Mapping):
            return False
        return any(
            isinstance(agent, Mapping) and not _AGENT_KEYS.isdisjoint(cast("Mapping[str, Any]", agent))
            for agent in cast("Mapping[str, Any]", agents).values()
        )

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        from hookline.dialects.docker_agent.settings import read_layers  # noqa: PLC0415 as above

        return read_layers(layers, tools, self._events, self._env)

    def recorded_events(self, name: str) -> Sequence[DialectEvent]:
        return [recorded.own_event for recorded in self._events.of(name)]

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        from hookline.dialects.docker_agent.settings import as_docker_hook  # noqa: PLC0415 only for a flag

        return as_docker_hook(super().flag_hook(own_event, command), self._events, command)

    def hook_tables(self, value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the tables: each agent has its own hooks."""
        agents = value.get("agents")
        for name, agent in cast("Mapping[str, Any]", agents).items() if isinstance(agents, Mapping) else ():
            if isinstance(agent, Mapping):
                yield ("agents", name), cast("Mapping[str, Any]", agent)

    @property
    def installer(self) -> "DockerAgentInstaller":
        from hookline.dialects.docker_agent.installer import DockerAgentInstaller  # noqa: PLC0415 only to install

        return DockerAgentInstaller(self)

    def call_entries(self, calls: Sequence[HookCall]) -> str:
        lines = ["agents:", "  root:", "    hooks:"]
        for call in closed_guards(calls):
            lines.append(f"      {call.event}:")
            hook = [
                "- type: command",
                f"  command: {quoted(call.command)}",
                f"  timeout: {call.seconds}",
                *(["  on_error: block"] if call.guards else []),
            ]
            if self._events.takes_matchers(call.event):
                lines += ['        - matcher: "*"', "          hooks:"]
                lines += [f"            {line}" for line in hook]
            else:
                lines += [f"        {line}" for line in hook]
        return "\n".join(lines)

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        from hookline.dialects.docker_agent.conditions import unguarded_agents  # noqa: PLC0415 only for doctor

        yield from unguarded_agents(hooks)


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] = os.environ,
) -> DockerAgent:
    return DockerAgent(env)
