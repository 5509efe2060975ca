"""Test Google's ADK with the conformance suite, and its special cases: confirmations, workflows, streams, errors."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent, SequentialAgent  # pyright: ignore[reportDeprecated]
from google.adk.agents.run_config import RunConfig, StreamingMode  # pyright: ignore[reportPrivateImportUsage]
from google.adk.apps import App, ResumabilityConfig
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types

from hookline import Engine, deny, halt, rewrite
from hookline.adapters.google_adk import HooklinePlugin
from hookline.events import POST_MODEL_CALL, PRE_TOOL_USE, STOP, STOP_FAILURE, TURN_SETTLED
from hookline.testing.conformance import Case, ModelScript, ScriptedCall, ScriptedResponse, run_case
from tests.adapters.every_adapter import (
    ACT,
    LATE_ANSWERS,
    PAY,
    asks_later,
    check_example,
    conformance,
    run_contexts,
    watched,
)
from tests.adapters.google_adk.harness import GoogleAdkHarness, ScriptedModel
from tests.every import every

# ADK warns of its own features.
pytestmark = pytest.mark.filterwarnings("ignore")


@conformance
def test_conformance(case: Case) -> None:
    run_case(GoogleAdkHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("google_adk")


def made(*responses: ScriptedResponse, name: str = "main", tools: Any = ()) -> LlmAgent:
    return LlmAgent(
        name=name, model=ScriptedModel(model="scripted", script=ModelScript(responses)), tools=list(tools)
    )


async def played(engine: Engine, agent: Any, **options: Any) -> list[Any]:
    async with InMemoryRunner(agent, plugins=[HooklinePlugin(engine)]) as runner:
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="go")])
        run = runner.run_async(user_id="u", session_id=session.id, new_message=message, **options)
        return [event async for event in run]


def action() -> str:
    """Act."""
    return "acted"


def test_a_call_that_waits_for_a_confirmation_has_no_result_yet() -> None:
    async def play() -> list[str]:
        async with Engine() as engine:
            fired = watched(engine)
            await played(engine, made(ACT, tools=[FunctionTool(action, require_confirmation=True)]))
            return fired

    fired = asyncio.run(play())
    assert [name for name in fired if "ToolUse" in name] == ["PreToolUse"]


@every(["answer", "paid", "read"], LATE_ANSWERS)
def test_an_approval_that_comes_later_asks_for_a_confirmation(
    answer: Any, paid: list[int], read: str
) -> None:
    ran: list[int] = []

    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return f"paid {amount}"

    given: dict[str, Any] = answer if answer not in (True, False) else {"allow": answer}
    said: dict[str, Any] = {
        "confirmed": given["allow"],
        "payload": {k: v for k, v in given.items() if k != "allow"},
    }

    async def play() -> tuple[list[Any], list[Any]]:
        async with asks_later() as engine:
            agent = made(PAY, ScriptedResponse("done"), tools=[pay])
            async with InMemoryRunner(agent, plugins=[HooklinePlugin(engine)]) as runner:
                session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
                where: dict[str, Any] = {"user_id": "u", "session_id": session.id}
                message = types.Content(role="user", parts=[types.Part(text="go")])
                paused = [event async for event in runner.run_async(**where, new_message=message)]
                calls = [call for event in paused for call in event.get_function_calls()]
                asked = next(call for call in calls if call.name == "adk_request_confirmation")
                reply = types.FunctionResponse(id=asked.id, name=asked.name, response=said)
                back = types.Content(role="user", parts=[types.Part(function_response=reply)])
                return paused, [event async for event in runner.run_async(**where, new_message=back)]

    paused, done = asyncio.run(play())
    assert "it pays" in str(paused)
    assert ran == paid
    assert read in str(done)
    assert done[-1].content.parts[0].text == "done"


def test_hooks_find_the_state_of_the_session() -> None:
    async def play() -> list[Any]:
        async with Engine() as engine:
            seen = run_contexts(engine)
            agent = made(ACT, ScriptedResponse("done"), tools=[action])
            async with InMemoryRunner(agent, plugins=[HooklinePlugin(engine)]) as runner:
                session = await runner.session_service.create_session(
                    app_name=runner.app_name, user_id="u", state={"plan": "gold"}
                )
                message = types.Content(role="user", parts=[types.Part(text="go")])
                async for _event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
                    pass
        return seen

    (found,) = asyncio.run(play())
    assert found["plan"] == "gold"


def test_a_workflow_is_one_turn_and_its_steps_do_not_end_it() -> None:
    async def play() -> list[str]:
        async with Engine() as engine:
            fired = watched(engine)
            steps: list[Any] = [
                made(ScriptedResponse("one"), name="first"),
                made(ScriptedResponse("two"), name="second"),
            ]
            both = SequentialAgent(name="both", sub_agents=steps)  # pyright: ignore[reportDeprecated]
            await played(engine, both)
            return fired

    fired = asyncio.run(play())
    counted = ("UserPromptSubmit", "PreModelCall", "Stop", "TurnSettled")
    assert [fired.count(name) for name in counted] == [1, 2, 1, 1]


def test_the_model_reads_a_stop_hook_as_the_user() -> None:
    async def play() -> tuple[list[Any], ModelScript]:
        async with Engine() as engine:
            engine.add(STOP, lambda end: None if end.stop_hook_active else deny("run the tests"))
            agent = made(ScriptedResponse("done"), ScriptedResponse("really"))
            events = await played(engine, agent)
            model: Any = agent.model
            return events, model.script

    events, script = asyncio.run(play())
    assert [event.content.parts[0].text for event in events if event.is_final_response()] == ["really"]
    assert [(said.role, said.text) for said in script.requests[1].messages][-2:] == [
        ("assistant", "done"),
        ("user", "run the tests"),
    ]


def test_nothing_of_an_answer_that_a_hook_rewrites_is_streamed() -> None:
    async def play() -> list[str]:
        async with Engine() as engine:
            engine.add(POST_MODEL_CALL, lambda _answer: rewrite("the key is ***"))
            config = RunConfig(streaming_mode=StreamingMode.SSE)
            events = await played(engine, made(ScriptedResponse("the key is 123")), run_config=config)
            return [part.text for event in events if event.content for part in event.content.parts]

    assert asyncio.run(play()) == ["the key is ***"]


def test_a_model_that_fails_is_told() -> None:
    class Failing(ScriptedModel):
        async def generate_content_async(
            self, llm_request: Any, stream: bool = False
        ) -> AsyncGenerator[Any, None]:
            raise ConnectionError("no route")
            yield None

    errors: list[Any] = []

    async def play() -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: errors.append((failure.error, failure.error_details)))
            agent = LlmAgent(name="main", model=Failing(model="scripted", script=ModelScript(())))
            with pytest.raises(ConnectionError):
                await played(engine, agent)

    asyncio.run(play())
    assert errors == [("server", "ConnectionError: no route")]


def test_a_halt_of_one_user_does_not_end_the_run_of_another_with_the_same_session_id() -> None:
    ran: list[str] = []

    async def play() -> tuple[set[str], dict[str, Any]]:
        seen: set[str] = set()
        both = asyncio.Barrier(2)

        async def judge(_call: Any, info: Any) -> Any:
            seen.add(info.session_id)
            await both.wait()
            return halt("out of budget") if "/ann/" in info.session_id else None

        def act() -> str:
            ran.append("act")
            return "acted"

        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, judge)
            plugin = HooklinePlugin(engine)

            async def ask(user: str) -> None:
                act_now = ScriptedResponse(calls=(ScriptedCall("act", {}, "c1"),))
                model = ScriptedModel(
                    model="scripted", script=ModelScript([act_now, ScriptedResponse("done")])
                )
                agent = LlmAgent(name="main", model=model, tools=[FunctionTool(act)])
                runner = InMemoryRunner(agent, app_name="app", plugins=[plugin])
                await runner.session_service.create_session(app_name="app", user_id=user, session_id="same")
                message = types.Content(role="user", parts=[types.Part(text="go")])
                async for _event in runner.run_async(user_id=user, session_id="same", new_message=message):
                    pass

            await asyncio.gather(ask("ann"), ask("ben"))
            return seen, dict(vars(plugin)["_runs"])

    seen, left = asyncio.run(play())
    assert seen == {"app/ann/same", "app/ben/same"}
    assert ran == ["act"]
    assert left == {}


def test_a_resumed_invocation_has_its_session() -> None:
    """ADK resumes an invocation without a message: no user message callback comes before its first step."""
    fired: list[str] = []

    async def play() -> None:
        async with Engine() as engine:
            noted = watched(engine)
            plugin = HooklinePlugin(engine)
            app = App(
                name="app",
                root_agent=made(ScriptedResponse("done"), ScriptedResponse("again")),
                plugins=[plugin],
                resumability_config=ResumabilityConfig(is_resumable=True),
            )
            runner = InMemoryRunner(app=app)
            session = await runner.session_service.create_session(app_name="app", user_id="u")
            given: dict[str, Any] = {"user_id": "u", "session_id": session.id}
            message = types.Content(role="user", parts=[types.Part(text="go")])
            events = [event async for event in runner.run_async(**given, new_message=message)]
            noted.clear()
            resumed = runner.run_async(**given, invocation_id=events[0].invocation_id)
            async for _event in resumed:
                pass
            fired.extend(noted)
            assert vars(plugin)["_runs"] == {}

    asyncio.run(play())
    assert "PreModelCall" in fired
    assert "Error" not in fired


@every("way", ["cancelled", "left"])
def test_an_invocation_that_does_not_come_to_its_end_settles_its_turn_once(way: str) -> None:
    async def play() -> list[str]:
        reached = asyncio.Event()

        async def action() -> str:
            """Act."""
            reached.set()
            if way == "cancelled":
                await asyncio.Event().wait()
            return "acted"

        async with Engine() as engine:
            settled: list[str] = []
            done = asyncio.Event()

            async def note(turn: Any) -> None:
                settled.append(turn.status)
                done.set()

            engine.add(TURN_SETTLED, note)
            plugin = HooklinePlugin(engine)
            runner = InMemoryRunner(made(ACT, tools=[action]), plugins=[plugin])
            session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
            message = types.Content(role="user", parts=[types.Part(text="go")])

            async def run() -> None:
                async for _event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
                    if way == "left":
                        break

            task = asyncio.create_task(run())
            if way == "cancelled":
                await reached.wait()
                task.cancel()
            await asyncio.wait([task])
            await asyncio.wait_for(done.wait(), 20)
            assert vars(plugin)["_runs"] == {}
            return settled

    assert asyncio.run(play()) == ["interrupted"]


def test_you_choose_the_session_of_an_invocation() -> None:
    async def play() -> list[str]:
        ids: list[str] = []
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                ids.append(info.session_id)

            engine.add(STOP, note)
            plugin = HooklinePlugin(engine, session_id=lambda invocation: invocation.user_id)
            async with InMemoryRunner(made(ScriptedResponse("done")), plugins=[plugin]) as runner:
                session = await runner.session_service.create_session(app_name=runner.app_name, user_id="ann")
                message = types.Content(role="user", parts=[types.Part(text="go")])
                async for _event in runner.run_async(
                    user_id="ann", session_id=session.id, new_message=message
                ):
                    pass
        return ids

    assert asyncio.run(play()) == ["ann"]
