"""Wrap the tools of a Pydantic AI agent with hooks."""

from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_ai import RunContext
from pydantic_ai import exceptions as x
from pydantic_ai import messages as m
from pydantic_ai.output import OutputContext
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from hookline import Session
from hookline.adapters.tool_calls import call_tool
from hookline.host import Approval, PendingCall


@dataclass
class HookedTools(WrapperToolset[Any]):
    """Tools with the hooks of a session."""

    session: Session

    async def call_tool(self, name: str, tool_args: Any, ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        shown = _arguments(tool_args, ctx, tool)

        def checked(arguments: dict[str, Any]) -> Any:
            return tool_args if arguments == shown else _validated(arguments, ctx, tool)

        call = await call_tool(
            self.session,
            (name, shown, ctx.tool_call_id),
            lambda new: self.wrapped.call_tool(name, checked(new), ctx, tool),
            check=checked,
            shown=lambda value: to_jsonable_python(getattr(value, "return_value", value), fallback=str),
            pauses=(x.CallDeferred, x.ApprovalRequired),
            later=lambda pending: _approval(ctx, pending),
        )
        for item in call.done.context:
            ctx.enqueue(item.text)
        if call.error is not None:
            raise call.error
        if call.done.is_error:
            retry = isinstance(call.done.exception, x.ModelRetry)
            raise (x.ModelRetry if retry else x.ToolFailed)(call.done.text) from call.done.exception
        if call.untouched or not isinstance(call.value, m.ToolReturn):
            return call.output
        return replace(cast("Any", call).value, return_value=call.output)


async def call_output_function(session: Session, called: OutputContext, output: Any, handler: Any) -> Any:
    """Run an output function, which gets arguments of the model like a tool, with hooks around it."""
    made = called.tool_call
    arguments = (
        made.args_as_dict() if made is not None else {"output": to_jsonable_python(output, fallback=str)}
    )

    def unchanged(new: dict[str, Any]) -> None:
        if new != arguments:
            raise ValueError("the arguments of an output function cannot be rewritten")

    call = await call_tool(
        session,
        (
            called.function_name or (made.tool_name if made is not None else "output"),
            arguments,
            made.tool_call_id if made is not None else None,
        ),
        lambda _new: handler(output),
        check=unchanged,
        shown=lambda value: to_jsonable_python(value, fallback=str),
        pauses=(x.ModelRetry, x.ToolRetryError),
    )
    if call.done.exception is not None:
        raise call.done.exception
    if call.done.is_error:
        raise x.ModelRetry(call.done.text)
    return call.done.output if call.done.rewritten else call.value


def _approval(ctx: RunContext[Any], pending: PendingCall) -> Approval:
    """Return the approval that the run was resumed with; else pause it: its output is the deferred request."""
    if ctx.tool_call_approved:
        return Approval(allow=True)
    raise x.ApprovalRequired({"reason": pending.reason, "tool_input": dict(pending.tool_input)})


def _validated(arguments: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
    return tool.args_validator.validate_python(arguments, context=ctx.validation_context)


def _arguments(tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> dict[str, Any]:
    """Return the model's arguments; the current ones, where others have changed them since."""
    answers = (each for each in reversed(ctx.messages) if isinstance(each, m.ModelResponse))
    calls = next((each.tool_calls for each in answers), ())
    raw = next((each.args_as_dict() for each in calls if each.tool_call_id == ctx.tool_call_id), tool_args)
    same = raw == tool_args or _validated(raw, ctx, tool) == tool_args
    return raw if same else to_jsonable_python(tool_args, fallback=str)
