"""The tools every agent has."""

from hookline.agent.tools.base import Tool
from hookline.agent.tools.bash import Bash, BashOutput, KillTask
from hookline.agent.tools.edit import Changes, Edit, Write
from hookline.agent.tools.glob import glob_tool
from hookline.agent.tools.grep import grep_tool
from hookline.agent.tools.read import read_tool
from hookline.agent.tools.tasks import Tasks
from hookline.handlers.process.pool import Processes


def core_tools(tasks: Tasks, processes: Processes) -> tuple[Tool, ...]:
    """Bash, files and searching. One set serves all agents of a session: what is theirs is in their workplace."""
    changes = Changes()
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
