"""KillTask: end a background task."""

from typing import Annotated

from msgspec import Meta, Struct

from hookline.agent.tooling import ToolReply, Workplace
from hookline.agent.tools.shaped import ShapedTool
from hookline.agent.tools.tasks import Tasks


class KillTaskArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    task_id: Annotated[str, Meta(description="The id that Bash gave.")]


class KillTask:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def tool(self) -> ShapedTool[KillTaskArguments]:
        return ShapedTool(
            "KillTask",
            "Ends a background task and everything it started.",
            # It ends only what the model itself was allowed to start: nothing to ask a user about.
            "read",
            KillTaskArguments,
            self._run,
        )

    async def _run(self, arguments: KillTaskArguments, place: Workplace) -> ToolReply:
        del place
        task = self._tasks.find(arguments.task_id)
        await self._tasks.kill(task)
        return ToolReply(text=task.summary, response={"taskId": task.id, "status": task.status})
