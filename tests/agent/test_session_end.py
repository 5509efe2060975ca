"""A session ends once, whatever its hooks do, and what belonged to it is gone."""

import asyncio
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hookline.agent.hooks import EngineHooks
from hookline.engine.session import Session
from hookline.model import events as e
from hookline.model.payloads import SessionEnded
from tests.agent.stage import Stage, call, calls, says


def _command(command: str, **more: Any) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "command": command, **more}]}]


def test_seed001_however_many_end_the_session_its_hooks_hear_of_it_once(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("echo over >> ends.txt; sleep 0.1")}

    async def main() -> None:
        async with Stage(tmp_path, [says("hello")], hooks=hooks) as stage:
            await stage.play("go")
            await asyncio.gather(*(stage.agent.end("logout") for _ in range(5)))
            assert stage.fired.count("SessionEnd") == 1
            assert stage.events("SessionEnd")[0].payload.reason == "logout"
            assert (stage.project / "ends.txt").read_text() == "over\n"
        assert stage.fired.count("SessionEnd") == 1

    asyncio.run(main())


def test_seed001_whoever_stops_waiting_for_the_end_does_not_stop_the_end(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("sleep 0.2; echo over > ends.txt")}

    async def main() -> None:
        async with Stage(tmp_path, [], hooks=hooks) as stage:
            impatient = asyncio.ensure_future(stage.agent.end())
            await asyncio.sleep(0)
            impatient.cancel()
            await stage.agent.end()
            assert (stage.project / "ends.txt").exists()

    asyncio.run(main())


def test_seed001_a_hook_of_the_end_that_fails_does_not_keep_the_agent_here(tmp_path: Path) -> None:
    async def main() -> None:
        async with Stage(tmp_path, [], hooks={"SessionEnd": _command("exit 7")}) as stage:
            await stage.agent.end()
            assert stage.events("SessionEnd")[0].runs[0].status == "failed"

    asyncio.run(main())


def test_seed001_a_hook_of_the_end_that_hangs_is_stopped_and_it_is_said(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("echo $$ > pid; exec sleep 600")}

    async def main() -> None:
        async with Stage(tmp_path, [], hooks=hooks) as stage:
            stage.agent.settings = replace(stage.agent.settings, longest_end=1.0)
            await stage.agent.end()
            assert any("took longer than 1 s" in text for text in stage.seen.texts("warning"))
            pid = (stage.project / "pid").read_text().strip()
        assert not Path("/proc", pid, "exe").exists()

    asyncio.run(main())


def test_seed001_a_transcript_that_is_gone_does_not_keep_the_agent_here(tmp_path: Path) -> None:
    async def main() -> None:
        async with Stage(tmp_path, [says("hello")], hooks={"SessionEnd": _command("true")}) as stage:
            await stage.play("go")
            Path(stage.agent.conversation.records.path).unlink()
            await stage.agent.end()
            assert stage.events("SessionEnd")[0].runs[0].status == "ok"

    asyncio.run(main())


def _session(stage: Stage) -> Session:
    hooks = stage.agent.hooks.session_hooks
    assert isinstance(hooks, EngineHooks)
    return hooks.session


_ONCE = {"UserPromptSubmit": _command("echo once", once=True)}


def test_seed001_session_hooks_and_once_marks_are_gone_after_the_end(tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(over: SessionEnded) -> None:
        heard.append(over.reason)

    async def main() -> None:
        async with Stage(tmp_path, [says("one"), says("two")], hooks=_ONCE) as stage:
            session = _session(stage)
            session.add(e.SESSION_END, hear)
            await stage.play("a", "b")
            assert [len(fired.runs) for fired in stage.events("UserPromptSubmit")] == [1, 0]
            assert session.once_marks
            await stage.agent.end("logout")
            assert session.hooks == ()
            assert session.once_marks == set()

    asyncio.run(main())
    assert heard == ["logout"]


def test_seed001_clear_ends_the_session_and_begins_one_in_which_once_counts_anew(tmp_path: Path) -> None:
    async def main() -> None:
        script = [says("one"), says("two"), says("three")]
        async with Stage(tmp_path, script, hooks=_ONCE, add_date=True) as stage:
            await stage.play("a", "b", "/clear", "c")
            assert [fired.payload.source for fired in stage.events("SessionStart")] == ["startup", "clear"]
            assert [fired.payload.reason for fired in stage.events("SessionEnd")] == ["clear"]
            # The command itself passed the hooks of prompts too, before it ended the session.
            assert [len(fired.runs) for fired in stage.events("UserPromptSubmit")] == [1, 0, 0, 1]
            last = stage.requests[-1]
            assert "two" not in str(last.messages)
            assert "Today's date" in str(last.messages), "the agent's own settings hold for every session"

    asyncio.run(main())


def test_what_runs_in_the_background_ends_before_the_session_does(tmp_path: Path) -> None:
    async def main() -> None:
        background = call("Bash", command="sleep 600", run_in_background=True)
        async with Stage(tmp_path, [calls(background), says("x")], allow=("Bash",)) as stage:
            await stage.play("go")
        assert stage.fired[-2:] == ["TaskCompleted", "SessionEnd"]
        assert stage.events("TaskCompleted")[0].payload.status == "killed"

    asyncio.run(main())


def test_an_end_that_was_told_by_clear_is_not_told_again_when_clear_is_interrupted(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("echo here > here; exec sleep 600")}

    async def main() -> None:
        async with Stage(tmp_path, [], hooks=hooks) as stage:
            playing = asyncio.ensure_future(stage.play("/clear"))
            while not (stage.project / "here").exists():
                await asyncio.sleep(0.02)
            stage.agent.interrupt()
            await playing
        assert stage.fired.count("SessionEnd") == 1

    asyncio.run(main())


def test_a_turn_interrupted_once_more_while_it_is_settled_is_an_interrupted_one(tmp_path: Path) -> None:
    hooks = {"TurnSettled": _command("echo here > here; exec sleep 600")}

    async def main() -> None:
        async with Stage(tmp_path, [says("x")], hooks=hooks) as stage:
            playing = asyncio.ensure_future(stage.play("go"))
            while not (stage.project / "here").exists():
                await asyncio.sleep(0.02)
            stage.agent.interrupt()
            told = await asyncio.wait_for(playing, 60)
            assert told is not None
            assert told.status == "interrupted"

    asyncio.run(main())
