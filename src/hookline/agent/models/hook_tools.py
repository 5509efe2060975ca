"""The tools an `agent` hook may look around with."""

from collections.abc import Mapping

from hookline.agent.hooks import NoHooks
from hookline.agent.models.hook_models import HookTool
from hookline.agent.tools.base import Workplace
from hookline.agent.tools.glob import glob_tool
from hookline.agent.tools.grep import grep_tool
from hookline.agent.tools.read import read_tool


def looking_tools(cwd: str, env: Mapping[str, str]) -> tuple[HookTool, ...]:
    """Read, Glob and Grep in a workplace of the hook's own: no hook fires for what a hook looks at."""
    place = Workplace(NoHooks(), cwd, env=env)
    return tuple(HookTool(tool, place) for tool in (read_tool(), glob_tool(), grep_tool()))
