"""Copy agents of the OpenAI Agents SDK with hooks on their models, tools and handoffs."""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache, partial
from inspect import isawaitable
from typing import Any, cast

import agents as sdk
from agents.function_schema import function_schema
from agents.tool import resolve_function_tool_failure_error_function, set_function_tool_failure_error_function
from pydantic_core import to_jsonable_python

from hookline.adapters.openai_agents.local_tools import RawCall, local_tool
from hookline.adapters.openai_agents.model import HookedModel, RunHooks, user_item
from hookline.adapters.openai_agents.nested import NestedRunner, agents_run_by
from hookline.adapters.sessions import warn_once
from hookline.adapters.tool_calls import call_tool
from hookline.events import PRE_TOOL_USE
from hookline.host import Approval, HostCall


class HookedAgents:
    """Agents of one run."""

    def __init__(self, run: RunHooks, nested: NestedRunner) -> None:
        self._run = run
        #: Runs the agents behind tools.
        self._nested = nested
        self._hooked: dict[int, sdk.Agent[Any]] = {}
        #: Tools that have hooks.
        self._tools: dict[int, Any] = {}

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

            async def all_tools(context: Any) -> list[Any]:
                # A tool may have been added to the agent since.
                return [self._tool(tool) for tool in await type(agent).get_all_tools(hooked, context)]

            hooked.__dict__.update(hookline_original=agent, get_mcp_tools=mcp_tools, get_all_tools=all_tools)
        return self._hooked[id(agent)]

    def model(self, model: Any) -> Any:
        """Return the model of an agent or of a run with hooks; a name is looked up later."""
        model = model.inner if isinstance(model, HookedModel) else model  # of the run around this one
        return HookedModel(self._run, model) if isinstance(model, sdk.Model) else model

    def _handoff(self, to: Any) -> Any:
        async def hand_over(context: Any, given: str) -> Any:
            return self.under_hooks(await to.on_invoke_handoff(context, given))

        handed: dict[str, Any] = {"on_invoke_handoff": hand_over}
        return self.under_hooks(to) if hasattr(to, "handoffs") else replace(to, **handed)

    def _tool(self, tool: Any) -> Any:
        if id(tool) in self._tools:
            return tool
        if isinstance(tool, sdk.FunctionTool):
            judge = _HookedTool(tool, self._run, self._nested)
            hooked: Any = replace(tool, on_invoke_tool=judge.invoke, needs_approval=judge.needs_approval)
            self._run.approvals.append((hooked, judge.needs_approval, tool.needs_approval))
        else:
            hooked = local_tool(tool, self._run)
        if hooked is None:
            self._name_unseen(tool)
            return tool
        self._tools[id(hooked)] = hooked
        return hooked

    def _name_unseen(self, tool: Any) -> None:
        """Log tools whose calls hooks cannot judge, each kind once."""
        session = self._run.session
        if session.has(PRE_TOOL_USE):
            text = f"hooks do not see the calls of a {type(tool).__name__} of this agent"
            warn_once(session.engine, text)


class _HookedTool:
    """A tool with hooks around it."""

    def __init__(self, tool: sdk.FunctionTool, run: RunHooks, nested: NestedRunner) -> None:
        self._tool, self._run = tool, run
        self._bare = set_function_tool_failure_error_function(copy(tool), None)  # hooks get its exceptions
        #: Runs the agent behind the tool, if there is one.
        self._nested = nested if getattr(tool, "_is_agent_tool", False) else None
        #: Calls that hooks have judged, by their ids, until the SDK invokes them; with the arguments they had.
        self._opened: dict[str, tuple[dict[str, Any], HostCall]] = {}

    async def needs_approval(self, context: Any, arguments: dict[str, Any], call_id: str) -> bool:
        """Ask hooks before the SDK plans the call: only then it can wait for the user."""
        tool, session = self._tool, self._run.session
        if await _asks_itself(tool, context, arguments, call_id):
            return True
        if tool.name in self._run.unreadable or not session.has(PRE_TOOL_USE) or _wrong(tool, arguments):
            return False
        opened = await session.open_tool(tool.name, arguments, id=call_id, check=partial(_wrong, tool))
        pending = opened.refused.pending if opened.refused is not None else None
        if pending is not None:
            self._run.waiting[call_id] = pending
            return True
        self._opened[call_id] = arguments, opened
        return False

    async def invoke(self, context: Any, given: str) -> Any:
        """Run a call with hooks around it; return what the model reads."""
        tool = self._tool
        try:
            arguments: Any = json.loads(given or "{}")
            _check(tool, arguments)
        except Exception:  # noqa: BLE001 - arguments that do not fit
            if hasattr(tool, "__wrapped__"):  # the SDK has an answer to it
                return await tool.on_invoke_tool(context, given)
            arguments = None
        if not isinstance(arguments, dict):  # a tool without a function may read anything
            return await RawCall(tool.name, self._run, self._bare.on_invoke_tool)(context, given)
        judged, opened = self._opened.pop(context.tool_call_id, (None, None))
        call = await call_tool(
            self._run.session,
            (tool.name, cast("dict[str, Any]", arguments), context.tool_call_id),
            lambda new: self._run_bare(context, new),
            check=lambda new: _check(tool, new),
            shown=lambda value: to_jsonable_python(value, fallback=str),
            opened=opened if judged == arguments else None,
            # A call that hooks ask about again was approved, or the SDK would not invoke it.
            later=lambda _pending: Approval(allow=_is_approved(context)),
        )
        self._run.waiting.pop(context.tool_call_id, None)
        self._run.kept += [(-1, user_item(item.text)) for item in call.done.context]
        if call.error is None:
            return call.value if call.untouched else call.done.text
        answer = resolve_function_tool_failure_error_function(tool, context)
        if answer is None:
            raise call.error
        text = answer(context, call.error)
        return await text if isawaitable(text) else text

    async def _run_bare(self, context: Any, arguments: dict[str, Any]) -> Any:
        with agents_run_by(self._nested):
            return await self._bare.on_invoke_tool(context, json.dumps(arguments))


@cache
def _parameters(function: Callable[..., Any]) -> Any:
    return function_schema(function, strict_json_schema=False).params_pydantic_model


def _check(tool: sdk.FunctionTool, arguments: dict[str, Any]) -> None:
    """Check arguments as the SDK does: by the signature of the function, if the tool is made of one."""
    function = getattr(tool, "__wrapped__", None)
    if function is not None:
        _parameters(function)(**arguments)


def _wrong(tool: sdk.FunctionTool, arguments: dict[str, Any]) -> str | None:
    try:
        _check(tool, arguments)
    except Exception as error:  # noqa: BLE001 - validators raise what they found
        return str(error)
    return None


async def _asks_itself(tool: sdk.FunctionTool, context: Any, arguments: dict[str, Any], call_id: str) -> bool:
    """Return True if the tool needs an approval without hooks."""
    given: Any = tool.needs_approval
    if not callable(given):
        return bool(given)
    answer = given(context, arguments, call_id)
    return bool(await answer if isawaitable(answer) else answer)


def _is_approved(context: Any) -> bool:
    """Return True if the user has approved this call in the run's state."""
    return context.is_tool_approved(context.tool_name, context.tool_call_id) is True
