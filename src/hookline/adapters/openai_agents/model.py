"""OpenAI Agents SDK model with hooks: on its requests, and on its answers.

The SDK lets others see a request, and change nothing of an answer. So its models are wrapped.
"""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import agents as sdk
from openai.types import responses as r

from hookline import Session
from hookline.adapters.tool_calls import translated_call
from hookline.events import POST_MODEL_CALL
from hookline.host import PendingCall

_REQUEST = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")


class RunStoppedError(sdk.AgentsException):
    """An error: hooks ended the run, and its output type has no place for the reason."""


class RunHooks:
    """State that the agents, tools and models of one run share."""

    def __init__(self, session: Session, kept: list[tuple[int, Any]]) -> None:
        self.session = session
        #: Text of hooks that stays in the conversation, and where; -1: at its end.
        self.kept = kept
        #: Why no more requests are made.
        self.held: str | None = None
        #: Calls that wait for an approval, by their ids.
        self.waiting: dict[str, PendingCall] = {}
        #: Calls of the last answer whose arguments are not JSON, by the names of their tools.
        self.unreadable: set[str] = set()
        #: Tools with hooks, the function by which hooks judge their calls, and their own setting.
        self.approvals: list[tuple[sdk.FunctionTool, Any, Any]] = []


class HookedModels(sdk.ModelProvider):
    """Models of a provider, with the hooks of a run."""

    def __init__(self, run: RunHooks, inner: sdk.ModelProvider) -> None:
        self._run, self.inner = run, inner
        self.aclose = inner.aclose

    def get_model(self, model_name: str | None) -> sdk.Model:
        return HookedModel(self._run, self.inner.get_model(model_name))


class HookedModel(sdk.Model):
    """A model with the hooks of a run."""

    def __init__(self, run: RunHooks, inner: sdk.Model) -> None:
        self._run, self.inner = run, inner
        self.close, self.get_retry_advice = inner.close, inner.get_retry_advice

    async def get_response(self, *given: Any, **named: Any) -> sdk.ModelResponse:
        request = await self._request({**dict(zip(_REQUEST, given, strict=False)), **named})
        if request is None:
            return sdk.ModelResponse([_message(self._run.held)], sdk.Usage(), None)
        args, kwargs = _as_given(request, len(given))
        response = await self.inner.get_response(*args, **kwargs)
        return replace(response, output=await self._answered(response.output, response.usage))

    async def stream_response(self, *given: Any, **named: Any) -> AsyncGenerator[Any]:
        request = await self._request({**dict(zip(_REQUEST, given, strict=False)), **named})
        if request is None:
            yield _completed(_message(self._run.held))
            return
        # Text is forwarded as it arrives, unless a hook may still change it.
        waiting: list[Any] | None = [] if self._run.session.has(POST_MODEL_CALL) else None
        args, kwargs = _as_given(request, len(given))
        async for event in self.inner.stream_response(*args, **kwargs):
            if isinstance(event, r.ResponseCompletedEvent | r.ResponseIncompleteEvent):
                output = await self._answered(event.response.output, event.response.usage)
                for each in (waiting or ()) if output is event.response.output else ():
                    yield each
                yield event.model_copy(
                    update={"response": event.response.model_copy(update={"output": output})}
                )
            elif waiting is None or isinstance(event, r.ResponseFailedEvent | r.ResponseErrorEvent):
                yield event
            else:
                waiting.append(event)

    async def _request(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the request as hooks want it, or None: `held` says why."""
        run, given, schema = self._run, request["input"], request["output_schema"]
        items: list[Any] = [user_item(given)] if isinstance(given, str) else list(given)
        run.kept[:] = [(len(items) if at < 0 else at, item) for at, item in run.kept]
        for at, item in reversed(run.kept):
            items.insert(at, item)
        system = request["system_instructions"]
        shown = [{"role": "system", "content": system}, *items] if system else items
        asked = (
            await run.session.model(shown, getattr(self.inner, "model", None)) if run.held is None else None
        )
        run.held = run.held if asked is None else asked.blocked
        if asked is None or run.held is not None:
            if schema is not None and not schema.is_plain_text():
                raise RunStoppedError(run.held)
            return None
        kept = [user_item(item.text) for item in asked.context]
        run.kept += [(len(items), item) for item in kept]
        if asked.rewritten and system:
            written = [str(each["content"]) for each in asked.messages if each.get("role") == "system"]
            items = [each for each in asked.messages if each.get("role") != "system"]
            request = {**request, "system_instructions": "\n\n".join(written) or None}
        elif asked.rewritten:
            items = list(asked.messages)
        return {**request, "input": [*items, *kept, *(user_item(text) for text in asked.transient)]}

    async def _answered(self, output: list[Any], usage: Any) -> list[Any]:
        said = [each for each in output if isinstance(each, r.ResponseOutputMessage)]
        text = "".join(sdk.ItemHelpers.extract_text(each) or "" for each in said)
        made = [each for each in output if isinstance(each, r.ResponseFunctionToolCall)]
        read = [_arguments(each.arguments) for each in made]
        self._run.unreadable = {each.name for each, found in zip(made, read, strict=True) if found is None}
        for tool, judged, own in self._run.approvals:
            # The SDK would ask the user about arguments that a function cannot be called with.
            tool.needs_approval = own if tool.name in self._run.unreadable else judged
        calls = [
            translated_call(each.call_id, each.name, each.arguments if found is None else found)
            for each, found in zip(made, read, strict=True)
        ]
        numbers = {key: getattr(usage, key, None) for key in ("input_tokens", "output_tokens")}
        answer = await self._run.session.answer(text, calls, numbers)
        others = (each for each in output if each not in said)
        return [_message(answer.text), *others] if answer.rewritten else output


def _as_given(request: dict[str, Any], count: int) -> tuple[list[Any], dict[str, Any]]:
    """Return the request as the SDK gave it: a model of the user's may have other names for what comes by place."""
    places = _REQUEST[:count]
    return [request[name] for name in places], {k: v for k, v in request.items() if k not in places}


def _arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call; None if they are not an object of JSON."""
    try:
        found: Any = json.loads(text or "{}")
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def user_item(text: str) -> Any:
    """Return an item of the SDK's input."""
    return {"role": "user", "content": text}


def _message(text: str | None) -> r.ResponseOutputMessage:
    said = r.ResponseOutputText(text=text or "", type="output_text", annotations=[])
    made = {"id": f"msg_{uuid4().hex}", "role": "assistant", "type": "message", "status": "completed"}
    return r.ResponseOutputMessage.model_validate({**made, "content": [said]})


def _completed(message: r.ResponseOutputMessage) -> r.ResponseCompletedEvent:
    made: dict[str, Any] = {"id": f"resp_{uuid4().hex}", "created_at": 0, "model": "hookline", "tools": []}
    made |= {"output": [message], "object": "response", "parallel_tool_calls": False, "tool_choice": "none"}
    return r.ResponseCompletedEvent(response=r.Response(**made), sequence_number=0, type="response.completed")
