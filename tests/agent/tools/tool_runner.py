"""A workplace with the core tools in it, real processes and, where hooks matter, a real engine."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from hookline import Engine
from hookline.agent.hooks import EngineHooks, NoHooks
from hookline.agent.tools.base import AgentTool, ToolOutput, Workplace
from hookline.agent.tools.tasks import TaskDone, Tasks
from hookline.agent.tools.toolbox import core_tools
from hookline.engine.host.tool_call import HookDispatcher
from hookline.handlers.process.pool import Processes
from hookline.model.errors import ToolError

T = TypeVar("T")


class ToolRunner:
    def __init__(self, directory: Path, engine: Engine | None = None, **tasks: Any) -> None:
        self.hooks: HookDispatcher = (
            NoHooks() if engine is None else EngineHooks(engine.session("s", cwd=str(directory)))
        )
        self.done: list[TaskDone] = []
        self.processes = Processes()
        self.tasks = Tasks(self.hooks, on_done=self.done.append, **tasks)
        env = {"PATH": os.environ["PATH"], "HOME": str(directory)}
        self.place = Workplace(self.hooks, str(directory), env=env)
        self.tools: dict[str, AgentTool] = {
            tool.name: tool for tool in core_tools(self.tasks, self.processes)
        }

    async def call(self, tool: str, **arguments: Any) -> ToolOutput:
        assert self.tools[tool].problem(arguments) is None
        return await self.tools[tool].run(arguments, self.place)

    async def fails(self, tool: str, **arguments: Any) -> ToolError:
        try:
            reply = await self.call(tool, **arguments)
        except ToolError as failure:
            return failure
        raise AssertionError(f"{tool} did not fail: {reply.text}")

    async def bash(self, command: str, **arguments: Any) -> ToolOutput:
        return await self.call("Bash", command=command, **arguments)

    async def close(self) -> None:
        await self.tasks.close()
        await self.processes.close()


def run_tools(
    directory: Path, action: Callable[[ToolRunner], Awaitable[T]], engine: Engine | None = None, **tasks: Any
) -> T:
    """Run one runner and leave nothing behind."""

    async def main() -> T:
        runner = ToolRunner(directory, engine, **tasks)
        try:
            return await action(runner)
        finally:
            await runner.close()
            if engine is not None:
                await engine.close()

    return asyncio.run(main())


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def soon(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Return True if the condition becomes true within the time."""
    until = asyncio.get_running_loop().time() + seconds
    while not holds():
        if asyncio.get_running_loop().time() > until:
            return False
        await asyncio.sleep(0.01)
    return True
