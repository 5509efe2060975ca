from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hookline.extending import Failed, RawResult, Replied
from hookline.handlers.agent import (
    AgentConversation,
    AgentHandler,
    AgentSpec,
    HookAgentTool,
    HookToolOutput,
    RequestedCall,
    Step,
)
from tests.handlers.calls import call_with, finished


class Tool:
    def __init__(self, name: str, read_only: bool = True, answer: Any = "found") -> None:
        self.name = name
        self.read_only = read_only
        self.answer = answer
        self.calls: list[Mapping[str, Any]] = []

    async def call(self, arguments: Mapping[str, Any]) -> str:
        self.calls.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Runner:
    """Plays a list of steps; the last one for ever."""

    def __init__(self, *steps: Step, tools: Sequence[Tool] = ()) -> None:
        self.steps = steps
        self.tools: Sequence[HookAgentTool] = tools
        self.begun: list[tuple[str, str | None, list[str]]] = []
        self.outputs: list[Sequence[HookToolOutput]] = []

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: Sequence[HookAgentTool]
    ) -> AgentConversation:
        self.begun.append((task, model, [tool.name for tool in tools]))
        return self

    async def step(self, outputs: Sequence[HookToolOutput]) -> Step:
        self.outputs.append(outputs)
        return self.steps[min(len(self.outputs), len(self.steps)) - 1]


def ran(runner: Runner | None, spec: AgentSpec) -> RawResult:
    return finished(AgentHandler(runner).run(call_with(spec, kind="agent")))


def uses(*names: str) -> Step:
    return Step(tool_uses=tuple(RequestedCall(name, {"path": "x"}, f"id-{name}") for name in names))


def test_an_agent_looks_around_and_answers() -> None:
    read = Tool("read")
    runner = Runner(uses("read"), Step("done"), tools=[read])
    assert ran(runner, AgentSpec("check $ARGUMENTS", "m")) == Replied(b"done")
    assert read.calls == [{"path": "x"}]
    assert runner.outputs == [(), [HookToolOutput("id-read", "found")]]
    task, model, offered = runner.begun[0]
    assert task.startswith('check {"tool_name"')
    assert (model, offered) == ("m", ["read"])


def test_a_tool_that_writes_is_neither_offered_nor_called() -> None:
    write = Tool("write", read_only=False)
    runner = Runner(uses("write", "unknown"), Step("done"), tools=[write, Tool("read")])
    assert ran(runner, AgentSpec("x")) == Replied(b"done")
    assert write.calls == []
    assert runner.begun[0][2] == ["read"]
    assert [output.is_error for output in runner.outputs[1]] == [True, True]
    assert "tools: read" in runner.outputs[1][0].text


def test_no_runner_takes_more_steps_than_it_was_given() -> None:
    runner = Runner(uses("read"), tools=[Tool("read")])
    assert ran(runner, AgentSpec("x", max_steps=7)) == Failed("crashed", "no answer within 7 steps")
    assert len(runner.outputs) == 7


def test_fifty_steps_are_the_default() -> None:
    runner = Runner(uses("read"), tools=[Tool("read")])
    assert isinstance(ran(runner, AgentSpec("x")), Failed)
    assert len(runner.outputs) == 50


def test_a_failing_tool_is_told_to_the_model() -> None:
    runner = Runner(uses("read"), Step("done"), tools=[Tool("read", answer=OSError("gone"))])
    assert ran(runner, AgentSpec("x")) == Replied(b"done")
    assert runner.outputs[1] == [HookToolOutput("id-read", "OSError: gone", is_error=True)]


def test_a_huge_tool_output_is_cut() -> None:
    runner = Runner(uses("read"), Step("done"), tools=[Tool("read", answer="x" * 1_000_000)])
    ran(runner, AgentSpec("x"))
    assert len(runner.outputs[1][0].text) == 100_000


def test_a_runner_that_raises_is_a_transport_failure() -> None:
    down = ConnectionError("down")

    class Failing(Runner):
        async def step(self, outputs: Sequence[HookToolOutput]) -> Step:
            raise down

    assert ran(Failing(), AgentSpec("x")) == Failed(
        "transport",
        "the agent gave no answer: ConnectionError",
        logged="the agent gave no answer: ConnectionError: down",
        raised=down,
    )


@pytest.mark.parametrize(
    ("runner", "spec", "problem"),
    [
        (None, AgentSpec("x"), "need a model"),
        (Runner(Step("x")), AgentSpec(" "), "prompt is empty"),
        (Runner(Step("x")), AgentSpec("x", max_steps=0), "at least 1"),
    ],
)
def test_what_can_never_run_says_so_early(runner: Runner | None, spec: AgentSpec, problem: str) -> None:
    received = AgentHandler(runner).problem(spec)
    assert received is not None
    assert problem in received
    assert ran(runner, spec) == Failed("not_started", received)
