"""Test the OpenAI Agents SDK with the conformance suite, and its special cases: handoffs, memories, typed outputs."""

import asyncio
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    LocalShellTool,
    ModelProvider,
    ModelResponse,
    RunConfig,
    Runner,
    RunState,
    ShellTool,
    SQLiteSession,
    Usage,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.mcp import MCPServerStdio
from agents.tool_context import ToolContext
from openai.types import responses
from pydantic import BaseModel

from hookline import Engine, Outcome, SessionInfo, deny, halt, rewrite
from hookline.adapters.openai_agents import BLOCKED, HooklineRunner, RunStoppedError
from hookline.events import (
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    STOP_FAILURE,
    USER_PROMPT_SUBMIT,
    EventSpec,
)
from hookline.testing.conformance import Case, ModelScript, ScriptedCall, ScriptedResponse, run_case
from tests.adapters.every_adapter import (
    ACT,
    PAY,
    asks_later,
    check_example,
    conformance,
    run_contexts,
    watched,
)
from tests.adapters.openai_agents.harness import OpenAIAgentsHarness, ScriptedModel
from tests.every import every

QUIET = RunConfig(tracing_disabled=True)


@conformance
def test_conformance(case: Case) -> None:
    run_case(OpenAIAgentsHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("openai_agents")


@function_tool
def action() -> str:
    """Act."""
    return "acted"


def agent(script: ModelScript, **options: Any) -> Agent[Any]:
    given: dict[str, Any] = {"name": "main", "model": ScriptedModel(script)} | options
    return Agent(**given)


class City(BaseModel):
    name: str


@pytest.mark.parametrize("event", [USER_PROMPT_SUBMIT, PRE_MODEL_CALL])
def test_a_run_whose_output_is_no_text_raises_when_hooks_end_it(event: EventSpec[Any]) -> None:
    script = ModelScript([])

    async def play() -> None:
        async with Engine() as engine:
            engine.add(event, lambda _payload: halt("enough"))
            with pytest.raises(RunStoppedError, match="enough"):
                await HooklineRunner(engine).run(agent(script, output_type=City), "where?", run_config=QUIET)

    asyncio.run(play())
    assert script.requests == []


@pytest.mark.parametrize("by", ["agent", "handoff"])
def test_an_agent_that_is_handed_over_to_is_under_the_same_hooks(by: str) -> None:
    first = ModelScript([ScriptedResponse(calls=(ScriptedCall("transfer_to_second", {}, "h1"),))])
    second = ModelScript([ACT, ScriptedResponse("done")])

    async def play() -> list[Any]:
        received: list[Any] = []
        async with Engine() as engine:

            async def guard(_payload: Any, info: Any) -> Outcome:
                received.append(info.session_id)
                return deny("not today")

            engine.add(PRE_TOOL_USE, guard)
            below = agent(second, name="second", tools=[action])
            main = agent(first, handoffs=[below if by == "agent" else handoff(below)])
            runner = HooklineRunner(engine, session_id=lambda _options: "c1")
            result = await runner.run(main, "go", run_config=QUIET)
            return [*received, result.final_output, second.requests[1].result("c1")]

    assert asyncio.run(play()) == ["c1", "done", "not today"]


def test_agents_that_hand_over_to_each_other() -> None:
    first = ModelScript(
        [ScriptedResponse(calls=(ScriptedCall("transfer_to_second", {}, "h1"),)), ScriptedResponse("back")]
    )
    second = ModelScript([ScriptedResponse(calls=(ScriptedCall("transfer_to_main", {}, "h2"),))])

    async def play() -> Any:
        async with Engine() as engine:
            main, below = agent(first), agent(second, name="second")
            main.handoffs, below.handoffs = [below], [main]
            result = await HooklineRunner(engine).run(main, "go", run_config=QUIET)
            again = await HooklineRunner(engine).run(result.last_agent, "more", run_config=QUIET)
            return result.final_output, again.final_output

    assert asyncio.run(play()) == ("back", "(the script has no answer left)")


def test_a_session_of_the_sdk_is_the_conversation_and_keeps_no_blocked_prompt() -> None:
    script = ModelScript([ScriptedResponse("hi"), ScriptedResponse("better")])

    async def play() -> tuple[list[str], Any]:
        ids: list[str] = []
        async with Engine() as engine:

            async def again(payload: Any, info: Any) -> Outcome | None:
                ids.append(info.session_id)
                return None if payload.stop_hook_active else deny("say it better")

            engine.add(STOP, again)
            engine.add(USER_PROMPT_SUBMIT, lambda p: deny("no secrets") if "secret" in p.prompt else None)
            runner, memory = HooklineRunner(engine), SQLiteSession("c7")
            await runner.run(agent(script), "a secret", session=memory, run_config=QUIET)
            await runner.run(agent(script), "hello", session=memory, run_config=QUIET)
            return ids, await memory.get_items()

    ids, items = asyncio.run(play())
    assert ids == ["c7", "c7"]
    assert "a secret" not in str(items)
    assert [m.text for m in script.requests[0].messages] == [BLOCKED, "no secrets", "hello"]
    assert [m.text for m in script.requests[1].messages][2:] == ["hello", "hi", "say it better"]


@every("streams", [False, True])
def test_an_agent_as_a_tool_is_a_subagent(streams: bool) -> None:
    shown: list[str] = []
    callers: list[tuple[str, str | None]] = []
    extracted: list[Any] = []

    def stream(event: Any) -> None:
        shown.append(event["event"].type)

    async def extract(result: Any) -> str:
        extracted.append(result.final_output)
        return f"helper: {result.final_output}"

    async def play() -> tuple[Any, list[str], Any]:
        async with Engine() as engine:
            fired = watched(engine)

            async def note(call: Any, info: SessionInfo) -> None:
                callers.append((call.tool_name, info.agent_type))

            engine.add(PRE_TOOL_USE, note)
            inner = ModelScript((ACT, ScriptedResponse("helped")))
            helper = agent(inner, name="helper", tools=[action])
            more: dict[str, Any] = {"on_stream": stream} if streams else {"custom_output_extractor": extract}
            tool = helper.as_tool("help_me", "Help.", **more)
            ask_helper = ScriptedCall("help_me", {"input": "please"}, "h1")
            outer = ModelScript((ScriptedResponse(calls=(ask_helper,)), ScriptedResponse("done")))
            result = await HooklineRunner(engine).run(agent(outer, tools=[tool]), "go")
            return result, fired, outer

    result, fired, outer = asyncio.run(play())
    assert result.final_output == "done"
    assert callers == [("help_me", None), ("action", "helper")]
    assert (fired.count("SubagentStart"), fired.count("SubagentStop"), fired.count("Stop")) == (1, 1, 1)
    assert fired.count("PreModelCall") == 4
    assert (bool(shown), extracted) == (streams, [] if streams else ["helped"])
    assert ("helped" if streams else "helper: helped") in str(outer.requests[-1])


def test_a_native_run_inside_a_tool_stays_native() -> None:
    async def play() -> list[str]:
        async with Engine() as engine:
            fired = watched(engine)
            inner = agent(ModelScript((ScriptedResponse("helped"),)), name="native")

            @function_tool(name_override="action")
            async def starts() -> str:
                return str((await Runner.run(inner, "go")).final_output)

            helper = agent(ModelScript((ScriptedResponse("x"),)), name="helper").as_tool("help_me", "Help.")
            script = ModelScript((ACT, ScriptedResponse("done")))
            await HooklineRunner(engine).run(agent(script, tools=[starts, helper]), "go")
            return fired

    assert asyncio.run(play()).count("PreModelCall") == 2


@every("stored", [False, True])
@every("answer", [True, False])
def test_an_approval_that_comes_later_interrupts_the_run(answer: bool, stored: bool) -> None:
    ran: list[int] = []

    @function_tool
    def pay(amount: int) -> str:
        ran.append(amount)
        return f"paid {amount}"

    script = ModelScript((PAY, ScriptedResponse("done")))

    def made() -> Agent[Any]:
        return agent(script, tools=[pay])

    async def play() -> tuple[Any, Any, Any]:
        async with asks_later() as engine:
            runner = HooklineRunner(engine)
            paused = await runner.run(made(), "go", context={"user": "ann"})
            pending = runner.pending(paused)
            state = paused.to_state()
            if stored:  # another process: agents without hooks
                state = await RunState.from_string(made(), state.to_string())
            (item,) = state.get_interruptions()
            if answer:
                state.approve(item)
            else:
                state.reject(item, rejection_message="ask me tomorrow")
            return paused, pending, await HooklineRunner(engine).run(made(), state)

    paused, pending, done = asyncio.run(play())
    assert len(paused.interruptions) == 1
    assert [(one.tool_name, one.tool_input, one.reason) for one in pending] == [
        ("pay", {"amount": 9}, "it pays")
    ]
    assert (ran, done.final_output) == ([9] if answer else [], "done")
    assert ("paid 9" if answer else "ask me tomorrow") in str(script.requests[-1])


def test_a_run_that_continues_from_a_stored_state_is_under_hooks() -> None:
    """The SDK's own approvals, too: an approved call is judged when it runs."""
    ran: list[str] = []

    @function_tool(needs_approval=True, name_override="action")
    def act() -> str:
        ran.append("act")
        return "acted"

    script = ModelScript((ACT, ScriptedResponse("done")))

    async def play() -> Any:
        async with Engine() as engine:
            runner = HooklineRunner(engine)
            paused = await runner.run(agent(script, tools=[act]), "go")
            engine.add(PRE_TOOL_USE, lambda _call: deny("not today"), quick=True)
            plain = agent(script, tools=[act])
            state = await RunState.from_string(plain, paused.to_state().to_string())
            state.approve(state.get_interruptions()[0])
            return await runner.run(plain, state)

    done = asyncio.run(play())
    assert (ran, done.final_output) == ([], "done")
    assert "not today" in str(script.requests[-1])


def test_hooks_find_the_context_of_the_run() -> None:
    async def play() -> list[Any]:
        async with Engine() as engine:
            seen = run_contexts(engine)
            made = agent(ModelScript((ACT, ScriptedResponse("done"))), tools=[action])
            await HooklineRunner(engine).run(made, "go", context={"user": "ann"})
        return seen

    assert asyncio.run(play()) == [{"user": "ann"}]


def test_models_by_name_are_under_hooks() -> None:
    class Models(ModelProvider):
        def get_model(self, model_name: str | None) -> ScriptedModel:
            assert model_name == "some-model"
            return ScriptedModel(ModelScript([ScriptedResponse("SECRET")]))

    async def play() -> Any:
        async with Engine() as engine:
            engine.add(POST_MODEL_CALL, lambda _payload: rewrite("***"))
            config = RunConfig(tracing_disabled=True, model_provider=Models())
            named = Agent(name="main", model="some-model")
            return (await HooklineRunner(engine).run(named, "go", run_config=config)).final_output

    assert asyncio.run(play()) == "***"


def test_a_rewritten_answer_is_not_streamed_as_it_was() -> None:
    async def play(hooked: bool) -> list[str]:
        async with Engine() as engine:
            if hooked:
                engine.add(POST_MODEL_CALL, lambda _payload: rewrite("***"))
            stream = HooklineRunner(engine).run_streamed(
                agent(ModelScript([ScriptedResponse("SECRET")])), "go", run_config=QUIET
            )
            events = [event async for event in stream.stream_events() if event.type == "raw_response_event"]
            return [
                *(e.data.delta for e in events if e.data.type.endswith("delta")),
                str(stream.final_output),
            ]

    assert asyncio.run(play(False)) == ["SEC", "RET", "SECRET"]
    assert asyncio.run(play(True)) == ["***"]


def test_hooks_are_told_what_a_tool_raised_and_the_model_what_the_tool_says_about_it() -> None:
    errors: list[str] = []

    @function_tool(failure_error_function=lambda _context, error: f"sorry: {error}", name_override="action")
    def fails() -> str:
        """Act."""
        raise OSError("no such file")

    script = ModelScript([ACT, ScriptedResponse("done")])

    async def play() -> None:
        async with Engine() as engine:
            engine.add(POST_TOOL_USE_FAILURE, lambda failure: errors.append(failure.error))
            await HooklineRunner(engine).run(agent(script, tools=[fails]), "go", run_config=QUIET)

    asyncio.run(play())
    assert errors == ["action failed: OSError: no such file"]
    assert script.requests[1].result("c1") == "sorry: no such file"


def test_the_failure_of_a_model_is_told_by_its_kind() -> None:
    class Broken(ScriptedModel):
        async def get_response(self, *_given: Any, **_named: Any) -> Any:
            raise ConnectionError("no network")

    kinds: list[str] = []

    async def play() -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: kinds.append(failure.error))
            with pytest.raises(ConnectionError):
                await HooklineRunner(engine).run(
                    agent(ModelScript([]), model=Broken(ModelScript([]))), "go", run_config=QUIET
                )

    asyncio.run(play())
    assert kinds == ["server"]


