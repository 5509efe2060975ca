"""Test a model that fails for a while: requests are repeated, nothing is lost, and hooks see each of them."""

import asyncio
from pathlib import Path
from typing import Any

from hookline.agent.models.port import ModelError
from hookline.agent.turn.retries import LONGEST_ASKED, seconds_before
from hookline.model.messages import User
from tests.agent.scripted_session import ScriptedSession, call, calls, says
from tests.waiting import until

_BUSY: dict[str, Any] = {"error": "rate_limit", "remedy": "retry", "retry_after": 0.01}
_BROKEN: dict[str, Any] = {**_BUSY, "error": "server", "text": "Half an\nanswer"}
_FULL: dict[str, Any] = {"error": "max_tokens", "remedy": "compact"}
_READ = calls(call("Read", file_path="a.txt"))
_ADDS = {
    "PreModelCall": [{"hooks": [{"type": "command", "command": "echo be brief"}]}],
    "PostModelCall": [{"hooks": [{"type": "command", "command": "true"}]}],
}


def _prompts(scripted: ScriptedSession, request: int) -> list[str]:
    messages = scripted.requests[request].messages
    return [one.text for one in messages if isinstance(one, User) and not one.by]


def test_a_request_is_repeated_and_the_calls_before_it_are_kept(tmp_path: Path) -> None:
    async def main() -> None:
        script = [_READ, _BUSY, _BROKEN, says("done")]
        async with ScriptedSession(tmp_path, script) as scripted:
            (scripted.project / "a.txt").write_text("alpha")
            received = await scripted.play("go")
            assert received is not None
            assert (received.status, received.text, received.turn) == ("completed", "done", 1)
            assert [len(scripted.events(name)) for name in ("PreModelCall", "PostModelCall")] == [4, 2]
            assert not scripted.events("StopFailure")
            assert not scripted.events("Error")
            assert scripted.requests[1].messages == scripted.requests[3].messages
            assert _prompts(scripted, 3) == ["go"]
            assert scripted.seen.texts("partial") == ["Half an\nanswer"]
            (first, second) = scripted.seen.texts("retry")
            assert "rate_limit" in first
            assert first.endswith("retry 1 of 8")
            assert second.endswith("retry 2 of 8")

    asyncio.run(main())


def test_what_a_hook_adds_to_a_repeated_request_is_in_it_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [_BUSY, _BUSY, says("done")], hooks=_ADDS) as scripted:
            await scripted.play("go")
            assert [str(one.messages).count("be brief") for one in scripted.requests] == [1, 1, 1]

    asyncio.run(main())


def test_after_the_last_retry_the_turn_fails_once_and_retry_continues_it(tmp_path: Path) -> None:
    async def main() -> None:
        script = [_READ, _BUSY, _BUSY, _BUSY, says("done")]
        async with ScriptedSession(tmp_path, script, max_retries=2) as scripted:
            (scripted.project / "a.txt").write_text("alpha")
            failed = await scripted.play("go")
            assert failed is not None
            assert failed.status == "failed"
            assert len(scripted.events("StopFailure")) == 1
            done = await scripted.play("/retry")
            assert done is not None
            assert (done.status, done.text) == ("completed", "done")
            assert _prompts(scripted, -1) == ["go"]
            assert scripted.results() == ["     1→alpha"] or len(scripted.results()) == 1
            assert len(scripted.events("UserPromptSubmit")) == 1
            again = await scripted.play("/retry")
            assert again is not None
            assert again.why == "/retry: no prompt waits for an answer"

    asyncio.run(main())


def test_an_interrupt_ends_the_wait(tmp_path: Path) -> None:
    async def main() -> None:
        script = [{**_BUSY, "retry_after": LONGEST_ASKED}, says("done")]
        async with ScriptedSession(tmp_path, script) as scripted:
            playing = asyncio.ensure_future(scripted.play("go"))
            await until(lambda: scripted.seen.texts("retry"))
            assert scripted.agent.interrupt()
            stopped = await playing
            assert stopped is not None
            assert stopped.status == "interrupted"
            done = await scripted.play("/retry")
            assert done is not None
            assert done.text == "done"
            assert _prompts(scripted, -1) == ["go"]

    asyncio.run(main())


def test_a_conversation_that_does_not_fit_is_compacted_once(tmp_path: Path) -> None:
    async def main() -> None:
        script = [_READ, _FULL, says("a summary"), says("done"), _READ, _FULL, says("again"), _FULL]
        async with ScriptedSession(tmp_path, script) as scripted:
            (scripted.project / "a.txt").write_text("alpha")
            done = await scripted.play("go")
            assert done is not None
            assert (done.status, done.text) == ("completed", "done")
            (compaction,) = scripted.events("PreCompact")
            assert compaction.payload.trigger == "auto"
            assert "a summary" in str(scripted.requests[-1].messages)
            assert "go" in str(scripted.requests[-1].messages)
            failed = await scripted.play("more")
            assert failed is not None
            assert failed.status == "failed"
            assert len(scripted.events("StopFailure")) == 1

    asyncio.run(main())


def test_a_summary_that_does_not_fit_is_made_of_less(tmp_path: Path) -> None:
    async def main() -> None:
        script = [_READ, _FULL, _FULL, _FULL, says("a summary"), says("done")]
        async with ScriptedSession(tmp_path, script) as scripted:
            (scripted.project / "a.txt").write_text("alpha " * 2000)
            done = await scripted.play("go")
            assert done is not None
            assert done.text == "done"
            sizes = [len(str(one.messages)) for one in scripted.requests[2:5]]
            assert sizes == sorted(sizes, reverse=True)
            assert sizes[-1] < 3000

    asyncio.run(main())


def test_hooks_that_forbid_compaction_leave_a_hint(tmp_path: Path) -> None:
    hooks = {"PreCompact": [{"hooks": [{"type": "command", "command": "echo never >&2; exit 2"}]}]}
    long = {**_READ, "usage": {"input_tokens": 9000}}

    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [long, says("done")], hooks=hooks, context_window=10_000
        ) as scripted:
            (scripted.project / "a.txt").write_text("alpha")
            done = await scripted.play("go")
            assert done is not None
            assert done.text == "done"
            (said,) = [text for text in scripted.seen.texts("warning") if "not compacted" in text]
            assert "never" in said
            assert "of 10,000 tokens; /clear begins a new conversation" in said

    asyncio.run(main())


def test_the_window_of_the_model_starts_compaction_before_it_overflows(tmp_path: Path) -> None:
    async def main() -> None:
        # What the result adds is not counted by the model yet.
        script = [{**_READ, "usage": {"input_tokens": 5000}}, says("a summary"), says("done")]
        async with ScriptedSession(tmp_path, script, context_window=10_000) as scripted:
            (scripted.project / "a.txt").write_text("alpha beta\n" * 2000)
            await scripted.play("go")
            assert scripted.events("PostCompact")

    asyncio.run(main())


def test_waits_grow_and_a_wait_that_is_too_long_is_the_users_choice() -> None:
    passing = ModelError("server", "m", "retry")
    waits = [seconds_before(number, passing) or 0 for number in range(1, 9)]
    assert 1 <= waits[0] <= 1.25
    assert 30 <= waits[-1] <= 37.5
    assert seconds_before(1, ModelError("rate_limit", "m", "retry", retry_after=7)) == 7
    assert seconds_before(1, ModelError("rate_limit", "m", "retry", retry_after=3600)) is None
    assert seconds_before(1, ModelError("auth_failed", "m")) is None
