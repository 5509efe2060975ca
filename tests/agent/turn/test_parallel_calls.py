"""Calls of one response run side by side, dialogs one after another, and results come in the order of the calls."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline.agent.ports import PermissionPrompt, PermissionReply
from hookline.events import PermissionAsked, ToolCall
from hookline.model import events as e
from tests.agent.hook_entries import command, on
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says

#: Only for a test that fails: two that meet do so at once.
_LONG = 30.0
_TWO = [calls(call("Probe", what="first"), call("Probe", what="second")), says("done")]


class _Meeting:
    """NoListener leaves before two are there: only what runs side by side gets past it."""

    def __init__(self) -> None:
        self._here = 0
        self._both = asyncio.Event()

    async def come(self, _given: object = None) -> None:
        self._here += 1
        if self._here == 2:
            self._both.set()
        await asyncio.wait_for(self._both.wait(), _LONG)


def test_seed003_two_tools_run_at_the_same_time(tmp_path: Path) -> None:
    async def main() -> None:
        probe = Probe(does=_Meeting().come)
        async with ScriptedSession(tmp_path, _TWO, tools=[probe]) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["done: first", "done: second"]

    asyncio.run(main())


def test_seed003_the_hooks_of_two_calls_run_at_the_same_time(tmp_path: Path) -> None:
    async def main() -> None:
        meeting = _Meeting()

        async def hook(_call: ToolCall) -> None:
            await meeting.come()

        async with ScriptedSession(tmp_path, _TWO, tools=[Probe()]) as scripted:
            if scripted.engine is not None:
                scripted.engine.add(e.PRE_TOOL_USE, hook)
            await scripted.play("go")
            assert scripted.results() == ["done: first", "done: second"]
            assert scripted.fired.count("PreToolUse") == 2

    asyncio.run(main())


#: Each waits for the other one's file; where they run one after another the first of them denies its call.
_MEETS = (
    "told=$(cat); case $told in *first*) mine=1 other=2;; *) mine=2 other=1;; esac; touch here$mine; rounds=0; "
    "until [ -e here$other ]; do rounds=$((rounds + 1)); [ $rounds -gt 1000 ] && exit 2; sleep 0.03; done"
)


def test_seed003_command_hooks_of_two_calls_run_at_the_same_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(
            tmp_path, _TWO, hooks=on("PreToolUse", command(_MEETS)), tools=[Probe()]
        ) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["done: first", "done: second"]

    asyncio.run(main())


def test_seed003_results_stand_in_the_order_of_the_calls_whoever_is_done_first(tmp_path: Path) -> None:
    async def main() -> None:
        second_is_done = asyncio.Event()

        async def does(given: Mapping[str, Any]) -> None:
            if given["what"] == "first":
                await asyncio.wait_for(second_is_done.wait(), _LONG)
            else:
                second_is_done.set()

        async with ScriptedSession(tmp_path, _TWO, tools=[Probe(does=does)]) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["done: first", "done: second"]
            after = [fired.payload.tool_input["what"] for fired in scripted.events("PostToolUse")]
            assert after == ["second", "first"]

    asyncio.run(main())


class _OneAtATime:
    """Says yes, slowly, and counts how many questions are open."""

    def __init__(self) -> None:
        self.open = 0
        self.most = 0
        self.asked: list[str] = []

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        self.open += 1
        self.most = max(self.most, self.open)
        self.asked.append(question.tool_input["what"])
        for _ in range(20):
            await asyncio.sleep(0)
        self.open -= 1
        return PermissionReply(allow=True)


def test_seed003_dialogs_of_calls_that_run_side_by_side_come_one_after_another(tmp_path: Path) -> None:
    async def main() -> None:
        asker, meeting = _OneAtATime(), _Meeting()

        async def both_are_asked(_asked: PermissionAsked) -> None:
            await meeting.come()

        async with ScriptedSession(tmp_path, _TWO, tools=[Probe()], asker=asker, allow=()) as scripted:
            if scripted.engine is not None:
                scripted.engine.add(e.PERMISSION_REQUEST, both_are_asked)
            await scripted.play("go")
            assert scripted.results() == ["done: first", "done: second"]
        assert sorted(asker.asked) == ["first", "second"]
        assert asker.most == 1

    asyncio.run(main())


def test_seed003_an_always_settles_the_questions_that_wait_behind_it(tmp_path: Path) -> None:
    class Always:
        def __init__(self) -> None:
            self.asked = 0

        async def ask(self, question: PermissionPrompt) -> PermissionReply:
            del question
            self.asked += 1
            await asyncio.sleep(0)
            return PermissionReply(allow=True, always=True)

    async def main() -> None:
        asker = Always()
        twice = [calls(call("Probe", what="same"), call("Probe", what="same")), says("done")]
        async with ScriptedSession(tmp_path, twice, tools=[Probe()], asker=asker, allow=()) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["done: same", "done: same"]
        assert asker.asked == 1

    asyncio.run(main())
