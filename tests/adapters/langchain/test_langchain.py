"""Test LangChain with the conformance suite, and its special cases: interrupts, commands, threads, both entries."""

import asyncio
from contextlib import suppress
from typing import Annotated, Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRetryMiddleware, ToolRetryMiddleware
from langchain.tools import InjectedState, InjectedToolCallId, tool
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.types import Command, interrupt

from hookline import Blocking, Engine, Outcome, context, deny, rewrite
from hookline.adapters.langchain import ENDED, HooklineMiddleware
from hookline.adapters.langchain.runs import graph_runs
from hookline.events import (
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    USER_PROMPT_SUBMIT,
)
from hookline.testing.conformance import Case, ModelScript, ScriptedCall, ScriptedResponse, run_case
from tests.adapters.every_adapter import (
    ACT,
    LATE_ANSWERS,
    PAY,
    asks_later,
    check_example,
    conformance,
    of_calls,
    run_contexts,
    watched,
)
from tests.adapters.langchain.harness import LangChainHarness, ScriptedModel
from tests.every import every

_ENDS = frozenset({"Error", "StopFailure", "Stop", "SubagentStop", "TurnSettled"})
CONFIG: Any = {"configurable": {"thread_id": "t1"}}


@conformance
def test_conformance(case: Case) -> None:
    run_case(LangChainHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("langchain")


def made(hooks: Any, *responses: ScriptedResponse, tools: Any = (), **options: Any) -> Any:
    script = ModelScript(responses)
    agent = cast("Any", create_agent)(
        ScriptedModel(script=script), list(tools), middleware=[hooks], **options
    )
    agent.script = script
    return agent


def said(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


def test_an_interrupt_in_a_tool_pauses_the_graph_and_is_no_failure() -> None:
    @tool
    def action() -> str:
        """Act."""
        return f"the user said {interrupt('really?')}"

    async def play() -> tuple[Any, Any, list[str]]:
        async with Engine() as engine:
            fired = watched(engine)
            agent = made(
                HooklineMiddleware(engine),
                ACT,
                ScriptedResponse("done"),
                tools=[action],
                checkpointer=InMemorySaver(),
            )
            paused = await agent.ainvoke(said("go"), CONFIG)
            done = await agent.ainvoke(Command(resume="yes"), CONFIG)
            return paused, done, fired

    paused, done, fired = asyncio.run(play())
    assert paused["__interrupt__"][0].value == "really?"
    assert [m.text for m in done["messages"]][-2:] == ["the user said yes", "done"]
    assert of_calls(fired) == ["PreToolUse", "PreToolUse", "PostToolUse"]  # LangGraph runs the call again


def test_hooks_rewrite_the_message_inside_a_command() -> None:
    @tool
    def action(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Act."""
        return Command(
            update={"messages": [ToolMessage("SECRET", tool_call_id=tool_call_id), HumanMessage("more")]}
        )

    async def play() -> list[str]:
        async with Engine() as engine:
            engine.add(POST_TOOL_USE, lambda result: rewrite(result.tool_response.replace("SECRET", "***")))
            agent = made(HooklineMiddleware(engine), ACT, ScriptedResponse("done"), tools=[action])
            return [m.text for m in (await agent.ainvoke(said("go")))["messages"]]

    assert asyncio.run(play()) == ["go", "", "***", "more", "done"]


def test_an_error_that_the_tool_turned_into_text_is_a_failure() -> None:
    from langchain_core.tools import StructuredTool, ToolException

    def action() -> str:
        raise ToolException("no such file")

    failing = StructuredTool.from_function(action, description="Act.", handle_tool_error=True)
    errors: list[str] = []

    async def play() -> Any:
        async with Engine() as engine:

            def note(failure: Any) -> Outcome:
                errors.append(failure.error)
                return context("look in the attic")

            engine.add(POST_TOOL_USE_FAILURE, note)
            fired = watched(engine)
            agent = made(HooklineMiddleware(engine), ACT, ScriptedResponse("done"), tools=[failing])
            return (await agent.ainvoke(said("go")))["messages"][2], fired

    message, fired = asyncio.run(play())
    assert errors == ["no such file"]
    assert (message.status, message.text) == ("error", "no such file\n\n[hook context] look in the attic")
    assert of_calls(fired) == ["PreToolUse", "PostToolUseFailure"]


def test_a_blocked_prompt_is_gone_from_the_thread_and_its_reason_is_not_sent_to_the_model() -> None:
    async def play() -> tuple[Any, ModelScript]:
        async with Engine() as engine:
            engine.add(USER_PROMPT_SUBMIT, lambda p: deny("no secrets") if "secret" in p.prompt else None)
            agent = made(HooklineMiddleware(engine), ScriptedResponse("hi"), checkpointer=InMemorySaver())
            await agent.ainvoke(said("a secret"), CONFIG)
            return await agent.ainvoke(said("hello"), CONFIG), agent.script

    state, script = asyncio.run(play())
    assert [m.text for m in state["messages"]] == ["no secrets", "hello", "hi"]
    assert state["messages"][0].additional_kwargs == {ENDED: "prompt"}
    assert [m.text for m in script.requests[0].messages] == ["hello"]


def test_sub_agents_of_synchronous_agents_have_their_parent() -> None:
    received: list[Any] = []
    with Blocking(Engine()) as hooks:

        async def note(_payload: Any, info: Any) -> None:
            received.append((info.session_id, info.agent_type))

        hooks.engine.add(PRE_TOOL_USE, note)
        middleware = HooklineMiddleware(hooks)

        @tool
        def action() -> str:
            """Act."""
            return "acted"

        helper = made(middleware, ACT, ScriptedResponse("helped"), tools=[action], name="helper")

        @tool
        def delegate(task: str) -> str:
            """Delegate."""
            return helper.invoke(said(task))["messages"][-1].text

        call = ScriptedResponse(calls=(ScriptedCall("delegate", {"task": "x"}, "c2"),))
        agent = made(middleware, call, ScriptedResponse("done"), tools=[delegate])
        assert agent.invoke(said("go"), CONFIG)["messages"][-1].text == "done"
    assert received == [("t1", None), ("t1", "helper")]


def test_an_agent_that_is_a_node_of_a_graph_belongs_to_the_thread() -> None:
    async def play() -> list[str]:
        ids: list[str] = []
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                ids.append(info.session_id)

            engine.add(STOP, note)
            first = made(HooklineMiddleware(engine), ScriptedResponse("one"), name="first")
            second = made(HooklineMiddleware(engine), ScriptedResponse("two"), name="second")
            graph: Any = StateGraph(MessagesState)
            graph.add_node("first", first)
            graph.add_node("second", second)
            graph.add_edge(START, "first")
            graph.add_edge("first", "second")
            await graph.compile(checkpointer=InMemorySaver()).ainvoke(said("go"), CONFIG)
        return ids

    assert asyncio.run(play()) == ["t1", "t1"]


def test_you_choose_the_session_of_a_run() -> None:
    async def play() -> list[str]:
        ids: list[str] = []
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                ids.append(info.session_id)

            engine.add(STOP, note)

            def user(config: Any) -> str:
                return config["configurable"]["user"]

            agent = made(HooklineMiddleware(engine, session_id=user), ScriptedResponse("one"))
            await agent.ainvoke(said("go"), {"configurable": {"user": "ann"}})
        return ids

    assert asyncio.run(play()) == ["ann"]


@every(["answer", "paid", "read"], LATE_ANSWERS)
@every("entry", ["async", "sync"])
def test_an_approval_that_comes_later_interrupts_the_graph(
    entry: str, answer: Any, paid: list[int], read: str
) -> None:
    ran: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return f"paid {amount}"

    engine = asks_later()
    hooks = HooklineMiddleware(engine)
    agent = made(hooks, PAY, ScriptedResponse("done"), tools=[pay], checkpointer=InMemorySaver())

    async def play() -> tuple[Any, Any]:
        async with engine:
            paused = await agent.ainvoke(said("go"), CONFIG)
            return paused, await agent.ainvoke(Command(resume=answer), CONFIG)

    if entry == "async":
        paused, result = asyncio.run(play())
    else:
        with Blocking(engine) as bridge:
            agent = made(
                HooklineMiddleware(bridge),
                PAY,
                ScriptedResponse("done"),
                tools=[pay],
                checkpointer=InMemorySaver(),
            )
            paused, result = agent.invoke(said("go"), CONFIG), agent.invoke(Command(resume=answer), CONFIG)
    assert paused["__interrupt__"][0].value == {
        "id": "c1", "tool": "pay", "input": {"amount": 9}, "reason": "it pays",
    }  # fmt: skip
    assert ran == paid
    assert result["messages"][-2].text == read
    assert result["messages"][-1].text == "done"


class _Busy(ScriptedModel):
    """A model that fails twice before it answers."""

    left: list[int]

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> Any:
        if self.left:
            self.left.pop()
            raise ConnectionError("overloaded")
        return super()._generate(messages, *given, **options)


@every("tries", [2, 1])
@every("entry", ["async", "sync"])
def test_a_retry_outside_reports_a_failure_once_and_only_if_it_is_one(entry: str, tries: int) -> None:
    engine = Engine()
    fired = watched(engine)
    hooks = HooklineMiddleware(engine)
    retry = ModelRetryMiddleware(max_retries=tries, initial_delay=0, jitter=False, on_failure="error")
    model = _Busy(script=ModelScript((ScriptedResponse("done"),)), left=[1, 2])
    agent: Any = cast("Any", create_agent)(model, [], middleware=[retry, hooks])

    async def play() -> Any:
        async with engine:
            return await agent.ainvoke(said("go"))

    def play_sync() -> Any:
        try:
            return agent.invoke(said("go"))
        finally:
            hooks.bridge.close()

    failed = False
    try:
        result = asyncio.run(play()) if entry == "async" else play_sync()
        assert result["messages"][-1].text == "done"
    except ConnectionError:
        failed = True
    assert failed == (tries == 1)
    assert ends(fired) == (["Error", "StopFailure", "TurnSettled"] if failed else ["Stop", "TurnSettled"])


def ends(fired: list[str]) -> list[str]:
    return [name for name in fired if name in _ENDS]


def test_a_tool_that_is_tried_again_is_no_failed_turn() -> None:
    left = [1]

    @tool
    def action() -> str:
        """Act."""
        if left:
            left.pop()
            raise ConnectionError("busy")
        return "acted"

    async def play() -> tuple[Any, list[str]]:
        async with Engine() as engine:
            fired = watched(engine)
            retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, on_failure="error")
            model = ScriptedModel(script=ModelScript((ACT, ScriptedResponse("done"))))
            hooks = HooklineMiddleware(engine)
            agent = cast("Any", create_agent)(model, [action], middleware=[retry, hooks])
            return await agent.ainvoke(said("go")), fired

    result, fired = asyncio.run(play())
    assert [each.text for each in result["messages"]][-2:] == ["acted", "done"]
    assert ends(fired) == ["Stop", "TurnSettled"]


def test_a_request_that_is_tried_again_has_the_text_of_hooks() -> None:
    model = _Busy(script=ModelScript((ACT, ScriptedResponse("done"))), left=[])

    @tool
    def action() -> str:
        """Act."""
        model.left.append(1)
        return "acted"

    async def play() -> Any:
        async with Engine() as engine:
            engine.add(POST_TOOL_USE, lambda _call: context("for good"))
            engine.add(POST_TOOL_USE, lambda _call: context("for once", transient=True))
            engine.add(PRE_MODEL_CALL, lambda _request: context("each time", transient=True))
            retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, on_failure="error")
            agent = cast("Any", create_agent)(model, [action], middleware=[retry, HooklineMiddleware(engine)])
            return await agent.ainvoke(said("go"))

    asyncio.run(play())
    texts = [each.text for each in model.script.requests[-1].messages]
    assert texts == ["go", "", "acted\n\n[hook context] for good", "for once", "each time"]


@every("way", ["limit", "cancelled", "closed", "sub-agent"])
def test_every_way_out_of_a_run_settles_its_turn_once(way: str) -> None:
    reached = asyncio.Event()

    @tool
    async def action() -> str:
        """Act."""
        reached.set()
        if way == "cancelled":
            await asyncio.Event().wait()
        if way == "sub-agent":
            with suppress(ConnectionError):
                await helper.ainvoke(said("help"))
        return "acted"

    async def play() -> tuple[list[str], Any]:
        nonlocal helper
        async with Engine() as engine:
            fired = watched(engine)
            hooks = HooklineMiddleware(engine)
            helper = cast("Any", create_agent)(
                _Busy(script=ModelScript(()), left=[1]), [], middleware=[hooks], name="helper"
            )
            agent = made(hooks, ACT, ScriptedResponse("done"), tools=[action])
            if way == "limit":
                with pytest.raises(GraphRecursionError):
                    await agent.ainvoke(said("go"), {"recursion_limit": 2})
            elif way == "closed":
                steps = agent.astream(said("go"))
                await anext(steps)
                await steps.aclose()
            else:
                run = asyncio.create_task(agent.ainvoke(said("go")))
                await reached.wait()
                if way == "cancelled":
                    run.cancel()
                await asyncio.wait([run])
            return ends(fired), hooks

    helper: Any = None
    fired, hooks = asyncio.run(play())
    assert (
        fired
        == {
            "limit": ["Error", "StopFailure", "TurnSettled"],
            "cancelled": ["TurnSettled"],
            "closed": ["TurnSettled"],
            "sub-agent": ["SubagentStop", "Stop", "TurnSettled"],
        }[way]
    )
    assert not hooks._below
    assert not hooks._waiting
    runs: Any = graph_runs()
    assert not runs._graphs
    assert not runs._reports


class _LateTools(AgentMiddleware[Any, Any, Any]):
    """A middleware that has a tool of its own for a call."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tool=action_of_others))


@tool("action")
def action_of_others(ran: Annotated[list[str], InjectedState("ran")]) -> str:
    """Act."""
    ran.append("acted")
    return "acted"


def test_hooks_guard_a_tool_that_only_a_later_middleware_knows(caplog: pytest.LogCaptureFixture) -> None:
    class State(AgentState[Any]):
        ran: list[str]

    @tool
    def other() -> str:
        """Do something else."""
        return ""

    async def play() -> Any:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("no"))
            model = ScriptedModel(script=ModelScript((ACT, ScriptedResponse("done"))))
            agent = cast("Any", create_agent)(
                model, [other], middleware=[HooklineMiddleware(engine), _LateTools()], state_schema=State
            )
            return await agent.ainvoke({**said("go"), "ran": []})

    result = asyncio.run(play())
    assert result["ran"] == []
    assert "put theirs last" in caplog.text
    assert [each.text for each in result["messages"]][-2:] == ["no", "done"]


def test_hooks_find_the_context_of_the_run() -> None:
    @tool
    def action() -> str:
        """Act."""
        return "acted"

    async def play() -> list[Any]:
        async with Engine() as engine:
            seen = run_contexts(engine)
            agent = made(
                HooklineMiddleware(engine), ACT, ScriptedResponse("done"), tools=[action], context_schema=dict
            )
            await agent.ainvoke(said("go"), context={"user": "ann"})
        return seen

    assert asyncio.run(play()) == [{"user": "ann"}]
