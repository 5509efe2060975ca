"""Wrong use of the host API that type checkers find. Never run.

Each mistake is marked for mypy (`type: ignore`) and for pyright (`pyright: ignore`). Both report a mark that marks
nothing, so a mistake that one of them no longer finds fails `make lint`.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from hookline import Blocking, Engine, Outcome, Session, deny, load
from hookline.events import PRE_TOOL_USE, STOP, USER_PROMPT_SUBMIT, Prompt, ToolCall
from hookline.testing import Hooks

engine = Engine()


# @engine.on without brackets


@engine.on  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
def without_brackets(call: ToolCall) -> Outcome:
    return deny("no")


# A function of another payload


@engine.on(PRE_TOOL_USE)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
def of_another_payload(prompt: Prompt) -> Outcome:
    return deny("no")


@engine.on(PRE_TOOL_USE)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
async def of_another_payload_too(prompt: Prompt) -> None: ...


def of_a_prompt(prompt: Prompt) -> Outcome:
    return deny("no")


def added(session: Session, hooks: Hooks) -> None:
    engine.add(PRE_TOOL_USE, of_a_prompt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.make_hook(PRE_TOOL_USE, of_a_prompt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    session.add(PRE_TOOL_USE, of_a_prompt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    hooks.add(PRE_TOOL_USE, of_a_prompt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    hooks.on(PRE_TOOL_USE)(of_a_prompt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]


# What cannot be a hook


def nothing() -> Outcome:
    return deny("no")


def yields(call: ToolCall) -> Iterator[Outcome]:
    yield deny("no")


async def async_yields(call: ToolCall) -> AsyncIterator[Outcome]:
    yield deny("no")


def says_text(call: ToolCall) -> str:
    return "deny"


async def says_yes(call: ToolCall) -> bool:
    return True


def no_hooks() -> None:
    engine.add(PRE_TOOL_USE, 5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.add(PRE_TOOL_USE, nothing)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.add(PRE_TOOL_USE, yields)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.add(PRE_TOOL_USE, async_yields)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.add(PRE_TOOL_USE, says_text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.add(PRE_TOOL_USE, says_yes)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.on(PRE_TOOL_USE)(nothing)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
    engine.on(PRE_TOOL_USE)(yields)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType, reportCallIssue]
    engine.on(PRE_TOOL_USE)(says_text)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType, reportCallIssue]
    engine.on(PRE_TOOL_USE, of_a_prompt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# Events and payloads


async def dispatched(session: Session, blocking: Blocking) -> None:
    call = ToolCall(tool_name="Bash")
    await session.dispatch("PreToolUse", call)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await session.dispatch(PRE_TOOL_USE, Prompt(prompt="x"))  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    await session.dispatch(USER_PROMPT_SUBMIT, call)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    await session.dispatch(STOP, {"last_assistant_message": "x"})  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    session.has("PreToolUse")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    blocking.session().dispatch("PreToolUse", call)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    blocking.session().dispatch(PRE_TOOL_USE, Prompt(prompt="x"))  # type: ignore[misc]  # pyright: ignore[reportArgumentType]


# Options


def options(session: Session, blocking: Blocking, hooks: Hooks) -> None:
    engine.on(PRE_TOOL_USE, matchr="Bash")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    engine.on(PRE_TOOL_USE, timeout="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.on(PRE_TOOL_USE, waiting="later")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    engine.on(PRE_TOOL_USE, on_failure={"timedout": "open"})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    engine.add(PRE_TOOL_USE, "true", timout=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    engine.make_hook(PRE_TOOL_USE, "true", rewrite=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    session.add(PRE_TOOL_USE, "true", matchr="Bash")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    session.add(PRE_TOOL_USE, "true", scope="user")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    hooks.add(PRE_TOOL_USE, "true", matchr="Bash")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    hooks.on(PRE_TOOL_USE, matchr="Bash")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    engine.session("one", cdw=".")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    engine.session("one", cwd=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    session.update(permision_mode="plan")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    blocking.session("one", cdw=".")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    blocking.session("one", approve=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    load(Path(), aprove=None)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Engine(aprove=None)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def tools(session: Session, blocking: Blocking) -> None:
    await session.tool("Bash", {}, run=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await session.tool("Bash", {}, run=print, ident="c1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    blocking.session().tool("Bash", {}, run=print, ident="c1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
