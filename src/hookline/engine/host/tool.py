"""Run a tool call for hosts without permission rules (`Session.tool`): hooks decide, then the user."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.host.conversation import CLOSED
from hookline.engine.host.pending import Later, PendingCall
from hookline.engine.host.tool_call import (
    CallResult,
    OpenCall,
    Refusal,
    ToolReply,
    ask_about_call,
    open_tool_call,
    refuse_call,
    refused_call,
    run_tool_call,
)
from hookline.engine.memory import approver_of, host_of, root_of
from hookline.handlers.failures import described
from hookline.handlers.function import Workers, is_async
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import Outcome, Vote
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.engine.session import Session

#: Runs a tool with the arguments as hooks left them. A plain function runs in a thread.
RunTool = Callable[[dict[str, Any]], Any]
#: Returns what is wrong with arguments that a hook rewrote, or None.
CheckArguments = Callable[[dict[str, Any]], str | None]


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """The question that `approve` answers: may this call run?

    ::

        def approve(question: ApprovalRequest) -> bool:
            return input(f"{question.tool_name}: {question.reason} [y/N] ") == "y"
    """

    tool_name: str
    tool_input: Mapping[str, Any]
    #: Why the user is asked, in the hook's words.
    reason: str
    #: The hook that asks, if a hook does.
    hook: str = ""
    session_id: str = ""
    agent_type: str | None = None
    tool_use_id: str | None = None


class Approval(Struct, frozen=True, kw_only=True):
    """The user's answer with words for the model, or with other arguments; a plain True or False has none.

    ::

        return Approval(allow=False, message="use the test account")
        return Approval(allow=True, arguments={"amount": 5})
    """

    allow: bool
    message: str = ""
    #: The call runs with these arguments instead: hooks judge it again.
    arguments: Mapping[str, Any] | None = None


#: Answers a question: True, False, an `Approval`, or `LATER`.
Approve = Callable[[ApprovalRequest], "bool | Approval | Later | Awaitable[bool | Approval | Later]"]


class _Verdict(Struct, frozen=True):
    decision: Literal["allow", "ask", "deny"]
    step: str = ""
    reason: str = ""
    question: bool = False
    hook: str = ""


_ALLOWED = _Verdict("allow")
#: The session was closed while hooks or the user judged the call.
_CLOSED = _Verdict("deny", "closed", CLOSED)


class ToolWords(TypedDict, total=False):
    """The options of `Session.tool` besides `run`."""

    id: str | None
    check: CheckArguments | None
    needs_approval: str | bool
    category: str | None
    mcp_server: Mapping[str, Any] | None


class ToolOptions(Struct, frozen=True, kw_only=True):
    """A host's options for one call besides name and arguments."""

    run: RunTool
    check: CheckArguments | None = None
    #: The call needs the user's permission, and why; a hook that allows it is enough.
    needs_approval: str | bool = False

    def __post_init__(self) -> None:
        if not callable(self.run):
            raise TypeError(f"run is a function of the tool's arguments, not {self.run!r:.100}")
        if self.check is not None and not callable(self.check):
            raise TypeError(f"check is a function of the tool's arguments, not {self.check!r:.100}")


