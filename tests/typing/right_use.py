"""Right use of the host API. Never run: pyright strict and `mypy --strict` must find nothing in it (`make lint`)."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack, assert_type

from hookline import Blocking, Engine, Outcome, Session, ask, context, deny, load, rewrite
from hookline.actions import shell
from hookline.events import (
    POST_TOOL_USE,
    PRE_TOOL_USE,
    STOP,
    USER_PROMPT_SUBMIT,
    EventSpec,
    Prompt,
    ToolCall,
    ToolResult,
    TurnAnswer,
)
from hookline.extending import Hook, SessionInfo
from hookline.guards import guard
from hookline.host import Approval, ApprovalRequest, HookOptions, SessionChanges, SessionOptions
from hookline.testing import Hooks


async def ask_me(question: ApprovalRequest) -> Approval:
    return Approval(allow=question.tool_name == "Read", message="only that")


engine = Engine(tools={"run_shell": shell("cmd")}, approve=ask_me)


@engine.on(PRE_TOOL_USE, "Bash", timeout=5, on_failure={"timed_out": "open"}, waiting="wait")
async def no_force_push(call: ToolCall) -> Outcome | None:
    return deny("no") if "--force" in call.tool_input["command"] else None


@engine.on(PRE_TOOL_USE, condition="Bash(git push *)", in_doubt="ask", scope="managed", required=True)
def ask_first(call: ToolCall, info: SessionInfo) -> Outcome:
    return ask(f"{call.tool_name} in {info.cwd}?")


@engine.on(USER_PROMPT_SUBMIT, rewrites=True)
def no_secrets(prompt: Prompt) -> Outcome:
    return rewrite(prompt.prompt.replace("SECRET", "***")) + context("a secret was removed")


@engine.on(STOP, once=True, mode="shadow", status_message="looking", name="last look")
def as_a_command_would_say_it(answer: TurnAnswer) -> Mapping[str, Any]:
    return {"decision": "block", "reason": answer.last_assistant_message}


@engine.on(POST_TOOL_USE)
def of_any_tool(result: ToolCall) -> None:
    """A payload of a result is that of a call, and more."""


@engine.on(PRE_TOOL_USE)
def of_any_event(payload: object) -> None: ...


class Guard:
    def __call__(self, call: ToolCall) -> Outcome:
        return deny(call.tool_name)

    async def method(self, call: ToolCall, info: SessionInfo) -> None: ...


def decorated_functions_are_as_before(call: ToolCall, info: SessionInfo) -> None:
    assert_type(ask_first(call, info), Outcome)
    assert_type(no_secrets(Prompt(prompt="x")), Outcome)


def add_hooks(session: Session, hooks: Hooks) -> None:
    hook = engine.add(PRE_TOOL_USE, guard("force-push"), name="no force push")
    assert_type(hook, Hook)
    engine.add(PRE_TOOL_USE, "./check.sh", "Bash", waiting="async")
    engine.add(PRE_TOOL_USE, lambda call: deny(call.tool_name))
    engine.add(PRE_TOOL_USE, Guard())
    engine.add(PRE_TOOL_USE, Guard().method)
    engine.swap([engine.make_hook(PRE_TOOL_USE, no_force_push, on_failure="closed", scope="flag")])
    session.remove(session.add(POST_TOOL_USE, of_any_tool, "Bash", rewrites=True))
    hooks.add(PRE_TOOL_USE, no_force_push, timeout=1)

    @hooks.on(PRE_TOOL_USE, "Bash")
    def no_bash(call: ToolCall) -> Outcome:
        return deny("no")

    assert_type(no_bash(ToolCall(tool_name="Bash")), Outcome)


def passed_on(tool: str, **options: Unpack[HookOptions]) -> Hook:
    return engine.add(PRE_TOOL_USE, no_force_push, tool, **options)


def session_for(name: str, **info: Unpack[SessionOptions]) -> Session:
    return engine.session(name, **info)


def moved(session: Session, **changes: Unpack[SessionChanges]) -> None:
    session.update(**changes)


async def sessions(directory: Path) -> None:
    session = engine.session("one", cwd=directory, project_dir=os.getcwd(), attended=False, approve=ask_me)
    engine.session("two", session, agent_id="a", agent_type="explore", model=None)
    session.update(cwd=directory / "app", permission_mode="plan", session_id="three", turn=2)
    session_for("four", cwd=directory)
    moved(session, session_id="five")
    engine.load(directory)
    load(directory, trust=True, approve=lambda question: True, drain_seconds=1.0)
    outcome = await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash"))
    assert_type(outcome, Outcome)
    await session.dispatch(POST_TOOL_USE, ToolResult(tool_name="look", tool_response=object()))
    call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
    assert_type(outcome.effective(call), ToolCall)
    done = await session.tool("Bash", {"command": "ls"}, run=lambda given: given["command"], id="c1")
    assert_type(done.stop, str | None)


def without_a_loop(directory: Path, run: Callable[[dict[str, Any]], str]) -> None:
    with Blocking(engine) as hooks, hooks.session("one", cwd=directory, approve=ask_me) as session:
        assert_type(session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash")), Outcome)
        assert_type(session.tool("Bash", {"command": "ls"}, run=run, needs_approval=True).text, str)


class Deployment:
    target = "prod"


DEPLOYED = EventSpec("Deployed", Deployment, "after a deployment.")


async def own_events() -> None:
    own = Engine(events=[DEPLOYED])
    own.add(DEPLOYED, lambda deployment: context(deployment.target))
    await own.session().dispatch(DEPLOYED, Deployment())
