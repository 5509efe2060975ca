"""Test misuse of the host API: it raises at once, and says what was wrong, where, and what to write instead."""

import asyncio
import dataclasses
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pydantic
import pytest

import hookline.events
from hookline import Blocking, Engine, Outcome, deny, load, rewrite
from hookline.engine.host.make_hook import HookOptions
from hookline.engine.host.misuse import constant_of
from hookline.events import (
    EVENTS,
    POST_TOOL_USE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    USER_PROMPT_SUBMIT,
    EventSpec,
    ModelRequest,
    Prompt,
    ToolCall,
    ToolResult,
    TurnAnswer,
)
from hookline.host import PendingCall
from hookline.testing import Hooks

LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
RESULT = ToolResult(tool_name="Bash", tool_response="a text")


def says(*words: str) -> Any:
    """A TypeError that has all of these words."""
    return pytest.raises(TypeError, match=".*".join(map(re.escape, words)))


def fire(event: EventSpec[Any], payload: Any, hook: Any, **options: Any) -> Outcome:
    engine = Engine()
    engine.add(event, hook, **options)

    async def fired() -> Outcome:
        async with engine:
            return await engine.session("s").dispatch(event, payload)

    return asyncio.run(fired())


def returns(value: Any) -> Callable[[Any], Any]:
    async def guard(_payload: Any) -> Any:
        return value

    return guard


# Events


def test_on_without_brackets() -> None:
    on: Any = Engine().on
    with says("@engine.on needs an event", "@engine.on(PRE_TOOL_USE) above no_force_push"):

        @on
        def no_force_push(call: ToolCall) -> None: ...


def test_the_name_of_an_event_in_place_of_the_event() -> None:
    engine: Any = Engine()
    session: Any = engine.session()
    for call, words in (
        (lambda: session.dispatch("PreToolUse", LS), "write session.dispatch(PRE_TOOL_USE, payload)"),
        (lambda: session.dispatch("PreToolUes", LS), "write session.dispatch(PRE_TOOL_USE, payload)"),
        (lambda: session.dispatch("pre_tool_use", LS), "write session.dispatch(PRE_TOOL_USE, payload)"),
        (lambda: session.dispatch("Lunch", LS), "no event has that name; see hookline.events"),
        (lambda: session.has("PreToolUse"), "write session.has(PRE_TOOL_USE)"),
        (lambda: session.add("PreToolUse", "true"), "write session.add(PRE_TOOL_USE)"),
        (lambda: engine.add("PreToolUse", "true"), "write engine.add(PRE_TOOL_USE)"),
        (lambda: engine.on("PreToolUse"), "write engine.on(PRE_TOOL_USE)"),
        (lambda: session.dispatch(None, LS), "None is not an event"),
    ):
        with says(words):
            call()


def test_an_event_of_the_host_by_its_name() -> None:
    row = EventSpec("Deployed", Prompt, "after a deployment.")
    session: Any = Engine(events=[row]).session()
    with says("engine.events['Deployed']"):
        session.dispatch("Deployed", Prompt(prompt="x"))


def test_every_constant_has_the_name_that_messages_say() -> None:
    for name, event in EVENTS.items():
        assert getattr(hookline.events, constant_of(name)) is event


# Payloads


@pytest.mark.parametrize("hooked", [False, True])
def test_a_payload_of_another_event(hooked: bool) -> None:
    engine = Engine()
    if hooked:
        engine.add(PRE_TOOL_USE, returns(None))
    session: Any = engine.session()
    with says("the payload of PreToolUse is a ToolCall, not a Prompt; write ToolCall(tool_name=…"):
        session.dispatch(PRE_TOOL_USE, Prompt(prompt="x"))
    with says("is a ToolCall, not a dict"):
        session.dispatch(PRE_TOOL_USE, {"tool_name": "Bash"})
    with says("is a ToolCall, not the class ToolCall"):
        session.dispatch(PRE_TOOL_USE, ToolCall)
    with Blocking(engine) as blocking, says("is a ToolCall, not a Prompt"):
        here: Any = blocking.session()
        here.dispatch(PRE_TOOL_USE, Prompt(prompt="x"))


def test_a_payload_that_is_more_than_the_event_needs() -> None:
    assert fire(PRE_TOOL_USE, RESULT, returns(deny("no"))).reason == "no"


@dataclasses.dataclass
class Point:
    x: int = 1