class _Ports:
    """Ports for hosts without permission rules: hooks decide, then the user."""

    def __init__(
        self,
        session: "Session",
        call: p.ToolCall,
        options: ToolOptions,
        granted: Mapping[str, Any] | None = None,
    ) -> None:
        self._session = session
        self._call = call
        self._options = options
        #: Arguments that the user has approved already.
        self._granted = granted
        #: Set while the call waits for an approval.
        self.pending: PendingCall | None = None
        #: Other arguments, with which the user approves it.
        self.edited: Mapping[str, Any] | None = None

    def check(self, call: p.ToolCall, *, rewritten: bool) -> Refusal | None:
        check, stopped = self._options.check, host_of(self._session).stopped
        if self._session.closed:
            return Refusal("closed", CLOSED)
        if stopped is not None and not rewritten:
            return Refusal("stopped", f"the run was stopped: {stopped}")
        given: Any = call.tool_input
        if type(given) is not dict and not isinstance(given, Mapping):  # a model can write any JSON
            return Refusal("arguments", f"The arguments do not fit: they are no object: {given!r:.100}")
        try:
            problem = check(dict(call.tool_input)) if check is not None else None
        except Exception as error:  # noqa: BLE001 - validators raise what they found
            problem = str(error) or type(error).__name__
        return None if problem is None else Refusal("arguments", f"The arguments do not fit: {problem}")

    def decide(self, call: p.ToolCall, vote: Vote | None) -> _Verdict:
        if self._session.closed:
            return _CLOSED
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
        """Do nothing: a host has no rules to change."""
        del said

    def answered(
        self, asked: _Verdict, before: p.ToolCall, after: p.ToolCall, said: Outcome, vote: Vote | None
    ) -> _Verdict:
        del before, after, vote
        if self._session.closed:
            return _CLOSED
        answer = said.deciding_vote
        allows = answer is not None and answer.kind == "allow" and answer.means != "no_objection"
        return _ALLOWED if allows else asked

    def refused(self, decision: _Verdict) -> Refusal:
        return Refusal(decision.step, decision.reason, by_rule=decision is not _CLOSED)

    async def approve(self, call: p.ToolCall, decision: _Verdict, vote: Vote | None) -> Refusal | None:
        del vote
        if self._granted is not None and call.tool_input == self._granted:
            return None
        approve, info = approver_of(self._session), self._session.info
        if approve is None or not info.attended:
            why = "no user can be asked" if approve is not None else "no approver is configured"
            return Refusal("unattended", f"{decision.reason} ({why})", by_rule=True)
        question = ApprovalRequest(
            tool_name=call.tool_name,
            tool_input=call.tool_input,
            reason=decision.reason,
            hook=decision.hook,
            session_id=info.session_id,
            agent_type=info.agent_type,
            tool_use_id=call.tool_use_id,
        )
        try:
            async with host_of(root_of(self._session)).lock():
                given: Any = await _asked(approve, question)
        except Exception as error:  # noqa: BLE001 - who cannot be asked has not said yes
            self._session.engine.journal.record(
                Run(hook="approve", type="approve", status="failed", event=e.PERMISSION_REQUEST.name,
                    session=info.session_id, detail=described(error), at=time())
            )  # fmt: skip
            why = f"{decision.reason} (approve failed: {type(error).__name__})"
            return Refusal("unattended", why, by_rule=True)
        if isinstance(given, Later) and not self._session.closed:
            self.pending = self._to_wait(question)
            return Refusal("pending", f"waits for approval: {decision.reason}")
        return self.refused(_CLOSED) if self._session.closed else self._refusal_in(given, call, decision)

    def _refusal_in(self, given: Any, call: p.ToolCall, decision: _Verdict) -> Refusal | None:
        """Read the user's answer; None is a yes."""
        if isinstance(given, Approval):
            allowed, said = given.allow, given.message
            if allowed and given.arguments is not None and given.arguments != call.tool_input:
                self.edited = given.arguments
                return Refusal("edited", "the user changed the arguments")
        else:
            # Only True is a yes: None, or an object that happens to be true, is not.
            allowed, said = given is True, ""
        return None if allowed else Refusal("user", said or f"not approved: {decision.reason}", by_rule=True)

    def _to_wait(self, question: ApprovalRequest) -> PendingCall:
        call = self._call
        return PendingCall(
            tool_name=call.tool_name, tool_input=dict(question.tool_input), given=dict(call.tool_input),
            reason=question.reason, hook=question.hook, tool_use_id=call.tool_use_id,
            session_id=question.session_id, agent_type=question.agent_type, tool_category=call.tool_category,
            mcp_server=call.mcp_server,
        )  # fmt: skip

    async def run(self, call: p.ToolCall) -> ToolReply:
        return ToolReply(response=await _called(self._options.run, dict(call.tool_input)))


async def _called(function: Callable[[Any], Any], argument: Any) -> Any:
    """Call an async function on this loop, any other in a thread: it may wait for a user, or for a disk."""
    value = function(argument) if is_async(function) else await asyncio.to_thread(function, argument)
    return await value if inspect.isawaitable(value) else value


async def _asked(approve: Approve, question: ApprovalRequest) -> Any:
    """Ask. A plain function gets a thread of its own: a user takes longer than the threads of the program can wait."""
    if is_async(approve):
        return await cast("Awaitable[Any]", approve(question))
    finished = await Workers(limit=1, idle_seconds=0.01).run(partial(approve, question))
    if finished.error is not None:
        raise finished.error
    return await finished.value if inspect.isawaitable(finished.value) else finished.value


