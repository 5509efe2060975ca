"""Test commands in the background: registered, read, ended, and reported."""

import asyncio
from pathlib import Path

import pytest

from hookline import Engine, Outcome, context, deny
from hookline.agent.hooks import NoHooks
from hookline.agent.tools.shell import Streams
from hookline.agent.tools.tasks import TaskEnd, Tasks
from hookline.events import SHELL_ENV, TASK_COMPLETED, TASK_CREATED, ShellStart, TaskNote
from hookline.model.errors import ToolError
from tests.agent.tools.tool_runner import ToolRunner, alive, run_tools, soon


def test_a_task_is_told_of_when_it_is_made_and_when_it_ends(tmp_path: Path) -> None:
    engine = Engine()
    received: list[tuple[str, TaskNote]] = []
    engine.add(TASK_CREATED, lambda note: received.append(("created", note)), name="created")
    engine.add(TASK_COMPLETED, lambda note: received.append(("completed", note)), name="completed")

    async def action(runner: ToolRunner) -> None:
        reply = await runner.bash("sleep 0.2; echo hi", description="greet later", run_in_background=True)
        assert reply.response["backgroundTaskId"] == "task_1"
        assert "task_1" in reply.text
        assert [kind for kind, _ in received] == ["created"]
        assert runner.tasks.running == 1
        assert await soon(lambda: bool(runner.done))

    run_tools(tmp_path, action, engine)
    note = TaskNote(task_id="task_1", task_subject="greet later", task_description="sleep 0.2; echo hi")
    ended = TaskNote(
        task_id="task_1",
        task_subject="greet later",
        task_description="sleep 0.2; echo hi",
        status="completed",
    )
    assert received == [("created", note), ("completed", ended)]


def test_a_hook_can_refuse_a_task(tmp_path: Path) -> None:
    engine = Engine()
    engine.add(TASK_CREATED, lambda _note: deny("no servers here"), name="refuse")

    async def action(runner: ToolRunner) -> str:
        failure = await runner.fails("Bash", command="touch ran", run_in_background=True)
        assert runner.tasks.running == 0
        assert runner.tasks.all == ()
        return str(failure)

    assert run_tools(tmp_path, action, engine) == "The task was not started: no servers here"
    assert not (tmp_path / "ran").exists()


def test_the_agent_hears_of_the_end_with_what_hooks_said(tmp_path: Path) -> None:
    engine = Engine()

    @engine.on(TASK_COMPLETED)
    def feedback(note: TaskNote) -> Outcome:
        return deny(f"{note.task_id} needs a look") + context("see the log")

    async def action(runner: ToolRunner) -> str:
        await runner.bash("exit 3", run_in_background=True)
        assert await soon(lambda: bool(runner.done))
        return runner.done[0].text

    assert run_tools(tmp_path, action, engine) == (
        "Background task task_1 (exit 3) has failed with exit code 3.\n"
        "[hook feedback] task_1 needs a look\nsee the log"
    )


