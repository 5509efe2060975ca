"""The model of an agent of the OpenAI Agents SDK, under hooks: what it is sent, and what it answers.

The SDK lets others look at a request, and change nothing of an answer. So its models are wrapped.
"""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import agents as sdk
from openai.types import responses as r

from hookline import Session
from hookline.adapters.calls import told_call
from hookline.events import POST_MODEL_CALL

_REQUEST = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")


class RunStoppedError(sdk.AgentsException):
    """Hooks ended the run, and its output cannot be a text that says why."""


class RunHooks:
    """What the agents, tools and models of one run share."""

    def __init__(self, session: Session, kept: list[tuple[int, Any]]) -> None:
        self.session = session
        #: Text of hooks that stays in the conversation, and where; -1: at its end.
        self.kept = kept
        #: Why no more requests are made.
        self.held: str | None = None


class HookedModels(sdk.ModelProvider):
    """The models of a provider, under the hooks of a run."""

    def __init__(self, run: RunHooks, inner: sdk.ModelProvider) -> None:
        self._run, self._inner = run, inner
        self.aclose = inner.aclose

    def get_model(self, model_name: str | None) -> sdk.Model:
        return HookedModel(self._run, self._inner.get_model(model_name))


class HookedModel(sdk.Model):
    """A model under the hooks of a run."""

    def __init__(self, run: RunHooks, inner: sdk.Model) -> None:
        self._run, self._inner = run, inner
        self.close, self.get_retry_advice = inner.close, inner.get_retry_advice

    async def get_response(self, *given: Any, **named: Any) -> sdk.ModelResponse:
        request = await self._request({**dict(zip(_REQUEST, given, strict=False)), **named})
        if request is None:
            return sdk.ModelResponse([_message(self._run.held)], sdk.Usage(), None)
        response = await self._inner.get_response(**request)
        return replace(response, output=await self._answered(response.output, response.usage))

    async def stream_response(self, *given: Any, **named: Any) -> AsyncGenerator[Any]:
        request = await self._request({**dict(zip(_REQUEST, given, strict=False)), **named})
        if request is None:
            yield _completed(_message(self._run.held))
            return
        # Text is passed on as it comes, unless a hook may still change it.
        waiting: list[Any] | None = [] if self._run.session.has(POST_MODEL_CALL) else None
        async for event in self._inner.stream_response(**request):
            if isinstance(event, r.ResponseCompletedEvent):
                output = await self._answered(event.response.output, event.response.usage)
                for each in (waiting or ()) if output is event.response.output else ():
                    yield each
                yield event.model_copy(
                    update={"response": event.response.model_copy(update={"output": output})}
                )
            elif waiting is None:
                yield event
            else:
                waiting.append(event)

    async def _request(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The request as hooks want it, or None: `held` says why."""
        run, given, schema = self._run, request["input"], request["output_schema"]
        items: list[Any] = [user_item(given)] if isinstance(given, str) else list(given)
        run.kept[:] = [(len(items) if at < 0 else at, item) for at, item in run.kept]
        for at, item in reversed(run.kept):
            items.insert(at, item)
        asked = (
            await run.session.model(items, getattr(self._inner, "model", None)) if run.held is None else None
        )
        run.held = run.held if asked is None else asked.blocked
        if asked is None or run.held is not None:
            if schema is not None and not schema.is_plain_text():
                raise RunStoppedError(run.held)
            return None
        kept = [user_item(item.text) for item in asked.context]
        run.kept += [(len(items), item) for item in kept]
        return {**request, "input": [*asked.messages, *kept, *(user_item(text) for text in asked.transient)]}

    async def _answered(self, output: list[Any], usage: Any) -> list[Any]:
        said = [each for each in output if isinstance(each, r.ResponseOutputMessage)]
        text = "".join(sdk.ItemHelpers.extract_text(each) or "" for each in said)
        made = [each for each in output if isinstance(each, r.ResponseFunctionToolCall)]
        calls = [told_call(each.call_id, each.name, each.arguments) for each in made]
        numbers = {key: getattr(usage, key, None) for key in ("input_tokens", "output_tokens")}
        answer = await self._run.session.answer(text, calls, numbers)
        others = (each for each in output if each not in said)
        return [_message(answer.text), *others] if answer.rewritten else output


def user_item(text: str) -> Any:
    """An item of the SDK's input."""
    return {"role": "user", "content": text}


def _message(text: str | None) -> r.ResponseOutputMessage:
    said = r.ResponseOutputText(text=text or "", type="output_text", annotations=[])
    made = {"id": f"msg_{uuid4().hex}", "role": "assistant", "type": "message", "status": "completed"}
    return r.ResponseOutputMessage.model_validate({**made, "content": [said]})


def _completed(message: r.ResponseOutputMessage) -> r.ResponseCompletedEvent:
    made: dict[str, Any] = {"id": f"resp_{uuid4().hex}", "created_at": 0, "model": "hookline", "tools": []}
    made |= {"output": [message], "object": "response", "parallel_tool_calls": False, "tool_choice": "none"}
    return r.ResponseCompletedEvent(response=r.Response(**made), sequence_number=0, type="response.completed")
