"""Run a small agent as a hook: it may use read-only tools before it answers.

The loop is here, not in the host: a runner makes one step at a time, and only this handler calls tools. So a
runner can neither take more steps than allowed nor reach a tool that writes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from hookline.handlers.failures import broken_by, described, encoded_payload
from hookline.handlers.prompt import SYSTEM, replied, with_arguments
from hookline.handlers.specs import AgentSpec
from hookline.model.raw import Failed, RawResult
from hookline.model.wire import HookInvocation

_LONGEST_OUTPUT: Final = 100_000


class RequestedCall(Struct, frozen=True):
    """A tool call the model asks for."""

    name: str
    input: Mapping[str, Any] = {}
    id: str = ""


class HookToolOutput(Struct, frozen=True):
    """The result of a tool call."""

    id: str
    text: str
    is_error: bool = False


class Step(Struct, frozen=True):
    """One model response: tool calls to continue with, or, when there are none, the answer."""

    text: str = ""
    tool_uses: tuple[RequestedCall, ...] = ()


class HookAgentTool(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def read_only(self) -> bool: ...

    async def call(self, arguments: Mapping[str, Any]) -> str: ...


class AgentConversation(Protocol):
    """One conversation in progress."""

    async def step(self, outputs: Sequence[HookToolOutput]) -> Step:
        """Send one request to the model, with the outputs of the tools it last called."""
        ...


class AgentRunner(Protocol):
    """The host's way to hold a conversation with a model. An exception means that it gave no answer."""

    @property
    def tools(self) -> Sequence[HookAgentTool]:
        """All tools of the host; those that are not read-only are neither offered nor called."""
        ...

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: Sequence[HookAgentTool]
    ) -> AgentConversation: ...


class AgentHandler:
    kind = "agent"
    own_clock = False

    def __init__(self, runner: AgentRunner | None, system: str = SYSTEM) -> None:
        self._runner = runner
        self._system = system

    async def run(self, call: HookInvocation) -> RawResult:
        spec: AgentSpec = call.hook.spec
        problem = self.problem(spec)
        if self._runner is None or problem is not None:
            return Failed("not_started", problem or "")
        document = encoded_payload(call)
        if isinstance(document, Failed):
            return document
        try:
            tools = {tool.name: tool for tool in self._runner.tools if tool.read_only}
            conversation = await self._runner.begin(
                with_arguments(spec.prompt, document),
                system=spec.system or self._system,
                model=spec.model,
                tools=tuple(tools.values()),
            )
            return await take_steps(conversation, tools, spec.max_steps)
        except Exception as error:  # noqa: BLE001 - every error of a model client means no answer
            return broken_by(error, "transport", "the agent gave no answer: ")

    def problem(self, spec: Any) -> str | None:
        if self._runner is None:
            return "agent hooks need a model: pass --model NAME (in Python: an agent_runner)"
        if spec.max_steps < 1:
            return "max_steps must be at least 1"
        return None if spec.prompt.strip() else "its prompt is empty"

    async def close(self) -> None:
        """Do nothing: the runner belongs to the host."""


async def take_steps(run: AgentConversation, tools: Mapping[str, HookAgentTool], max_steps: int) -> RawResult:
    """Step until there is an answer. Running out of steps is a crash: it ran, and ended without one."""
    outputs: Sequence[HookToolOutput] = ()
    for _ in range(max_steps):
        step = await run.step(outputs)
        if not step.tool_uses:
            return replied(step.text)
        outputs = [await _called(tools, use) for use in step.tool_uses]
    return Failed("crashed", f"no answer within {max_steps} steps")


async def _called(tools: Mapping[str, HookAgentTool], use: RequestedCall) -> HookToolOutput:
    tool = tools.get(use.name)
    if tool is None:
        known = ", ".join(sorted(tools)) or "none"
        return HookToolOutput(use.id, f"unknown tool {use.name!r}; tools: {known}", is_error=True)
    try:
        text = await tool.call(use.input)
    except Exception as error:  # noqa: BLE001 - the model sees the error, as for any failed tool
        return HookToolOutput(use.id, described(error), is_error=True)
    return HookToolOutput(use.id, text[:_LONGEST_OUTPUT])
