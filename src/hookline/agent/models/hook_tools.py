"""Offer read-only tools to `agent` hooks."""

from collections.abc import Mapping
from typing import Any

from hookline.agent.hooks import NoHooks
from hookline.agent.tools.base import AgentTool, Workplace
from hookline.agent.tools.glob import glob_tool
from hookline.agent.tools.grep import grep_tool
from hookline.agent.tools.read import read_tool


class HookTool:
    """A tool of the agent as a hook may call it."""

    def __init__(self, tool: AgentTool, workplace: Workplace) -> None:
        self._tool = tool
        self._place = workplace
        self.name = tool.name
        self.description = tool.description
        self.schema = tool.schema
        self.read_only = tool.category == "read"

    async def call(self, arguments: Mapping[str, Any]) -> str:
        problem = self._tool.problem(arguments)
        if problem is not None:
            raise ValueError(problem)
        return (await self._tool.run(arguments, self._place)).text


def read_only_tools(cwd: str, env: Mapping[str, str]) -> tuple[HookTool, ...]:
    """Return Read, Glob and Grep in a separate workplace: no hook fires for what a hook reads."""
    workplace = Workplace(NoHooks(), cwd, env=env)
    return tuple(HookTool(tool, workplace) for tool in (read_tool(), glob_tool(), grep_tool()))