class Odd:
    def __str__(self) -> str:
        return "something odd"


@function_tool
def find() -> Odd:
    """Find."""
    return Odd()


def test_a_result_without_a_json_form_is_its_text_for_hooks_as_for_the_model() -> None:
    script = ModelScript(
        [ScriptedResponse(calls=(ScriptedCall("find", {}, "c1"),)), ScriptedResponse("done")]
    )
    received: list[Any] = []

    async def play() -> None:
        async with Engine() as engine:
            engine.add(POST_TOOL_USE, lambda result: received.append(result.tool_response))
            await HooklineRunner(engine).run(agent(script, tools=[find]), "go", run_config=QUIET)

    asyncio.run(play())
    assert received == ["something odd"]
    assert script.requests[1].result("c1") == "something odd"


_SERVER = """
from pathlib import Path
from mcp.server.mcpserver import MCPServer

server = MCPServer("work")

@server.tool()
def deploy(place: str) -> str:
    Path("ran").write_text(place)
    return "deployed"

@server.tool()
def look(place: str) -> str:
    return f"saw {place}"

server.run("stdio")
"""


def test_tools_of_an_mcp_server_are_under_hooks(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(_SERVER, encoding="utf-8")
    calls = (ScriptedCall("deploy", {"place": "prod"}, "c1"), ScriptedCall("look", {"place": "there"}, "c2"))
    script = ModelScript([ScriptedResponse(calls=calls), ScriptedResponse("done")])

    async def play() -> Any:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not today"), "deploy")
            engine.add(PRE_TOOL_USE, lambda _call: rewrite({"place": "here"}), "look", rewrites=True)
            command: Any = {"command": sys.executable, "args": ["server.py"], "cwd": tmp_path}
            async with MCPServerStdio(command, client_session_timeout_seconds=60) as server:
                main = agent(script, mcp_servers=[server])
                return (await HooklineRunner(engine).run(main, "go", run_config=QUIET)).final_output

    assert asyncio.run(play()) == "done"
    assert not (tmp_path / "ran").exists()
    assert script.requests[1].result("c1") == "not today"
    assert "saw here" in (script.requests[1].result("c2") or "")


class _Acting(ScriptedModel):
    """A model that calls the SDK's own tools, then answers."""

    def __init__(self, call: Any) -> None:
        super().__init__(ModelScript([ScriptedResponse("done")]))
        self._calls = [call]
        self.given: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *given: Any, **named: Any) -> Any:
        self.given = list(input)
        if self._calls:
            return ModelResponse([self._calls.pop()], Usage(), None)
        return await super().get_response(system_instructions, [], None, [])


