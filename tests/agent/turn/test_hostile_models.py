"""Test that, whatever a model sends, the turn continues or ends with a clear message, and stays on disk."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.models.port import CompletionResponse
from hookline.agent.transcript.reader import earlier_session, read_transcript
from hookline.agent.turn.request import storable
from hookline.model.messages import ToolUse
from tests.agent.hook_entries import command, on
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says

_HALF = "\ud800"
#: Hooks that read their whole payload.
_READERS = {
    **on("PostModelCall", command("cat > /dev/null")),
    **on("PreToolUse", command("cat > /dev/null")),
    **on("PostToolUse", command("cat > /dev/null")),
    **on("Stop", command("cat > /dev/null")),
}


def _nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "half_a_character_in_an_argument": ({"name": "Probe", "input": {"what": _HALF}}, "done: \ufffd"),
    "half_a_character_in_a_key": ({"name": "Probe", "input": {"what": "a", _HALF: 1}}, "done: a"),
    "half_a_character_in_the_name": ({"name": _HALF, "input": {}}, "Unknown tool '\ufffd'"),
    "half_a_character_in_the_id": ({"name": "Probe", "id": _HALF, "input": {"what": "a"}}, "done: a"),
    "deep_arguments": ({"name": "Probe", "input": {"what": "a", "x": _nested(500)}}, "done: a"),
    "a_huge_number": ({"name": "Probe", "input": {"what": "a", "x": 10**400}}, "done: a"),
    "a_huge_name": ({"name": "P" * 1_000_000, "input": {}}, "Unknown tool 'PPP"),
    "no_name": ({"name": "", "input": {}}, "Unknown tool ''"),
    "escapes": ({"name": "\x1b[2J", "input": {}}, "Unknown tool '\\x1b[2J'"),
    "a_nul": ({"name": "Bash", "input": {"command": "echo \0"}}, "was not started"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_strange_call_is_answered_and_kept(name: str, tmp_path: Path) -> None:
    made, answer = CALLS[name]
    script = [calls(made), says("done")]
    scripted = ScriptedSession(tmp_path, script, hooks=_READERS, tools=[Probe()], allow=("Probe", "Bash"))

    async def main() -> None:
        async with scripted:
            received = await scripted.play("go")
            assert received is not None
            assert (received.status, received.text) == ("completed", "done")
            assert answer in scripted.results()[0]
            assert len(scripted.results()[0]) < 1000
        kept = earlier_session(read_transcript(scripted.agent.conversation.records.path))
        assert len(kept.messages) == 4

    asyncio.run(main())


def test_arguments_without_end_become_text_that_is_refused() -> None:
    endless: dict[str, Any] = {"what": "a"}
    endless["x"] = endless
    whole = storable(CompletionResponse(tool_calls=(ToolUse(id="1", name="Probe", input=endless),)))
    assert whole.tool_calls[0].input == "(arguments that are nested too deeply to be read)"


@pytest.mark.parametrize("text", [_HALF, f"{_HALF} and more", "\x1b]0;title\x07", "\0"])
def test_a_strange_answer_ends_a_turn_like_any_other(text: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [says(text)], hooks=_READERS) as scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.status == "completed"
            assert _HALF not in received.text

    asyncio.run(main())


def test_a_prompt_of_bytes_that_are_no_text_is_sent_with_marks_in_their_place(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [says("done")], hooks=on("UserPromptSubmit", command("cat >&2"))
        ) as scripted:
            received = await scripted.play("what is \udcff?")
            assert received is not None
            assert received.status == "completed"
            assert "what is \ufffd?" in str(scripted.requests[0].messages)

    asyncio.run(main())


def test_five_hundred_calls_at_once_are_all_made_and_answered_in_order(tmp_path: Path) -> None:
    made = [call("Probe", what=str(number)) for number in range(500)]

    async def main() -> None:
        scripted = ScriptedSession(
            tmp_path, [calls(*made), says("done")], tools=[Probe()], max_tool_calls=500
        )
        async with scripted:
            await scripted.play("go")
            assert scripted.results() == [f"done: {number}" for number in range(500)]
            assert scripted.fired.count("PreToolUse") == 500

    asyncio.run(main())
