"""The same models answer prompt and agent hooks: in an engine, and in `hookline fire --model`."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.models.hook_models import ModelAgentRunner, ModelCompleter, whole_answer
from hookline.agent.models.hook_tools import read_only_tools
from hookline.agent.models.port import CompletionRequest, ModelError, Piece
from hookline.agent.models.scripted import Scripted, ScriptedModel, ScriptedToolUse
from hookline.extending import Failed, RawResult, Replied
from hookline.handlers.agent import AgentHandler, AgentSpec, HookToolOutput
from hookline.handlers.prompt import PromptHandler, PromptSpec
from hookline.model.messages import User
from tests.agent.models import provider_answers
from tests.agent.models.loopback_server import Loopback, Reply, error
from tests.agent.models.provider_ports import CHAT, port_to
from tests.handlers.calls import call_with, finished
from tests.trusting import trust_all_of
from tests.warm_process import run_warm


def run_hook(handler: PromptHandler | AgentHandler, spec: Any) -> RawResult:
    return finished(handler.run(call_with(spec)))


def scripted(*entries: Scripted) -> ScriptedModel:
    return ScriptedModel(entries)


def test_a_prompt_hook_is_answered_by_the_agents_model() -> None:
    model = scripted(Scripted(text='{"ok": true}'), Scripted(text="again"))
    handler = PromptHandler(ModelCompleter(model, "openai:x"))
    assert run_hook(handler, PromptSpec("Fine? $ARGUMENTS")) == Replied(b'{"ok": true}')
    run_hook(handler, PromptSpec("Fine?", model="openai:small", system="Be strict."))
    first, second = model.requests
    assert (first.model, first.tools) == ("openai:x", ())
    assert first.messages == (User(text='Fine? {"tool_name":"Bash","tool_input":{"command":"ls"}}'),)
    assert (second.model, second.system) == ("openai:small", "Be strict.")


def test_a_model_that_fails_is_a_hook_without_an_answer() -> None:
    handler = PromptHandler(ModelCompleter(scripted(Scripted(error="rate_limit", message="slow down")), "m"))
    broke = run_hook(handler, PromptSpec("Fine?"))
    assert isinstance(broke, Failed)
    assert broke.cause == "transport"
    assert "slow down" in broke.logged


def test_an_agent_hook_looks_at_files_before_it_answers(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("one\ntwo\n")
    model = scripted(
        Scripted(
            text="I look.",
            tool_calls=(
                ScriptedToolUse("Read", {"file_path": "notes.md"}),
                ScriptedToolUse("Read", {"file_path": 7}),
                ScriptedToolUse("Read", "no json"),
                ScriptedToolUse("Write", {"file_path": "x", "content": "y"}),
            ),
        ),
        Scripted(text='{"ok": true}'),
    )
    runner = ModelAgentRunner(model, "m", read_only_tools(str(tmp_path), {}))
    assert run_hook(AgentHandler(runner), AgentSpec("Look.")) == Replied(b'{"ok": true}')
    first, second = model.requests
    assert {tool.name for tool in first.tools} == {"Read", "Glob", "Grep"}
    assert all(tool.description and tool.schema["properties"] for tool in first.tools)
    results = second.messages[-4:]
    assert [getattr(result, "is_error", None) for result in results] == [False, True, True, True]
    assert "two" in str(results[0])
    assert "not a JSON object" in str(results[2])
    assert "unknown tool 'Write'" in str(results[3])
    assert not (tmp_path / "x").exists()


def test_tools_that_say_nothing_about_themselves_are_offered_by_name() -> None:
    class Bare:
        name = "Bare"
        read_only = True

        async def call(self, arguments: Mapping[str, Any]) -> str:
            return str(arguments)

    async def main() -> None:
        model = scripted(
            Scripted(tool_calls=(ScriptedToolUse("Bare", {"a": 1}, "c"),)), Scripted(text="done")
        )
        runner = ModelAgentRunner(model, "m", [Bare()])
        run = await runner.begin("task", system="s", model=None, tools=runner.tools)
        step = await run.step(())
        assert (step.tool_uses[0].name, step.tool_uses[0].input) == ("Bare", {"a": 1})
        assert (await run.step([HookToolOutput("c", "seen")])).text == "done"
        assert [tool.name for tool in model.requests[0].tools] == ["Bare"]

    asyncio.run(main())


def test_an_agent_hook_speaks_with_a_real_provider() -> None:
    async def main() -> None:
        async with Loopback(
            provider_answers.chat("I look.", calls=[("c1", "Glob", '{"pattern": "*"}')]),
            provider_answers.chat('{"ok": true}'),
        ) as server:
            port = port_to(CHAT, server)
            runner = ModelAgentRunner(port, CHAT, read_only_tools(os.path.dirname(__file__), {}))
            result = await AgentHandler(runner).run(call_with(AgentSpec("Look.")))
            await port.close()
            assert result == Replied(b'{"ok": true}')
            assert server.asked[1].body["messages"][-1]["tool_call_id"] == "c1"
            assert "test_hook_models.py" in server.asked[1].body["messages"][-1]["content"]

    asyncio.run(main())


def test_a_port_that_ends_without_an_answer_is_an_error() -> None:
    class Silent:
        async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
            nothing: tuple[Piece, ...] = ()
            for piece in nothing:
                yield piece

        async def close(self) -> None: ...

    with pytest.raises(ModelError, match="without an answer"):
        asyncio.run(whole_answer(Silent(), CompletionRequest(model="", system="", messages=())))


PROMPT = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "prompt"\nprompt = "Is it done? $ARGUMENTS"\n'
AGENT = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "agent"\nprompt = "Look whether it is done."\n'


def fire(directory: Path, config: str, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    (directory / ".hookline").mkdir(exist_ok=True)
    (directory / ".hookline" / "hooks.toml").write_text(config)
    trust_all_of(directory, directory)
    own = {"PATH": os.environ["PATH"], "HOME": str(directory), "XDG_STATE_HOME": str(directory), **env}
    ran = run_warm(["fire", "Stop", *words], cwd=directory, env=own)
    return subprocess.CompletedProcess(words, ran.status, ran.stdout.decode(), ran.stderr.decode())


def fire_at(directory: Path, config: str, *replies: Reply) -> tuple[dict[str, Any], Loopback]:
    async def main() -> tuple[dict[str, Any], Loopback]:
        async with Loopback(*replies) as server:
            done = await asyncio.to_thread(
                fire, directory, config, "--model", "toy-1", "--json",
                OPENAI_BASE_URL=f"{server.url}/v1",
            )  # fmt: skip
            assert done.stdout, done.stderr
            return json.loads(done.stdout), server

    return asyncio.run(main())


def test_fire_asks_a_real_provider_for_prompt_and_agent_hooks(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("all tests pass\n")
    document, server = fire_at(
        tmp_path,
        PROMPT + AGENT.replace("prompt = ", 'model = "toy-2"\nprompt = '),
        *(provider_answers.chat('{"ok": ', 'false, "reason": "not yet"}') for _ in range(2)),
    )
    assert document["outcome"]["reason"] == "not yet"
    assert [run["status"] for run in document["runs"]] == ["blocked", "blocked"]
    assert sorted(asked.body["model"] for asked in server.asked) == ["toy-1", "toy-2"]


def test_fire_tells_of_a_provider_that_refuses(tmp_path: Path) -> None:
    document, _ = fire_at(tmp_path, PROMPT, error(401, {"error": {"message": "who are you"}}))
    (run,) = document["runs"]
    assert run["status"] == "failed"
    assert run["cause"] == "transport"


def test_fire_says_what_to_set_before_anything_is_loaded_or_sent(tmp_path: Path) -> None:
    done = fire(tmp_path, PROMPT, "--model", "openai:gpt-x")
    assert done.returncode == 1
    assert "set OPENAI_API_KEY" in done.stderr
    done = fire(tmp_path, PROMPT, "--model", "opnai:gpt-x")
    assert "did you mean openai:gpt-x" in done.stderr


def test_a_script_plays_agent_hooks_too(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("all tests pass\n")
    (tmp_path / "model.json").write_text(
        json.dumps(
            [
                {"tool_calls": [{"name": "Read", "input": {"file_path": "notes.md"}}]},
                {"text": '{"ok": false, "reason": "I have read it"}'},
            ]
        )
    )
    done = fire(tmp_path, AGENT, "--model", "scripted:model.json", "--json")
    assert json.loads(done.stdout)["outcome"]["reason"] == "I have read it"
