"""Docker Agent: its agent files, its wire, its policies."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import DialectEvent, Layer, Place, Reading, Tools
from hookline.dialects.docker_agent.events import Vocabulary
from hookline.dialects.docker_agent.settings import PUBLIC_NAME, AgentFiles, identity_of, label
from hookline.dialects.docker_agent.specs import ShellSpec
from hookline.dialects.docker_agent.wire import DockerWire
from hookline.model.hook import Hook

#: Docker Agent is given its file by name; these are the names its documentation uses.
_PROJECT_FILES = (
    "agent.yaml",
    "agent.yml",
    "docker-agent.yaml",
    "docker-agent.yml",
    "cagent.yaml",
    "cagent.yml",
)
_USER_FILE = (".config", "cagent", "config.yaml")
_AGENT_KEYS = frozenset(
    {
        "hooks",
        "model",
        "instruction",
        "toolsets",
        "sub_agents",
        "add_date",
        "add_environment_info",
        "add_prompt_files",
    }
)


class DockerAgent:
    name = PUBLIC_NAME
    project_files: Sequence[str] = _PROJECT_FILES

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._vocabulary = Vocabulary()
        self._files = AgentFiles(self._vocabulary, environ)
        self.events: Mapping[str, DialectEvent] = self._vocabulary.events
        self.wire = DockerWire(self.events, environ=environ)

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """The agent's file comes before the user's own hooks, which are added to those of every agent."""
        places = [Place(os.path.join(project, name), "project") for name in _PROJECT_FILES]
        home = env.get("HOME")
        return [*places, Place(os.path.join(home, *_USER_FILE), "user")] if home else places

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

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        return self._files.read(list(layers), tools)

    def moments(self, name: str) -> Sequence[DialectEvent]:
        return [moment.own_event for moment in self._vocabulary.moments_of(name)]

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        fields = {"type": "command", "command": command}
        moment = self._vocabulary.moments[self._vocabulary.order(own_event.policy)]
        return Hook(
            name=label(fields),
            event=own_event.event,
            policy=own_event.policy,
            wire=self.wire,
            kind="command",
            spec=ShellSpec(command),
            condition=moment.row.when,
            timeout=own_event.timeout,
            dialect=PUBLIC_NAME,
            scope="flag",
            identity=identity_of(fields, ""),
        )


def dialect(environ: Mapping[str, str] = os.environ) -> DockerAgent:
    return DockerAgent(environ)
