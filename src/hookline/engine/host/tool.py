"""`Session.tool`: the order of a tool call for hosts without permission rules. Hooks decide, then the user."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from time import time
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.host.moments import CLOSED
from hookline.engine.tool_call import (
    CallResult,
    OpenCall,
    Refusal,
    Reply,
    ask_about_call,
    open_tool_call,
    run_tool_call,
)
from hookline.handlers.failures import described
from hookline.handlers.function import is_async
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import Outcome, Vote
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.engine.session import Session

#: Runs a tool: gets the arguments as hooks left them. A plain function runs in a thread.
RunTool = Callable[[dict[str, Any]], Any]
#: Says what is wrong with arguments that a hook rewrote, or None.
CheckArguments = Callable[[dict[str, Any]], str | None]


class Question(Struct, frozen=True, kw_only=True):
    """May this call run? What `approve` is asked.

    ::

        def approve(question: Question) -> bool:
            return input(f"{question.tool_name}: {question.reason} [y/N] ") == "y"
    """

    tool_name: str
    tool_input: Mapping[str, Any]
    #: Why it is asked: the words of the hook.
    reason: str
    #: The hook that asks, if one does.
    hook: str = ""
    session_id: str = ""
    agent_type: str | None = None


class Approval(Struct, frozen=True, kw_only=True):
    """An answer of the user with words for the model; a plain True or False is one without.

    ::

        return Approval(allow=False, message="use the test account")
    """

    allow: bool
    message: str = ""


Approve = Callable[[Question], "bool | Approval | Awaitable[bool | Approval]"]


class _Verdict(Struct, frozen=True):
    verdict: Literal["allow", "ask", "deny"]
    step: str = ""
    reason: str = ""
    question: bool = False
    hook: str = ""


_ALLOWED = _Verdict("allow")


class ToolWords(TypedDict, total=False):
    """The options of `Session.tool` besides `run`."""

    id: str | None
    check: CheckArguments | None
    needs_approval: str | bool
    category: str | None
    mcp_server: Mapping[str, Any] | None


class ToolOptions(Struct, frozen=True, kw_only=True):
    """What a host says about one call besides name and arguments."""

    run: RunTool
    check: CheckArguments | None = None
    #: The call needs the user's permission, and why; a hook that allows it is enough.
    needs_approval: str | bool = False


class _Ports:
    """For hosts without permission rules of their own: hooks decide, then the user."""

    def __init__(self, session: "Session", options: ToolOptions) -> None:
        self._session = session
        self._options = options

    def check(self, call: p.ToolCall, *, rewritten: bool) -> Refusal | None:
        check, stopped = self._options.check, self._session.host.stopped
        if self._session.closed:
            return Refusal("closed", CLOSED)
        if stopped is not None and not rewritten:
            return Refusal("stopped", f"the run was stopped: {stopped}")
        try:
            problem = check(dict(call.tool_input)) if check is not None else None
        except Exception as error:  # noqa: BLE001 - validators raise what they found
            problem = str(error) or type(error).__name__
        return None if problem is None else Refusal("arguments", f"The arguments do not fit: {problem}")

    def decide(self, call: p.ToolCall, vote: Vote | None) -> _Verdict:
        if vote is not None and vote.kind in {"ask", "defer"}:
            return _Verdict("ask", "hook_ask", vote.reason or "a hook asks about it", True, vote.by)
        needs = self._options.needs_approval
        if not needs or (vote is not None and vote.kind == "allow" and vote.means != "no_objection"):
            return _ALLOWED
        reason = needs if isinstance(needs, str) else f"{call.tool_name} needs approval"
        return _Verdict("ask", "ask_rule", reason, True)

    def suggestions(self, call: p.ToolCall) -> tuple[p.JsonObject, ...]:
        del call
        return ()

    async def update(self, said: Outcome) -> None:
        """A host has no rules to change."""
        del said

    def answered(
        self, asked: _Verdict, before: p.ToolCall, after: p.ToolCall, said: Outcome, vote: Vote | None
    ) -> _Verdict:
        del before, after, vote
        answer = said.deciding_vote
        allows = answer is not None and answer.kind == "allow" and answer.means != "no_objection"
        return _ALLOWED if allows else asked

    def refused(self, decision: _Verdict) -> Refusal:
        return Refusal(decision.step, decision.reason, by_rule=True)

    async def approve(self, call: p.ToolCall, decision: _Verdict, vote: Vote | None) -> Refusal | None:
        del vote
        approve, scene = self._session.approver, self._session.scene
        if approve is None or not scene.attended:
            return Refusal("unattended", f"{decision.reason} (nobody is there to approve it)", by_rule=True)
        question = Question(
            tool_name=call.tool_name,
            tool_input=call.tool_input,
            reason=decision.reason,
            hook=decision.hook,
            session_id=scene.session_id,
            agent_type=scene.agent_type,
        )
        try:
            async with self._session.root.host.lock():
                given: Any = await _called(approve, question)
        except Exception as error:  # noqa: BLE001 - who cannot be asked has not said yes
            self._session.engine.journal.record(
                Run(hook="approve", type="approve", status="failed", event=e.PERMISSION_REQUEST.name,
                    session=scene.session_id, detail=described(error), at=time())
            )  # fmt: skip
            why = f"{decision.reason} (approve failed: {type(error).__name__})"
            return Refusal("unattended", why, by_rule=True)
        if isinstance(given, Approval):
            allowed, said = given.allow, given.message
        else:
            # Only True is a yes: None, or an object that is true by accident, is not.
            allowed, said = given is True, ""
        return None if allowed else Refusal("user", said or f"not approved: {decision.reason}", by_rule=True)

    async def run(self, call: p.ToolCall) -> Reply:
        return Reply(response=await _called(self._options.run, dict(call.tool_input)))


async def _called(function: Callable[[Any], Any], argument: Any) -> Any:
    """An async function on this loop, any other in a thread: it may wait for a person, or for a disk."""
    value = function(argument) if is_async(function) else await asyncio.to_thread(function, argument)
    return await value if inspect.isawaitable(value) else value


async def tool(session: "Session", call: p.ToolCall, options: ToolOptions) -> CallResult:
    return _kept(session, await run_tool_call(session, call, _Ports(session, options)))


class HostCall:
    """A call that the host runs itself. If hooks `refused` it, do not: tell the model `refused.text`.

    Else run it with `arguments` and say what came of it, by `returned` or `failed`; a call that you give up needs
    neither.

    ::

        call = await session.open_tool("run_shell", {"cmd": "ls"})
        done = call.refused or await call.returned(await run_shell(call.arguments))
    """

    def __init__(self, session: "Session", opened: OpenCall) -> None:
        self._session = session
        self._opened = opened
        self.refused = None if opened.refused is None else _kept(session, opened.refused)

    @property
    def arguments(self) -> dict[str, Any]:
        """As hooks left them."""
        return dict(self._opened.call.tool_input)

    async def returned(self, response: Any, text: str | None = None) -> CallResult:
        """PostToolUse; `text` is what the model would read, where that is not the response."""
        return _kept(self._session, await self._opened.returned(Reply(response=response, text=text)))

    async def failed(self, error: Exception) -> CallResult:
        """PostToolUseFailure."""
        return _kept(self._session, await self._opened.failed(error))


async def open_tool(session: "Session", call: p.ToolCall, options: ToolOptions) -> HostCall:
    return HostCall(session, await open_tool_call(session, call, _Ports(session, options)))


async def ask(session: "Session", call: p.ToolCall, reason: str) -> HostCall:
    ports = _Ports(session, ToolOptions(run=run_by_host))
    question = _Verdict("ask", "ask_rule", reason, True)
    return HostCall(session, await ask_about_call(session, call, question, ports))


def _kept(session: "Session", result: CallResult) -> CallResult:
    state = session.host
    if state.turn:  # a host without prompts has no turn that a stop could end
        state.stop(result.stop)
    return replace(result, context_items=state.keep(result.context_items))


def run_by_host(_arguments: dict[str, Any]) -> Any:
    """In place of `run` where the host runs the tool itself."""
    raise NotImplementedError
