"""Put hooks around the SDK's own tools that act on this machine: shells, patches, and tools of raw text."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from inspect import isawaitable
from typing import Any

import agents as sdk
from agents.editor import ApplyPatchOperation, ApplyPatchResult
from pydantic_core import to_jsonable_python

from hookline.adapters.openai_agents.model import RunHooks, user_item
from hookline.adapters.tool_calls import AdapterResult, call_tool


def local_tool(tool: Any, run: RunHooks) -> Any:
    """Return a tool with hooks, or None for one that acts elsewhere, or in a way that hooks cannot judge."""
    if isinstance(tool, sdk.ShellTool) and tool.executor is not None:
        return replace(tool, executor=_Shell(tool.name, run, tool.executor))
    if isinstance(tool, sdk.LocalShellTool):
        return replace(tool, executor=_LocalShell(tool.name, run, tool.executor))
    if isinstance(tool, sdk.ApplyPatchTool):
        return replace(tool, editor=_Editor(tool.name, run, tool.editor))
    if isinstance(tool, sdk.CustomTool):
        return replace(tool, on_invoke_tool=RawCall(tool.name, run, tool.on_invoke_tool))
    return None


class _LocalCall:
    """Calls of one such tool."""

    def __init__(self, name: str, run: RunHooks, inner: Any) -> None:
        self._name, self._run, self._inner = name, run, inner

    async def _called(
        self,
        arguments: Mapping[str, Any],
        call_id: str | None,
        invoke: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> AdapterResult:
        call = await call_tool(
            self._run.session,
            (self._name, arguments, call_id),
            invoke,
            check=lambda _new: None,
            shown=lambda value: to_jsonable_python(value, fallback=str),
        )
        self._run.kept += [(-1, user_item(item.text)) for item in call.done.context]
        if call.error is not None:
            raise call.error
        return call

    async def _result(
        self,
        arguments: Mapping[str, Any],
        call_id: str | None,
        invoke: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        call = await self._called(arguments, call_id, invoke)
        return call.value if call.untouched else call.done.text


class _Shell(_LocalCall):
    async def __call__(self, request: Any) -> Any:
        action = request.data.action

        async def run(new: dict[str, Any]) -> Any:
            changed = replace(request.data, action=replace(action, commands=new["commands"]))
            return await _value(self._inner(replace(request, data=changed)))

        return await self._result({"commands": list(action.commands)}, request.data.call_id, run)


class _LocalShell(_LocalCall):
    async def __call__(self, request: Any) -> Any:
        data = request.data

        async def run(new: dict[str, Any]) -> Any:
            action = data.action.model_copy(update={"command": new["command"]})
            return await _value(
                self._inner(replace(request, data=data.model_copy(update={"action": action})))
            )

        return await self._result({"command": list(data.action.command)}, data.call_id, run)


class RawCall(_LocalCall):
    """A call of a tool that reads text which need not be JSON."""

    async def __call__(self, context: Any, given: str) -> Any:
        async def run(new: dict[str, Any]) -> Any:
            return await _value(self._inner(context, new["input"]))

        return await self._result({"input": given}, context.tool_call_id, run)


class _Editor(_LocalCall):
    async def create_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edited(operation)

    async def update_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edited(operation)

    async def delete_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edited(operation)

    async def _edited(self, operation: ApplyPatchOperation) -> Any:
        given = {name: getattr(operation, name) for name in ("type", "path", "diff", "move_to")}

        async def run(new: dict[str, Any]) -> Any:
            changed = replace(operation, **new)
            return await _value(getattr(self._inner, changed.type)(changed))

        shown = {name: value for name, value in given.items() if value is not None}
        call = await self._called(shown, None, run)
        if call.untouched:
            return call.value
        return ApplyPatchResult("failed" if call.done.is_error else "completed", call.done.text)


async def _value(given: Any) -> Any:
    return await given if isawaitable(given) else given
