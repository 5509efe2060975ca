"""Run a command line in bash, and wait for it or not."""

import asyncio
import os
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from hookline.agent.ports import CURRENT_CALL
from hookline.agent.tools.base import RecordTool, ShellError, ToolOutput, Workplace
from hookline.agent.tools.files import shown
from hookline.agent.tools.shell import ShellEnd, Streams, both, run_in_shell
from hookline.agent.tools.tasks import TaskEnd, Tasks
from hookline.handlers.process.pool import Processes
from hookline.model.raw import Failed
from hookline.model.safe_text import one_line

NAME = "Bash"
_DEFAULT_MS = 120_000
_MOST_MS = 600_000
#: One day: nothing that an agent starts may run for ever.
_BACKGROUND_SECONDS = 86_400.0
_SUBJECT_WIDTH = 100

_DESCRIPTION = """\
Runs a command line in bash and returns its output. The working directory is kept between calls; variables and \
functions are not. Standard input is empty. Processes that a command leaves running are ended with it: for servers \
and other long work set run_in_background, which returns a task id at once; BashOutput reads its output, KillTask \
ends it."""


class BashArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    command: Annotated[str, Meta(min_length=1, description="The command line.")]
    timeout: Annotated[
        int,
        Meta(
            ge=1,
            le=_MOST_MS,
            description=f"Milliseconds after which it is ended: {_DEFAULT_MS} when not given, at most {_MOST_MS}.",
        ),
    ] = _DEFAULT_MS
    description: Annotated[str, Meta(description="Its purpose, in five to ten words.")] = ""
    run_in_background: Annotated[
        bool, Meta(description="Do not wait for it. The timeout does not count then.")
    ] = False


class Bash:
    """Runner of the model's commands, each with the environment that ShellEnv hooks make for it."""

    def __init__(self, tasks: Tasks, processes: Processes) -> None:
        self._tasks = tasks
        self._processes = processes
        self._count = 0

    def tool(self) -> RecordTool[BashArguments]:
        return RecordTool(NAME, _DESCRIPTION, "run", BashArguments, self._run)

    async def _run(self, arguments: BashArguments, workplace: Workplace) -> ToolOutput:
        _refuse_lost_directory(workplace)
        if arguments.run_in_background:
            return await self._begin(arguments, workplace)
        streams = workplace.outputs[CURRENT_CALL.get()] = Streams()
        try:
            end = await self._shell(arguments, workplace, workplace.cwd, streams, arguments.timeout / 1000)
        finally:
            workplace.outputs.pop(CURRENT_CALL.get(), None)
        moved_to = _moved(end.last_cwd, workplace)
        stdout, stderr = streams.stdout.text, streams.stderr.text
        text = "\n".join((*filter(None, (both(stdout, stderr),)), *end.notes))
        failure = _failure(end, text)
        if failure is not None:
            failure.moved_to = moved_to
            raise failure
        return ToolOutput(
            text=text or f"({NAME} completed with no output)",
            response=_response(stdout, stderr, end.notes),
            moved_to=moved_to,
        )

    async def _begin(self, arguments: BashArguments, workplace: Workplace) -> ToolOutput:
        # The agent may have changed its directory by the time hooks have answered.
        cwd = workplace.cwd

        async def work(streams: Streams) -> TaskEnd:
            end = await self._shell(arguments, workplace, cwd, streams, _BACKGROUND_SECONDS)
            for note in end.notes:
                streams.stderr.feed(f"\n{note}".encode())
            return _task_end(end)

        subject = one_line(arguments.description or arguments.command, _SUBJECT_WIDTH)
        task = await self._tasks.start(work, subject, arguments.command, workplace.hooks)
        return ToolOutput(
            text=f"Running in the background as {task.id}. Read its output with BashOutput.",
            response={**_response("", ""), "backgroundTaskId": task.id},
        )

    async def _shell(
        self, arguments: BashArguments, workplace: Workplace, cwd: str, streams: Streams, seconds: float
    ) -> ShellEnd:
        self._count += 1
        given: dict[str, Any] = msgspec.to_builtins(arguments)
        return await run_in_shell(
            self._processes,
            arguments.command,
            streams,
            env=await workplace.shell_env(NAME, arguments.command, given),
            cwd=cwd,
            timeout=seconds,
            run_id=f"bash-{self._count}",
            guard=workplace.guard,
        )


def _refuse_lost_directory(workplace: Workplace) -> None:
    """Refuse to run a command in another directory than intended, but move the agent out of a deleted one."""
    if os.path.isdir(workplace.cwd):
        return
    above = workplace.cwd
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    failure = ShellError(
        f"The working directory {shown(workplace.cwd)} no longer exists, so nothing was run. "
        f"The working directory is now {shown(above)}."
    )
    failure.moved_to = above
    raise failure


def _moved(last_cwd: str | None, workplace: Workplace) -> str | None:
    if last_cwd is None or last_cwd == os.path.realpath(workplace.cwd):
        return None
    return last_cwd


def _response(stdout: str, stderr: str, denied: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        **({"execGuard": list(denied)} if denied else {}),
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }


def _failure(end: ShellEnd, text: str) -> ShellError | None:
    raw = end.raw
    if isinstance(raw, Failed):
        return ShellError(_with(_broke_message(raw), text), interrupted=raw.cause == "cancelled")
    return ShellError(_with(f"Exit code {raw.code}", text), exit_code=raw.code) if raw.code else None


def _with(first: str, text: str) -> str:
    return f"{first}\n{text}" if text else first


def _broke_message(raw: Failed) -> str:
    said = {
        "timed_out": "The command was stopped: it had not finished {}.",
        "signalled": "The command was killed {}.",
        "not_started": "The command was not started: {}.",
    }
    return said.get(raw.cause, "The command was stopped: {}.").format(raw.detail)


def _task_end(end: ShellEnd) -> TaskEnd:
    raw = end.raw
    if isinstance(raw, Failed):
        return TaskEnd("failed", detail=_broke_message(raw).removesuffix("."))
    return TaskEnd("failed" if raw.code else "completed", raw.code)


class BashOutputArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    task_id: Annotated[str, Meta(description="The id that Bash gave.")]
    wait: Annotated[
        int, Meta(ge=0, le=_MOST_MS, description="Milliseconds to wait for its end first; 0 when not given.")
    ] = 0


class BashOutput:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def tool(self) -> RecordTool[BashOutputArguments]:
        return RecordTool(
            "BashOutput",
            "Returns a background task's output since the last call, and its state.",
            "read",
            BashOutputArguments,
            self._run,
        )

    async def _run(self, arguments: BashOutputArguments, workplace: Workplace) -> ToolOutput:
        del workplace
        task = self._tasks.find(arguments.task_id)
        if arguments.wait:
            await _ended(task.ended, arguments.wait / 1000)
        stdout, stderr = task.streams.stdout.take(), task.streams.stderr.take()
        said = both(stdout, stderr) or "(nothing new)"
        return ToolOutput(
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


class KillTaskArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    task_id: Annotated[str, Meta(description="The id that Bash gave.")]


class KillTask:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def tool(self) -> RecordTool[KillTaskArguments]:
        return RecordTool(
            "KillTask",
            "Ends a background task and everything it started.",
            # It ends only what the model itself was allowed to start: nothing to ask a user about.
            "read",
            KillTaskArguments,
            self._run,
        )

    async def _run(self, arguments: KillTaskArguments, workplace: Workplace) -> ToolOutput:
        del workplace
        task = self._tasks.find(arguments.task_id)
        await self._tasks.kill(task)
        return ToolOutput(text=task.summary, response={"taskId": task.id, "status": task.status})