class Model(pydantic.BaseModel):
    x: int = 1


@pytest.mark.parametrize("result", [Point(), Model()])
def test_records_and_models_are_results(result: object) -> None:
    seen: list[Any] = []
    engine = Engine()
    engine.add(POST_TOOL_USE, lambda result: seen.append(result.tool_response))

    async def call() -> None:
        async with engine, engine.session("s") as session:
            done = await session.tool("look", {}, run=lambda _arguments: result)
            assert done.output is result

    asyncio.run(call())
    assert seen == [{"x": 1}]


# Hooks


def test_what_is_no_hook() -> None:
    def yields(call: ToolCall) -> Iterator[Outcome]:
        yield deny("no")

    async def async_yields(call: ToolCall) -> AsyncIterator[Outcome]:
        yield deny("no")

    def of_three(a: int, b: int, c: int) -> None: ...

    engine: Any = Engine()
    session: Any = engine.session()
    mistakes: list[tuple[Any, str]] = [
        (5, "a hook of PreToolUse is a function, a shell command as text or a guard, not an int: 5"),
        (None, "not None"),
        (lambda: None, "<lambda>() must take (payload) or (payload, info)"),
        (of_three, "must take (payload) or (payload, info)"),
        (yields, "yields is a generator: a hook returns its answer"),
        (async_yields, "async_yields is a generator"),
    ]
    for wrong, words in mistakes:
        for add in (engine.add, engine.make_hook, session.add):
            with says(words):
                add(PRE_TOOL_USE, wrong)
        with says(words):
            engine.on(PRE_TOOL_USE)(wrong)
    assert not engine.hooks
    assert not session.hooks


def test_a_function_in_place_of_the_matcher() -> None:
    engine: Any = Engine()
    with says("the matcher of engine.on is a text such as 'Bash', not function"):
        engine.on(PRE_TOOL_USE, returns(None))


def test_misspelt_options_of_hooks() -> None:
    engine: Any = Engine()
    session: Any = engine.session()
    kit: Any = Hooks()
    for where, take in (
        ("engine.on", partial(engine.on, PRE_TOOL_USE)),
        ("engine.add", partial(engine.add, PRE_TOOL_USE, "true")),
        ("engine.make_hook", partial(engine.make_hook, PRE_TOOL_USE, "true")),
        ("session.add", partial(session.add, PRE_TOOL_USE, "true")),
        ("engine.on", partial(kit.on, PRE_TOOL_USE)),
        ("engine.add", partial(kit.add, PRE_TOOL_USE, "true")),
    ):
        with says(f"{where} has no option 'matchr'; did you mean matcher?"):
            take(matchr="Bash")
        with says(f"{where} has no option 'timout'; did you mean timeout?"):
            take(timout=5)
        with says(f"{where} has no option 'zzz'; there are matcher, condition, in_doubt"):
            take(zzz=5)
    kit.close()


def test_help_lists_the_options() -> None:
    listed = set(re.findall(r"^- `(\w+)`", re.sub(r"(?m)^ +", "", Engine.on.__doc__ or ""), re.MULTILINE))
    assert listed == {*HookOptions.__annotations__, "scope"}


# Sessions


def test_misspelt_options_of_sessions() -> None:
    engine: Any = Engine()
    with says("engine.session has no option 'cdw'; did you mean cwd?"):
        engine.session("s", cdw=".")
    with says("session.update has no option 'permision_mode'; did you mean permission_mode?"):
        engine.session("s").update(permision_mode="plan")
    with Blocking(engine) as blocking, says("has no option 'cdw'"):
        there: Any = blocking
        there.session("s", cdw=".")


def test_paths_are_accepted(tmp_path: Path) -> None:
    engine = Engine()
    session = engine.session("s", cwd=tmp_path, project_dir=tmp_path, transcript_path=tmp_path / "t.jsonl")
    info = session.info
    directory = str(tmp_path)
    assert (info.cwd, info.project_dir, info.transcript_path) == (
        directory,
        directory,
        f"{directory}/t.jsonl",
    )
    session.update(cwd=tmp_path / "app", project_dir=None)
    assert (session.info.cwd, session.info.project_dir) == (f"{directory}/app", None)
    assert engine.load(tmp_path).diagnostics == ()
    assert load(tmp_path, drain_seconds=1).diagnostics == ()


