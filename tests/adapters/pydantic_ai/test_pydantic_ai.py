"""Test Pydantic AI with the conformance suite, and its special cases: outputs, deferred tools, `run_stream`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel, ValidationInfo, field_validator
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
    ToolApproved,
    ToolDenied,
    ToolReturn,
)
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hookline import Engine, Outcome, ask, context, deny, halt, rewrite
from hookline.adapters.pydantic_ai import HooklineCapability, RunStoppedError
from hookline.events import (
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    STOP_FAILURE,
    TURN_SETTLED,
    USER_PROMPT_SUBMIT,
    EventSpec,
)
from hookline.host import LATER
from hookline.testing.conformance import Case, run_case
from tests.adapters.every_adapter import check_example, conformance, run_contexts
from tests.adapters.pydantic_ai.harness import PydanticAIHarness
from tests.every import every

Hook = tuple[EventSpec[Any], Outcome | Callable[[Any], Any]]


@conformance
def test_conformance(case: Case) -> None:
    run_case(PydanticAIHarness(), case).check()


def test_the_example_runs() -> None:
    check_example("pydantic_ai")


class Model:
    """Answers in order, and keeps what it was sent."""

    def __init__(self, *answers: str | ToolCallPart) -> None:
        self._left = list(answers)
        self.requests: list[list[ModelMessage]] = []

    def made(self) -> FunctionModel:
        return FunctionModel(self._answer, stream_function=self._stream)

    async def _answer(self, messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        self.requests.append(messages)
        answer = self._left.pop(0)
        return ModelResponse([TextPart(answer) if isinstance(answer, str) else answer])

    async def _stream(self, messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        self.requests.append(messages)
        answer = self._left.pop(0)
        assert isinstance(answer, str)
        yield answer[:2]
        yield answer[2:]

    @property
    def read(self) -> str:
        return str(self.requests)


def _note(seen: list[str], name: str, _payload: Any) -> None:
    seen.append(name)


def play(*hooks: Hook, run: Callable[[HooklineCapability], Any], fired: list[str] | None = None) -> Any:
    """Return the result of `run` with these hooks; `fired` are the names of the events."""

    seen = fired if fired is not None else []

    async def play() -> Any:
        async with Engine() as engine:
            for event, said in hooks:
                engine.add(event, said if callable(said) else lambda _payload, said=said: said)
            for event in (each for each in engine.events.values() if not each.needs_matcher):
                engine.add(event, partial(_note, seen, event.name))
            return await run(HooklineCapability(engine))

    return asyncio.run(play())


class City(BaseModel):
    name: str


@pytest.mark.parametrize("event", [USER_PROMPT_SUBMIT, PRE_MODEL_CALL])
def test_a_run_whose_output_is_no_text_raises_when_hooks_end_it(event: EventSpec[Any]) -> None:
    model = Model()

    async def run(hooks: HooklineCapability) -> None:
        agent = Agent(model.made(), output_type=City, capabilities=[hooks])
        with pytest.raises(RunStoppedError, match="enough"):
            await agent.run("where?")

    play((event, halt("enough")), run=run)
    assert model.requests == []


def test_run_stream_shows_the_answer_and_why_a_prompt_was_blocked() -> None:
    model = Model("fine")

    async def run(hooks: HooklineCapability) -> list[str]:
        shown: list[str] = []
        agent = Agent(model.made(), capabilities=[hooks])
        for prompt in ("a secret", "hello"):
            async with agent.run_stream(prompt) as result:
                shown.append(await result.get_output())
        return shown

    def guard(payload: Any) -> Outcome | None:
        return deny("no secrets") if "secret" in payload.prompt else None

    assert play((USER_PROMPT_SUBMIT, guard), run=run) == ["no secrets", "fine"]
    assert len(model.requests) == 1


def test_run_stream_says_why_a_request_was_held_back() -> None:
    async def run(hooks: HooklineCapability) -> str:
        async with Agent(Model().made(), capabilities=[hooks]).run_stream("hello") as result:
            return await result.get_output()

    assert play((PRE_MODEL_CALL, halt("enough")), run=run) == "enough"


def test_a_prompt_that_comes_with_the_history_is_a_prompt() -> None:
    async def run(hooks: HooklineCapability) -> str:
        agent = Agent(Model().made(), capabilities=[hooks])
        return (await agent.run(message_history=[ModelRequest([UserPromptPart("a secret")])])).output

    assert play((USER_PROMPT_SUBMIT, deny("no secrets")), run=run) == "no secrets"


def test_a_rewritten_prompt_keeps_its_pictures() -> None:
    model, picture = Model("a cat"), ImageUrl(url="https://example.com/cat.png")

    async def run(hooks: HooklineCapability) -> None:
        await Agent(model.made(), capabilities=[hooks]).run(["what is it, SECRET?", picture])

    play((USER_PROMPT_SUBMIT, rewrite("what is it?")), run=run)
    part = model.requests[0][0].parts[0]
    assert isinstance(part, UserPromptPart)
    assert part.content == ["what is it?", picture]


def test_a_call_that_needs_approval_fires_no_event_after_it() -> None:
    model, fired = Model(ToolCallPart("pay", {})), list[str]()

    async def run(hooks: HooklineCapability) -> Any:
        agent = Agent(model.made(), output_type=[str, DeferredToolRequests], capabilities=[hooks])

        @agent.tool_plain
        def pay() -> str:  # pyright: ignore[reportUnusedFunction]
            raise ApprovalRequired

        return (await agent.run("pay")).output

    assert isinstance(play(run=run, fired=fired), DeferredToolRequests)
    assert [name for name in fired if "Tool" in name or name == "Stop"] == ["PreToolUse"]


def test_a_tool_that_asks_the_model_to_try_again_is_a_failure_and_still_asks() -> None:
    model, fired = Model(ToolCallPart("look", {}), "sorry"), list[str]()

    async def run(hooks: HooklineCapability) -> str:
        agent = Agent(model.made(), capabilities=[hooks])

        @agent.tool_plain
        def look() -> str:  # pyright: ignore[reportUnusedFunction]
            raise ModelRetry("look elsewhere")

        return (await agent.run("look")).output

    assert play((POST_TOOL_USE_FAILURE, context("try the attic")), run=run, fired=fired) == "sorry"
    assert "PostToolUse" not in fired
    assert "look elsewhere" in model.read
    assert "try the attic" in model.read


def test_metadata_of_a_result_stays_when_a_hook_rewrites_it() -> None:
    kept: list[Any] = []

    async def run(hooks: HooklineCapability) -> None:
        agent = Agent(Model(ToolCallPart("look", {}), "done").made(), capabilities=[hooks])

        @agent.tool_plain
        def look() -> ToolReturn:  # pyright: ignore[reportUnusedFunction]
            return ToolReturn("SECRET", metadata={"rows": 1})

        messages = (await agent.run("look")).all_messages()
        kept.extend(
            (part.content, part.metadata) for part in messages[2].parts if part.part_kind == "tool-return"
        )

    play((POST_TOOL_USE, rewrite("***")), run=run)
    assert kept == [("***", {"rows": 1})]


def test_hooks_see_arguments_as_the_model_gave_them_and_the_tool_gets_them_as_it_wants() -> None:
    seen: list[Any] = []

    async def run(hooks: HooklineCapability) -> None:
        agent = Agent(
            Model(ToolCallPart("visit", {"city": {"name": "Rome"}}), "done").made(), capabilities=[hooks]
        )

        @agent.tool_plain
        def visit(city: City, days: int = 2) -> str:  # pyright: ignore[reportUnusedFunction]
            seen.append((city, days))
            return "ok"

        await agent.run("go")

    play((PRE_TOOL_USE, lambda payload: seen.append(payload.tool_input)), run=run)
    assert seen == [{"city": {"name": "Rome"}}, (City(name="Rome"), 2)]


def test_the_failure_of_a_model_is_told_by_its_kind() -> None:
    kinds: list[str] = []

    def breaks(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        raise ConnectionError("no network")

    async def run(hooks: HooklineCapability) -> None:
        with pytest.raises(ConnectionError):
            await Agent(FunctionModel(breaks), capabilities=[hooks]).run("hello")

    play((STOP_FAILURE, lambda payload: kinds.append(payload.error)), run=run)
    assert kinds == ["server"]


def test_you_choose_the_session_of_a_run() -> None:
    async def run() -> list[str]:
        ids: list[str] = []
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                ids.append(info.session_id)

            engine.add(STOP, note)

            def tenant(ctx: RunContext[str]) -> str:
                return ctx.deps

            hooks = HooklineCapability(engine, session_id=tenant)
            agent = Agent(Model("a", "b").made(), deps_type=str, capabilities=[hooks])
            await agent.run("one", deps="ann")
            await agent.run("two", deps="bob")
        return ids

    assert asyncio.run(run()) == ["ann", "bob"]


@every(
    ["approval", "paid", "read"],
    [
        (True, [9], "paid 9"),
        (ToolApproved(override_args={"amount": 5}), [5], "paid 5"),
        (ToolDenied("ask me tomorrow"), [], "ask me tomorrow"),
    ],
)
def test_an_approval_that_comes_later_is_a_deferred_request(
    approval: Any, paid: list[int], read: str
) -> None:
    ran: list[int] = []

    def pay(amount: int) -> str:
        ran.append(amount)
        return f"paid {amount}"

    async def play() -> tuple[Any, Any]:
        async with Engine(approve=lambda _question: LATER) as engine:
            engine.add(PRE_TOOL_USE, lambda _call: ask("it pays"), quick=True)
            model = Model(ToolCallPart("pay", {"amount": 9}, "c1"), "done")
            agent = Agent(
                model.made(),
                tools=[pay],
                capabilities=[HooklineCapability(engine)],
                output_type=[str, DeferredToolRequests],
            )
            paused = await agent.run("go")
            results = DeferredToolResults(approvals={"c1": approval})
            return paused, await agent.run(
                message_history=paused.all_messages(), deferred_tool_results=results
            )

    paused, result = asyncio.run(play())
    assert isinstance(paused.output, DeferredToolRequests)
    assert paused.output.metadata == {"c1": {"reason": "it pays", "tool_input": {"amount": 9}}}
    assert (ran, result.output) == (paid, "done")
    assert read in str(result.all_messages())


@every("way", ["run_stream", "iter"])
def test_nothing_of_an_answer_that_a_hook_rewrites_is_streamed(way: str) -> None:
    async def streamed(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str]:
        for piece in ("the key", " is 123"):
            yield piece

    async def play() -> list[str]:
        async with Engine() as engine:
            engine.add(POST_MODEL_CALL, lambda _answer: rewrite("the key is ***"), quick=True, rewrites=True)
            agent = Agent(FunctionModel(stream_function=streamed), capabilities=[HooklineCapability(engine)])
            if way == "run_stream":
                async with agent.run_stream("go") as result:
                    return [text async for text in result.stream_text(delta=True)]
            shown: list[str] = []
            async with agent.iter("go") as run:
                async for node in run:
                    if Agent.is_model_request_node(node):
                        async with node.stream(run.ctx) as stream:
                            shown += [text async for text in stream.stream_text(delta=True)]
            return shown

    assert "".join(asyncio.run(play())) == "the key is ***"


def test_the_validation_context_reaches_validators_of_rewritten_arguments() -> None:
    seen: list[Any] = []

    class Place(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def note(cls, value: str, info: ValidationInfo) -> str:
            seen.append((value, info.context))
            return value

    def look(place: Place) -> str:
        return f"saw {place.name}"

    async def play() -> str:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: rewrite({"name": "moon"}), quick=True, rewrites=True)
            agent = Agent(
                Model(ToolCallPart("look", {"name": "sun"}, "c1"), "done").made(),
                tools=[look],
                capabilities=[HooklineCapability(engine)],
                validation_context={"tenant": "acme"},
            )
            return str((await agent.run("go")).all_messages())

    assert "saw moon" in asyncio.run(play())
    assert {context["tenant"] for _value, context in seen} == {"acme"}


def test_hooks_find_the_dependencies_of_the_run() -> None:
    async def play() -> list[Any]:
        async with Engine() as engine:
            seen = run_contexts(engine)
            model = Model(ToolCallPart("act", {}, "c1"), "done")
            agent = Agent(model.made(), deps_type=dict[str, str], capabilities=[HooklineCapability(engine)])

            @agent.tool_plain
            def act() -> str:
                return "acted"

            await agent.run("go", deps={"user": "ann"})
            assert callable(act)
        return seen

    assert asyncio.run(play()) == [{"user": "ann"}]


@every("way", ["cancelled", "iter", "run_stream"])
def test_a_run_that_does_not_come_to_its_end_settles_its_turn_once(way: str) -> None:
    async def play() -> list[str]:
        reached = asyncio.Event()
        settled: list[str] = []
        async with Engine() as engine:
            engine.add(TURN_SETTLED, lambda turn: settled.append(turn.status), quick=True)
            answer = ToolCallPart("act", {}, "c1") if way == "cancelled" else "one two three"
            agent = Agent(Model(answer).made(), capabilities=[HooklineCapability(engine)])

            @agent.tool_plain
            async def act() -> None:
                reached.set()
                await asyncio.Event().wait()

            if way == "cancelled":
                run = asyncio.create_task(agent.run("go"))
                await reached.wait()
                run.cancel()
                await asyncio.wait([run])
            elif way == "iter":
                async with agent.iter("go") as steps:
                    await anext(steps)
            else:
                async with agent.run_stream("go") as stream:
                    await anext(stream.stream_text())
            return settled.copy()

    assert asyncio.run(play()) == ["interrupted"]


def book(place: str) -> str:
    """Book a place."""
    return f"booked {place}"


@every("denies", [True, False])
def test_an_output_function_is_a_call(denies: bool) -> None:
    calls = [ToolCallPart("final_result", {"place": place}, place) for place in ("there", "here")]
    model, seen = Model(*calls), list[Any]()

    async def play() -> str:
        async with Engine() as engine:

            async def judge(call: Any) -> Any:
                seen.append((call.tool_name, dict(call.tool_input)))
                return deny("not there") if denies and call.tool_input["place"] == "there" else None

            engine.add(PRE_TOOL_USE, judge)
            engine.add(POST_TOOL_USE, lambda done: rewrite(f"{done.tool_response}!"), rewrites=True)
            agent = Agent(model.made(), output_type=book, capabilities=[HooklineCapability(engine)])
            return (await agent.run("go")).output

    assert asyncio.run(play()) == ("booked here!" if denies else "booked there!")
    assert seen == [("book", {"place": place}) for place in (("there", "here") if denies else ("there",))]
    assert ("not there" in str(model.requests[-1])) == denies
