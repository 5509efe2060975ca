"""Hooks in runners of Google's Agent Development Kit::

    from hookline.adapters.google_adk import HooklinePlugin
    runner = InMemoryRunner(agent, plugins=[HooklinePlugin(engine)])

A session of the runner is one of Hookline. An agent that runs by an `AgentTool` is a sub-agent.
"""

from asyncio import CancelledError
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Unpack, cast
from weakref import WeakKeyDictionary

from google.adk.agents import InvocationContext
from google.adk.events import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool
from google.genai import types
from pydantic_core import to_jsonable_python

from hookline import Engine, Session
from hookline.adapters.failures import failure_kind
from hookline.adapters.sessions import Sessions, inside, prompt_texts, sub_agent
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL
from hookline.host import CallResult, HostCall, SceneOptions

#: ADK goes on after a call only. So this one follows an answer that a Stop hook sends back; the model is not shown it.
_SENT_BACK = "hookline_sent_back"


class _Run:
    def __init__(self, session: Session) -> None:
        self.session = session
        #: Why the prompt was blocked.
        self.blocked: str | None = None
        #: What a step of a workflow answered last.
        self.answer: str | None = None


class HooklinePlugin(BasePlugin):
    """Hooks for all agents of a runner. `session_id` chooses the session of an invocation; else it is that of ADK."""

    def __init__(
        self,
        engine: Engine,
        session_id: Callable[[InvocationContext], str] | None = None,
        **scene: Unpack[SceneOptions],
    ) -> None:
        super().__init__("hookline")
        self._sessions = Sessions(engine, scene)
        self._session_id = session_id or _own_id
        #: By the id of the session in ADK.
        self._runs: dict[str, _Run] = {}
        self._calls: WeakKeyDictionary[Any, tuple[HostCall, Any]] = WeakKeyDictionary()

    async def close(self) -> None:
        await self._sessions.close()

    def _session(self, context: Any) -> Session:
        return self._runs[context.session.id].session

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        invocation, said = invocation_context, _text(user_message)
        session = sub_agent(invocation.agent.name) or self._sessions.of(self._session_id(invocation))
        run = self._runs[invocation.session.id] = _Run(session)
        if not said:  # results of calls that took long
            return None
        prompt = await session.prompt(said)
        run.blocked = prompt.blocked
        if prompt.blocked is not None:
            return _content("user", ["(a hook blocked this prompt)"])
        texts = prompt_texts(prompt)
        return None if texts == [said] else _content("user", texts, _others(user_message))

    async def before_run_callback(self, *, invocation_context: Any) -> types.Content | None:
        blocked = self._runs[invocation_context.session.id].blocked
        return None if blocked is None else _content("model", [blocked])

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> LlmResponse | None:
        session, invocation = self._session(callback_context), callback_context.get_invocation_context()
        contents = llm_request.contents = [_shown(each) for each in llm_request.contents]
        read = session.has(PRE_MODEL_CALL)
        told = [each.model_dump(mode="json", exclude_none=True) for each in contents] if read else []
        request = await session.model(told, llm_request.model)
        if request.blocked is not None:
            return LlmResponse(content=_content("model", [request.blocked]))
        if request.rewritten:
            llm_request.contents = [types.Content.model_validate(each) for each in request.messages]
        for text in [item.text for item in request.context]:
            event = Event(
                author="user", invocation_id=invocation.invocation_id, content=_content("user", [text])
            )
            await invocation.session_service.append_event(invocation.session, event)
            llm_request.contents += [_content("user", [text])]
        llm_request.contents += [_content("user", [text]) for text in request.transient]
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> LlmResponse | None:
        session, content = self._session(callback_context), llm_response.content
        if llm_response.partial and session.has(POST_MODEL_CALL):  # it may still change the text
            return LlmResponse(partial=True)
        if llm_response.partial or content is None or llm_response.error_code:
            return None
        others, usage = _others(content), llm_response.usage_metadata
        calls = [part.function_call for part in others if part.function_call]
        told = [{"id": each.id, "name": each.name, "input": each.args or {}} for each in calls]
        answer = await session.answer(
            _text(content), told, usage.model_dump(exclude_none=True) if usage else {}
        )
        words = None
        if answer.stop is not None:
            others = [part for part in others if part.function_call is None]
        elif not calls and not _is_of_the_user(callback_context.get_invocation_context().agent):
            self._runs[callback_context.session.id].answer = answer.text
        elif not calls:
            end = await session.end(answer.text)
            words = end.send_back and "\n\n".join([*(item.text for item in end.context), end.send_back])
        if words:
            others.append(
                types.Part(function_call=types.FunctionCall(name=_SENT_BACK, args={"words": words}))
            )
        if not (words or answer.rewritten or answer.stop):
            return None
        texts = [text for text in (answer.text, answer.stop) if text]
        return llm_response.model_copy(update={"content": _content("model", texts, others)})

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        if tool.name == _SENT_BACK:
            return tool_args
        if type(tool) is BaseTool or _problem(tool, tool_args):  # no such tool, or ADK itself objects
            return None
        session, call_id = self._session(tool_context), tool_context.function_call_id
        check = partial(_problem, tool, unless=tool_args)
        call = await session.open_tool(tool.name, dict(tool_args), id=call_id, check=check)
        if call.refused is not None:
            return {"error": call.refused.text}
        tool_args.clear()
        tool_args.update(call.arguments)
        self._calls[tool_context] = call, (around := inside(session))
        around.__enter__()
        return None

    def _closed(self, tool_context: Any) -> HostCall | None:
        call, around = self._calls.pop(tool_context, (None, None))
        if around is not None:
            around.__exit__(None, None, None)
        return call

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        call = self._closed(tool_context)
        if call is None or tool_context.actions.requested_tool_confirmations:
            return None  # it did not run, or not yet
        return _result(await call.returned(to_jsonable_python(result, fallback=str)), result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any
    ) -> Any:
        call = self._closed(tool_context)
        if call is None or isinstance(error, CancelledError):
            return None
        # Without a word of a hook ADK does what it does with errors: it raises them.
        return _result(await call.failed(error), {"error": str(error)})

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        run = self._runs[invocation_context.session.id]
        if run.answer is not None or run.session.host.stopped is not None:  # too late to send the model back
            await run.session.end(run.answer or "")

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        run = self._runs.get(invocation_context.session.id)
        if run is not None and not run.session.engine.closed:
            await run.session.failed(error, failure_kind(error))