# Answers


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ({"decison": "block", "reason": "no"}, "decison is not a field of an answer; did you mean decision?"),
        ({"systemMesage": "hi"}, "did you mean systemMessage?"),
        ({"systemMessage": "hi", "reson": "x"}, "reson is not a field of an answer; did you mean reason?"),
        ({"additionalContext": "hi"}, "did you mean hookSpecificOutput.additionalContext?"),
        ({"hookSpecificOutput": {"updatedInptu": {}}}, "did you mean updatedInput?"),
        ({"hookSpecificOutput": {"additionlContext": "hi"}}, "did you mean additionalContext?"),
        ({"zzz": 1}, "zzz is not a field of an answer; there are continue, stopReason"),
        ({1: 2}, "1 is not a field of an answer"),
    ],
)
def test_a_misspelt_key_in_an_answer(answer: dict[Any, Any], hint: str) -> None:
    assert hint in (fire(PRE_TOOL_USE, LS, returns(answer), name="guard").reason or "")
    if "updatedInptu" not in str(answer):
        said = fire(STOP, TurnAnswer(), returns(answer), name="guard")
        assert [message.hook for message in said.messages] == ["guard"]
        assert hint in said.messages[0].text


def test_a_command_may_know_more_fields_than_we_do() -> None:
    said = fire(STOP, TurnAnswer(), """echo '{"systemMessage": "hi", "colour": "red"}'""")
    assert [message.text for message in said.messages] == ["hi"]


@pytest.mark.parametrize(
    ("event", "payload", "edit", "words"),
    [
        (USER_PROMPT_SUBMIT, Prompt(prompt="a"), rewrite(prompt="x"), "rewrite(prompt=…) changes keys, and prompt"),
        (POST_TOOL_USE, RESULT, rewrite(tool_response="x"), "tool_response is a text: return rewrite(value)"),
        (POST_TOOL_USE, RESULT, rewrite(x=1), "rewrite(x=…) changes keys, and tool_response is a text"),
        (PRE_MODEL_CALL, ModelRequest(), rewrite(messages=[]), "messages is a list"),
        (PRE_TOOL_USE, LS, rewrite(tool_input={"command": "x"}), "would add a key 'tool_input' to tool_input"),
    ],
)  # fmt: skip
def test_keys_are_rewritten_where_there_are_none(
    event: EventSpec[Any], payload: Any, edit: Outcome, words: str
) -> None:
    said = fire(event, payload, returns(edit), name="rewriter", rewrites=True)
    text = said.reason or said.messages[0].text
    assert text.startswith("hook rewriter gave no answer: ")
    assert words in text
    assert not said.edits


def test_keys_of_an_object_are_rewritten() -> None:
    result = ToolResult(tool_name="look", tool_response={"x": 1})
    assert fire(POST_TOOL_USE, result, returns(rewrite(x=2)), rewrites=True).updated_output == {"x": 2}
    named = ToolCall(tool_name="look", tool_input={"tool_input": 1})
    said = fire(PRE_TOOL_USE, named, returns(rewrite(tool_input=2)), rewrites=True)
    assert said.updated_input == {"tool_input": 2}


# Mistakes that are reported while hooks run: once each, with the name of the hook


def notices(engine: Engine, times: int = 2) -> list[str]:
    async def fired() -> list[str]:
        async with engine:
            session = engine.session("s")
            outcomes = [await session.dispatch(PRE_TOOL_USE, LS) for _ in range(times)]
            await engine.drain()
            late = [item.text for item in session.inbox.take_all()]
            return [message.text for said in outcomes for message in said.messages] + late

    return asyncio.run(fired())


def test_a_hook_that_rewrites_and_is_not_marked() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, returns(rewrite(timeout=1)), name="limit")
    engine.add(PRE_TOOL_USE, returns(rewrite(shell="sh")), name="shell", rewrites=True)
    assert notices(engine) == [
        "hook limit rewrites tool_input and is not marked rewrites=True: hooks beside it judge the old tool_input"
    ]


async def blocks_at_once(_call: ToolCall) -> None:
    time.sleep(0.26)


async def blocks_later(_call: ToolCall) -> None:
    await asyncio.sleep(0)
    time.sleep(0.26)


async def blocks_and_fails(_call: ToolCall) -> None:
    time.sleep(0.26)
    raise ValueError