_SHELL_ACTION = responses.response_function_shell_tool_call.Action(commands=["git push --force"])
_PATCHED = responses.response_apply_patch_tool_call.OperationDeleteFile(path="a.txt", type="delete_file")
_LOCAL_CALLS = {
    "shell": responses.ResponseFunctionShellToolCall(
        id="i", call_id="c1", action=_SHELL_ACTION, status="in_progress", type="shell_call"
    ),
    "local_shell": responses.response_output_item.LocalShellCall(
        id="i",
        call_id="c1",
        action=responses.response_output_item.LocalShellCallAction(
            command=["git", "push", "--force"], env={}, type="exec"
        ),
        status="in_progress",
        type="local_shell_call",
    ),
    "apply_patch": responses.ResponseApplyPatchToolCall(
        id="i", call_id="c1", operation=_PATCHED, status="completed", type="apply_patch_call"
    ),
    "raw": responses.ResponseCustomToolCall(
        call_id="c1", input="git push", name="raw", type="custom_tool_call"
    ),
    "text": responses.ResponseFunctionToolCall(
        call_id="c1", arguments="no JSON", name="text", type="function_call"
    ),
}


class _Editing:
    def __init__(self, ran: list[Any]) -> None:
        self._ran = ran

    def create_file(self, operation: Any) -> None:
        self._ran.append(operation)

    update_file = delete_file = create_file


