"""BashOutput: what a background task said since the last time."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from hookline.agent.tooling import ToolReply, Workplace
from hookline.agent.tools.kept_text import both
from hookline.agent.tools.shaped import ShapedTool
from hookline.agent.tools.tasks import Tasks

_MOST_MS = 600_000


class BashOutputArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    task_id: Annotated[str, Meta(description="The id that Bash gave.")]
    wait: Annotated[
        int, Meta(ge=0, le=_MOST_MS, description="Milliseconds to wait for its end first; 0 when not given.")
    ] = 0


class BashOutput:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def tool(self) -> ShapedTool[BashOutputArguments]:
        return ShapedTool(
            "BashOutput",
            "Returns what a background task has printed since it was last asked, and how it stands.",
            "read",
            BashOutputArguments,
            self._run,
        )

    async def _run(self, arguments: BashOutputArguments, place: Workplace) -> ToolReply:
        del place
        task = self._tasks.find(arguments.task_id)
        if arguments.wait:
            await _ended(task.ended, arguments.wait / 1000)
        stdout, stderr = task.streams.stdout.take(), task.streams.stderr.take()
        said = both(stdout, stderr) or "(nothing new)"
        return ToolReply(
            text=f"{task.summary}\n{said}",
            response={
                "taskId": task.id,
                "status": task.status,
                "exitCode": task.end.exit_code,
                "stdout": stdout,
                "stderr": stderr,
            },
        )


async def _ended(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        pass
