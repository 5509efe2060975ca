"""Hold the tools of a session: those every agent has, and those that join later."""

from collections.abc import Iterable, Mapping, Sequence

from hookline.agent.tools.base import AgentTool, is_listed
from hookline.agent.tools.bash import Bash, BashOutput, KillTask
from hookline.agent.tools.edit import Edit, EditQueue, Note, Write
from hookline.agent.tools.glob import glob_tool
from hookline.agent.tools.grep import grep_tool
from hookline.agent.tools.read import read_tool
from hookline.agent.tools.tasks import Tasks
from hookline.handlers.process.pool import Processes


class Toolbox:
    """Every tool of a session. `names` are those the main agent is offered; None for all."""

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self._names = names
        self.all: dict[str, AgentTool] = {}
        #: The tools that the main agent is offered. It grows when tools join.
        self.offered: dict[str, AgentTool] = {}

    def add(self, tools: Iterable[AgentTool]) -> None:
        for tool in tools:
            self.all[tool.name] = tool
            if is_listed(tool.name, self._names):
                self.offered[tool.name] = tool

    def listed(self, names: Sequence[str] | None) -> Mapping[str, AgentTool]:
        return {name: tool for name, tool in self.all.items() if is_listed(name, names)}


def core_tools(tasks: Tasks, processes: Processes, note: Note | None = None) -> tuple[AgentTool, ...]:
    """Return Bash, files and search. One set serves all agents of a session: their state is in their workplaces.

    `note` notes changes of files.
    """
    changes = EditQueue(note)
    return (
        Bash(tasks, processes).tool(),
        BashOutput(tasks).tool(),
        KillTask(tasks).tool(),
        read_tool(),
        Write(changes).tool(),
        Edit(changes).tool(),
        glob_tool(),
        grep_tool(),
    )
