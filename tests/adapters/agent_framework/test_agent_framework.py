"""Test the Microsoft Agent Framework with the conformance suite, and its special cases: approvals, subagents."""

import asyncio
from typing import Any

import pytest
from agent_framework import Agent, Message, function_middleware, tool

from hookline import Engine, SessionInfo, deny
from hookline.adapters.agent_framework import HooklineMiddleware
from hookline.events import PRE_TOOL_USE
from hookline.testing.conformance import Case, ModelScript, ScriptedCall, ScriptedResponse, run_case
from tests.adapters.agent_framework.harness import AgentFrameworkHarness, ScriptedClient
from tests.adapters.every_adapter import (
    ACT,
    PAY,
    asks_later,
    check_example,
    conformance,
    run_contexts,
    watched,
)
from tests.every import every

# The framework warns of its own features.
pytestmark = pytest.mark.filterwarnings("ignore")


@conformance
def test_conformance(case: Case) -> None:
    run_case(AgentFrameworkHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("agent_framework")


@tool(approval_mode="never_require")
def action() -> str:
    """Act."""
    return "acted"


def made(engine: Engine, *responses: ScriptedResponse, tools: Any = (action,), name: str = "main") -> Any:
    client = ScriptedClient(ModelScript(responses))
    return Agent(client, name=name, tools=[*tools], middleware=[*HooklineMiddleware(engine)])


@every("streams", [False, True])
@every("answer", [True, False])
def test_an_approval_that_comes_later_is_the_frameworks_own(answer: bool, streams: bool) -> None:
    ran: list[int] = []

    @tool(approval_mode="never_require")
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return f"paid {amount}"

    async def say(agent: Any, message: Any, session: Any) -> Any:
        if not streams:
            return await agent.run(message, session=session)
        return await agent.run(message, session=session, stream=True).get_final_response()

    async def play() -> tuple[Any, Any, Any]:
        async with asks_later() as engine:
            agent = made(engine, PAY, ScriptedResponse("done"), tools=[pay])
            session = agent.create_session()
            paused = await say(agent, "go", session)
            (request,) = paused.user_input_requests
            reply = Message("user", [request.to_function_approval_response(answer)])
            return request, await say(agent, reply, session), agent.client.script

    request, done, script = asyncio.run(play())
    assert request.additional_properties["hookline"] == {
        "id": "c1", "tool": "pay", "input": {"amount": 9}, "reason": "it pays",
    }  # fmt: skip
    assert (ran, done.text) == ([9] if answer else [], "done")
    assert ("paid 9" if answer else "rejected") in str(script.requests[-1])


def test_a_call_that_was_approved_is_judged_when_it_runs() -> None:
    ran: list[str] = []

    @tool(approval_mode="always_require", name="action")
    def act() -> str:
        """Act."""
        ran.append("act")
        return "acted"

    async def play() -> Any:
        async with Engine() as engine:
            agent = made(engine, ACT, ScriptedResponse("done"), tools=[act])
            session = agent.create_session()
            paused = await agent.run("go", session=session)
            engine.add(PRE_TOOL_USE, lambda _call: deny("not today"), quick=True)
            (request,) = paused.user_input_requests
            reply = Message("user", [request.to_function_approval_response(True)])
            await agent.run(reply, session=session)
            return agent.client.script

    script = asyncio.run(play())
    assert ran == []
    assert "not today" in str(script.requests[-1])


def test_an_agent_as_a_tool_is_a_subagent() -> None:
    callers: list[tuple[str, str | None]] = []

    async def play() -> list[str]:
        async with Engine() as engine:
            fired = watched(engine)

            async def note(call: Any, info: SessionInfo) -> None:
                callers.append((call.tool_name, info.agent_type))

            engine.add(PRE_TOOL_USE, note)
            helper = made(engine, ACT, ScriptedResponse("helped"), name="helper")
            ask_helper = ScriptedCall("help_me", {"task": "please"}, "h1")
            as_tool = helper.as_tool(name="help_me", description="Help.")
            calls = ScriptedResponse(calls=(ask_helper,))
            agent = made(engine, calls, ScriptedResponse("done"), tools=[as_tool])
            assert (await agent.run("go")).text == "done"
            return fired

    fired = asyncio.run(play())
    assert callers == [("help_me", None), ("action", "helper")]
    assert (fired.count("SubagentStart"), fired.count("SubagentStop"), fired.count("Stop")) == (1, 1, 1)


def test_hooks_find_what_the_run_gives_its_tools() -> None:
    async def play() -> list[Any]:
        async with Engine() as engine:
            seen = run_contexts(engine)
            agent = made(engine, ACT, ScriptedResponse("done"))
            await agent.run("go", function_invocation_kwargs={"user": "ann"})
        return seen

    assert asyncio.run(play()) == [{"user": "ann"}]


def test_hooks_judge_what_a_later_middleware_repairs_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ran: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    @function_middleware
    async def repair(context: Any, call_next: Any) -> None:
        context.arguments = {"amount": 9}
        await call_next()

    wrong = ScriptedResponse(calls=(ScriptedCall("pay", {"sum": "nine"}, "c1"),))

    async def play() -> None:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not today"), quick=True)
            client = ScriptedClient(script=ModelScript((wrong, ScriptedResponse("done"))))
            agent = Agent(client, tools=[pay], middleware=[*HooklineMiddleware(engine), repair])
            await agent.run("go")

    asyncio.run(play())
    assert ran == []
    assert "put theirs last" in caplog.text
