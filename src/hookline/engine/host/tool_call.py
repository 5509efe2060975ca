"""Run one tool call, from the model's request to the text it reads: the order that every host keeps.

    check → PreToolUse → check what hooks rewrote → decide → PermissionRequest → approve → run → PostToolUse
    or PostToolUseFailure; a refusal by a rule or by the user → PermissionDenied

`run_tool_call` is that order. Hosts provide the parts that differ through `CallPorts`: checks, permission
rules, the approver, and running the tool. The terminal agent has its own ports; `Session.tool` has those of
`hookline.engine.host.conversation`. It needs hooks only as two methods, so it works without an engine, too.
"""

import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.host.pending import PendingCall
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.events import EventSpec
from hookline.model.outcome import ContextItem, Message, Outcome, Vote

P = TypeVar("P")

STOPPED = "a hook stopped the turn"


class HookDispatcher(Protocol):
    """The hooks that the order calls: a `Session` has these methods, and so may any other object.

    ::

        result = await run_tool_call(session, ToolCall(tool_name="Bash", tool_input={"command": "ls"}),
        my_ports)
    """

    def dispatch(self, event: EventSpec[P], payload: P) -> Coroutine[Any, Any, Outcome]:
        """Run the hooks that concern this event."""
        ...

    def has(self, event: EventSpec[Any]) -> bool:
        """Return True if any hook is configured for the event."""
        ...


class Refusal(Struct, frozen=True):
    """The reason why a call does not run, and the step that refused it.

    ::

        return Refusal("schema", "a is missing")
    """

    step: str
    reason: str
    #: A rule or the user refused it, so PermissionDenied fires.
    by_rule: bool = False
    #: The run ends, unless a PermissionDenied hook asks to continue.
    ends: bool = False
    #: The hook that denied it.
    by: str = ""