@every("allowed", [False, True])
@every("name", list(_LOCAL_CALLS))
def test_tools_of_the_sdk_that_act_here_are_under_hooks(name: str, allowed: bool) -> None:
    ran: list[Any] = []
    seen: list[Any] = []

    def act(*given: Any) -> str:
        ran.append(given)
        return "acted"

    async def invoke(_context: Any, given: str) -> str:
        return act(given)

    tools: dict[str, Any] = {
        "shell": ShellTool(executor=act),
        "local_shell": LocalShellTool(executor=act),
        "apply_patch": ApplyPatchTool(editor=_Editing(ran)),
        "raw": CustomTool(name="raw", description="", on_invoke_tool=act),
        "text": FunctionTool(
            "text", "", {"type": "object", "properties": {}}, invoke, strict_json_schema=False
        ),
    }

    async def judge(call: Any) -> Any:
        seen.append((call.tool_name, dict(call.tool_input)))
        return None if allowed else deny("not today")

    model = _Acting(_LOCAL_CALLS[name])

    async def play() -> Any:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, judge)
            acting = Agent("a", model=model, tools=[tools[name]])
            return (await HooklineRunner(engine).run(acting, "go", run_config=QUIET)).final_output

    assert asyncio.run(play()) == "done"
    assert [each[0] for each in seen] == [name]
    assert bool(ran) == allowed
    assert ("not today" in str(model.given)) != allowed


