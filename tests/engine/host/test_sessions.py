"""The host API beyond one turn: settled turns, prompts in parts, streams, compaction, subagents, saved state."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hookline import Engine, Session, context, deny, halt, rewrite
from hookline.events import (
    POST_COMPACT,
    POST_MODEL_CALL,
    PRE_COMPACT,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    SUBAGENT_STOP,
    TURN_SETTLED,
    TURN_START,
    USER_PROMPT_SUBMIT,
    SubagentEnded,
    TurnSummary,
)
from hookline.model.outcome import Answer, Outcome
from tests.every import every


def _settled(engine: Engine) -> list[TurnSummary]:
    settled: list[TurnSummary] = []
    engine.add(TURN_SETTLED, settled.append, quick=True)
    return settled


async def _ends(session: Session) -> None:
    await session.prompt("go")
    await session.tool("t", {}, run=lambda _given: "ran")
    await session.tool("t", {}, run=lambda _given: "ran", check=lambda _given: "wrong")
    await session.answer("done", usage={"input_tokens": 3, "output_tokens": 1})
    await session.end("done")


async def _turn_blocked(session: Session) -> None:
    session.add(TURN_START, lambda _turn: deny("no"), quick=True)
    assert (await session.prompt("go")).blocked == "no"
    assert (await session.end("")).stop == "no"


async def _request_blocked(session: Session) -> None:
    session.add(PRE_MODEL_CALL, lambda _request: halt("no"), quick=True)
    await session.prompt("go")
    assert (await session.model([])).blocked == "no"
    await session.end("")


async def _fails(session: Session) -> None:
    await session.prompt("go")
    await session.failed(ConnectionError("down"), "server")
    await session.failed(ConnectionError("down"), "server")
    await session.end("")


async def _is_cancelled(session: Session) -> None:
    await session.prompt("go")
    await session.cancelled()
    await session.cancelled()


async def _is_closed(session: Session) -> None:
    await session.prompt("go")
    await session.close()


async def _raises(session: Session) -> None:
    async def run() -> None:
        async with session:
            await session.prompt("go")
            raise LookupError("oh")

    with pytest.raises(LookupError):
        await run()


async def _task_is_cancelled(session: Session) -> None:
    async def run() -> None:
        async with session:
            await session.prompt("go")
            await asyncio.sleep(600)

    task = asyncio.create_task(run())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@every(
    ["way", "status", "tools"],
    [
        (_ends, "completed", 1), (_turn_blocked, "blocked", 0),
        (_request_blocked, "blocked", 0), (_fails, "failed", 0), (_is_cancelled, "interrupted", 0),
        (_is_closed, "interrupted", 0), (_raises, "failed", 0), (_task_is_cancelled, "interrupted", 0),
    ],
)  # fmt: skip
def test_a_turn_is_settled_once_on_every_way_out(way: Callable[..., Any], status: str, tools: int) -> None:
    async def play() -> list[TurnSummary]:
        engine = Engine()
        settled = _settled(engine)
        session = engine.session("s")
        await way(session)
        await session.close()
        return settled

    (summary,) = asyncio.run(play())
    assert (summary.status, summary.turn, summary.tool_count) == (status, 1, tools)
    assert summary.duration_ms is not None
    assert 0 <= summary.duration_ms < 60_000
    assert (summary.usage is not None) == (status == "completed")


def test_a_blocked_prompt_begins_no_turn() -> None:
    async def play() -> list[TurnSummary]:
        engine = Engine()
        settled = _settled(engine)
        async with engine.session("s") as session:
            session.add(USER_PROMPT_SUBMIT, lambda _prompt: deny("no"), quick=True)
            assert (await session.prompt("go")).blocked == "no"
            assert (await session.end("")).stop == "no"
        return settled

    assert asyncio.run(play()) == []


def test_a_prompt_settles_the_turn_that_its_host_gave_up() -> None:
    async def play() -> list[tuple[str, int]]:
        engine = Engine()
        settled = _settled(engine)
        session = engine.session("s")
        for _ in range(2):
            await session.prompt("go")
        await session.end("done")
        return [(each.status, each.turn) for each in settled]

    assert asyncio.run(play()) == [("interrupted", 1), ("completed", 2)]


def test_a_turn_that_goes_on_after_it_was_settled_meets_stop_hooks() -> None:
    async def play() -> str | None:
        engine = Engine()
        session = engine.session("s")
        await session.prompt("go")
        await session.end("done")
        session.add(STOP, lambda _answer: deny("not yet"), quick=True)
        await session.model([])
        return (await session.end("done")).send_back

    assert asyncio.run(play()) == "not yet"


PICTURE = {"type": "image", "data": "…"}


@every(
    ["given", "hooks_read", "parts"],
    [
        ("a secret", "a secret", ("***", "more")),
        (["a", PICTURE, "b"], "a\nb", ("***", PICTURE, "more")),
        ([PICTURE, {"type": "text", "text": "a"}], "a", (PICTURE, {"type": "text", "text": "***"}, "more")),
        ([PICTURE], "", ("***", PICTURE, "more")),
    ],
)
def test_a_prompt_in_parts_is_rewritten_part_by_part(given: Any, hooks_read: str, parts: Any) -> None:
    read: list[str] = []

    def redact(prompt: Any) -> Any:
        read.append(prompt.prompt)
        return rewrite("***") + context("more")

    engine = Engine()
    assert asyncio.run(engine.session("s").prompt(given)).parts == (
        (given,) if isinstance(given, str) else tuple(given)
    )
    engine.add(USER_PROMPT_SUBMIT, redact, quick=True)
    prompt = asyncio.run(engine.session("s").prompt(given))
    assert (read, prompt.parts) == ([hooks_read], parts)


@every(
    ["call", "given"],
    [
        ("prompt", 5), ("prompt", []), ("prompt", [5]), ("prompt", {"text": "a"}), ("model", "hello"),
        ("model", {"role": "user"}), ("model", ["hello"]), ("answer", ["hello"]), ("end", {"text": "a"}),
    ],
)  # fmt: skip
def test_values_of_a_wrong_kind_are_refused(call: str, given: Any) -> None:
    with pytest.raises(TypeError):
        asyncio.run(getattr(Engine().session("s"), call)(given))


def test_an_answer_without_text_is_empty() -> None:
    async def play() -> tuple[str, Any]:
        session = Engine().session("s")
        answer = await session.answer(None, [{"name": "t", "input": {}}])
        return answer.text, (await session.end(None)).stop

    assert asyncio.run(play()) == ("", None)


async def _pieces(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


@every(
    ["said", "shown", "text"],
    [
        (None, ["the key", " is 123"], "the key is 123"),
        (rewrite("the key is ***"), ["the key is ***"], "the key is ***"),
        (rewrite(""), [], ""),
    ],
)
def test_nothing_that_a_hook_may_change_is_shown_before_it_was_judged(
    said: Outcome | None, shown: list[str], text: str
) -> None:
    got: list[Any] = []

    async def play() -> tuple[list[str], str]:
        engine = Engine()
        if said is not None:

            def judge(answer: Any) -> Outcome | None:
                got.append((answer.response, answer.tool_calls[0].name, answer.usage.input_tokens))
                return said

            engine.add(POST_MODEL_CALL, judge, quick=True, rewrites=True)
        calls: list[dict[str, Any]] = []
        stream = engine.session("s").stream(
            _pieces("the key", " is 123"), tool_calls=lambda: calls, usage=lambda: {"input_tokens": 3}
        )
        with pytest.raises(RuntimeError, match="iterate over all of it"):
            _ = stream.answer
        calls.append({"name": "t", "input": {}})
        return [piece async for piece in stream], stream.answer.text

    assert asyncio.run(play()) == (shown, text)
    assert got == ([] if said is None else [("the key is 123", "t", 3)])


@every(
    ["said", "blocked", "summary"],
    [
        (None, None, "in short, be brief"),
        (context("keep the names"), None, "in short, be brief\nkeep the names"),
        (deny("not now"), "not now", ""),
        (Outcome(answers=(Answer("of a hook"),)), None, "of a hook"),
    ],
)
def test_a_compaction_is_between_its_events(said: Outcome | None, blocked: str | None, summary: str) -> None:
    fired: list[Any] = []

    async def summarize(instructions: str) -> str:
        fired.append("summarize")
        return f"in short, {instructions}"

    def before(compaction: Any) -> Outcome | None:
        fired.append((compaction.trigger, compaction.input_tokens))
        return said

    def after(compacted: Any) -> Outcome:
        fired.append(compacted.compact_summary)
        return context("after it")

    engine = Engine()
    engine.add(PRE_COMPACT, before, quick=True)
    engine.add(POST_COMPACT, after, quick=True)
    session = engine.session("s")
    done = asyncio.run(session.compact(summarize, instructions="be brief", input_tokens=9))
    assert (done.blocked, done.summary) == (blocked, summary)
    assert [item.text for item in done.context] == ([] if blocked else ["after it"])
    made = [] if blocked or summary == "of a hook" else ["summarize"]
    assert fired == [("auto", 9), *made, *([] if blocked else [summary])]


def test_a_subagent_that_fails_or_is_cancelled_has_its_end_too() -> None:
    ended: list[SubagentEnded] = []

    async def play() -> None:
        engine = Engine()
        engine.add(SUBAGENT_STOP, ended.append, quick=True)
        session = engine.session("s", cwd="/src", model="m1")
        for error in (None, LookupError("oh"), asyncio.CancelledError()):
            try:
                async with session.child("explore") as child:
                    assert (child.info.cwd, child.info.model, child.info.depth) == ("/src", "m1", 1)
                    await child.prompt("look")
                    if error is not None:
                        raise error
                    await child.end("found")
            except (LookupError, asyncio.CancelledError):
                pass

    asyncio.run(play())
    assert [each.status for each in ended] == ["completed", "failed", "interrupted"]
    assert len({each.agent_id for each in ended}) == 3


def test_a_state_continues_in_another_process() -> None:
    """Turn, totals, `once` and limits go on, although no object of the first request is left."""

    def engine_of_a_request(once: list[int]) -> Engine:
        engine = Engine()
        engine.add(PRE_TOOL_USE, lambda _call: once.append(1), name="once", once=True, quick=True)
        engine.add(STOP, lambda _answer: deny("again"), name="stubborn", quick=True)
        return engine

    async def request(state: dict[str, Any] | None, once: list[int]) -> tuple[dict[str, Any], Any]:
        engine = engine_of_a_request(once)
        session = engine.session("s", state=state)
        if state is None:
            await session.prompt("go")
        await session.tool("t", {}, run=lambda _given: "ran")
        await session.answer("x", usage={"input_tokens": 5, "output_tokens": 1})
        end = await session.end("done")
        totals = session.info.totals
        assert totals is not None
        return json.loads(json.dumps(session.state())), (
            session.info.turn,
            totals.input_tokens,
            end.send_back,
        )

    once: list[int] = []
    state, seen = asyncio.run(request(None, once))
    assert seen == (1, 5, "again")
    state, seen = asyncio.run(request(state, once))
    assert seen == (1, 10, "again")
    assert once == [1]

    async def stubborn(state: dict[str, Any]) -> int:
        """Count how often the Stop hook is obeyed, each time in another session."""
        for number in range(20):
            session = engine_of_a_request([]).session("s", state=state)
            if (await session.end("done")).send_back is None:
                return number
            state = session.state()
        return 20

    assert asyncio.run(stubborn(state)) == 7  # with the one above, eight in a row since the last call


@every("state", [{"version": 2, "host": {}}, {"host": 5}, {}, {"host": {"turn": "x"}}])
def test_a_state_that_is_none_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"state (is not what|has version)"):
        Engine().session("s", state=state)