async def tool(
    session: "Session", call: p.ToolCall, options: ToolOptions, granted: Mapping[str, Any] | None = None
) -> CallResult:
    ports = _Ports(session, call, options, granted)
    done = await run_tool_call(session, call, ports)
    if ports.edited is not None:
        return await tool(session, replace(call, tool_input=ports.edited), options, ports.edited)
    return _kept(session, done, ports.pending)


async def resume(
    session: "Session", pending: PendingCall, approval: bool | Approval, options: ToolOptions
) -> CallResult:
    """Continue a call that waited. Hooks judge it again: what they denied meanwhile stays denied."""
    call, granted = _resumed(pending, approval)
    if isinstance(granted, Refusal):
        return _kept(session, await refuse_call(session, call, granted))
    return await tool(session, call, options, granted)


async def reopen(
    session: "Session", pending: PendingCall, approval: bool | Approval, options: ToolOptions
) -> "HostCall":
    """Continue a call that waited, and that the host runs itself."""
    call, granted = _resumed(pending, approval)
    if isinstance(granted, Refusal):
        return HostCall(session, refused_call(session, await refuse_call(session, call, granted)))
    return await open_tool(session, call, options, granted)


def _resumed(
    pending: PendingCall, approval: bool | Approval
) -> tuple[p.ToolCall, Mapping[str, Any] | Refusal]:
    """Return the call to make, and the arguments that were approved; or why it is refused."""
    if isinstance(approval, bool):
        approval = Approval(allow=approval)
    _check_type("pending is a PendingCall", pending, PendingCall)
    _check_type("approval is True, False or an Approval", approval, Approval)
    if not approval.allow:
        reason = approval.message or f"not approved: {pending.reason}"
        return pending.call(pending.tool_input), Refusal("user", reason, by_rule=True)
    if approval.arguments is not None and approval.arguments != pending.tool_input:
        return pending.call(approval.arguments), approval.arguments
    return pending.call(pending.given), pending.tool_input


def _check_type(wanted: str, given: Any, kind: type[Any]) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"{wanted}, not {given!r:.100}")


class HostCall:
    """A call that the host runs itself. If `refused` is set, do not run it: give the model `refused.text`.

    Otherwise run it with `arguments` and report the result with `returned` or `failed`; a call that you give
    up needs neither.

    ::

        call = await session.open_tool("run_shell", {"cmd": "ls"})
        done = call.refused or await call.returned(await run_shell(call.arguments))
    """

    def __init__(self, session: "Session", opened: OpenCall, pending: PendingCall | None = None) -> None:
        self._session = session
        self._opened = opened
        self.refused = None if opened.refused is None else _kept(session, opened.refused, pending)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as hooks left them."""
        return dict(self._opened.call.tool_input)

    async def returned(self, response: Any, text: str | None = None) -> CallResult:
        """Fire PostToolUse; `text` is what the model would read, where that is not the response."""
        return _kept(self._session, await self._opened.returned(ToolReply(response=response, text=text)))

    async def failed(self, error: Exception) -> CallResult:
        """Fire PostToolUseFailure."""
        return _kept(self._session, await self._opened.failed(error))


async def open_tool(
    session: "Session", call: p.ToolCall, options: ToolOptions, granted: Mapping[str, Any] | None = None
) -> HostCall:
    ports = _Ports(session, call, options, granted)
    opened = await open_tool_call(session, call, ports)
    if ports.edited is not None:
        return await open_tool(session, replace(call, tool_input=ports.edited), options, ports.edited)
    return HostCall(session, opened, ports.pending)


async def ask(session: "Session", call: p.ToolCall, reason: str) -> HostCall:
    ports = _Ports(session, call, ToolOptions(run=run_by_host))
    question = _Verdict("ask", "ask_rule", reason, True)
    opened = await ask_about_call(session, call, question, ports)
    if ports.edited is not None:
        # PreToolUse hooks have judged other arguments: they must judge these.
        return await open_tool(
            session, replace(call, tool_input=ports.edited), ToolOptions(run=run_by_host), ports.edited
        )
    return HostCall(session, opened, ports.pending)


def _kept(session: "Session", result: CallResult, pending: PendingCall | None = None) -> CallResult:
    state = host_of(session)
    state.tool_count += result.ran
    if state.turn:  # a host without prompts has no turn that a stop could end
        state.stop(result.stop)
    return replace(result, context_items=state.keep(result.context_items), pending=pending)


def run_by_host(_arguments: dict[str, Any]) -> Any:
    """Stand in for `run` where the host runs the tool."""
    raise NotImplementedError
