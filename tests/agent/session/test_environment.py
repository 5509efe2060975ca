"""Test what the model knows of its surroundings, and plan mode from its start to the user's approval."""

import asyncio
import datetime as dt
from pathlib import Path

from hookline.agent.ports import PermissionReply
from tests.agent.scripted_session import Answers, ScriptedSession, call, calls, says

_PLAN = calls(call("ExitPlanMode", plan="1. Write a.txt"))
_WRITE = calls(call("Write", file_path="a.txt", content="a\n"))


def _offered(scripted: ScriptedSession, request: int) -> set[str]:
    return {tool.name for tool in scripted.requests[request].tools}


def test_the_model_is_sent_where_it_works(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("hi"), says("ho")]) as scripted:
            (scripted.project / ".git").mkdir()
            (scripted.project / ".git/HEAD").write_text("ref: refs/heads/tax\n")
            await scripted.play("hello")
            system = scripted.requests[0].system
            today = dt.datetime.now().astimezone().date().isoformat()
            for fact in (str(scripted.project), "branch tax", "Linux", today, "bash", "mode: default"):
                assert fact in system
            await scripted.play("again")
            assert scripted.requests[1].system == system

    asyncio.run(main())


def test_plan_mode_offers_no_writing_and_ends_by_an_approval(tmp_path: Path) -> None:
    async def main() -> None:
        asker = Answers(
            PermissionReply(allow=False, message="and a test", go_on=True), PermissionReply(allow=True)
        )
        script = [_PLAN, _PLAN, _WRITE, says("done")]
        async with ScriptedSession(tmp_path, script, asker=asker, mode="plan", allow=("Write",)) as scripted:
            await scripted.play("go")
            assert (scripted.project / "a.txt").read_text() == "a\n"
            assert [one.title for one in asker.questions] == ["Is this plan right?"] * 2
            assert asker.questions[0].grants == ()
            assert "plan mode" in scripted.requests[0].system
            assert "plan mode" not in scripted.requests[2].system
            assert "and a test" in str(scripted.requests[1].messages)
            assert ("ExitPlanMode" in _offered(scripted, 0), "Write" in _offered(scripted, 0)) == (
                True,
                False,
            )
            assert ("ExitPlanMode" in _offered(scripted, 2), "Write" in _offered(scripted, 2)) == (
                False,
                True,
            )
            (moved,) = scripted.events("ModeChanged")
            assert (moved.payload.old_mode, moved.payload.new_mode) == ("plan", "default")

    asyncio.run(main())


def test_a_plan_nobody_can_approve_changes_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [_PLAN, _WRITE, says("done")], mode="plan") as scripted:
            await scripted.play("go")
            assert not (scripted.project / "a.txt").exists()
            assert scripted.agent.permissions.mode == "plan"

    asyncio.run(main())


def test_context_says_what_fills_the_window(tmp_path: Path) -> None:
    async def main() -> None:
        script = [{**calls(call("Read", file_path="a.txt")), "usage": {"input_tokens": 400}}, says("done")]
        async with ScriptedSession(tmp_path, script, context_window=2000) as scripted:
            (scripted.project / "a.txt").write_text("alpha\n" * 200)
            await scripted.play("read it and count the words", "/context")
            said = scripted.seen.texts("notice")[-1]
            assert "of 2,000 (" in said
            assert "compaction at 1,700" in said
            for part in ("system text", "tools", "your prompts", "answers and calls", "results of tools"):
                assert part in said

    asyncio.run(main())
