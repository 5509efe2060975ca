"""A hook that fails: what stays hidden, who gets to know it, and what its settings may say."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from hookline import Engine, Session, context, deny, rewrite
from hookline.events import (
    AGENT_SWITCHED,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    PRE_COMPACT,
    PRE_TOOL_USE,
    SESSION_END,
    SESSION_START,
    STOP,
    USER_PROMPT_SUBMIT,
    EventSpec,
)
from hookline.guards import guard
from hookline.host import HookError
from tests.every import every

SECRET = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAA"
WITHHELD = "(withheld: the hook redact gave no answer)"


def _breaks(_payload: Any) -> None:
    raise LookupError(f"no rule for {SECRET}")


async def _hangs(_payload: Any) -> None:
    await asyncio.sleep(600)


async def _result(session: Session) -> str:
    return (await session.tool("t", {}, run=lambda _given: SECRET)).text


async def _answer(session: Session) -> str:
    return (await session.answer(SECRET)).text


@every("marked", [False, True])
@every(["event", "read"], [(POST_TOOL_USE, _result), (POST_MODEL_CALL, _answer)])
@every(["redact", "options"], [(_breaks, {}), (_hangs, {"timeout": 0.02})])
def test_a_hook_that_fails_closed_withholds_what_it_could_not_check(
    redact: Callable[..., Any],
    options: dict[str, Any],
    event: EventSpec[Any],
    read: Callable[..., Any],
    marked: bool,
) -> None:
    engine = Engine()
    engine.add(event, redact, name="redact", on_failure="closed", rewrites=marked, **options)
    text = asyncio.run(read(engine.session("s")))
    assert WITHHELD in text
    assert SECRET not in text


def test_another_hook_does_not_bring_back_what_was_withheld() -> None:
    async def longer(result: Any) -> Any:
        return rewrite(f"{result.tool_response}, and more")

    engine = Engine()
    engine.add(POST_TOOL_USE, longer)
    engine.add(POST_TOOL_USE, _breaks, name="redact", on_failure="closed")
    text = asyncio.run(_result(engine.session("s")))
    assert SECRET not in text


def test_a_hook_that_fails_open_changes_nothing() -> None:
    engine = Engine()
    engine.add(POST_TOOL_USE, _breaks)
    assert asyncio.run(_result(engine.session("s"))) == SECRET


def test_the_program_gets_what_a_hook_raised_and_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    reported: list[HookError] = []
    engine = Engine(on_hook_error=reported.append)
    engine.add(PRE_TOOL_USE, _breaks, name="guard")
    with caplog.at_level(logging.ERROR, "hookline"):
        done = asyncio.run(engine.session("s").tool("t", {}, run=lambda _given: "ran"))
    assert done.refused == "hook guard gave no answer: it raised LookupError"
    (error,) = reported
    assert (error.hook, error.event, error.cause, error.session_id) == ("guard", "PreToolUse", "crashed", "s")
    assert isinstance(error.exception, LookupError)
    assert SECRET not in error.detail
    (logged,) = caplog.records
    assert SECRET not in logged.getMessage()
    assert logged.exc_info is not None
    shown = logging.Formatter().format(logged)
    assert "in _breaks" in shown
    assert "LookupError: " in shown
    assert SECRET not in shown
    (run,) = engine.journal.recent()
    assert SECRET not in (run.detail or "")


def test_an_error_of_on_hook_error_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def report(_error: HookError) -> None:
        raise RuntimeError("the reporter is down")

    async def play() -> bool:
        async with Engine(on_hook_error=report) as engine:
            engine.add(PRE_TOOL_USE, "exit 3", name="guard")
            return (await engine.session("s").tool("t", {}, run=lambda _given: "ran")).ran

    with caplog.at_level(logging.ERROR, "hookline"):
        assert not asyncio.run(play())
    assert [record.getMessage() for record in caplog.records][1:] == ["on_hook_error failed"]


async def _nothing(_payload: Any) -> None: ...


@every(
    ["event", "action", "options", "said"],
    [
        (STOP, _nothing, {"matcher": "Bash"}, "the matcher 'Bash' has no effect at Stop"),
        (SESSION_START, _nothing, {"matcher": "startup2"}, "source is one of startup, resume"),
        (STOP, guard("force-push"), {}, "the guard force-push has no effect at Stop"),
        (POST_TOOL_USE, guard("force-push"), {}, "it judges tool calls before they run"),
        (STOP, _nothing, {"rewrites": True}, "nothing is rewritten there"),
        (SESSION_END, _nothing, {"on_failure": "closed"}, "nothing can be stopped there"),
        (SESSION_END, _nothing, {"on_failure": {"timed_out": "closed"}}, "nothing can be stopped there"),
        (USER_PROMPT_SUBMIT, _nothing, {"on_failure": "ask"}, "no user is asked there; say 'closed'"),
        (PRE_TOOL_USE, "true", {"quick": True}, "quick=True is for functions"),
    ],
)
def test_what_can_have_no_effect_is_refused(
    event: EventSpec[Any], action: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Engine().add(event, action, **options)
    with pytest.raises(ValueError, match=said):
        Engine().session("s").add(event, action, **options)


def test_settings_that_have_an_effect_are_accepted() -> None:
    engine = Engine()
    engine.add(SESSION_START, _nothing, "startup|resume")
    engine.add(POST_MODEL_CALL, _nothing, on_failure="closed")
    engine.add(PRE_COMPACT, _nothing, "auto", on_failure="closed")
    engine.add(PRE_TOOL_USE, _nothing, on_failure="ask")


def test_an_event_that_nothing_fires_yet_is_named(caplog: pytest.LogCaptureFixture) -> None:
    Engine().add(AGENT_SWITCHED, _nothing)
    assert "_nothing waits for AgentSwitched, which nothing in Hookline fires yet" in caplog.text


def test_wishes_that_an_event_cannot_grant_are_named_once() -> None:
    async def wish(_payload: Any) -> Any:
        return deny("no") + context("and this")

    async def play() -> list[str]:
        engine = Engine()
        engine.add(POST_MODEL_CALL, wish, name="wish")
        session = engine.session("s")
        return [note.text for _ in range(2) for note in (await session.answer("hi")).notices]

    assert asyncio.run(play()) == ["hook wish wants what PostModelCall cannot do: context, block"]


def _two(_one: Any, _other: Any) -> bool:
    return True


@every("approve", [5, "yes", lambda: True, _two])
def test_an_approver_takes_one_question(approve: Any) -> None:
    with pytest.raises(TypeError, match="approve is a function of one ApprovalRequest"):
        Engine(approve=approve)
    with pytest.raises(TypeError, match="approve is a function of one ApprovalRequest"):
        Engine().session("s", approve=approve)


def test_a_parent_is_a_session_of_the_same_engine() -> None:
    wrong: Any = "s"
    for parent, said in ((wrong, "not a str"), (Engine().session("s"), "a session of another engine")):
        with pytest.raises(TypeError, match=said):
            Engine().session("s", parent)


def test_a_failure_has_a_known_kind() -> None:
    with pytest.raises(ValueError, match="'overload' is not a kind of failure: choose one of rate_limit"):
        asyncio.run(Engine().session("s").failed("busy", "overload"))


def _called(function: Callable[..., Any], payload: Any) -> Any:
    """Look like a plain function, and return a coroutine."""
    return function(payload)


def test_a_quick_function_runs_on_the_loop() -> None:
    threads: list[bool] = []

    def note(_payload: Any) -> Any:
        threads.append(asyncio.get_running_loop().is_running())
        return deny("no")

    def broken(_payload: Any) -> Any:
        raise LookupError

    async def later(_payload: Any) -> Any:
        await asyncio.sleep(0)
        return deny("later")

    async def play(action: Any) -> str | None:
        engine = Engine()
        engine.add(PRE_TOOL_USE, action, name="one", quick=True)
        return (await engine.session("s").tool("t", {}, run=lambda _given: "ran")).refused

    assert asyncio.run(play(note)) == "no"
    assert threads == [True]
    assert asyncio.run(play(broken)) == "hook one gave no answer: it raised LookupError"
    assert asyncio.run(play(partial(_called, later))) == "later"
    assert asyncio.run(play(list[Any]().append)) is None
