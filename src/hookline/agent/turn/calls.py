"""The tool calls of one model response: checked, shown to hooks, permitted, run."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.agent.conversation import INTERRUPTED
from hookline.agent.messages import ToolResult, ToolUse
from hookline.agent.ports import Shown
from hookline.agent.tools.base import ToolError, ToolReply
from hookline.agent.turn.checks import (
    RECHECKS,
    CallRules,
    Refusal,
    arguments_of,
    first_refusal,
    mcp_server_of,
)
from hookline.agent.turn.permission import PermissionCheck, PermittedCall, refused_rewrite
from hookline.agent.turn.turn import AgentParts
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import ContextItem, Outcome

_LONGEST_RESULT = 200_000
#: The categories as hooks know them, where permissions have another word.
_CATEGORIES = {"run": "shell", "write": "file_write", "read": "safe"}


class SettledCall(Struct, frozen=True, kw_only=True):
    """The result of one call."""

    use: ToolUse
    result: ToolResult
    #: Text of hooks that is placed outside the result.
    context: tuple[ContextItem, ...] = ()
    moved_to: str | None = None
    ran: bool = False
    #: Why the turn ends after this batch.
    ends: str | None = None


class Calls:
    """Runs the calls of one agent. A hook sees a call once it is known to be valid, and exactly once."""

    def __init__(self, parts: AgentParts) -> None:
        self._hooks = parts.hooks
        self._workplace = parts.workplace
        self._listener = parts.user.listener
        self._permission = PermissionCheck(parts)

    async def run(self, uses: Sequence[ToolUse], rules: CallRules) -> list[SettledCall]:
        """Run all calls at once; the results come in the order of the calls."""
        tasks = [asyncio.ensure_future(self._one(use, rules)) for use in uses]
        try:
            # Not gather alone: when cancelled, it would wait for calls that are slow to end.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            settled = await asyncio.gather(*tasks)
            await self._follow(settled)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            raise CallsInterrupted(await _settled_so_far(uses, tasks)) from None
        finally:
            for task in tasks:  # if one raised, the others must not go on unseen
                task.cancel()
        return list(settled)

    async def _follow(self, settled: Sequence[SettledCall]) -> None:
        """Note the files the calls named, and follow them to the directory they changed to."""
        for one in settled:
            if one.ran:
                self._workplace.touch(arguments_of(one.use))
            await self._move(one.moved_to)

    async def _one(self, use: ToolUse, rules: CallRules) -> SettledCall:
        refusal = first_refusal(use, rules)
        if refusal is not None:
            return await self._refused(PermittedCall(use=use), refusal, rules)
        rules.budget.left -= 1
        before = await self._hooks.dispatch(e.PRE_TOOL_USE, _call(use, rules, p.ToolCall))
        permitted = await self._after_hooks(use, rules, before)
        if permitted.refusal is not None:
            rules.budget.left += 1
            return await self._refused(permitted, permitted.refusal, rules)
        return await self._run(permitted, rules)

    async def _after_hooks(self, use: ToolUse, rules: CallRules, before: Outcome) -> PermittedCall:
        stop = (before.stop_reason or "a hook stopped the turn") if before.stop else None
        context = before.context_items
        if before.blocked or before.stop:
            reason = before.reason or stop or "a hook denied the call"
            return PermittedCall(use=use, refusal=Refusal("hook_deny", reason), stop=stop, context=context)
        if before.updated_input is not None:
            use = ToolUse(id=use.id, name=use.name, input=before.updated_input)
            refusal = first_refusal(use, rules, RECHECKS)
            if refusal is not None:
                return PermittedCall(use=use, refusal=refused_rewrite(refusal), context=context)
        permitted = await self._permission.permit(use, rules, before.deciding_vote)
        return msgspec.structs.replace(permitted, context=(*context, *permitted.context))

    async def _refused(self, permitted: PermittedCall, refusal: Refusal, rules: CallRules) -> SettledCall:
        use, ends, context = permitted.use, permitted.stop, permitted.context
        if refusal.by_rule or permitted.by_user:
            denied = await self._hooks.dispatch(
                e.PERMISSION_DENIED,
                p.PermissionRefused(
                    tool_name=use.name,
                    tool_input=arguments_of(use),
                    tool_use_id=use.id,
                    mcp_server=mcp_server_of(use, rules),
                    reason=refusal.reason,
                ),
            )
            context = (*context, *denied.context_items)
            if permitted.by_user and not denied.retry:
                ends = f"{use.name} was denied: {refusal.reason}"
        self._listener.show(Shown(kind="result", tool=use.name, text=refusal.reason, is_error=True))
        return _settled(permitted, refusal.reason, context, is_error=True, ends=ends)

    async def _run(self, permitted: PermittedCall, rules: CallRules) -> SettledCall:
        use = permitted.use
        self._listener.show(Shown(kind="call", tool=use.name, tool_input=arguments_of(use)))
        started = time.monotonic()
        try:
            reply = await rules.tools[use.name].run(arguments_of(use), self._workplace)
        except ToolError as failure:
            return await self._failed(permitted, failure, _milliseconds(started), rules)
        except Exception as error:  # noqa: BLE001 - a host's tool may raise anything; the model is told
            failure = ToolError(f"{use.name} failed: {type(error).__name__}: {error}")
            return await self._failed(permitted, failure, _milliseconds(started), rules)
        return await self._succeeded(permitted, reply, _milliseconds(started), rules)

    async def _succeeded(
        self, permitted: PermittedCall, reply: ToolReply, took: int, rules: CallRules
    ) -> SettledCall:
        response = reply.text if reply.response is None else reply.response
        after = await self._hooks.dispatch(
            e.POST_TOOL_USE,
            _call(permitted.use, rules, p.ToolResult, tool_response=response, duration_ms=took),
        )
        text = (
            reply.text if after.updated("tool_response") is None else _as_text(after.updated("tool_response"))
        )
        self._listener.show(Shown(kind="result", tool=permitted.use.name, text=text))
        return _after(permitted, text, after, is_error=False, moved_to=reply.moved_to)

    async def _failed(
        self, permitted: PermittedCall, failure: ToolError, took: int, rules: CallRules
    ) -> SettledCall:
        text = str(failure)
        after = await self._hooks.dispatch(
            e.POST_TOOL_USE_FAILURE,
            _call(
                permitted.use,
                rules,
                p.ToolFailure,
                error=text,
                is_interrupt=failure.interrupted,
                exit_code=failure.exit_code,
                duration_ms=took,
            ),
        )
        self._listener.show(Shown(kind="result", tool=permitted.use.name, text=text, is_error=True))
        return _after(permitted, text, after, is_error=True, moved_to=failure.moved_to)

    async def _move(self, where: str | None) -> None:
        """Follow a command that changed the directory, and tell hooks."""
        if where is None or where == self._workplace.cwd:
            return
        await self._workplace.move(where)


class CallsInterrupted(asyncio.CancelledError):
    """The turn was interrupted. Carries what its calls came to until then."""

    def __init__(self, settled: list[SettledCall]) -> None:
        super().__init__("interrupted")
        self.settled = settled


async def _settled_so_far(
    uses: Sequence[ToolUse], tasks: "Sequence[asyncio.Future[SettledCall]]"
) -> list[SettledCall]:
    """The results of the calls that ended; the others count as interrupted."""
    done, _pending = await asyncio.wait(tasks, timeout=5)
    return [
        task.result()
        if task in done and not task.cancelled() and task.exception() is None
        else _settled(PermittedCall(use=use), INTERRUPTED, (), is_error=True)
        for use, task in zip(uses, tasks, strict=True)
    ]


def _call(use: ToolUse, rules: CallRules, payload: type[Any], **more: Any) -> Any:
    tool = rules.tools[use.name]
    return payload(
        tool_name=use.name,
        tool_input=arguments_of(use),
        tool_use_id=use.id,
        tool_category=_CATEGORIES.get(tool.category, tool.category),
        mcp_server=mcp_server_of(use, rules),
        **more,
    )


def _after(
    permitted: PermittedCall, text: str, after: Outcome, *, is_error: bool, moved_to: str | None
) -> SettledCall:
    """The result with what hooks said about it: a block is added to the output, or ends the turn."""
    ends = (after.stop_reason or "a hook stopped the turn") if after.stop else None
    vote = after.deciding_vote
    if after.blocked and vote is not None:
        if vote.means == "end_turn":
            ends = ends or vote.reason or "a hook ended the turn"
        elif vote.reason:
            text = f"{text}\n\n[hook feedback] {vote.reason}"
    context = (*permitted.context, *after.context_items)
    settled = _settled(permitted, text, context, is_error=is_error, ends=ends)
    return msgspec.structs.replace(settled, ran=True, moved_to=moved_to)


def _settled(
    permitted: PermittedCall,
    text: str,
    context: Sequence[ContextItem],
    *,
    is_error: bool,
    ends: str | None = None,
) -> SettledCall:
    inside = [item.text for item in context if item.placement == "tool_result"]
    whole = "".join([text[:_LONGEST_RESULT], *(f"\n\n[hook context] {each}" for each in inside)])
    return SettledCall(
        use=permitted.use,
        result=ToolResult(
            tool_use_id=permitted.use.id, name=permitted.use.name, text=whole, is_error=is_error
        ),
        context=tuple(item for item in context if item.placement != "tool_result"),
        ends=ends,
    )


def _as_text(value: Any) -> str:
    """The result a hook put in place of the tool's, as text for the model."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        stdout = cast("Mapping[str, Any]", value).get("stdout")
        if isinstance(stdout, str):
            return stdout
    if isinstance(value, list | tuple):
        # Content blocks, as MCP servers give them.
        parts = [_part(each) for each in cast("Sequence[Any]", value)]
        if parts and None not in parts:
            return "\n".join(filter(None, parts))
    return msgspec.json.encode(value).decode()


def _part(value: Any) -> str | None:
    text: Any = cast("Mapping[str, Any]", value).get("text") if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else None


def _milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
