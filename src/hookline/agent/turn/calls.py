"""The tool calls of one model response: checked, hooked, permitted, run; results in the order of the calls."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.agent.conversation import INTERRUPTED
from hookline.agent.hooks import Hooks
from hookline.agent.messages import ToolResult, ToolUse
from hookline.agent.ports import Listener, Shown
from hookline.agent.tools.base import Tool, ToolError, ToolReply, Workplace
from hookline.agent.turn.checks import RECHECKS, Refusal, Rules, arguments_of, first_refusal, mcp_server_of
from hookline.agent.turn.permission import Permitted, Permitting, rewritten_badly
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import ContextItem, Outcome

_LONGEST_RESULT = 200_000


class Settled(Struct, frozen=True, kw_only=True):
    """What became of one call."""

    use: ToolUse
    result: ToolResult
    #: Text of hooks that is not part of the result.
    context: tuple[ContextItem, ...] = ()
    moved_to: str | None = None
    ran: bool = False
    refusal: Refusal | None = None
    #: Why the turn ends after this batch.
    ends: str | None = None


class Calls:
    """Runs calls for one agent. Hooks see a call once it is known to be a real one, and exactly once."""

    def __init__(self, hooks: Hooks, permitting: Permitting, place: Workplace, listener: Listener) -> None:
        self._hooks = hooks
        self._permitting = permitting
        self._place = place
        self._listener = listener

    async def batch(self, uses: Sequence[ToolUse], rules: Rules) -> list[Settled]:
        """All calls at once; what they settle to, in their order."""
        tasks = [asyncio.ensure_future(self._one(use, rules)) for use in uses]
        try:
            # Not by gather alone: interrupted, it would wait for calls that take their time to end.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            settled = await asyncio.gather(*tasks)
            await self._follow(settled)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            raise CallsInterrupted(await _what_is_left(uses, tasks)) from None
        finally:
            for task in tasks:  # where one broke, the others must not go on behind everybody's back
                task.cancel()
        return list(settled)

    async def _follow(self, settled: Sequence[Settled]) -> None:
        """Where the calls led: files they touched, and the directory they went to."""
        for one in settled:
            if one.ran:
                self._place.touch(arguments_of(one.use))
            await self._move(one.moved_to)

    async def _one(self, use: ToolUse, rules: Rules) -> Settled:
        refusal = first_refusal(use, rules)
        if refusal is not None:
            return await self._refused(Permitted(use=use, refusal=refusal), rules)
        rules.budget.left -= 1
        before = await self._hooks.dispatch(e.PRE_TOOL_USE, _call(use, rules, p.ToolCall))
        permitted = await self._after_hooks(use, rules, before)
        if permitted.refusal is not None:
            rules.budget.left += 1
            return await self._refused(permitted, rules)
        return await self._run(permitted, rules)

    async def _after_hooks(self, use: ToolUse, rules: Rules, before: Outcome) -> Permitted:
        stop = (before.stop_reason or "a hook stopped the turn") if before.stop else None
        context = before.context_items
        if before.blocked or before.stop:
            reason = before.reason or stop or "a hook denied the call"
            return Permitted(use=use, refusal=Refusal("hook_deny", reason), stop=stop, context=context)
        if before.updated_input is not None:
            use = ToolUse(id=use.id, name=use.name, input=before.updated_input)
            refusal = first_refusal(use, rules, RECHECKS)
            if refusal is not None:
                return Permitted(use=use, refusal=rewritten_badly(refusal), context=context)
        permitted = await self._permitting.permit(use, rules, before.deciding_vote)
        return msgspec.structs.replace(permitted, context=(*context, *permitted.context))

    async def _refused(self, permitted: Permitted, rules: Rules) -> Settled:
        use, refusal = permitted.use, permitted.refusal
        if refusal is None:  # only for the type checker: who calls this has one
            raise AssertionError("a call that is not refused")
        ends, context = permitted.stop, permitted.context
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
        return _settled(permitted, refusal.reason, context, is_error=True, ends=ends, refusal=refusal)

    async def _run(self, permitted: Permitted, rules: Rules) -> Settled:
        use = permitted.use
        tool = rules.tools[use.name]
        self._listener.show(Shown(kind="call", tool=use.name, tool_input=arguments_of(use)))
        started = time.monotonic()
        try:
            reply = await tool.run(arguments_of(use), self._place)
        except ToolError as failure:
            return await self._failed(permitted, tool, failure, _milliseconds(started), rules)
        except Exception as error:  # noqa: BLE001 - a tool may be anybody's; the model is told, as of any failure
            failure = ToolError(f"{use.name} failed: {type(error).__name__}: {error}")
            return await self._failed(permitted, tool, failure, _milliseconds(started), rules)
        return await self._succeeded(permitted, reply, _milliseconds(started), rules)

    async def _succeeded(self, permitted: Permitted, reply: ToolReply, took: int, rules: Rules) -> Settled:
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
        self, permitted: Permitted, tool: Tool, failure: ToolError, took: int, rules: Rules
    ) -> Settled:
        del tool
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
        """The agent follows where a command went, and says so."""
        if where is None or where == self._place.cwd:
            return
        await self._place.move(where)


class CallsInterrupted(asyncio.CancelledError):
    """The turn was interrupted; what its calls came to until then."""

    def __init__(self, settled: list[Settled]) -> None:
        super().__init__("interrupted")
        self.settled = settled


async def _what_is_left(uses: Sequence[ToolUse], tasks: "Sequence[asyncio.Future[Settled]]") -> list[Settled]:
    """What became of the calls that ended, and a word in place of the others."""
    done, _pending = await asyncio.wait(tasks, timeout=5)
    return [
        task.result()
        if task in done and not task.cancelled() and task.exception() is None
        else _settled(Permitted(use=use), INTERRUPTED, (), is_error=True)
        for use, task in zip(uses, tasks, strict=True)
    ]


def _call(use: ToolUse, rules: Rules, payload: type[Any], **more: Any) -> Any:
    tool = rules.tools[use.name]
    return payload(
        tool_name=use.name,
        tool_input=arguments_of(use),
        tool_use_id=use.id,
        tool_category=tool.category,
        mcp_server=mcp_server_of(use, rules),
        **more,
    )


def _after(
    permitted: Permitted, text: str, after: Outcome, *, is_error: bool, moved_to: str | None
) -> Settled:
    """A result with what hooks said of it: a block stands beside the output, or ends the turn."""
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
    permitted: Permitted,
    text: str,
    context: Sequence[ContextItem],
    *,
    is_error: bool,
    ends: str | None = None,
    refusal: Refusal | None = None,
) -> Settled:
    inside = [item.text for item in context if item.placement == "tool_result"]
    whole = "".join([text[:_LONGEST_RESULT], *(f"\n\n[hook context] {each}" for each in inside)])
    return Settled(
        use=permitted.use,
        result=ToolResult(
            tool_use_id=permitted.use.id, name=permitted.use.name, text=whole, is_error=is_error
        ),
        context=tuple(item for item in context if item.placement != "tool_result"),
        ends=ends,
        refusal=refusal,
    )


def _as_text(value: Any) -> str:
    """What a hook put in place of a result, for the model to read."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        stdout = cast("Mapping[str, Any]", value).get("stdout")
        if isinstance(stdout, str):
            return stdout
    if isinstance(value, list | tuple):
        # Parts of a result, as MCP servers give them.
        parts = [_part(each) for each in cast("Sequence[Any]", value)]
        if parts and None not in parts:
            return "\n".join(filter(None, parts))
    return msgspec.json.encode(value).decode()


def _part(value: Any) -> str | None:
    text: Any = cast("Mapping[str, Any]", value).get("text") if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else None


def _milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
