"""Test that a hook cannot change a payload in place: it raises in the hook, and no one else sees a change."""

import asyncio
import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import Struct
from pydantic import BaseModel

from hookline import Engine, Outcome, deny, rewrite
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, Capability, EventSpec, ToolCall, ToolResult
from hookline.extending import Run
from tests.every import every


def call() -> ToolCall:
    return ToolCall(
        tool_name="Edit",
        tool_input={"command": "ls", "edits": [{"old": "a", "lines": [1, 2]}], "pair": ([1], {"x": 1})},
    )


def set_key(value: Any) -> None:
    value["command"] = "rm -rf /"


def set_nested(value: Any) -> None:
    value["edits"][0]["old"] = "b"


def delete(value: Any) -> None:
    del value["command"]


def in_tuple(value: Any) -> None:
    value["pair"][1]["x"] = 2


def merge(value: Any) -> None:
    value |= {"command": "rm"}


def add(value: Any) -> None:
    value["edits"] += [1]


CHANGES: list[Callable[[Any], object]] = [
    set_key, set_nested, delete, in_tuple, merge, add,
    lambda value: value.update(command="rm"),
    lambda value: value.pop("command"),
    lambda value: value.popitem(),
    lambda value: value.setdefault("new", 1),
    lambda value: value.clear(),
    lambda value: value["edits"].append({}),
    lambda value: value["edits"].extend([1]),
    lambda value: value["edits"].insert(0, 1),
    lambda value: value["edits"].remove(value["edits"][0]),
    lambda value: value["edits"].clear(),
    lambda value: value["edits"][0]["lines"].sort(),
    lambda value: value["edits"][0]["lines"].reverse(),
    lambda value: value["pair"][0].pop(),
]  # fmt: skip


async def fired(engine: Engine, payload: ToolCall) -> tuple[Outcome, tuple[Run, ...]]:
    async with engine:
        return await engine.session("s").dispatch(PRE_TOOL_USE, payload), engine.journal.recent()


@every("change", CHANGES)
@every("rewrites", [False, True])
def test_a_change_raises_in_the_hook_and_reaches_nobody(
    change: Callable[[Any], object], rewrites: bool
) -> None:
    seen: list[Any] = []
    engine, payload = Engine(), call()

    @engine.on(PRE_TOOL_USE, rewrites=rewrites)
    async def changes(call: ToolCall) -> None:
        change(call.tool_input)

    @engine.on(PRE_TOOL_USE, rewrites=rewrites)
    def looks_in_a_thread(call: ToolCall) -> None:
        seen.append(copy.deepcopy(call.tool_input))

    @engine.on(PRE_TOOL_USE)
    async def looks(call: ToolCall) -> None:
        await asyncio.sleep(0)
        seen.append(copy.deepcopy(call.tool_input))

    outcome, runs = asyncio.run(fired(engine, payload))
    assert payload == call()
    assert seen == [call().tool_input] * 2
    assert outcome.blocked, "a guard that failed closes"
    assert any("cannot change its payload in place: return rewrite" in run.detail for run in runs)
    assert {run.status for run in runs} == {"failed", "ok"}


def test_what_a_hook_reads_is_still_a_dict() -> None:
    engine, payload, seen = Engine(), call(), list[Any]()

    @engine.on(PRE_TOOL_USE)
    async def reads(call: ToolCall) -> None:
        given = call.tool_input
        seen.extend(
            [
                json.loads(json.dumps({**given, "pair": None})),
                {**given},
                copy.copy(given),
                copy.deepcopy(given),
                pickle.loads(pickle.dumps(given)),
                dict(given) | {"more": 1},
                given["edits"][:],
            ]
        )
        assert isinstance(given, dict)
        assert isinstance(given["edits"], list)
        copied: Any = copy.deepcopy(given)
        copied["edits"][0]["lines"].append(3)

    outcome, _ = asyncio.run(fired(engine, payload))
    assert not outcome.blocked
    assert seen[1] == seen[2] == seen[3] == seen[4] == payload.tool_input
    assert type(seen[2]) is type(seen[3]) is type(seen[4]) is dict


def test_what_comes_back_can_be_changed_and_is_no_longer_the_hooks() -> None:
    engine, payload, kept = Engine(), call(), list[Any]()

    @engine.on(PRE_TOOL_USE, rewrites=True)
    async def rewrites(call: ToolCall) -> Outcome:
        changed = {**call.tool_input, "new": [1]}
        kept.append(changed)
        return rewrite(changed)

    @engine.on(PRE_TOOL_USE)
    async def too_late(call: ToolCall) -> None:
        kept[0]["new"].append("after it was judged")

    outcome, _ = asyncio.run(fired(engine, payload))
    outcome.updated_input["edits"].append("by the host")
    assert outcome.updated_input["new"] == [1]
    assert payload == call()