class ToolDecision(Protocol):
    """The decision of a host's rules about a call."""

    @property
    def decision(self) -> Literal["allow", "ask", "deny"]: ...

    @property
    def step(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def question(self) -> bool:
        """True if PermissionRequest hooks may answer it: an ask, or a denial only because no user can be
        asked."""
        ...


class ToolReply(Struct, frozen=True, kw_only=True):
    """A tool's result: `response` for hooks, and `text` for the model where that is not the same.

    ::

        return ToolReply(response={"stdout": out, "exit_code": 0}, text=out)
    """

    response: Any
    text: str | None = None


D = TypeVar("D", bound=ToolDecision)


class CallPorts(Protocol[D]):
    """The parts of a call's order that a host with its own checks and permission rules provides.

    ::

        result = await run_tool_call(session, call, my_ports)  # my_ports has the methods below
    """

    def check(self, call: p.ToolCall, *, rewritten: bool) -> Refusal | None:
        """Return why the call is not valid: unknown tool, arguments that do not fit. Called again after each
        rewrite."""
        ...

    def decide(self, call: p.ToolCall, vote: Vote | None) -> D:
        """Return the decision of the rules; `vote` is the decision of the PreToolUse hooks."""
        ...

    def suggestions(self, call: p.ToolCall) -> tuple[p.JsonObject, ...]:
        """Return permission updates that the user might want, for PermissionRequest hooks."""
        ...

    async def update(self, said: Outcome) -> None:
        """Apply the permission updates of PermissionRequest hooks."""
        ...

    def answered(
        self, asked: D, before: p.ToolCall, after: p.ToolCall, said: Outcome, vote: Vote | None
    ) -> D:
        """Return the decision after PermissionRequest hooks that did not deny; `after` is the call as they
        left it."""
        ...

    async def approve(self, call: p.ToolCall, decision: D, vote: Vote | None) -> Refusal | None:
        """Ask the user. Questions of parallel calls must come one after another."""
        ...

    def refused(self, decision: D) -> Refusal:
        """Return the denial of a decision."""
        ...

    async def run(self, call: p.ToolCall) -> ToolReply:
        """Run the tool. Whatever it raises is a failure of the tool."""
        ...


class CallResult(Struct, frozen=True, kw_only=True):
    """The result of one call.

    ::

        done = await session.tool("Bash", {"command": "ls"}, run=run_shell)
        messages.append({"role": "tool", "content": done.text})
        if done.stop is not None:
            return done.stop
    """

    #: The call as it ran or was refused, with rewrites of hooks.
    call: p.ToolCall
    refusal: Refusal | None = None
    #: The tool's response as hooks left it; text for the model is in `text`.
    output: Any = None
    #: A hook replaced `output`.
    rewritten: bool = False
    #: The exception that the tool raised, if any.
    exception: Exception | None = None
    #: The result alone, without hooks' comments.
    plain_text: str = ""
    #: Objections of hooks to the result.
    feedback: tuple[str, ...] = ()
    context_items: tuple[ContextItem, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()
    #: Why the run ends after this call, if it does.
    stop: str | None = None
    #: Set if the call waits for an approval: store it, and continue with `Session.resume`.
    pending: PendingCall | None = None

    @property
    def ran(self) -> bool:
        """True if the tool was started."""
        return self.refusal is None

    @property
    def refused(self) -> str | None:
        """The reason why it did not run, or None."""
        return self.refusal.reason if self.refusal is not None else None

    @property
    def is_error(self) -> bool:
        """True if it did not run, or failed."""
        return self.refusal is not None or self.exception is not None

    @property
    def text(self) -> str:
        """The text the model reads as the result: the output, hooks' objections, and the context that belongs
        to it."""
        return self.text_up_to(None)

    def text_up_to(self, most: int | None) -> str:
        """Return the same text, with at most so many characters of the output."""
        objections = (f"\n\n[hook feedback] {each}" for each in self.feedback)
        inside = (
            f"\n\n[hook context] {item.text}"
            for item in self.context_items
            if item.placement == "tool_result"
        )
        return "".join([self.plain_text[:most], *objections, *inside])

    @property
    def context(self) -> tuple[ContextItem, ...]:
        """Text of hooks that goes elsewhere than into the result."""
        return tuple(item for item in self.context_items if item.placement != "tool_result")


class _Permitted(Struct, frozen=True):
    """A call in progress: as hooks left it so far, and their answers."""

    call: p.ToolCall
    refusal: Refusal | None = None
    stop: str | None = None
    said: tuple[Outcome, ...] = ()


async def run_tool_call(hooks: HookDispatcher, call: p.ToolCall, ports: CallPorts[Any]) -> CallResult:
    """Run the whole order of one call. Only cancellation is raised.

    ::

        result = await run_tool_call(session, ToolCall(tool_name="Bash", tool_input={"command": "ls"}),
        my_ports)
    """
    opened = await open_tool_call(hooks, call, ports)
    if opened.refused is not None:
        return opened.refused
    try:
        reply = await ports.run(opened.call)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything; the model gets the error
        return await opened.failed(error)
    return await opened.returned(reply)


async def open_tool_call(hooks: HookDispatcher, call: p.ToolCall, ports: CallPorts[Any]) -> "OpenCall":
    """Run the order up to the tool itself, for hosts that run it where they cannot wait for it."""
    refusal = ports.check(call, rewritten=False)
    if refusal is not None:
        permitted = _Permitted(call, refusal)
    else:
        permitted = await _permit(hooks, call, await hooks.dispatch(e.PRE_TOOL_USE, call), ports)
    refused = await _refused(hooks, permitted, permitted.refusal) if permitted.refusal is not None else None
    return OpenCall(hooks, permitted, refused)


async def refuse_call(hooks: HookDispatcher, call: p.ToolCall, refusal: Refusal) -> CallResult:
    """Refuse a call that was asked about before: PermissionDenied."""
    return await _refused(hooks, _Permitted(call), refusal)


def refused_call(hooks: HookDispatcher, result: CallResult) -> "OpenCall":
    """Return a call that was refused as one that the host would have run."""
    return OpenCall(hooks, _Permitted(result.call, result.refusal), result)


async def ask_about_call(
    hooks: HookDispatcher, call: p.ToolCall, decision: Any, ports: CallPorts[Any]
) -> "OpenCall":
    """Ask about a call for the host's rules: PermissionRequest, then the user. PreToolUse has been fired."""
    refusal = ports.check(call, rewritten=False)
    if refusal is not None:
        permitted = _Permitted(call, refusal)
    else:
        permitted = await _request(hooks, _Permitted(call), decision, None, ports)
    refused = await _refused(hooks, permitted, permitted.refusal) if permitted.refusal is not None else None
    return OpenCall(hooks, permitted, refused)


class OpenCall:
    """A call after the hooks' decision: unless it was `refused`, run `call` and report the result."""

    __slots__ = ("_hooks", "_permitted", "_started", "refused")

    def __init__(self, hooks: HookDispatcher, permitted: _Permitted, refused: CallResult | None) -> None:
        self._hooks = hooks
        self._permitted = permitted
        self._started = time.monotonic()
        self.refused = refused

    @property
    def call(self) -> p.ToolCall:
        """The call as hooks left it."""
        return self._permitted.call

    async def returned(self, reply: ToolReply) -> CallResult:
        """Report the tool's response: PostToolUse."""
        permitted = self._permitted
        after = await self._hooks.dispatch(
            e.POST_TOOL_USE,
            p.ToolResult(
                **_of(permitted.call), tool_response=reply.response, duration_ms=_milliseconds(self._started)
            ),
        )
        result = CallResult(
            call=permitted.call,
            output=reply.response,
            plain_text=reply.text if reply.text is not None else as_text(reply.response),
        )
        if any(edit.field == "tool_response" for edit in after.edits):
            output = after.updated("tool_response")
            result = replace(result, output=output, plain_text=as_text(output), rewritten=True)
        return _with_said(result, permitted, after)

    async def failed(self, error: Exception) -> CallResult:
        """Report the tool's exception: PostToolUseFailure."""
        call = self._permitted.call
        known = isinstance(error, ToolError)
        text = str(error) if known else f"{call.tool_name} failed: {type(error).__name__}: {error}"
        after = await self._hooks.dispatch(
            e.POST_TOOL_USE_FAILURE,
            p.ToolFailure(
                **_of(call),
                error=text,
                is_interrupt=error.interrupted if known else False,
                exit_code=error.exit_code if known else None,
                duration_ms=_milliseconds(self._started),
            ),
        )
        return _with_said(CallResult(call=call, exception=error, plain_text=text), self._permitted, after)


async def _permit(
    hooks: HookDispatcher, call: p.ToolCall, before: Outcome, ports: CallPorts[Any]
) -> _Permitted:
    stop = stop_of(before)
    if before.blocked or stop:
        reason = (before.reason if before.blocked else None) or stop or "a hook denied the call"
        return _Permitted(call, Refusal("hook_deny", reason, by=_denier(before)), stop, (before,))
    rewritten = before.effective(call)
    if rewritten is not call:
        call = rewritten
        refusal = ports.check(call, rewritten=True)
        if refusal is not None:
            return _Permitted(call, _of_a_rewrite(refusal), said=(before,))
    vote = before.deciding_vote
    decision = ports.decide(call, vote)
    if decision.decision == "allow":
        return _Permitted(call, said=(before,))
    if not decision.question:
        return _Permitted(call, ports.refused(decision), said=(before,))
    return await _request(hooks, _Permitted(call, said=(before,)), decision, vote, ports)


async def _request(
    hooks: HookDispatcher, permitted: _Permitted, decision: Any, vote: Vote | None, ports: CallPorts[Any]
) -> _Permitted:
    """Ask: PermissionRequest hooks may answer, then the user."""
    call = permitted.call
    said = await hooks.dispatch(
        e.PERMISSION_REQUEST,
        p.PermissionAsked(**_without_category(call), permission_suggestions=ports.suggestions(call)),
    )
    await ports.update(said)
    stop = stop_of(said)
    permitted = replace(permitted, stop=stop, said=(*permitted.said, said))
    if said.blocked or stop:
        reason = (said.reason if said.blocked else None) or stop or "a hook denied the call"
        return replace(permitted, refusal=Refusal("request_deny", reason, by=_denier(said)))
    after = said.effective(call)
    if after is not call:
        refusal = ports.check(after, rewritten=True)
        if refusal is not None:
            return replace(permitted, call=after, refusal=_of_a_rewrite(refusal))
        # A vote on the old input may still hold the call back; it cannot let it through.
        vote = vote if vote is not None and vote.kind != "allow" else None
    settled = ports.answered(decision, call, after, said, vote)
    refusal = None
    if settled.decision == "ask":
        refusal = await ports.approve(after, settled, vote)
    elif settled.decision == "deny":
        refusal = ports.refused(settled)
    return replace(permitted, call=after, refusal=refusal)


async def _refused(hooks: HookDispatcher, permitted: _Permitted, refusal: Refusal) -> CallResult:
    said, stop = permitted.said, permitted.stop
    if refusal.by_rule:
        denied = await hooks.dispatch(
            e.PERMISSION_DENIED,
            p.PermissionRefused(**_without_category(permitted.call), reason=refusal.reason),
        )
        said = (*said, denied)
        if refusal.ends and not denied.retry:
            stop = stop or f"{permitted.call.tool_name} was denied: {refusal.reason}"
    return CallResult(
        call=permitted.call,
        refusal=refusal,
        plain_text=refusal.reason,
        context_items=_context(said),
        notices=_notices(said),
        stop=stop,
    )


def _with_said(result: CallResult, permitted: _Permitted, after: Outcome) -> CallResult:
    """Add hooks' comments to the result: a block is added to the output, or ends the run."""
    stop, feedback = stop_of(after) or permitted.stop, ()
    vote = after.deciding_vote
    if after.blocked and vote is not None:
        if vote.means == "end_turn":
            stop = stop or vote.reason or "a hook ended the turn"
        elif vote.reason:
            feedback = (vote.reason,)
    said = (*permitted.said, after)
    return replace(result, stop=stop, feedback=feedback, context_items=_context(said), notices=_notices(said))


def _denier(outcome: Outcome) -> str:
    vote = outcome.deciding_vote if outcome.blocked else None
    if vote is not None:
        return vote.by
    return outcome.halts[0].by if outcome.halts else ""


def stop_of(outcome: Outcome) -> str | None:
    """Return why hooks stop the whole run, or None."""
    return (outcome.stop_reason or STOPPED) if outcome.stop else None


def _of_a_rewrite(refusal: Refusal) -> Refusal:
    """Say in the reason that a hook changed the input to something that may not run."""
    return replace(refusal, reason=f"a hook changed the input, and then: {refusal.reason}")


def _context(said: Sequence[Outcome]) -> tuple[ContextItem, ...]:
    return tuple(item for outcome in said for item in outcome.context_items)


def _notices(said: Sequence[Outcome]) -> tuple[Message, ...]:
    return tuple(message for outcome in said for message in outcome.messages)


# The payloads about one call


def _of(call: p.ToolCall) -> dict[str, Any]:
    return {
        "tool_name": call.tool_name,
        "tool_input": call.tool_input,
        "tool_use_id": call.tool_use_id,
        "tool_category": call.tool_category,
        "mcp_server": call.mcp_server,
    }


def _without_category(call: p.ToolCall) -> dict[str, Any]:
    return {key: value for key, value in _of(call).items() if key != "tool_category"}


def as_text(value: Any) -> str:
    """Turn a tool's response, or a hook's replacement, into text for the model."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping):
        stdout = cast("Mapping[str, Any]", value).get("stdout")
        if isinstance(stdout, str):
            return stdout
    if isinstance(value, list | tuple):
        # Content blocks, as MCP servers give them.
        parts = [_part(each) for each in cast("Sequence[Any]", value)]
        if parts and None not in parts:
            return "\n".join(filter(None, parts))
    try:
        plain: Any = msgspec.to_builtins(value, enc_hook=p.plain_value)
        return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
    except (TypeError, ValueError, RecursionError):  # an object of the host's own
        return str(cast("object", value))


def _part(value: Any) -> str | None:
    text: Any = cast("Mapping[str, Any]", value).get("text") if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else None


def _milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
