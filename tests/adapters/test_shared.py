"""Test what adapters share: sessions by conversation, and kinds of failures."""

import asyncio
from pathlib import Path

import pytest

from hookline import Engine
from hookline.adapters import sessions
from hookline.adapters.failures import failure_kind
from hookline.adapters.sessions import FIRED, AdapterSessions, inside, sub_agent
from hookline.adapters.tool_calls import call_tool
from hookline.engine.memory import host_of
from hookline.events import PRE_COMPACT, STOP
from hookline.model.errors import EngineClosedError
from tests.adapters.every_adapter import watched
from tests.every import every
from tools.adapters.results import read_results


def test_a_conversation_has_one_session_until_it_is_closed() -> None:
    async def play() -> list[bool]:
        async with Engine() as engine:
            known = AdapterSessions(engine, {"cwd": "/proj"})
            first = known.of("a")
            same, other = known.of("a") is first, known.of("b") is first
            await known.close("a")
            return [same, other, known.of("a") is first, first.info.cwd == "/proj"]

    assert asyncio.run(play()) == [True, False, False, True]


def test_the_conversation_that_was_silent_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 2)
    known = AdapterSessions(Engine(), {})
    a, b = known.of("a"), known.of("b")
    assert known.of("a") is a
    known.of("c")
    assert known.of("a") is a
    assert known.of("b") is not b


def test_a_closed_engine_is_told() -> None:
    engine = Engine()
    known = AdapterSessions(engine, {})
    known.of("a")
    asyncio.run(engine.close())
    with pytest.raises(EngineClosedError):
        known.of("a")


def test_a_session_that_the_program_closed_is_replaced_and_its_subagents_run_nothing() -> None:
    async def play() -> tuple[bool, list[str | None]]:
        async with Engine() as engine:
            known = AdapterSessions(engine, {})
            first = known.of("a")
            with inside(first):
                child = sub_agent("explorer")
            assert child is not None
            await first.close()
            calls = [await call_tool(each, ("t", {}, None), invoke, check=dict) for each in (first, child)]
            assert not any(call.ran for call in calls)
            return known.of("a").closed, [call.done.refused for call in calls]

    async def invoke(_arguments: dict[str, object]) -> str:
        return "ran"

    assert asyncio.run(play()) == (False, ["the session is closed"] * 2)


def test_inside_a_tool_an_agent_is_a_sub_agent() -> None:
    parent = AdapterSessions(Engine(), {}).of("a")
    assert sub_agent("x") is None
    with inside(parent):
        child = sub_agent("explorer")
    assert child is not None
    assert (child.parent, child.id, child.info.agent_type) == (parent, "a", "explorer")


class RateLimitError(Exception):
    status_code = 429


class ServiceUnavailableError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "kind"),
    [(RateLimitError(), "rate_limit"), (ServiceUnavailableError(), "server"), (KeyError(), "unknown")],
)
def test_kinds_of_failures(error: Exception, kind: str) -> None:
    assert failure_kind(error) == kind


def test_a_call_that_pauses_has_neither_failed_nor_succeeded() -> None:
    class PausedError(Exception):
        pass

    async def pauses(_arguments: object) -> None:
        raise PausedError

    async def play() -> list[str]:
        async with Engine() as engine:
            fired = watched(engine)
            session = engine.session("a")
            with pytest.raises(PausedError):
                await call_tool(session, ("t", {}, "1"), pauses, check=lambda new: new, pauses=(PausedError,))
        return fired

    assert asyncio.run(play()) == ["PreToolUse"]


@every("way", ["closed", "stopped", "goes on"])
def test_a_call_that_was_judged_before_does_not_run_in_a_session_that_ended_since(way: str) -> None:
    ran: list[str] = []

    async def run(_given: dict[str, object]) -> str:
        ran.append("run")
        return "done"

    async def play() -> str:
        async with Engine() as engine:
            session = engine.session("a")
            await session.prompt("go")
            opened = await session.open_tool("t", {}, id="1")
            if way == "closed":
                await session.close()
            elif way == "stopped":
                host_of(session).stop("enough")
            call = await call_tool(session, ("t", {}, "1"), run, check=lambda new: None, opened=opened)
            return call.done.text

    said = asyncio.run(play())
    assert ran == (["run"] if way == "goes on" else [])
    assert {"closed": "is closed", "stopped": "enough", "goes on": "done"}[way] in said


def test_the_kind_of_a_failure_may_be_that_of_its_cause() -> None:
    class RefusedError(Exception):
        status_code = 429

    error = RuntimeError("the service failed")
    error.__cause__ = ValueError("no")
    assert failure_kind(error) == "unknown"
    error.__cause__.__cause__ = RefusedError()
    assert failure_kind(error) == "rate_limit"


def test_a_hook_that_an_adapter_never_calls_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    engine = Engine()
    engine.add(PRE_COMPACT, lambda _compaction: None, name="never", quick=True)
    engine.add(STOP, lambda _answer: None, name="sometimes", quick=True)
    of = AdapterSessions(engine, {}).of
    for name in ("a", "b"):
        of(name)
    assert [record.getMessage() for record in caplog.records] == [
        "the hook never never runs here: this adapter does not fire PreCompact"
    ]


def test_adapters_fire_what_they_say() -> None:
    """The measured events of each adapter are those that the log takes for granted."""
    results = read_results(Path(__file__).parents[2])
    for name in ("agent-framework", "google-adk", "langchain", "openai-agents", "pydantic-ai", "strands"):
        assert {*results[name].events} == FIRED, name
