"""The ten events of Reasonix in a running agent: what only shows beside the scenarios `seed002_*`."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookline.model.messages import User
from tests.agent.dialect_session import DialectSession
from tests.agent.scripted_session import Say, call, calls, says

_LOG = "cat >>seen.jsonl"


def _session(
    directory: Path, script: Sequence[Say], hooks: dict[str, str | list[str]], **more: Any
) -> DialectSession:
    entries = {
        event: [{"command": each} for each in ([commands] if isinstance(commands, str) else commands)]
        for event, commands in hooks.items()
    }
    settings = json.dumps({"hooks": entries}, indent=2)
    config = ".reasonix/settings.json"
    return DialectSession(
        directory, script, dialect="reasonix", config=config, files={config: settings}, **more
    )


def test_a_session_start_hook_that_prints_nothing_leaves_the_system_prompt_byte_for_byte(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with _session(
            tmp_path, [says("hi"), says("ho")], {"SessionStart": "cat >/dev/null"}
        ) as scripted:
            await scripted.play("hello", "again")
        assert [request.system for request in scripted.requests] == [
            scripted.agent.conversation.own_system
        ] * 2
        assert [len(each.runs) for each in scripted.events("SessionStart")] == [1]

    asyncio.run(main())


def test_session_start_text_is_in_the_system_prompt_once_also_in_a_second_turn(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"SessionStart": ["echo 'first brief'", "echo 'second brief'"]}
        async with _session(tmp_path, [says("hi"), says("ho")], hooks) as scripted:
            await scripted.play("hello")
            await scripted.play("again")
        first, second = (request.system for request in scripted.requests)
        assert (
            first
            == second
            == f"{scripted.agent.conversation.own_system}\n\n[Session context]\n\nfirst brief\n\nsecond brief"
        )
        assert len(scripted.events("SessionStart")) == 1

    asyncio.run(main())


def test_of_each_session_start_hook_4096_characters_are_kept(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {
            "SessionStart": [
                "head -c 5000 /dev/zero | tr '\\0' a",
                "head -c 5000 /dev/zero | tr '\\0' b",
            ]
        }
        async with _session(tmp_path, [says("hi")], hooks) as scripted:
            await scripted.play("hello")
        added = scripted.requests[0].system.removeprefix(scripted.agent.conversation.own_system)
        assert (added.count("a" * 4096), added.count("b" * 4096)) == (1, 1)
        assert ("a" * 4097) not in added
        assert ("b" * 4097) not in added

    asyncio.run(main())


def test_a_session_start_hook_that_fails_is_a_warning_the_user_sees(tmp_path: Path) -> None:
    async def main() -> None:
        async with _session(tmp_path, [says("hi")], {"SessionStart": "echo broken >&2; exit 3"}) as scripted:
            received = await scripted.play("hello")
        assert received is not None
        assert received.status == "completed"
        assert any("SessionStart" in text and "broken" in text for text in scripted.seen.texts("warning"))
        assert scripted.requests[0].system == scripted.agent.conversation.own_system

    asyncio.run(main())


def test_a_turn_start_block_warns_stores_nothing_and_calls_no_model(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"TurnStart": "echo 'over budget' >&2; exit 2"}
        async with _session(tmp_path, [says("hi")], hooks) as scripted:
            received = await scripted.play("hello")
        assert received is not None
        assert (received.status, received.why) == ("blocked", "over budget")
        assert scripted.requests == []
        assert scripted.agent.conversation.messages == []
        assert "over budget" in scripted.seen.texts("warning")
        assert "Stop" not in scripted.fired
        assert len(scripted.events("TurnSettled")) == 1

    asyncio.run(main())


def test_what_turn_start_adds_is_there_for_the_turn_also_when_the_conversation_is_compacted(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"TurnStart": "echo 'budget: 3 euros'"}
        script = [
            {**calls(call("Read", file_path=".reasonix/settings.json")), "usage": {"input_tokens": 5000}},
            says("what there was"),
            says("done"),
            says("next"),
        ]
        async with _session(tmp_path, script, hooks, compact_at=1000) as scripted:
            await scripted.play("one")
        assert "PostCompact" in scripted.fired
        asked = [
            [message for message in each.messages if isinstance(message, User)] for each in scripted.requests
        ]
        added = [
            [message.text for message in texts if message.by].count("budget: 3 euros") for texts in asked
        ]
        assert added == [1, 1, 1]
        assert all("euros" not in str(message) for message in scripted.agent.conversation.messages)

    asyncio.run(main())


def test_no_turn_end_for_a_turn_that_was_interrupted(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"TurnEnd": _LOG, "Stop": "cat >>settled.jsonl"}
        async with _session(tmp_path, [{"text": "too late", "delay": 60}], hooks) as scripted:
            playing = asyncio.ensure_future(scripted.play("hello"))
            while not scripted.requests:
                await asyncio.sleep(0.01)
            assert scripted.agent.interrupt()
            received = await playing
        assert received is not None
        assert received.status == "interrupted"
        assert "TurnEnd" not in scripted.fired
        assert scripted.text("seen.jsonl") == ""
        # Its Stop fires after an interrupted turn as well.
        assert json.loads(scripted.text("settled.jsonl"))["event"] == "Stop"

    asyncio.run(main())


def test_no_turn_end_for_an_empty_answer(tmp_path: Path) -> None:
    async def main() -> None:
        async with _session(tmp_path, [says("")], {"TurnEnd": f"{_LOG}; exit 2"}) as scripted:
            received = await scripted.play("hello")
        assert received is not None
        assert received.status == "completed"
        assert "TurnEnd" not in scripted.fired
        assert any("empty answer" in text for text in scripted.seen.texts("warning"))

    asyncio.run(main())


def test_blocks_of_a_turn_that_ended_otherwise_are_not_counted_in_the_next(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"TurnEnd": "grep -q good || exit 2"}
        # Two blocks, then an answer no gate sees; in the next turn two more, and then a good one.
        script = [says("bad"), says("bad"), says(""), says("bad"), says("bad"), says("good")]
        async with _session(tmp_path, script, hooks) as scripted:
            received = await scripted.play("one", "two")
        assert received is not None
        assert (received.status, received.text) == ("completed", "good")
        blocked = [fired.outcome.blocked for fired in scripted.events("TurnEnd")]
        assert blocked == [True, True, True, True, False]

    asyncio.run(main())


def test_a_turn_without_tool_calls_fires_no_tool_hooks(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"PreToolUse": _LOG, "PostToolUse": _LOG}
        async with _session(tmp_path, [says("hi")], hooks) as scripted:
            await scripted.play("hello")
        assert {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"}.isdisjoint(scripted.fired)
        assert scripted.text("seen.jsonl") == ""

    asyncio.run(main())


def test_a_blocked_call_has_the_reason_for_a_result_and_no_post_tool_use(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {
            "PreToolUse": "echo 'not in this house' >&2; exit 2",
            "PostToolUse": _LOG,
        }
        script = [calls(call("Bash", command="touch made.txt")), says("sorry")]
        async with _session(tmp_path, script, hooks, allow=("Bash",)) as scripted:
            await scripted.play("make it")
        assert scripted.results() == ["not in this house"]
        assert {"PostToolUse", "PostToolUseFailure"}.isdisjoint(scripted.fired)
        assert scripted.text("seen.jsonl") == ""
        assert not (scripted.project / "made.txt").exists()

    asyncio.run(main())


def test_session_end_fires_once_under_concurrent_quits_and_its_failure_keeps_nobody(tmp_path: Path) -> None:
    async def main() -> None:
        hooks: dict[str, str | list[str]] = {"SessionEnd": f"{_LOG}; sleep 0.2; exit 7"}
        async with _session(tmp_path, [says("hi")], hooks) as scripted:
            await scripted.play("hello")
            await asyncio.gather(*(scripted.agent.end(reason) for reason in ("other", "logout", "other")))
            await scripted.agent.end()
        assert len(scripted.events("SessionEnd")) == 1
        assert scripted.text("seen.jsonl").count("\n") == 1

    asyncio.run(main())


def test_a_session_end_hook_that_never_ends_is_left_behind(tmp_path: Path) -> None:
    async def main() -> None:
        settings = json.dumps({"hooks": {"SessionEnd": [{"command": "sleep 60", "timeout": 200}]}})
        scripted = DialectSession(
            tmp_path,
            [says("hi")],
            dialect="reasonix",
            config="settings.json",
            files={"settings.json": settings},
        )
        async with scripted:
            await scripted.play("hello")
            await asyncio.wait_for(scripted.agent.end(), 20)
        assert [run.status for run in scripted.events("SessionEnd")[0].runs] == ["timed_out"]

    asyncio.run(main())