def test_guards_judge_the_value_that_is_used() -> None:
    """One tries to change the value after a guard saw it; the other rewrites, and the guard runs again."""
    judged: list[str] = []

    def engine_with(other: Callable[[ToolCall], Any]) -> Engine:
        engine = Engine()

        @engine.on(PRE_TOOL_USE)
        async def guard(call: ToolCall) -> Outcome | None:
            judged.append(call.tool_input["command"])
            return deny("no rm") if "rm" in call.tool_input["command"] else None

        engine.add(PRE_TOOL_USE, other, on_failure="open")
        return engine

    async def changes(call: ToolCall) -> None:
        set_key(call.tool_input)

    async def says(call: ToolCall) -> Outcome:
        return rewrite(command="rm -rf /")

    payload = call()
    outcome, _ = asyncio.run(fired(engine_with(changes), payload))
    assert (outcome.blocked, judged, payload.tool_input["command"]) == (False, ["ls"], "ls")
    outcome, _ = asyncio.run(fired(engine_with(says), payload))
    assert (outcome.reason, judged) == ("no rm", ["ls", "ls", "rm -rf /"])


class Weather(BaseModel):
    city: str
    degrees: list[float]


@dataclass
class Place:
    name: str
    tags: list[str] = field(default_factory=list[str])


class Odd:
    """It has no JSON form."""


class Record(Struct):
    numbers: list[int]


RESULTS: list[tuple[Any, Any]] = [
    (Weather(city="Oslo", degrees=[1.5]), {"city": "Oslo", "degrees": [1.5]}),
    (Place("here", ["a"]), {"name": "here", "tags": ["a"]}),
    (Record([1]), {"numbers": [1]}),
    ({"weather": [Weather(city="Oslo", degrees=[])]}, {"weather": [{"city": "Oslo", "degrees": []}]}),
    ({3, 4}, [3, 4]),
]


@pytest.mark.parametrize(("response", "shown"), RESULTS)
def test_a_result_of_any_type_is_shown_as_json_has_it(response: Any, shown: Any, tmp_path: Any) -> None:
    engine, seen = Engine(), list[Any]()

    @engine.on(POST_TOOL_USE)
    async def looks(result: ToolResult) -> None:
        seen.append(result.tool_response)
        given: Any = result.tool_response
        if given and not isinstance(given, str):
            with pytest.raises(TypeError):
                given[0] = 1

    engine.add(POST_TOOL_USE, f"cat > {tmp_path}/stdin")

    async def run() -> Outcome:
        async with engine:
            result = ToolResult(tool_name="weather", tool_response=response)
            return await engine.session("s", cwd=str(tmp_path)).dispatch(POST_TOOL_USE, result)

    assert asyncio.run(run()) == Outcome()
    assert seen == [shown]
    assert json.loads((tmp_path / "stdin").read_text())["tool_response"] == shown


def test_some_keys_of_a_model_can_be_rewritten() -> None:
    engine = Engine()

    @engine.on(POST_TOOL_USE)
    async def redacts(_result: ToolResult) -> Outcome:
        return rewrite(city="***")

    async def run() -> Outcome:
        result = ToolResult(tool_name="weather", tool_response=Weather(city="Oslo", degrees=[1]))
        return await engine.session("s").dispatch(POST_TOOL_USE, result)

    assert asyncio.run(run()).updated_output == {"city": "***", "degrees": [1.0]}


def test_a_result_that_contains_itself_closes_the_guard_and_is_not_raised() -> None:
    engine, endless = Engine(), list[Any]()
    endless.append(endless)

    @engine.on(PRE_TOOL_USE)
    async def looks(_call: ToolCall) -> None: ...

    outcome, runs = asyncio.run(fired(engine, ToolCall(tool_name="x", tool_input={"items": endless})))
    assert outcome.blocked
    assert [run.status for run in runs] == ["not_started"]


@dataclass
class Deployment:
    service: Odd
    hosts: list[str]


DEPLOYED = EventSpec("Deployed", Deployment, "after a deployment.", Capability.CONTEXT)
COUNTED = EventSpec("Counted", dict[str, Any], "after counting.", Capability.CONTEXT)


def test_payloads_of_a_host_keep_its_objects_and_cannot_be_changed_either() -> None:
    engine, payload, seen = Engine(events=[DEPLOYED, COUNTED]), Deployment(Odd(), ["a"]), list[Any]()

    @engine.on(DEPLOYED)
    async def changes(deployment: Deployment) -> None:
        deployment.service = Odd()
        deployment.hosts.append("b")

    @engine.on(DEPLOYED)
    async def looks(deployment: Deployment) -> None:
        seen.append((deployment.service, deployment.hosts))

    @engine.on(COUNTED)
    async def counts(counted: dict[str, Any]) -> None:
        counted["n"] += 1

    async def run() -> None:
        session = engine.session("s")
        await session.dispatch(DEPLOYED, payload)
        await session.dispatch(COUNTED, {"n": 1})

    asyncio.run(run())
    assert seen == [(payload.service, ["a"])]
    assert [run.status for run in engine.journal.recent()] == ["failed", "ok", "failed"]
