"""Test the Antigravity SDK with the conformance suite and its real program; and its special cases."""

import asyncio
import gc
import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from google.antigravity import Agent, LocalAgentConfig, types
from google.antigravity.hooks import hooks
from google.antigravity.tools.tool_context import ToolContext
from google.antigravity.tools.tool_runner import ToolWithSchema

from hookline import Engine, Outcome, context, deny, halt, rewrite
from hookline.adapters.antigravity import TOOLS, with_hooks
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, STOP, USER_PROMPT_SUBMIT
from hookline.model.errors import EngineClosedError
from hookline.testing.conformance import Case, run_case
from tests.adapters.antigravity.harness import AntigravityHarness, configured, result_in
from tests.adapters.every_adapter import check_example, conformance
from tests.adapters.provider import Provider, provider


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Close the pipes of the program that the SDK leaves open, without the warning about them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@conformance
def test_conformance(case: Case) -> None:
    run_case(AntigravityHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("antigravity")


def played(
    folder: Path,
    engine: Engine,
    *answers: str | dict[str, Any],
    builtin: str = "",
    tools: tuple[Any, ...] = (),
) -> tuple[str, Provider]:
    """Return the last answer of one turn in the real program, and what the model was sent."""

    async def play(server: Provider) -> str:
        config = configured(server.url.removesuffix("/v1"), str(folder), list(tools))
        if builtin:
            config.capabilities = types.CapabilitiesConfig(enabled_tools=[types.BuiltinTools(builtin)])
        async with engine, Agent(with_hooks(engine, config)) as agent:
            await (await agent.chat("go")).resolve()
            return agent.conversation.last_response

    with provider(*answers) as server:
        return asyncio.run(play(server)), server


def results(server: Provider) -> list[str]:
    """Return what the model read of its calls."""
    parts = [part for content in server.requests[-1]["contents"] for part in content["parts"]]
    return [result_in(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


def line(folder: Path, command: str) -> dict[str, Any]:
    given = {"CommandLine": command, "Cwd": str(folder), "WaitMsBeforeAsync": 5000}
    return {"name": "run_command", "arguments": {**given, "toolSummary": "x", "toolAction": "y"}}


def test_hooks_of_other_agents_guard_the_shell_of_the_program(tmp_path: Path) -> None:
    command = "if grep -q 'rm kept'; then echo keep it >&2; exit 2; fi"
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    engine = Engine(tools=TOOLS)
    assert not engine.load(str(tmp_path), [str(settings)]).diagnostics
    kept = tmp_path / "kept.txt"
    kept.write_text("x")
    answer, server = played(tmp_path, engine, line(tmp_path, "rm kept.txt"), "done", builtin="run_command")
    assert (answer, kept.exists()) == ("done", True)
    assert "keep it" in results(server)[0]


def test_a_rewrite_runs_in_the_shell_of_the_program_and_a_removed_argument_is_refused(tmp_path: Path) -> None:
    engine = Engine(tools=TOOLS)

    def change(call: Any) -> Outcome:
        if "one" in call.tool_input["CommandLine"]:
            return rewrite({**call.tool_input, "CommandLine": "echo two > made.txt"})
        return rewrite({key: value for key, value in call.tool_input.items() if key != "Cwd"})

    engine.add(PRE_TOOL_USE, change)
    calls = (line(tmp_path, "echo one > made.txt"), line(tmp_path, "echo three > made.txt"))
    _, server = played(tmp_path, engine, *calls, "done", builtin="run_command")
    assert (tmp_path / "made.txt").read_text() == "two\n"
    assert "a hook removed Cwd" in results(server)[1]


def test_text_about_a_result_of_the_program_is_reported_as_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine, seen = Engine(), list[Any]()
    engine.add(POST_TOOL_USE, lambda result: (seen.append(result.tool_response), context("look again"))[1])
    with caplog.at_level(logging.WARNING, "hookline"):
        _, server = played(tmp_path, engine, line(tmp_path, "echo hi"), "done", builtin="run_command")
    assert "hi" in str(seen)
    assert "look again" not in results(server)[0]
    assert "about the result of a tool of the program" in caplog.text


def test_a_stop_hook_that_always_blocks_reaches_its_limit(tmp_path: Path) -> None:
    engine = Engine()
    engine.add(STOP, lambda _turn: deny("not yet"))
    answer, server = played(tmp_path, engine, *[f"answer {number}" for number in range(40)])
    assert len(server.requests) == 9  # the first, and eight more
    assert answer == "answer 8"


def test_after_a_stop_no_call_of_the_turn_runs_and_no_hook_continues_it(tmp_path: Path) -> None:
    engine, ran = Engine(), list[str]()

    def look(place: str) -> str:
        """Look."""
        ran.append(place)
        return "seen"

    engine.add(PRE_TOOL_USE, lambda call: halt("enough") if call.tool_input["place"] == "one" else None)
    engine.add(STOP, lambda _turn: deny("go on"))
    calls = [{"name": "look", "arguments": {"place": place}} for place in ("zero", "one", "two")]
    answer, server = played(tmp_path, engine, *calls, "over", "more", tools=(look,))
    assert (answer, ran, len(server.requests)) == ("over", ["zero"], 4)
    assert "enough" in results(server)[1]


@pytest.mark.parametrize("guarded", [True, False])
def test_a_subagent_of_the_program_starts_only_where_no_hook_judges_calls(
    tmp_path: Path, guarded: bool
) -> None:
    engine, ran, after = Engine(), list[str](), list[str]()

    def look(place: str) -> str:
        """Look."""
        ran.append(place)
        return "seen"

    if guarded:
        engine.add(PRE_TOOL_USE, lambda _call: None)
    engine.add(POST_TOOL_USE, lambda result: after.append(result.tool_name))
    subagent = types.SubagentConfig(name="helper", description="Helps.", tools=[look])
    wanted = {"TypeName": "helper", "Role": "helper", "Prompt": "look"}
    start = {
        "name": "invoke_subagent",
        "arguments": {"Subagents": [wanted], "toolSummary": "x", "toolAction": "y"},
    }
    left = [start]

    async def play(server: Provider) -> None:
        config = configured(server.url.removesuffix("/v1"), str(tmp_path), [])
        tools = [types.BuiltinTools.INVOKE_SUBAGENT]
        config.capabilities = types.CapabilitiesConfig(enabled_tools=tools, enable_subagents=True)
        config.subagents = [subagent]
        async with engine, Agent(with_hooks(engine, config)) as agent:
            await (await agent.chat("go")).resolve()

    def scripted(request: Mapping[str, Any]) -> Any:
        names = [each["name"] for tool in request.get("tools", ()) for each in tool["functionDeclarations"]]
        if "look" in names and "functionResponse" not in json.dumps(request["contents"]):
            return {"name": "look", "arguments": {"place": "there"}}
        return left.pop() if left and "invoke_subagent" in names else "done"

    with provider() as server:
        server.answer = lambda request: (server.requests.append(request), scripted(request))[1]
        asyncio.run(play(server))
    assert ran == ([] if guarded else ["there"])
    assert ("look" in after) is not guarded
    assert ("does not ask them" in json.dumps(server.requests)) is guarded


def test_a_prompt_that_a_hook_rewrites_is_not_sent(tmp_path: Path) -> None:
    engine = Engine()
    engine.add(USER_PROMPT_SUBMIT, lambda _prompt: rewrite("other"), rewrites=True)
    with pytest.raises(types.AntigravityExecutionError, match="rewrote the prompt"):
        played(tmp_path, engine, "hello")


def test_tools_keep_their_context_their_schema_and_their_threads(tmp_path: Path) -> None:
    ran: list[Any] = []

    def plain(place: str, here: ToolContext) -> str:
        """Look."""
        ran.append((place, type(here).__name__))
        return "seen"

    async def free(**given: Any) -> Mapping[str, Any]:
        """Take anything."""
        ran.append(given)
        return given

    free_tool = ToolWithSchema(
        free, {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    )
    calls: list[Any] = [
        {"name": "plain", "arguments": {"place": "there"}}, {"name": "free", "arguments": {"x": 3}},
    ]  # fmt: skip
    answer, server = played(tmp_path, Engine(), *calls, "done", tools=(plain, free_tool))
    assert answer == "done"
    assert ran == [("there", "ToolContext"), {"x": 3}]
    assert results(server)[0] == "seen"


def test_hooks_of_your_own_stay_and_come_first() -> None:
    class Mine(hooks.PreTurnHook):
        async def run(self, context: Any, data: Any) -> types.HookResult:
            return types.HookResult()

    own = Mine()
    config = LocalAgentConfig(hooks=[own])
    before: Any = config
    changed: Any = with_hooks(Engine(), config)
    assert before.hooks == [own]
    assert changed.hooks[0] is own
    assert len(changed.hooks) == 7


def test_a_closed_engine_is_reported() -> None:
    engine = Engine()
    asyncio.run(engine.close())
    with pytest.raises(EngineClosedError):
        with_hooks(engine, LocalAgentConfig())
