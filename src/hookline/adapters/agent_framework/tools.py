"""Run a function of the Agent Framework with hooks around it."""

import json
from typing import Any

from agent_framework import Content, FunctionInvocationContext, Message
from pydantic import BaseModel

from hookline.adapters.agent_framework import messages as h
from hookline.adapters.agent_framework.run import AgentRun
from hookline.adapters.sessions import warn_of_later
from hookline.adapters.tool_calls import call_tool, question_of
from hookline.host import Approval, PendingCall


class _WaitingError(Exception):
    """A signal: the call waits for the user's approval."""

    def __init__(self, pending: PendingCall) -> None:
        self.pending = pending


async def run_function(run: AgentRun, context: FunctionInvocationContext, call_next: Any) -> None:
    """Run a call; its result is in the context."""
    function: Any = context.function
    given = context.arguments
    arguments = given.model_dump() if isinstance(given, BaseModel) else dict(given)
    innermost = getattr(call_next, "__name__", "") == "final_wrapper"
    if not innermost:
        warn_of_later(run.session)
    wrong = _problem(function, arguments) is not None
    if wrong and innermost:  # the framework has an answer to it
        await call_next()
        return
    call_id = context.metadata.get("call_id")

    async def invoke(new: dict[str, Any]) -> Any:
        if new != arguments:
            context.arguments = new
        await call_next()
        return context.result

    def later(pending: PendingCall) -> Approval:
        if "approval_response" in context.metadata:  # the framework runs no call that was refused
            return Approval(allow=True)
        raise _WaitingError(pending)

    try:
        call = await call_tool(
            run.session,
            (function.name, arguments, call_id),
            invoke,
            # A later middleware may repair what the model gave.
            check=lambda new: None if wrong and new == arguments else _check(function, new),
            shown=h.shown_result,
            later=later,
        )
    except _WaitingError as waiting:
        context.result = _approval_request(waiting.pending)
        return
    run.kept += [(-1, Message("user", [item.text])) for item in call.done.context]
    if call.error is not None:
        raise call.error
    if not call.untouched:
        context.result = call.done.text


def _problem(function: Any, arguments: dict[str, Any]) -> str | None:
    try:
        _check(function, arguments)
    except Exception as error:  # noqa: BLE001 - validators raise what they found
        return str(error)
    return None


def _check(function: Any, arguments: dict[str, Any]) -> None:
    """Check arguments as the framework does before it runs the function."""
    function._prepare_arguments(arguments)  # noqa: SLF001 - there is no public way


def _approval_request(pending: PendingCall) -> Content:
    call = Content.from_function_call(
        pending.tool_use_id or pending.id, pending.tool_name, arguments=json.dumps(dict(pending.tool_input))
    )
    return Content.from_function_approval_request(
        pending.tool_use_id or pending.id, call, additional_properties={"hookline": question_of(pending)}
    )