def test_output_is_read_piece_by_piece(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> list[str]:
        await runner.bash(
            "echo one; echo err >&2; while ! [ -e go ]; do sleep 0.02; done; echo two", run_in_background=True
        )
        task = runner.tasks.find("task_1")
        assert await soon(lambda: "one" in task.streams.stdout.text and "err" in task.streams.stderr.text)
        first = (await runner.call("BashOutput", task_id="task_1")).text
        nothing = (await runner.call("BashOutput", task_id="task_1", wait=10)).text
        (tmp_path / "go").touch()
        last = await runner.call("BashOutput", task_id="task_1", wait=60_000)
        assert last.response == {
            "taskId": "task_1",
            "status": "completed",
            "exitCode": 0,
            "stdout": "two",
            "stderr": "",
        }
        return [text.partition("\n")[2] for text in (first, nothing, last.text)]

    assert run_tools(tmp_path, action) == ["one\nerr", "(nothing new)", "two"]


def test_output_is_bounded_and_its_end_is_kept(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> str:
        await runner.bash("yes | head -c 4000000; echo last", run_in_background=True)
        return (await runner.call("BashOutput", task_id="task_1", wait=60_000)).text

    text = run_tools(tmp_path, action)
    assert text.endswith("y\nlast")
    assert len(text) < 30_300


def test_a_killed_task_dies_with_all_it_started(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> tuple[str, str]:
        await runner.bash("sleep 60 & echo $! > pid; wait", run_in_background=True)
        pid = tmp_path / "pid"
        assert await soon(lambda: pid.exists() and pid.read_text().strip() != "")
        first = (await runner.call("KillTask", task_id="task_1")).text
        assert await soon(lambda: not alive(int(pid.read_text())))
        assert await soon(lambda: len(runner.done) == 1)
        return first, (await runner.call("KillTask", task_id="task_1")).text

    first, again = run_tools(tmp_path, action)
    assert first == again
    assert first.endswith("has been killed.")


def test_closing_kills_every_task_and_tells_hooks(tmp_path: Path) -> None:
    engine = Engine()
    ended: list[TaskNote] = []
    engine.add(TASK_COMPLETED, ended.append, name="ended")

    async def action(runner: ToolRunner) -> None:
        for each in range(3):
            await runner.bash(f"echo $$ > pid{each}; sleep 60", run_in_background=True)
        pids = [tmp_path / f"pid{each}" for each in range(3)]
        assert await soon(lambda: all(pid.exists() and pid.read_text().strip() for pid in pids))
        await runner.tasks.close()
        assert runner.tasks.running == 0
        assert await soon(lambda: not any(alive(int(pid.read_text())) for pid in pids))
        failure = await runner.fails("Bash", command="true", run_in_background=True)
        assert "the session is ending" in str(failure)

    run_tools(tmp_path, action, engine)
    assert [(note.task_id, note.status) for note in ended] == [(f"task_{n}", "killed") for n in (1, 2, 3)]


def test_closing_does_not_wait_for_a_hook_that_hangs(tmp_path: Path) -> None:
    engine = Engine()

    @engine.on(TASK_COMPLETED)
    async def hang(_note: TaskNote) -> None:
        await asyncio.sleep(3600)

    async def action(runner: ToolRunner) -> None:
        await runner.bash("sleep 60", run_in_background=True)
        await asyncio.wait_for(runner.tasks.close(limit=0.1), 30)

    run_tools(tmp_path, action, engine)


def test_there_are_only_so_many_at_once(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> str:
        for _ in range(2):
            await runner.bash("sleep 60", run_in_background=True)
        failure = await runner.fails("Bash", command="sleep 60", run_in_background=True)
        await runner.call("KillTask", task_id="task_1")
        await runner.bash("sleep 60", run_in_background=True)
        return str(failure)

    said = run_tools(tmp_path, action, most=2)
    assert said.startswith("2 background tasks are running")
    assert "task_1, task_2" in said


def test_old_tasks_are_forgotten_but_never_running_ones(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> list[str]:
        await runner.bash("sleep 60", run_in_background=True)
        for _ in range(4):
            await runner.bash("true", run_in_background=True)
            assert await soon(lambda: runner.tasks.running == 1)
        return [task.id for task in runner.tasks.all]

    assert run_tools(tmp_path, action, remembered=2) == ["task_1", "task_5"]


def test_an_unknown_task_is_named_with_those_there_are(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> list[str]:
        none = await runner.fails("BashOutput", task_id="task_9")
        await runner.bash("sleep 60", run_in_background=True)
        return [str(none), str(await runner.fails("KillTask", task_id="task_9"))]

    assert run_tools(tmp_path, action) == [
        "Unknown background task 'task_9'; there are: none.",
        "Unknown background task 'task_9'; there are: task_1.",
    ]


def test_a_task_runs_where_it_was_asked_for_with_the_environment_of_hooks(tmp_path: Path) -> None:
    engine = Engine()
    (tmp_path / "elsewhere").mkdir()

    @engine.on(SHELL_ENV)
    async def slow(_start: ShellStart) -> Outcome:
        await asyncio.sleep(0.1)
        return Outcome(env_items=(("WHO", "hook"),))

    async def action(runner: ToolRunner) -> str:
        await runner.bash("echo $WHO in $PWD", run_in_background=True)
        runner.place.cwd = str(tmp_path / "elsewhere")
        return (await runner.call("BashOutput", task_id="task_1", wait=60_000)).response["stdout"]

    assert run_tools(tmp_path, action, engine) == f"hook in {tmp_path}"


def test_work_that_breaks_is_a_failed_task() -> None:
    async def breaks(_streams: Streams) -> TaskEnd:
        raise RuntimeError("no luck")

    async def main() -> None:
        tasks = Tasks(NoHooks())
        task = await tasks.start(breaks, "try", "try it")
        await task.ended.wait()
        assert task.summary == "Background task task_1 (try) has failed: RuntimeError: no luck."
        await tasks.close()
        with pytest.raises(ToolError):
            await tasks.start(breaks, "try", "try it")

    asyncio.run(main())
