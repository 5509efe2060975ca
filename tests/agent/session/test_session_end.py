"""A session ends once, whatever its hooks do, and what belonged to it is gone."""

import asyncio
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hookline import Session
from hookline.agent.hooks import EngineHooks
from hookline.engine.memory import once_marks_of
from hookline.events import SessionEnded
from hookline.model import events as e
from tests.agent.scripted_session import ScriptedSession, call, calls, says


def _command(command: str, **more: Any) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "command": command, **more}]}]


def test_seed001_however_many_end_the_session_its_hooks_hear_of_it_once(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("echo over >> ends.txt; sleep 0.1")}

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("hello")], hooks=hooks) as scripted:
            await scripted.play("go")
            await asyncio.gather(*(scripted.agent.end("logout") for _ in range(5)))
            assert scripted.fired.count("SessionEnd") == 1
            assert scripted.events("SessionEnd")[0].payload.reason == "logout"
            assert (scripted.project / "ends.txt").read_text() == "over\n"
        assert scripted.fired.count("SessionEnd") == 1

    asyncio.run(main())


def test_seed001_whoever_stops_waiting_for_the_end_does_not_stop_the_end(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("sleep 0.2; echo over > ends.txt")}

    async def main() -> None:
        async with ScriptedSession(tmp_path, [], hooks=hooks) as scripted:
            impatient = asyncio.ensure_future(scripted.agent.end())
            await asyncio.sleep(0)
            impatient.cancel()
            await scripted.agent.end()
            assert (scripted.project / "ends.txt").exists()

    asyncio.run(main())


def test_seed001_a_hook_of_the_end_that_fails_does_not_keep_the_agent_here(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [], hooks={"SessionEnd": _command("exit 7")}) as scripted:
            await scripted.agent.end()
            assert scripted.events("SessionEnd")[0].runs[0].status == "failed"

    asyncio.run(main())


def test_seed001_a_hook_of_the_end_that_hangs_is_stopped_and_it_is_said(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("echo $$ > pid; exec sleep 600")}

    async def main() -> None:
        async with ScriptedSession(tmp_path, [], hooks=hooks) as scripted:
            scripted.agent.settings = replace(scripted.agent.settings, longest_end=1.0)
            await scripted.agent.end()
            assert any("took longer than 1 s" in text for text in scripted.seen.texts("warning"))
            pid = (scripted.project / "pid").read_text().strip()
        assert not Path("/proc", pid, "exe").exists()

    asyncio.run(main())


def test_seed001_a_transcript_that_is_gone_does_not_keep_the_agent_here(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [says("hello")], hooks={"SessionEnd": _command("true")}
        ) as scripted:
            await scripted.play("go")
            Path(scripted.agent.conversation.records.path).unlink()
            await scripted.agent.end()
            assert scripted.events("SessionEnd")[0].runs[0].status == "ok"

    asyncio.run(main())


def _session(scripted: ScriptedSession) -> Session:
    hooks = scripted.agent.hooks.session_hooks
    assert isinstance(hooks, EngineHooks)
    return hooks.session


_ONCE = {"UserPromptSubmit": _command("echo once", once=True)}


def test_seed001_session_hooks_and_once_marks_are_gone_after_the_end(tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(over: SessionEnded) -> None:
        heard.append(over.reason)

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("one"), says("two")], hooks=_ONCE) as scripted:
            session = _session(scripted)
            session.add(e.SESSION_END, hear)
            await scripted.play("a", "b")
            assert [len(fired.runs) for fired in scripted.events("UserPromptSubmit")] == [1, 0]
            assert once_marks_of(session)
            await scripted.agent.end("logout")
            assert session.hooks == ()
            assert once_marks_of(session) == set()

    asyncio.run(main())
    assert heard == ["logout"]


def test_seed001_clear_ends_the_session_and_begins_one_in_which_once_counts_anew(tmp_path: Path) -> None:
    async def main() -> None:
        script = [says("one"), says("two"), says("three")]
        async with ScriptedSession(tmp_path, script, hooks=_ONCE, add_date=True) as scripted:
            await scripted.play("a", "b", "/clear", "c")
            assert [fired.payload.source for fired in scripted.events("SessionStart")] == ["startup", "clear"]
            assert [fired.payload.reason for fired in scripted.events("SessionEnd")] == ["clear"]
            assert [len(fired.runs) for fired in scripted.events("UserPromptSubmit")] == [1, 0, 1]
            last = scripted.requests[-1]
            assert "two" not in str(last.messages)
            assert "Today's date" in str(last.messages), "the agent's own settings hold for every session"

    asyncio.run(main())


def test_what_runs_in_the_background_ends_before_the_session_does(tmp_path: Path) -> None:
    async def main() -> None:
        background = call("Bash", command="sleep 600", run_in_background=True)
        async with ScriptedSession(tmp_path, [calls(background), says("x")], allow=("Bash",)) as scripted:
            await scripted.play("go")
        assert scripted.fired[-2:] == ["TaskCompleted", "SessionEnd"]
        assert scripted.events("TaskCompleted")[0].payload.status == "killed"

    asyncio.run(main())


def test_an_end_that_was_told_by_clear_is_not_told_again_when_clear_is_interrupted(tmp_path: Path) -> None:
    hooks = {"SessionEnd": _command("echo here > here; exec sleep 600")}

    async def main() -> None:
        async with ScriptedSession(tmp_path, [], hooks=hooks) as scripted:
            playing = asyncio.ensure_future(scripted.play("/clear"))
            while not (scripted.project / "here").exists():
                await asyncio.sleep(0.02)
            scripted.agent.interrupt()
            await playing
        assert scripted.fired.count("SessionEnd") == 1

    asyncio.run(main())


def test_a_turn_interrupted_once_more_while_it_is_settled_is_an_interrupted_one(tmp_path: Path) -> None:
    hooks = {"TurnSettled": _command("echo here > here; exec sleep 600")}

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("x")], hooks=hooks) as scripted:
            playing = asyncio.ensure_future(scripted.play("go"))
            while not (scripted.project / "here").exists():
                await asyncio.sleep(0.02)
            scripted.agent.interrupt()
            received = await asyncio.wait_for(playing, 60)
            assert received is not None
            assert received.status == "interrupted"

    asyncio.run(main())
