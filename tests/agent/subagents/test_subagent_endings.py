"""Test the ends of a subagent: hooks see it, its cost is counted, and late text reaches a session."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.ports import PermissionReply
from hookline.extending import Run
from tests.agent.scripted_session import Answers, Probe, Say, ScriptedSession, call, calls, says
from tests.waiting import LONG, waits_for

_DOES = calls(call("Agent", prompt="do it"))
_SAME = calls(call("Read", file_path="missing"))
_MANY: list[Say] = [calls(call("Read", file_path=f"missing{number}")) for number in range(4)]


def _played(directory: Path, script: list[Say], **more: Any) -> ScriptedSession:
    async def main() -> ScriptedSession:
        async with ScriptedSession(directory, script, **more) as scripted:
            (scripted.project / "a.txt").write_text("a")
            for tool in more.get("tools", ()):
                if scripted.engine is not None and isinstance(tool, _Ends):
                    scripted.engine.journal.subscribe(tool.ran)
            await scripted.play("go")
        return scripted

    return asyncio.run(main())


_ENDINGS: dict[str, tuple[list[Say], dict[str, Any]]] = {
    "completed": ([says("done")], {}),
    "failed": ([{"error": "server"}], {}),
    "max_iterations": ([*_MANY[:3]], {"max_iterations": 3}),
    "blocked": ([calls(call("Bash", command="ls"))], {"asker": Answers(PermissionReply(allow=False))}),
}


@pytest.mark.parametrize("status", _ENDINGS)
def test_every_end_of_a_sub_agent_is_told_once_and_says_how_it_ended(status: str, tmp_path: Path) -> None:
    script, more = _ENDINGS[status]
    scripted = _played(tmp_path, [_DOES, *script, says("main")], **more)
    assert [fired.payload.status for fired in scripted.events("SubagentStop")] == [status]
    assert scripted.fired.index("SubagentStop") < scripted.fired.index("TurnEnd")


def test_a_sub_agent_that_goes_round_in_circles_has_an_end_too(tmp_path: Path) -> None:
    scripted = _played(tmp_path, [_DOES, *[_SAME] * 6, says("main")])
    assert [fired.payload.status for fired in scripted.events("SubagentStop")] == ["failed"]


def test_a_sub_agent_that_is_interrupted_has_an_end_too(tmp_path: Path) -> None:
    async def main() -> ScriptedSession:
        at_work = asyncio.Event()

        async def stays(_: object) -> None:
            at_work.set()
            await asyncio.sleep(60)

        probe = Probe(does=stays)
        async with ScriptedSession(
            tmp_path, [_DOES, calls(call("Probe", what="x"))], tools=[probe]
        ) as scripted:
            playing = asyncio.ensure_future(scripted.play("go"))
            await at_work.wait()
            assert scripted.agent.interrupt()
            received = await playing
            assert received is not None
            assert received.status == "interrupted"
        return scripted

    scripted = asyncio.run(main())
    assert [fired.payload.status for fired in scripted.events("SubagentStop")] == ["interrupted"]
    assert scripted.fired.index("SubagentStop") < scripted.fired.index("TurnSettled")


def _costs(text: str, cost: float, **more: Any) -> Say:
    return {"text": text, "usage": {"input_tokens": 1, "cost_usd": cost}, **more}


def test_what_sub_agents_and_summaries_cost_is_part_of_the_turn(tmp_path: Path) -> None:
    first = _costs("", 1.0, **_DOES)
    script = [first, _costs("sub", 10.0), _costs("main", 100.0), _costs("summary", 1000.0), _costs("on", 1.0)]

    async def main() -> ScriptedSession:
        async with ScriptedSession(tmp_path, script) as scripted:
            await scripted.play("go", "/compact", "on")
        return scripted

    scripted = asyncio.run(main())
    assert [fired.payload.usage.cost_usd for fired in scripted.events("TurnSettled")] == [111.0, 1001.0]
    assert scripted.agent.totals.cost_usd == 1112.0


def _background(command: str, **more: Any) -> dict[str, Any]:
    return {"PostToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": command, **more}]}]}


_LATE = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "LATE WORDS"}}
)
_READS = calls(call("Read", file_path="a.txt"))


class _Ends(Probe):
    """A tool that releases a background hook, and returns when it has ended."""

    def __init__(self, gate: Path) -> None:
        self.ended = asyncio.Event()
        self._gate = gate
        super().__init__(does=self._waits)

    def ran(self, run: Run) -> None:
        if run.event == "PostToolUse" and run.status != "background":
            self.ended.set()

    async def _waits(self, _: object) -> None:
        self._gate.touch()
        await asyncio.wait_for(self.ended.wait(), LONG)
        await asyncio.sleep(0.05)  # its text is delivered a few turns of the loop after its run is recorded


def test_late_text_of_a_sub_agents_hook_reaches_the_sub_agent(tmp_path: Path) -> None:
    probe = _Ends(tmp_path / "gate")
    script = [_DOES, _READS, calls(call("Probe", what="x")), says("sub"), says("main")]
    hooks = _background(f"{waits_for(tmp_path / 'gate')}; echo '{_LATE}'", **{"async": True})
    scripted = _played(tmp_path, script, hooks=hooks, tools=[probe])
    received = ["LATE WORDS" in str(request.messages) for request in scripted.requests]
    # The sub-agent reads it in its last request, and its caller does not.
    assert received == [False, False, False, True, False]


def test_late_text_that_comes_after_a_sub_agent_is_gone_reaches_its_caller(tmp_path: Path) -> None:
    probe = _Ends(tmp_path / "gate")
    script = [_DOES, _READS, says("sub"), calls(call("Probe", what="x")), says("main")]
    hooks = _background(f"{waits_for(tmp_path / 'gate')}; echo '{_LATE}'", **{"async": True})
    scripted = _played(tmp_path, script, hooks=hooks, tools=[probe])
    assert "LATE WORDS" in str(scripted.requests[-1].messages)


def test_a_hook_of_a_sub_agent_that_wakes_the_agent_is_waited_for(tmp_path: Path) -> None:
    hooks = _background("sleep 0.5; echo look again >&2; exit 2", asyncRewake=True)
    scripted = _played(tmp_path, [_DOES, _READS, says("sub"), says("main"), says("woken")], hooks=hooks)
    assert len(scripted.events("TurnSettled")) == 2
    assert "look again" in str(scripted.requests[-1].messages)


def _apart(directory: Path, *script: Say) -> ScriptedSession:
    async def main() -> ScriptedSession:
        does = calls(call("Agent", prompt="do it", isolation="worktree"))
        async with ScriptedSession(directory, [does, *script, says("main")], mode="acceptEdits") as scripted:
            who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
            for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
                subprocess.run(["git", *who, *words], cwd=scripted.project, check=True)
            await scripted.play("go")
        return scripted

    return asyncio.run(main())


def _worktrees(scripted: ScriptedSession) -> list[Path]:
    directory = scripted.project / ".hookline" / "worktrees"
    return list(directory.iterdir()) if directory.is_dir() else []


def test_a_worktree_in_which_a_sub_agent_did_nothing_is_gone_afterwards(tmp_path: Path) -> None:
    scripted = _apart(tmp_path, says("nothing to do"))
    assert _worktrees(scripted) == []
    assert len(scripted.events("WorktreeRemove")) == 1
    branches = subprocess.run(
        ["git", "branch"], cwd=scripted.project, capture_output=True, text=True, check=True
    )
    assert "hookline/" not in branches.stdout


def test_a_worktree_in_which_a_sub_agent_left_something_stays_and_its_caller_knows_where(
    tmp_path: Path,
) -> None:
    scripted = _apart(tmp_path, calls(call("Write", file_path="new.txt", content="x")), says("done"))
    (kept,) = _worktrees(scripted)
    assert (kept / "new.txt").read_text() == "x"
    assert str(kept) in scripted.results()[0]
    assert scripted.events("WorktreeRemove") == []


def test_sub_agents_use_the_model_the_user_has_chosen(tmp_path: Path) -> None:
    async def main() -> ScriptedSession:
        async with ScriptedSession(tmp_path, [_DOES, says("sub"), says("main")]) as scripted:
            await scripted.play("/model other", "go")
        return scripted

    assert [request.model for request in asyncio.run(main()).requests] == ["other"] * 3