@pytest.mark.parametrize("mode", ["wait", "async", "shadow"])
@pytest.mark.parametrize("hook", [blocks_at_once, blocks_later, blocks_and_fails])
def test_an_async_hook_that_blocks_the_loop(hook: Any, mode: str) -> None:
    engine = Engine()
    options: Any = {"mode": "shadow"} if mode == "shadow" else {"waiting": mode}
    engine.add(PRE_TOOL_USE, hook, name="slow", **options)
    translated = [text for text in notices(engine) if "blocked the event loop" in text]
    assert len(translated) == 1
    assert re.match(
        r"hook slow is async and blocked the event loop for \d\.\d\d s: await what it waits for",
        translated[0],
    )


def test_hooks_that_let_others_run() -> None:
    async def waits(_call: ToolCall) -> None:
        await asyncio.sleep(0.3)

    def in_a_thread(_call: ToolCall) -> None:
        time.sleep(0.3)

    engine = Engine()
    for hook in (waits, in_a_thread):
        engine.add(PRE_TOOL_USE, hook)
    engine.add(PRE_TOOL_USE, "sleep 0.3")
    assert notices(engine, 1) == []


# An engine that is not closed


ENDED = "hooks were still running in the background and were ended: {}; close the engine"
UNCLOSED = """
import asyncio
from hookline import Blocking, Engine
from hookline.events import PRE_TOOL_USE, ToolCall
LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
engine = Engine()
async def waits(call): await asyncio.sleep(60)
engine.add(PRE_TOOL_USE, waits, waiting="async", name="audit")
engine.add(PRE_TOOL_USE, waits, waiting="async", name="mail")
async def call():
    await engine.session().dispatch(PRE_TOOL_USE, LS)
    await asyncio.sleep(0)
"""


@pytest.mark.parametrize(
    ("code", "translated"),
    [
        ("asyncio.run(call())", ["audit", "mail"]),
        ("Blocking(engine).session().dispatch(PRE_TOOL_USE, LS)", ["audit, mail"]),
        ("asyncio.new_event_loop().run_until_complete(call())", ["audit, mail"]),
        ("hooks = Blocking(engine)\nhooks.session().dispatch(PRE_TOOL_USE, LS)\nhooks.close(0)", []),
        ("async def closed():\n    await call()\n    await engine.close(0)\nasyncio.run(closed())", []),
    ],
)  # fmt: skip
def test_background_hooks_of_an_engine_that_is_not_closed(code: str, translated: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNCLOSED + code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    warned = sorted(line for line in done.stderr.splitlines() if "RuntimeWarning" in line)
    assert len(warned) == len(translated), done.stderr
    for names, line in zip(translated, warned, strict=True):
        assert ENDED.format(names) in line


_WAITING = PendingCall(tool_name="pay", tool_input={}, given={}, reason="money")


#: Calls of a host with a wrong argument, and the error.
_WRONG: tuple[tuple[str, tuple[Any, ...], dict[str, Any], str], ...] = (
    ("tool", ("pay", {}), {"run": None}, "run is a function of the tool's arguments, not None"),
    ("tool", ("pay", {}), {"run": print, "check": 5}, "check is a function of the tool's arguments, not 5"),
    ("resume", ({}, True), {"run": print}, "pending is a PendingCall, not {}"),
    ("resume", (_WAITING, "yes"), {"run": print}, "approval is True, False or an Approval, not 'yes'"),
    ("model", (None,), {}, "takes a list of messages, each an object, not None"),
)


@pytest.mark.parametrize(("name", "given", "options", "problem"), _WRONG)
def test_a_wrong_argument_of_a_hosts_call_is_named(
    name: str, given: tuple[Any, ...], options: dict[str, Any], problem: str
) -> None:
    async def play() -> None:
        await getattr(Engine().session("s"), name)(*given, **options)

    with pytest.raises(TypeError, match=problem):
        asyncio.run(play())


def test_arguments_that_are_no_object_are_refused() -> None:
    ran: list[Any] = []
    given: Any = ["rm", "-rf"]
    done = asyncio.run(Engine().session("s").tool("pay", given, run=ran.append))
    assert done.refused == "The arguments do not fit: they are no object: ['rm', '-rf']"
    assert ran == []


def test_on_hook_error_takes_the_error() -> None:
    report: Any = 5
    with pytest.raises(TypeError, match="on_hook_error is a function of one HookError, not 5"):
        Engine(on_hook_error=report)