def test_a_tool_that_a_tool_adds_to_the_agent_is_under_hooks() -> None:
    ran: list[str] = []

    async def late(_context: Any, given: str) -> str:
        ran.append(given)
        return "acted"

    added = FunctionTool("late", "", {"type": "object", "properties": {}}, late, strict_json_schema=False)

    @function_tool
    def action(context: ToolContext[Any]) -> str:
        assert context.agent is not None
        context.agent.tools.append(added)
        return "added"

    calls = [ScriptedResponse(calls=(ScriptedCall(each, {}, each),)) for each in ("action", "late")]
    script = ModelScript([*calls, ScriptedResponse("done")])

    async def play() -> None:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not today"), "late")
            await HooklineRunner(engine).run(agent(script, tools=[action]), "go", run_config=QUIET)

    asyncio.run(play())
    assert ran == []
    assert script.requests[2].result("late") == "not today"


def test_the_log_names_tools_that_hooks_do_not_see(caplog: pytest.LogCaptureFixture) -> None:
    script = ModelScript([ScriptedResponse("one"), ScriptedResponse("two")])

    async def play() -> None:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not today"))
            for _ in range(2):
                asking = Agent("a", model=ScriptedModel(script), tools=[_Elsewhere()])
                await HooklineRunner(engine).run(asking, "go", run_config=QUIET)

    asyncio.run(play())
    assert [each.getMessage() for each in caplog.records if each.name == "hookline"] == [
        "hooks do not see the calls of a _Elsewhere of this agent"
    ]


class _Elsewhere(WebSearchTool):
    """A tool of the provider."""

    params_json_schema: Any = MappingProxyType(dict[str, Any]())
