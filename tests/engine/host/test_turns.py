"""Test turns of the host API: one call does what the agent does at that step, and says what to do next."""

import asyncio
import threading
from typing import Any

import pytest

from hookline import Blocking, Outcome, context, deny, halt, rewrite
from hookline.events import (
    ERROR,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_START,
    STOP,
    STOP_FAILURE,
    SUBAGENT_STOP,
    TURN_START,
    USER_PROMPT_SUBMIT,
)
from tests.engine.desk import Desk, end, prompt, run_turn


def test_the_moments_of_a_turn_fire_in_the_agents_order() -> None:
    desk = Desk()
    run_turn(
        desk, prompt, lambda s: s.model([{"role": "user"}]), lambda s: s.answer("", [{"name": "t"}]),
        lambda s: s.tool("t", {}, run=desk.tool), lambda s: s.model([]), lambda s: s.answer("the answer"), end,
        prompt, end,
    )  # fmt: skip
    assert desk.fired == [
        "SessionStart", "UserPromptSubmit", "TurnStart", "PreModelCall", "PostModelCall", "PreToolUse", "PostToolUse",
        "PreModelCall", "PostModelCall", "TurnEnd", "Stop", "TurnSettled",
        "UserPromptSubmit", "TurnStart", "TurnEnd", "Stop", "TurnSettled", "SessionEnd",
    ]  # fmt: skip
    requests = [each for each in desk.payloads if type(each).__name__ == "ModelRequest"]
    assert [(each.turn, each.iteration, each.model) for each in requests] == [(1, 1, "m1"), (1, 2, "m1")]


@pytest.mark.parametrize(
    ("said", "texts", "changed"),
    [
        (None, ("hello",), False),
        (rewrite("good day"), ("good day",), True),
        (context("it is late"), ("hello", "it is late"), True),
    ],
)
def test_what_is_sent_for_a_prompt(said: Outcome | None, texts: tuple[str, ...], changed: bool) -> None:
    desk = Desk()
    desk.on(USER_PROMPT_SUBMIT, said)
    (begun,) = run_turn(desk, lambda s: s.prompt("hello"))
    assert (begun.texts, begun.changed) == (texts, changed)


def test_a_blocked_prompt_goes_nowhere_and_the_context_of_the_session_waits() -> None:
    desk = Desk()
    desk.on(SESSION_START, context("the house rules"))
    desk.on(USER_PROMPT_SUBMIT, deny("no secrets") + context("x"), context("be brief") + rewrite("hi"))
    first, second = run_turn(desk, prompt, prompt)
    assert (first.blocked, first.context) == ("no secrets", ())
    assert (second.text, second.blocked) == ("hi", None)
    assert [item.text for item in second.context] == ["the house rules", "be brief"]


def test_text_for_one_request_comes_with_that_request_only() -> None:
    desk = Desk()
    desk.on(TURN_START, context("for this turn"))
    desk.on(PRE_MODEL_CALL, context("now"), None)
    begun, first, second, _end, _next, third = run_turn(
        desk, prompt, lambda s: s.model([]), lambda s: s.model([]), end, prompt, lambda s: s.model([])
    )
    assert begun.context == ()
    assert [first.transient, second.transient] == [("for this turn", "now"), ("for this turn",)]
    assert third.transient == ("for this turn",)  # of the new turn


def test_text_that_was_never_sent_is_not_lost_in_silence() -> None:
    desk = Desk()
    desk.on(TURN_START, context("for this turn"), name="reminder")
    _begun, over = run_turn(desk, prompt, end)
    assert [message.text for message in over.notices] == [
        "text of the hook reminder is for one request only and was not sent: call session.model() before each request"
    ]


def test_a_request_is_held_back_until_hooks_agree_and_rewritten() -> None:
    desk = Desk()
    desk.on(PRE_MODEL_CALL, deny("wait"), rewrite([{"role": "user", "content": "x"}]))
    _begun, sent = run_turn(desk, prompt, lambda s: s.model([{}]))
    assert (sent.blocked, sent.messages, sent.rewritten) == (None, ({"role": "user", "content": "x"},), True)
    assert desk.fired.count("PreModelCall") >= 2


def test_a_request_that_hooks_always_hold_back_ends_the_turn() -> None:
    desk = Desk()
    desk.on(PRE_MODEL_CALL, deny("never"))
    _begun, held, over = run_turn(desk, prompt, lambda s: s.model([{}]), end)
    assert (held.blocked, over.stop, over.send_back) == ("never", "never", None)
    assert held.notices[-1].text == "PreModelCall blocked 3 times in a row: the turn ends"
    assert "Stop" not in desk.fired


def test_an_answer_is_rewritten() -> None:
    desk = Desk()
    desk.on(POST_MODEL_CALL, rewrite("***"))
    assert run_turn(desk, prompt, lambda s: s.answer("secret"))[1].text == "***"


def test_a_stop_hook_sends_the_model_back_and_is_told_so() -> None:
    desk = Desk()
    desk.on(STOP, deny("run the tests"), None)
    _begun, first, second = run_turn(desk, prompt, end, end)
    assert (first.send_back, second.send_back) == ("run the tests", None)
    assert (first.texts, second.texts) == (("run the tests",), ())
    stops = [p for name, p in zip(desk.fired, desk.payloads, strict=True) if name == "Stop"]
    assert [each.stop_hook_active for each in stops] == [False, True]