def _own_id(invocation: InvocationContext) -> str:
    return invocation.session.id


def _text(content: types.Content) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text and not part.thought)


def _others(content: types.Content) -> list[types.Part]:
    return [part for part in content.parts or () if not part.text or part.thought]


def _content(role: str, texts: Iterable[str], others: Iterable[types.Part] = ()) -> types.Content:
    return types.Content(role=role, parts=[*(types.Part(text=text) for text in texts), *others])


def _shown(content: types.Content) -> types.Content:
    """As the model is shown it: words of a Stop hook as those of the user, and not as the result of a call."""
    parts = content.parts or []
    words = [part.function_response for part in parts if _name(part.function_response) == _SENT_BACK]
    if words:
        return _content("user", [str((each.response or {})["words"]) for each in words if each])
    kept = [part for part in parts if _name(part.function_call) != _SENT_BACK]
    return content if len(kept) == len(parts) else types.Content(role="model", parts=kept)


def _name(part: Any) -> str | None:
    return part.name if part is not None else None


def _is_of_the_user(agent: Any) -> bool:
    """Whether the agent answers the user: it is no step of a workflow, and has no task of another agent."""
    return agent.parent_agent is None or getattr(agent, "mode", None) == "chat"


def _problem(tool: Any, arguments: dict[str, Any], unless: dict[str, Any] | None = None) -> str | None:
    """What ADK objects to in the arguments of a function; in others than `unless` also wrong types, which it takes."""
    spec = getattr(tool, "_spec", None)
    if spec is None or not spec.has_signature:
        return None
    missing = [f"{name} is missing" for name in tool._get_mandatory_args() if name not in arguments]  # noqa: SLF001
    if unless is None or arguments == unless:
        wrong = tool._preprocess_args_with_validation(arguments)[1]  # noqa: SLF001
    else:
        given = spec.signature.parameters.items()
        hints = [(name, spec.type_hints.get(name, each.annotation)) for name, each in given]
        wrong = tool._validate_args(arguments, hints)[1]  # noqa: SLF001
    return "; ".join([*missing, *wrong]) or None


def _result(done: CallResult, given: Any) -> dict[str, Any] | None:
    """What the model reads in place of what was given; None: that."""
    added = done.text_up_to(0).strip()
    if not done.rewritten and not added and done.stop is None:
        return None
    value = done.output if done.rewritten else given
    read = cast("dict[str, Any]", value) if isinstance(value, dict) else {"result": value}
    return read | ({"hooks": added} if added else {})
