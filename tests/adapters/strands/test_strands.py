"""Test Strands with the conformance suite, and its special cases: interrupts, structured output, streams."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import BaseModel
from strands import Agent, ToolContext, tool  # pyright: ignore[reportUnknownVariableType]
from strands.types.exceptions import ModelThrottledException

from hookline import Engine, halt, rewrite
from hookline.adapters.strands import HooklinePlugin
from hookline.events import POST_MODEL_CALL, PRE_TOOL_USE, STOP_FAILURE
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
from tests.adapters.strands.harness import ScriptedModel, StrandsHarness
from tests.every import every


@conformance
def test_conformance(case: Case) -> None:
    run_case(StrandsHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("strands")


def made(engine: Engine, *responses: ScriptedResponse, **options: Any) -> Any:
    model = ScriptedModel(ModelScript(responses))
    return Agent(model, plugins=[HooklinePlugin(engine)], callback_handler=None, **options)


@tool
def action() -> str:
    """Act."""
    return "acted"


def test_an_interrupt_in_a_tool_pauses_the_run_and_is_no_failure() -> None:
    @tool(context=True, name="action")
    def asks(tool_context: ToolContext) -> str:
        """Act."""
        return f"the user said {tool_context.interrupt('sure', reason='really?')}"

    async def play() -> tuple[Any, Any, list[str]]:
        async with Engine() as engine:
            fired = watched(engine)
            agent = made(engine, ACT, ScriptedResponse("done"), tools=[asks])
            paused = await agent.invoke_async("go")
            answer = {"interruptResponse": {"interruptId": paused.interrupts[0].id, "response": "yes"}}
            return paused, await agent.invoke_async([answer]), fired

    paused, done, fired = asyncio.run(play())
    assert (paused.stop_reason, str(done).strip()) == ("interrupt", "done")
    assert of_calls(fired) == ["PreToolUse", "PreToolUse", "PostToolUse"]  # Strands runs the call again
    assert (fired.count("UserPromptSubmit"), fired.count("Stop")) == (1, 1)


@every(["answer", "paid", "read"], LATE_ANSWERS)
def test_an_approval_that_comes_later_interrupts_the_agent(answer: Any, paid: list[int], read: str) -> None:
    ran: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return f"paid {amount}"

    async def play() -> tuple[Any, Any, Any]:
        async with asks_later() as engine:
            agent = made(engine, PAY, ScriptedResponse("done"), tools=[pay])
            paused = await agent.invoke_async("go")
            (interrupt,) = paused.interrupts
            given = {"interruptResponse": {"interruptId": interrupt.id, "response": answer}}
            return paused, await agent.invoke_async([given]), agent.messages

    paused, done, messages = asyncio.run(play())
    assert paused.stop_reason == "interrupt"
    assert paused.interrupts[0].reason == {
        "id": "c1", "tool": "pay", "input": {"amount": 9}, "reason": "it pays",
    }  # fmt: skip
    assert (ran, str(done).strip()) == (paid, "done")
    assert read in str(messages)


def test_hooks_find_the_state_of_the_invocation() -> None:
    async def play() -> list[Any]:
        async with Engine() as engine:
            seen = run_contexts(engine)
            agent = made(engine, ACT, ScriptedResponse("done"), tools=[action])
            await agent.invoke_async("go", invocation_state={"user": "ann"})
        return seen

    (found,) = asyncio.run(play())
    assert found["user"] == "ann"


class City(BaseModel):
    name: str


def test_the_tool_of_structured_output_is_no_call_for_hooks() -> None:
    async def play() -> tuple[Any, list[str]]:
        async with Engine() as engine:
            fired = watched(engine)
            agent = made(engine, ScriptedResponse(calls=(ScriptedCall("City", {"name": "Ulm"}, "c1"),)))
            return await agent.invoke_async("where?", structured_output_model=City), fired

    result, fired = asyncio.run(play())
    assert result.structured_output == City(name="Ulm")
    assert of_calls(fired) == []
    assert fired.count("Stop") == 1


def test_an_agent_that_is_a_tool_is_a_sub_agent() -> None:
    received: list[Any] = []

    async def play() -> None:
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                received.append((info.session_id, info.agent_type))

            engine.add(PRE_TOOL_USE, note)
            helper = made(engine, ACT, ScriptedResponse("helped"), tools=[action], name="helper")
            call = ScriptedResponse(calls=(ScriptedCall("helper", {"input": "help"}, "c1"),))
            agent = made(engine, call, ScriptedResponse("done"), tools=[helper.as_tool()])
            await agent.invoke_async("go")
            assert {each for each, _ in received} == {agent.session_id}

    asyncio.run(play())
    assert [who for _, who in received] == [None, "helper"]


def test_nothing_of_an_answer_that_a_hook_rewrites_is_streamed() -> None:
    async def play() -> list[str]:
        async with Engine() as engine:
            engine.add(POST_MODEL_CALL, lambda _answer: rewrite("the key is ***"))
            agent = made(engine, ScriptedResponse("the key is 123"))
            return [event["data"] async for event in agent.stream_async("go") if "data" in event]

    assert asyncio.run(play()) == ["the key is ***"]


def test_an_answer_that_ends_the_run_makes_no_calls() -> None:
    async def play() -> tuple[str, list[str]]:
        async with Engine() as engine:
            fired = watched(engine)
            engine.add(POST_MODEL_CALL, lambda _answer: halt("enough"))
            return str(await made(engine, ACT, tools=[action]).invoke_async("go")).strip(), fired

    answer, fired = asyncio.run(play())
    assert answer == "enough"
    assert of_calls(fired) == []


def test_a_model_that_fails_is_told_with_its_kind() -> None:
    class Throttled(ScriptedModel):
        async def stream(self, *_given: Any, **_options: Any) -> AsyncGenerator[Any, None]:  # type: ignore[override]
            raise ModelThrottledException("slow down")
            yield {}

    kinds: list[str] = []

    async def play() -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: kinds.append(failure.error))
            agent = Agent(
                Throttled(ModelScript(())),
                plugins=[HooklinePlugin(engine)],
                callback_handler=None,
                retry_strategy=None,
            )
            with pytest.raises(ModelThrottledException):
                await agent.invoke_async("go")

    asyncio.run(play())
    assert kinds == ["rate_limit"]


def test_you_choose_the_session_of_an_invocation() -> None:
    async def play() -> list[str]:
        ids: list[str] = []
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                ids.append(info.session_id)

            engine.add(PRE_TOOL_USE, note)
            plugin = HooklinePlugin(engine, session_id=lambda _agent, state: state["user"])
            agent = Agent(
                ScriptedModel(ModelScript((ACT, ScriptedResponse("done")))),
                tools=[action],
                plugins=[plugin],
                callback_handler=None,
            )
            await agent.invoke_async("go", invocation_state={"user": "ann"})
        return ids

    assert asyncio.run(play()) == ["ann"]


def test_a_run_that_the_user_ends_settles_its_turn_once() -> None:
    @tool(context=True, name="action")
    def ends(tool_context: ToolContext) -> str:
        """Act."""
        tool_context.agent.cancel()
        return "acted"

    async def play() -> tuple[str, list[str]]:
        async with Engine() as engine:
            fired = watched(engine)
            result = await made(engine, ACT, ScriptedResponse("done"), tools=[ends]).invoke_async("go")
            return result.stop_reason, fired.copy()

    reason, fired = asyncio.run(play())
    assert reason == "cancelled"
    assert [name for name in fired if name in {"Stop", "Error", "TurnSettled"}] == ["TurnSettled"]
