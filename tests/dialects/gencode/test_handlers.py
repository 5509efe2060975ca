import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hookline import Outcome
from hookline.extending import Handler, standard_handlers
from hookline.handlers.agent import AgentConversation, HookAgentTool, HookToolOutput, Step
from tests.dialects.gencode.hooks import agent_with_hooks, bash, says
from tests.dialects.hooked_agent import HookedAgent
from tests.handlers.servers import Answer, Server, response, serving

NO = says("PreToolUse", permissionDecision="deny", permissionDecisionReason="not here")


def posted(answer: Answer, path: str = "/hook", **entry: Any) -> tuple[Outcome, HookedAgent, Server]:
    async def main() -> tuple[Outcome, HookedAgent, Server]:
        async with serving(answer) as server:
            agent = agent_with_hooks("PreToolUse", {"type": "http", "url": server.url + path, **entry})
            call = bash("ls")
            outcome = await agent.session.dispatch(agent.dialect.events["PreToolUse"].event, call)
            await agent.engine.close()
            return outcome, agent, server

    return asyncio.run(main())


def test_http_gets_the_payload_and_answers_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("OTHER", "hidden")
    headers = {"Authorization": "Bearer $MY_TOKEN", "X-Both": "${MY_TOKEN}-${OTHER}", "X-Plain": "as it is"}
    outcome, _, server = posted(
        response(json.dumps(NO).encode()), headers=headers, allowedEnvVars=["MY_TOKEN"]
    )
    assert outcome.reason == "not here"
    (seen,) = server.requests
    assert seen.line == "POST /hook HTTP/1.1"
    assert seen.header("Content-Type") == "application/json"
    assert seen.header("Authorization") == "Bearer secret"
    assert seen.header("X-Both") == "secret-"
    assert seen.header("X-Plain") == "as it is"
    assert json.loads(seen.body)["tool_input"] == {"command": "ls"}
    for status in ("400 Bad Request", "404 Not Found", "500 Broken"):
        outcome, agent, _ = posted(response(json.dumps(NO).encode(), status))
        assert not outcome.blocked
        assert agent.runs[0].cause == "transport"


def test_an_empty_body_says_nothing_and_text_cannot_be_read() -> None:
    outcome, agent, _ = posted(response(b""))
    assert (outcome.votes, agent.runs[0].status) == ((), "ok")
    outcome, agent, _ = posted(response(b"fine"))
    assert (outcome.votes, agent.runs[0].cause) == ((), "unreadable")


def test_http_has_its_timeout_too() -> None:
    async def never(_seen: Any, _writer: Any) -> None:
        await asyncio.sleep(60)

    outcome, agent, _ = posted(never, timeout=1)
    assert not outcome.blocked
    assert agent.runs[0].status == "timed_out"


class Model:
    """Answers with the same text, and remembers what it was asked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[tuple[str, str, str | None]] = []

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        self.asked.append((prompt, system, model))
        return self.text


class Runner:
    tools: Sequence[HookAgentTool] = ()

    def __init__(self, text: str) -> None:
        self.text = text
        self.begun: list[tuple[str, str, str | None]] = []

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: Sequence[HookAgentTool]
    ) -> AgentConversation:
        self.begun.append((task, system, model))
        return self

    async def step(self, outputs: Sequence[HookToolOutput]) -> Step:
        return Step(self.text)


def asked(entry: Mapping[str, Any], handlers: Mapping[str, Handler]) -> tuple[Outcome, HookedAgent]:
    agent = agent_with_hooks("PreToolUse", entry, handlers=handlers)
    return agent.fire("PreToolUse", bash("ls")), agent


def test_a_prompt_has_the_payload_in_place_of_its_arguments_or_below() -> None:
    model = Model(json.dumps(NO))
    handlers = standard_handlers(completer=model)
    outcome, _ = asked(
        {"type": "prompt", "prompt": "One: $ARGUMENTS Two: $ARGUMENTS", "model": "small"}, handlers
    )
    assert outcome.reason == "not here"
    asked({"type": "prompt", "prompt": "Look at this."}, handlers)
    (first, _, small), (second, system, usual) = model.asked
    assert first.count('"tool_input":{"command":"ls"}') == 2
    assert "$ARGUMENTS" not in first
    assert second.startswith("Look at this.\n")
    assert second.count('"tool_input":{"command":"ls"}') == 1
    assert (small, usual) == ("small", None)
    assert "exactly one JSON object" in system
    assert '"continue": false' in system
    outcome, agent = asked({"type": "prompt", "prompt": "x"}, standard_handlers())
    assert (outcome.blocked, agent.runs[0].status) == (False, "not_started")


@pytest.mark.parametrize(
    "reply", ["no", "", '{"continue": false} because', '{"decision": "block"}', '{"ok": false}']
)
def test_a_reply_that_decides_nothing_or_is_more_than_json_is_a_failure(reply: str) -> None:
    entry = {"type": "prompt", "prompt": "x"}
    outcome, agent = asked(entry, standard_handlers(completer=Model(reply)))
    assert (outcome.votes, agent.runs[0].cause) == ((), "unreadable")


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_without_a_model_it_is_reported_fails_and_goes_on(kind: str) -> None:
    outcome, agent = asked({"type": kind, "prompt": "x"}, standard_handlers())
    assert [one.code for one in agent.reading.diagnostics] == ["cannot-run"]
    assert not outcome.blocked
    assert agent.runs[0].status == "not_started"
    assert len(outcome.messages) == 1


def test_an_agent_answers_as_a_prompt_does() -> None:
    runner = Runner(json.dumps(NO))
    entry = {"type": "agent", "prompt": "Check $ARGUMENTS", "model": "big"}
    outcome, _ = asked(entry, standard_handlers(agent_runner=runner))
    assert outcome.reason == "not here"
    ((task, system, model),) = runner.begun
    assert '"command":"ls"' in task
    assert "exactly one JSON object" in system
    assert model == "big"


def test_a_prompt_has_its_timeout_too() -> None:
    class Slow(Model):
        async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
            await asyncio.sleep(60)
            return self.text

    entry = {"type": "prompt", "prompt": "x", "timeout": 1}
    outcome, agent = asked(entry, standard_handlers(completer=Slow(json.dumps(NO))))
    assert not outcome.blocked
    assert agent.runs[0].status == "timed_out"


def test_a_line_that_asks_the_user_something_is_no_answer() -> None:
    agent = agent_with_hooks("PreToolUse", """echo '{"prompt": "p1", "message": "sure?"}'; cat > /dev/null""")
    outcome = agent.fire("PreToolUse", bash("ls"))
    assert outcome.votes == ()
    assert agent.runs[0].dropped == ("prompt", "message")
