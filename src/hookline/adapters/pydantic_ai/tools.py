"""The tools of an agent of Pydantic AI, under hooks."""

from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_ai import RunContext
from pydantic_ai import exceptions as x
from pydantic_ai import messages as m
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from hookline import Session
from hookline.adapters.calls import call_tool


@dataclass
class HookedTools(WrapperToolset[Any]):
    """Tools under the hooks of a session."""

    session: Session

    async def call_tool(self, name: str, tool_args: Any, ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        told = _arguments(tool_args, ctx, tool)

        def checked(arguments: dict[str, Any]) -> Any:
            return tool_args if arguments == told else tool.args_validator.validate_python(arguments)

        call = await call_tool(
            self.session,
            (name, told, ctx.tool_call_id),
            lambda new: self.wrapped.call_tool(name, checked(new), ctx, tool),
            check=checked,
            told=lambda value: to_jsonable_python(getattr(value, "return_value", value), fallback=str),
            pauses=(x.CallDeferred, x.ApprovalRequired),
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


def _arguments(tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> dict[str, Any]:
    """As the model gave them; as they are, where others have changed them since."""
    answers = (each for each in reversed(ctx.messages) if isinstance(each, m.ModelResponse))
    calls = next((each.tool_calls for each in answers), ())
    raw = next((each.args_as_dict() for each in calls if each.tool_call_id == ctx.tool_call_id), tool_args)
    same = raw == tool_args or tool.args_validator.validate_python(raw) == tool_args
    return raw if same else to_jsonable_python(tool_args, fallback=str)
