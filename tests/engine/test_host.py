"""The host API: one call does what the agent does at that moment, and says what to do next."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hookline import Blocking, Engine, Outcome, ToolError, allow, ask, context, deny, halt, rewrite
from hookline.engine.session import Session
from hookline.events import (
    ERROR,
    PERMISSION_DENIED,
    PERMISSION_REQUEST,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_END,
    SESSION_START,
    STOP,
    STOP_FAILURE,
    SUBAGENT_START,
    SUBAGENT_STOP,
    TURN_END,
    TURN_SETTLED,
    TURN_START,
    USER_PROMPT_SUBMIT,
    ToolCall,
)
from hookline.host import Approval, CallResult, Question
from hookline.model.events import EventSpec
from hookline.model.outcome import Vote

ALL: tuple[EventSpec[Any], ...] = (
    PERMISSION_DENIED, PERMISSION_REQUEST, POST_MODEL_CALL, POST_TOOL_USE, POST_TOOL_USE_FAILURE, PRE_MODEL_CALL,
    PRE_TOOL_USE, SESSION_END, SESSION_START, STOP, SUBAGENT_START, SUBAGENT_STOP, TURN_END, TURN_SETTLED, TURN_START,
    USER_PROMPT_SUBMIT,
)  # fmt: skip


def saying(answer: Any) -> Callable[[Question], Any]:
    return lambda question: answer


always, never = saying(True), saying(False)


def if_it_says(reason: str) -> Callable[[Question], bool]:
    return lambda question: question.reason == reason


class Desk:
    """A tool that keeps its own log, and hooks that log what fired."""

    def __init__(self, **options: Any) -> None:
        self.engine = Engine(**options)
        self.ran: list[dict[str, Any]] = []
        self.fired: list[str] = []
        self.payloads: list[Any] = []
        for event in ALL:
            self.engine.add(event, self._log(event.name))

    def _log(self, name: str) -> Any:
        async def log(payload: Any) -> None:
            self.fired.append(name)
            self.payloads.append(payload)

        return log

    def on(self, event: EventSpec[Any], *answers: Outcome | None, **options: Any) -> None:
        left = list(answers)

        async def answer(payload: Any) -> Outcome | None:
            return left.pop(0) if len(left) > 1 else left[0]

        self.engine.add(event, answer, **options)

    async def tool(self, arguments: dict[str, Any]) -> Any:
        self.ran.append(arguments)
        return arguments.get("gives", "done")

    def once(self, session: Session) -> Any:
        return session.tool("t", {}, run=self.tool)

    def call(self, arguments: dict[str, Any] | None = None, **options: Any) -> CallResult:
        async def one() -> CallResult:
            async with self.engine:
                session = self.engine.session("s")
                return await session.tool("t", arguments or {"a": 1}, run=self.tool, **options)

        return asyncio.run(one())


def test_a_call_without_objections_runs_and_hooks_see_it_before_and_after() -> None:
    desk = Desk()
    done = desk.call({"a": 1, "gives": "hi"}, id="c1")
    assert (done.text, done.ran, done.refused, done.stop) == ("hi", True, None, None)
    assert desk.fired == ["PreToolUse", "PostToolUse"]
    assert [payload.tool_use_id for payload in desk.payloads] == ["c1", "c1"]


def test_a_denied_call_does_not_run_and_no_hook_hears_of_a_result() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, deny("no"))
    done = desk.call()
    assert (done.refused, done.text, done.is_error, desk.ran) == ("no", "no", True, [])
    assert desk.fired == ["PreToolUse"]


@pytest.mark.parametrize("value", [{}, {"b": 2}], ids=["empty", "key removed"])
def test_a_rewrite_counts_even_if_nothing_is_left(value: dict[str, Any]) -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite(value), rewrites=True)
    done = desk.call({"a": 1})
    assert desk.ran == [value]
    assert done.call.tool_input == value


def test_a_rewrite_that_does_not_fit_is_refused() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite({"b": 2}), rewrites=True)

    def check(given: dict[str, Any]) -> str | None:
        return None if "a" in given else "a is missing"

    done = desk.call(check=check)
    assert done.refused == "a hook changed the input, and then: The arguments do not fit: a is missing"
    assert desk.ran == []


def test_arguments_that_do_not_fit_fire_nothing() -> None:
    desk = Desk()

    def check(given: dict[str, Any]) -> None:
        raise ValueError("b is missing")

    done = desk.call(check=check)
    assert done.refused == "The arguments do not fit: b is missing"
    assert desk.fired == desk.ran == []


def test_an_ask_that_nobody_answers_is_a_denial() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, ask("money"))
    done = desk.call()
    assert done.refused == "money (nobody is there to approve it)"
    assert desk.ran == []
    assert desk.fired == ["PreToolUse", "PermissionRequest", "PermissionDenied"]


@pytest.mark.parametrize("answer", [False, None, "yes", 1, Approval(allow=False)])
def test_only_true_is_a_yes(answer: Any) -> None:
    desk = Desk(approve=saying(answer))
    desk.on(PRE_TOOL_USE, ask("money"))
    done = desk.call()
    assert done.refused == "not approved: money"
    assert desk.ran == []


def test_approve_is_told_what_and_why_and_may_add_words() -> None:
    asked: list[Question] = []

    async def approve(question: Question) -> Approval:
        asked.append(question)
        return Approval(allow=False, message="use the test account")

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("money"), name="bookkeeper")
    assert desk.call({"amount": 9}).refused == "use the test account"
    assert [(q.tool_name, dict(q.tool_input), q.reason, q.hook, q.session_id) for q in asked] == [
        ("t", {"amount": 9}, "money", "bookkeeper", "s")
    ]


def test_who_cannot_be_asked_has_not_said_yes() -> None:
    def approve(question: Question) -> bool:
        raise OSError("no terminal")

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("money"))
    assert desk.call().refused == "money (approve failed: OSError: no terminal)"
    assert desk.ran == []


def test_a_permission_hook_may_answer_in_place_of_the_user() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, ask("money"))
    desk.on(PERMISSION_REQUEST, allow())
    assert desk.call().ran


def test_a_permission_hook_may_deny_what_the_user_would_allow() -> None:
    desk = Desk(approve=always)
    desk.on(PRE_TOOL_USE, ask("money"))
    desk.on(PERMISSION_REQUEST, deny("never"))
    assert desk.call().refused == "never"


def test_a_tool_may_need_approval_by_itself() -> None:
    desk = Desk(approve=if_it_says("t needs approval"))
    assert desk.call(needs_approval=True).ran
    closed = Desk()
    assert closed.call(needs_approval="it pays").refused == "it pays (nobody is there to approve it)"
    trusted = Desk()
    trusted.on(PRE_TOOL_USE, allow())
    assert trusted.call(needs_approval=True).ran


def test_no_objection_is_not_a_permission() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, Outcome(votes=(Vote("allow", means="no_objection"),)))
    assert not desk.call(needs_approval=True).ran


def test_stop_means_that_the_call_does_not_run() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, halt("out of budget"))
    done = desk.call()
    assert (done.stop, done.refused, desk.ran) == ("out of budget", "out of budget", [])


def test_stop_at_the_question_means_so_too() -> None:
    desk = Desk(approve=always)
    desk.on(PRE_TOOL_USE, ask("money"))
    desk.on(PERMISSION_REQUEST, halt("enough"))
    done = desk.call()
    assert (done.stop, desk.ran) == ("enough", [])


def test_a_failed_tool_fires_its_own_event_and_no_other() -> None:
    desk = Desk()

    async def fails(arguments: dict[str, Any]) -> None:
        raise ToolError("no such file", exit_code=3)

    async def one() -> CallResult:
        async with desk.engine:
            return await desk.engine.session("s").tool("t", {}, run=fails)

    done = asyncio.run(one())
    assert desk.fired == ["PreToolUse", "PostToolUseFailure"]
    assert (done.text, done.is_error, desk.payloads[1].exit_code) == ("no such file", True, 3)
    assert isinstance(done.exception, ToolError)


def test_any_other_error_of_a_tool_is_told_with_its_name() -> None:
    desk = Desk()

    def fails(arguments: dict[str, Any]) -> None:
        raise KeyError("x")

    async def one() -> CallResult:
        async with desk.engine:
            return await desk.engine.session("s").tool("t", {}, run=fails)

    assert asyncio.run(one()).text == "t failed: KeyError: 'x'"


@pytest.mark.parametrize(("value", "text"), [("", ""), ({"a": [1]}, '{"a":[1]}'), ("***", "***")])
def test_a_result_is_rewritten(value: Any, text: str) -> None:
    desk = Desk()
    desk.on(POST_TOOL_USE, rewrite(value))
    done = desk.call()
    assert (done.output, done.text, done.rewritten) == (value, text, True)


def test_objections_to_a_result_and_context_from_before_and_after_are_read_with_it() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, context("before"))
    desk.on(POST_TOOL_USE, context("after") + deny("too long"))
    done = desk.call()
    assert done.text == "done\n\n[hook feedback] too long\n\n[hook context] before\n\n[hook context] after"
    assert done.context == ()


def test_questions_of_parallel_calls_come_one_after_another() -> None:
    open_now: list[str] = []
    most: list[int] = []

    async def approve(question: Question) -> bool:
        open_now.append(question.tool_name)
        most.append(len(open_now))
        await asyncio.sleep(0.01)
        open_now.pop()
        return True

    desk = Desk(approve=approve)
    desk.on(PRE_TOOL_USE, ask("really?"))

    async def all_at_once() -> list[CallResult]:
        async with desk.engine:
            session = desk.engine.session("s")
            child = desk.engine.session("s", parent=session, agent_id="a1", agent_type="helper")
            return await asyncio.gather(
                *(each.tool(f"t{n}", {"n": n}, run=desk.tool) for n in range(3) for each in (session, child))
            )

    done = asyncio.run(all_at_once())
    assert [one.call.tool_name for one in done] == ["t0", "t0", "t1", "t1", "t2", "t2"]
    assert most == [1] * 6


def run_turn(desk: Desk, *steps: Callable[[Session], Any]) -> list[Any]:
    """The steps of a turn, each a function of the session, and what each of them gave."""

    async def play() -> list[Any]:
        async with desk.engine, desk.engine.session("s", cwd="/proj", model="m1") as session:
            return [await step(session) for step in steps]

    return asyncio.run(play())


def prompt(session: Session) -> Any:
    return session.prompt("hello")


def end(session: Session) -> Any:
    return session.end("the answer")


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


def test_cancelling_a_call_cancels_the_tool() -> None:
    desk = Desk()
    ended: list[str] = []

    async def slow(arguments: dict[str, Any]) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("tool")

    async def play() -> None:
        async with desk.engine:
            task = asyncio.ensure_future(desk.engine.session("s").tool("t", {}, run=slow))
            while not desk.fired:
                await asyncio.sleep(0)
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(play())
    assert ended == ["tool"]
    assert desk.fired == ["PreToolUse"]


def test_sessions_have_an_approve_of_their_own() -> None:
    desk = Desk(approve=never)
    desk.on(PRE_TOOL_USE, ask("?"))

    async def play() -> list[bool]:
        async with desk.engine:
            yes = desk.engine.session("a", approve=always)
            child = desk.engine.session("a", parent=yes)
            no = desk.engine.session("b")
            return [(await each.tool("t", {}, run=desk.tool)).ran for each in (yes, child, no)]

    assert asyncio.run(play()) == [True, True, False]


def test_effective_is_the_payload_as_it_counts() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite(a=2), rewrites=True)

    async def play() -> Any:
        async with desk.engine:
            call = ToolCall(tool_name="t", tool_input={"a": 1, "b": 1})
            outcome = await desk.engine.session("s").dispatch(PRE_TOOL_USE, call)
            return outcome.effective(call).tool_input, Outcome().effective(call) is call

    assert asyncio.run(play()) == ({"a": 2, "b": 1}, True)


def open_call(desk: Desk, then: Callable[[Any], Any]) -> CallResult:
    """A call that the host runs between its two halves."""

    async def play() -> CallResult:
        async with desk.engine:
            call = await desk.engine.session("s").open_tool("t", {"a": 1}, id="c1")
            return call.refused or await then(call)

    return asyncio.run(play())


def test_a_call_in_two_halves_is_the_same_call() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, rewrite(a=2) + context("before"), rewrites=True)
    desk.on(POST_TOOL_USE, rewrite("***"), rewrites=True)
    done = open_call(desk, lambda call: call.returned(call.arguments))
    assert (done.call.tool_input, done.text) == ({"a": 2}, "***\n\n[hook context] before")
    assert desk.fired == ["PreToolUse", "PostToolUse"]


def test_the_second_half_may_be_a_failure() -> None:
    desk = Desk()
    done = open_call(desk, lambda call: call.failed(OSError("gone")))
    assert desk.fired == ["PreToolUse", "PostToolUseFailure"]
    assert done.text == "t failed: OSError: gone"


def test_a_refused_call_has_no_second_half() -> None:
    desk = Desk()
    desk.on(PRE_TOOL_USE, halt("enough"))
    done = open_call(desk, lambda call: pytest.fail("it must not run"))
    assert (done.stop, done.refused) == ("enough", "enough")
    assert desk.fired == ["PreToolUse"]


@pytest.mark.parametrize(("approve", "refused"), [(always, None), (never, "not approved: it pays")])
def test_a_question_of_the_hosts_own_rules(approve: Any, refused: str | None) -> None:
    desk = Desk(approve=approve)
    desk.on(PERMISSION_REQUEST, rewrite(a=2), rewrites=True)

    async def play() -> Any:
        async with desk.engine:
            return await desk.engine.session("s").ask("t", {"a": 1}, "it pays", id="c1")

    asked = asyncio.run(play())
    assert (asked.refused and asked.refused.refused, asked.arguments) == (refused, {"a": 2})
    assert "PreToolUse" not in desk.fired