def test_a_stop_hook_that_always_objects_is_not_obeyed_for_ever() -> None:
    desk = Desk()
    desk.on(STOP, deny("again"))

    async def play() -> int:
        async with desk.engine:
            session = desk.engine.session("s")
            await session.prompt("x")
            for times in range(20):
                if (await session.end("y")).send_back is None:
                    return times
        return 99

    assert asyncio.run(play()) == 8


def test_a_stop_hook_does_not_revive_a_run_that_a_hook_stopped() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, halt("enough"), None)
    desk.on(STOP, deny("go on"))
    _begun, stopped, again, request, over, _next, later = run_turn(
        desk, prompt, desk.once, desk.once, lambda s: s.model([]), end, prompt, desk.once
    )
    assert (stopped.stop, again.refused) == ("enough", "the run was stopped: enough")
    assert request.blocked == "enough"
    assert (over.send_back, over.stop) == (None, "enough")
    assert "Stop" not in desk.fired
    assert later.ran


def test_a_host_without_prompts_is_not_stopped_for_ever() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, halt("enough"), None)
    first, second = run_turn(desk, desk.once, desk.once)
    assert (first.ran, second.ran) == (False, True)


def test_a_failed_turn() -> None:
    desk = Desk()
    fired: list[Any] = []
    desk.engine.add(ERROR, fired.append)
    desk.engine.add(STOP_FAILURE, fired.append)
    run_turn(desk, prompt, lambda s: s.failed(RuntimeError("overloaded"), "server"))
    assert [fired[0].error_type, fired[1].error] == ["server", "server"]
    settled = desk.payloads[desk.fired.index("TurnSettled")]
    assert (settled.status, settled.error) == ("failed", "RuntimeError: overloaded")


def test_a_sub_agent_has_events_of_its_own_and_says_who_it_is() -> None:
    desk = Desk()
    desk.on(SUBAGENT_STOP, deny("look again"), None)

    async def play() -> list[Any]:
        async with desk.engine:
            parent = desk.engine.session("s")
            child = desk.engine.session("s", parent=parent, agent_id="a1", agent_type="explorer")
            await child.prompt("find it")
            await child.tool("t", {}, run=desk.tool)
            return [await child.end("found"), await child.end("really")]

    first, second = asyncio.run(play())
    assert (first.send_back, second.send_back) == ("look again", None)
    assert desk.fired == ["SubagentStart", "PreToolUse", "PostToolUse", "SubagentStop", "SubagentStop"]
    assert (desk.payloads[0].agent_type, desk.payloads[0].prompt) == ("explorer", "find it")


def test_late_text_of_a_background_hook_comes_with_the_next_request() -> None:
    desk = Desk()

    async def slow(payload: Any) -> Outcome:
        await asyncio.sleep(0.01)
        return context("the tests fail")

    desk.engine.add(POST_TOOL_USE, slow, waiting="async")

    async def play() -> Any:
        async with desk.engine:
            session = desk.engine.session("s")
            await session.prompt("x")
            await session.tool("t", {}, run=desk.tool)
            await desk.engine.drain()
            return await session.model([])

    assert [item.text for item in asyncio.run(play()).context] == ["the tests fail"]


def test_sync_twins_run_the_tool_in_the_thread_of_their_caller() -> None:
    desk = Desk()
    threads: list[threading.Thread] = []

    def tool(arguments: dict[str, Any]) -> str:
        threads.append(threading.current_thread())
        return "done"

    with Blocking(desk.engine) as blocking, blocking.session("s") as session:
        begun = session.prompt("hello")
        request = session.model([{"role": "user"}])
        session.answer("")
        done = session.tool("t", {"a": 1}, run=tool, id="c1")
        over = session.end("bye")
        session.start("resume")
        session.failed("oh")
    assert (begun.text, len(request.messages), done.text, over.send_back) == ("hello", 1, "done", None)
    assert threads == [threading.current_thread()]
    assert desk.fired[0] == "SessionStart"
    assert desk.fired[-1] == "SessionEnd"


def test_a_tool_of_a_sync_host_may_use_the_session_and_may_fail() -> None:
    desk = Desk()
    with Blocking(desk.engine) as blocking:
        session = blocking.session("s")
        outer = session.tool(
            "outer", {}, run=lambda given: session.tool("inner", {}, run=lambda inner: "deep").text
        )
        failed = session.tool("t", {}, run=lambda given: 1 / 0)
    assert outer.text == "deep"
    assert failed.text == "t failed: ZeroDivisionError: division by zero"


def test_an_interrupt_in_a_tool_of_a_sync_host_reaches_the_host() -> None:
    desk = Desk()

    def interrupted(given: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with Blocking(desk.engine) as blocking:
        with pytest.raises(KeyboardInterrupt):
            blocking.session("s").tool("t", {}, run=interrupted)
        assert blocking.session("s").tool("t", {}, run=lambda given: "fine").text == "fine"
