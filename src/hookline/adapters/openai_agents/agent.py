"""Copy agents of the OpenAI Agents SDK with hooks on their models, tools and handoffs."""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache
from inspect import isawaitable
from typing import Any

import agents as sdk
from agents.function_schema import function_schema
from agents.tool import resolve_function_tool_failure_error_function, set_function_tool_failure_error_function
from pydantic_core import to_jsonable_python

from hookline.adapters.openai_agents.model import HookedModel, RunHooks, user_item
from hookline.adapters.tool_calls import call_tool


class HookedAgents:
    """Agents of one run."""

    def __init__(self, run: RunHooks) -> None:
        self._run = run
        self._hooked: dict[int, sdk.Agent[Any]] = {}

    def under_hooks(self, agent: sdk.Agent[Any]) -> sdk.Agent[Any]:
        """Return a copy with hooks on its model, tools and handoffs."""
        agent = getattr(agent, "hookline_original", agent)
        if id(agent) not in self._hooked:
            hooked = agent.clone(
                model=self.model(agent.model), tools=[self._tool(tool) for tool in agent.tools]
            )
            self._hooked[id(agent)] = hooked
            hooked.handoffs = [self._handoff(each) for each in agent.handoffs]

            async def mcp_tools(context: Any) -> list[Any]:
                return [self._tool(tool) for tool in await agent.get_mcp_tools(context)]

            hooked.__dict__.update(hookline_original=agent, get_mcp_tools=mcp_tools)
        return self._hooked[id(agent)]

    def model(self, model: Any) -> Any:
        """Return the model of an agent or of a run with hooks; a name is looked up later."""
        return HookedModel(self._run, model) if isinstance(model, sdk.Model) else model

    def _handoff(self, to: Any) -> Any:
        async def hand_over(context: Any, given: str) -> Any:
            return self.under_hooks(await to.on_invoke_handoff(context, given))

        handed: dict[str, Any] = {"on_invoke_handoff": hand_over}
        return self.under_hooks(to) if hasattr(to, "handoffs") else replace(to, **handed)

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, sdk.FunctionTool):
            return tool
        if getattr(tool, "_is_agent_tool", False):
            raise sdk.UserError(
                f"the agent behind {tool.name} would run without hooks: use runner.run() in a tool"
            )
        bare = set_function_tool_failure_error_function(copy(tool), None)  # hooks get its exceptions

        async def invoke(context: Any, given: str) -> Any:
            try:
                arguments = json.loads(given or "{}")
                _check(tool, arguments)
            except Exception:  # noqa: BLE001 - arguments that do not fit: the SDK has an answer to it
                return await tool.on_invoke_tool(context, given)
            call = await call_tool(
                self._run.session,
                (tool.name, arguments, context.tool_call_id),
                lambda new: bare.on_invoke_tool(context, json.dumps(new)),
                check=lambda new: _check(tool, new),
                shown=lambda value: to_jsonable_python(value, fallback=str),
            )
            self._run.kept += [(-1, user_item(item.text)) for item in call.done.context]
            if call.error is None:
                return call.value if call.untouched else call.done.text
            answer = resolve_function_tool_failure_error_function(tool, context)
            if answer is None:
                raise call.error
            text = answer(context, call.error)
            return await text if isawaitable(text) else text

        return replace(tool, on_invoke_tool=invoke)


@cache
def _parameters(function: Callable[..., Any]) -> Any:
    return function_schema(function, strict_json_schema=False).params_pydantic_model


def _check(tool: sdk.FunctionTool, arguments: dict[str, Any]) -> None:
    """Check arguments as the SDK does: by the signature of the function, if the tool is made of one."""
    function = getattr(tool, "__wrapped__", None)
    if function is not None:
        _parameters(function)(**arguments)
