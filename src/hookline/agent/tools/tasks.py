"""Run background tasks of an agent: commands the model did not wait for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from hookline.agent.tools.shell import Streams
from hookline.engine.host.tool_call import HookDispatcher
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.outcome import Outcome

TaskStatus = Literal["running", "completed", "failed", "killed"]


class TaskEnd(Struct, frozen=True):
    """End of a task's work."""

    status: TaskStatus = "completed"
    exit_code: int | None = None
    #: More than the exit code says, if anything.
    detail: str = ""


class TaskDone(Struct, frozen=True):
    """A task that ended, and the outcome of TaskCompleted hooks."""

    task: "Task"
    outcome: Outcome

    @property
    def text(self) -> str:
        """The notice for the model, with the text of hooks."""
        said = [self.task.summary]
        if self.outcome.blocked and self.outcome.reason:
            said.append(f"[hook feedback] {self.outcome.reason}")
        return "\n".join((*said, *self.outcome.context))


Work = Callable[[Streams], Awaitable[TaskEnd]]


class Task:
    """One task. Its output may be read while it runs; only `Tasks` changes it."""

    def __init__(self, task_id: str, subject: str, description: str, hooks: HookDispatcher) -> None:
        self.id = task_id
        self.subject = subject
        self.description = description
        self.hooks = hooks
        self.streams = Streams()
        self.end = TaskEnd("running")
        self.ended = asyncio.Event()

    @property
    def status(self) -> TaskStatus:
        return self.end.status

    @property
    def summary(self) -> str:
        """One sentence: which task it is, and its state."""
        code = f" with exit code {self.end.exit_code}" if self.end.exit_code is not None else ""
        detail = f": {self.end.detail}" if self.end.detail else ""
        verb = "is" if self.status == "running" else "has"
        state = {"killed": "been killed"}.get(self.status, self.status)
        return f"Background task {self.id} ({self.subject}) {verb} {state}{code}{detail}."

    def note(self) -> p.TaskNote:
        """Return the payload for hooks. As in other agents, it has the state only once that is final."""
        return p.TaskNote(
            task_id=self.id,
            task_subject=self.subject,
            task_description=self.description,
            status=None if self.status == "running" else self.status,
        )


class Tasks:
    """Background tasks of one agent. TaskCreated may refuse one; TaskCompleted fires when it ended.

    `on_done` is called on the loop, once for each task, after the hooks of TaskCompleted.
    """

    def __init__(
        self,
        hooks: HookDispatcher,
        *,
        on_done: Callable[[TaskDone], None] | None = None,
        most: int = 8,
        remembered: int = 64,
    ) -> None:
        self.on_done = on_done
        self._hooks = hooks
        self._most = most
        self._remembered = remembered
        self._count = 0
        self._closed = False
        self._tasks: dict[str, Task] = {}
        self._works: dict[str, asyncio.Future[TaskEnd]] = {}
        self._owned: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> int:
        return len(self._works)

    @property
    def all(self) -> tuple[Task, ...]:
        """Every remembered task, oldest first."""
        return tuple(self._tasks.values())

    async def start(
        self, work: Work, subject: str, description: str, hooks: HookDispatcher | None = None
    ) -> Task:
        """Register a task and begin it. Raises ToolError when a hook refuses it or there are too many."""
        self._refuse_if_full()
        self._count += 1
        task = Task(f"task_{self._count}", subject, description, hooks or self._hooks)
        outcome = await task.hooks.dispatch(e.TASK_CREATED, task.note())
        if outcome.blocked:
            raise ToolError(f"The task was not started: {outcome.reason or 'a hook refused it'}")
        # Others may have been started while hooks ran.
        self._refuse_if_full()
        self._tasks[task.id] = task
        self._works[task.id] = begun = asyncio.ensure_future(work(task.streams))
        owned = asyncio.create_task(self._finish(task, begun))
        self._owned.add(owned)
        owned.add_done_callback(self._owned.discard)
        return task

    def find(self, task_id: str) -> Task:
        """Return a task. Raises ToolError that lists the tasks."""
        task = self._tasks.get(task_id)
        if task is None:
            known = ", ".join(self._tasks) or "none"
            raise ToolError(f"Unknown background task {task_id[:80]!r}; there are: {known}.")
        return task

    async def kill(self, task: Task) -> bool:
        """Stop a task; return False when it had ended already. Its processes have half a second to end."""
        begun = self._works.get(task.id)
        if begun is None:
            return False
        begun.cancel()
        await task.ended.wait()
        return True

    async def close(self, limit: float = 5.0) -> None:
        """Kill all tasks. TaskCompleted hooks have `limit` seconds in all; then they are cancelled."""
        self._closed = True
        for begun in self._works.values():
            begun.cancel()
        if not self._owned:
            return
        _, late = await asyncio.wait(tuple(self._owned), timeout=limit)
        for owned in late:
            owned.cancel()
        if late:
            await asyncio.wait(late, timeout=1)

    def _refuse_if_full(self) -> None:
        if self._closed:
            raise ToolError("No background task can be started: the session is ending.")
        if len(self._works) >= self._most:
            raise ToolError(
                f"{len(self._works)} background tasks are running, which is the limit: "
                f"{', '.join(self._works)}. Stop one with KillTask first."
            )

    async def _finish(self, task: Task, begun: "asyncio.Future[TaskEnd]") -> None:
        try:
            await asyncio.wait((begun,))
        finally:
            begun.cancel()
            del self._works[task.id]
            task.end = _end_of(begun)
            task.ended.set()
            self._forget_oldest()
        outcome = await task.hooks.dispatch(e.TASK_COMPLETED, task.note())
        if self.on_done is not None:
            self.on_done(TaskDone(task, outcome))

    def _forget_oldest(self) -> None:
        over = [task_id for task_id in self._tasks if task_id not in self._works]
        for task_id in over[: max(len(self._tasks) - self._remembered, 0)]:
            del self._tasks[task_id]


def _end_of(begun: "asyncio.Future[TaskEnd]") -> TaskEnd:
    if not begun.done() or begun.cancelled():
        return TaskEnd("killed")
    error = begun.exception()
    if error is not None:
        return TaskEnd("failed", detail=f"{type(error).__name__}: {error}")
    return begun.result()
