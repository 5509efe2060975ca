"""Hooks in agents of the OpenAI Agents SDK::

    from hookline.adapters.openai_agents import HooklineRunner
    result = await HooklineRunner(engine).run(agent, "hello")

A session is a conversation, by the id of the SDK's `session`, its `conversation_id`, or the id that you choose. Agents
that are handed over to belong to it. An agent that a tool of another one runs with the runner is its sub-agent.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from functools import cache
from inspect import isawaitable
from typing import Any, Unpack
from uuid import uuid4
from weakref import WeakKeyDictionary

import agents as sdk
from agents.function_schema import function_schema
from agents.tool import resolve_function_tool_failure_error_function, set_function_tool_failure_error_function
from openai.types import responses as r

from hookline.adapters.calls import call_tool, told_call
from hookline.adapters.failures import failure_kind
from hookline.adapters.sessions import Sessions, prompt_texts, sub_agent
from hookline.engine.engine import Engine
from hookline.engine.session import Session
from hookline.model.errors import EngineClosedError
from hookline.model.events import POST_MODEL_CALL
from hookline.model.scene import SceneOptions

#: Stands in the history for a prompt that hooks blocked.
BLOCKED = "(a hook blocked this prompt)"
_REQUEST = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")


class RunStoppedError(sdk.AgentsException):
    """Hooks ended the run, and its output cannot be a text that says why."""


class HooklineRunner:
    """Runs agents under hooks. `session_id` chooses the session by a run's options; `scene` is told to hooks."""

    def __init__(
        self, engine: Engine, *, session_id: Callable[[Any], str] | None = None, **scene: Unpack[SceneOptions]
    ) -> None:
        self._sessions = Sessions(engine, scene)
        self._session_id = session_id or _conversation
        #: Text of hooks that stays in a conversation, and where.
        self._kept: WeakKeyDictionary[Session, list[tuple[int, Any]]] = WeakKeyDictionary()
        #: Ends the session of one conversation, or of all.
        self.close = self._sessions.close

    async def run(self, agent: sdk.Agent[Any], input: Any, **options: Any) -> sdk.RunResult:
        """As `Runner.run`."""
        run = self._run(agent, options)
        await run.begin(input)
        while True:
            async with run.watched():
                result = await sdk.Runner.run(run.agent, run.items, **run.options)
            if not await run.goes_on(result):
                return result

    def run_sync(self, agent: sdk.Agent[Any], input: Any, **options: Any) -> sdk.RunResult:
        """As `Runner.run_sync`."""
        return asyncio.run(self.run(agent, input, **options))

    def run_streamed(self, agent: sdk.Agent[Any], input: Any, **options: Any) -> "HooklineStream":
        """As `Runner.run_streamed`."""
        return HooklineStream(self._run(agent, options), input)

    def _run(self, agent: sdk.Agent[Any], options: dict[str, Any]) -> "_Run":
        session = sub_agent(agent.name) or self._sessions.of(self._session_id(options))
        return _Run(agent, options, session, self._kept.setdefault(session, []))


class HooklineStream:
    """A streamed run. Whatever else the SDK's own result has is here, too, once the stream has begun."""

    def __init__(self, run: "_Run", input: Any) -> None:
        self._run, self._input, self._result = run, input, None

    async def stream_events(self) -> AsyncGenerator[Any]:
        await self._run.begin(self._input)
        while True:
            result = self._result = sdk.Runner.run_streamed(
                self._run.agent, self._run.items, **self._run.options
            )
            async with self._run.watched():
                async for event in result.stream_events():
                    yield event
            if not await self._run.goes_on(result):
                return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)


class _Run:
    def __init__(self, agent: sdk.Agent[Any], options: Any, session: Session, kept: list[Any]) -> None:
        given: Any = options.get("run_config") or dict[str, Any]()
        config: Any = given if isinstance(given, sdk.RunConfig) else sdk.RunConfig(**given)
        changed = replace(
            config, model=self._model(config.model), model_provider=_Models(self, config.model_provider)
        )
        self.options: Any = {**options, "run_config": changed}
        self.session, self.kept = session, kept
        self.items: Any = None
        #: Why no more requests are made; and whether not even the first one was.
        self.held: str | None = None
        self._blocked = False
        self._hooked: dict[int, sdk.Agent[Any]] = {}
        self.agent = self._under_hooks(agent)

    async def begin(self, given: Any) -> None:
        self.items = [_user(given)] if isinstance(given, str) else given
        paused: bool = isinstance(given, sdk.RunState)
        last: dict[str, Any] = {} if paused else self.items[-1]
        if last.get("role") != "user":  # it goes on where it was
            return
        content: Any = last["content"]
        parts: list[Any] = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
        said = "\n".join(part["text"] for part in parts if "text" in part)
        prompt = await self.session.prompt(said)
        self.held, self._blocked = prompt.blocked, prompt.blocked is not None
        if self._blocked:
            self.items = [*self.items[:-1], _user(BLOCKED)]
        elif prompt_texts(prompt) != [said]:
            words = [{"type": "input_text", "text": text} for text in prompt_texts(prompt)]
            others = [part for part in parts if "text" not in part]
            self.items = [*self.items[:-1], {**last, "content": [*words, *others]}]

    @asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        try:
            yield
        except Exception as error:
            if not isinstance(error, RunStoppedError | EngineClosedError):
                await self.session.failed(error, failure_kind(error))
            raise

    async def goes_on(self, result: Any) -> bool:
        """Whether a Stop hook sends the model back; `items` is what it gets then."""
        if result.interruptions or self._blocked:
            return False
        over = await self.session.end("" if self.held else str(result.final_output))
        new = [*(_user(item.text) for item in over.context), _user(over.send_back or "")]
        stored = self.options.get("session") or self.options.get("conversation_id")
        self.items = new if stored else [*result.to_input_list(), *new]
        return over.send_back is not None

    def _under_hooks(self, agent: sdk.Agent[Any]) -> sdk.Agent[Any]:
        """A copy whose model, tools and handoffs are under hooks."""
        agent = getattr(agent, "hookline_original", agent)
        if id(agent) not in self._hooked:
            hooked = agent.clone(
                model=self._model(agent.model), tools=[self._tool(tool) for tool in agent.tools]
            )
            self._hooked[id(agent)] = hooked
            hooked.handoffs = [self._handoff(each) for each in agent.handoffs]

            async def mcp_tools(context: Any) -> list[Any]:
                return [self._tool(tool) for tool in await agent.get_mcp_tools(context)]

            hooked.__dict__.update(hookline_original=agent, get_mcp_tools=mcp_tools)
        return self._hooked[id(agent)]

    def _model(self, model: Any) -> Any:
        return _Model(self, model) if isinstance(model, sdk.Model) else model

    def _handoff(self, to: Any) -> Any:
        async def hand_over(context: Any, given: str) -> Any:
            return self._under_hooks(await to.on_invoke_handoff(context, given))

        handed: dict[str, Any] = {"on_invoke_handoff": hand_over}
        return self._under_hooks(to) if hasattr(to, "handoffs") else replace(to, **handed)

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, sdk.FunctionTool):
            return tool
        if getattr(tool, "_is_agent_tool", False):
            raise sdk.UserError(
                f"the agent behind {tool.name} would run without hooks: use runner.run() in a tool"
            )
        bare = set_function_tool_failure_error_function(copy(tool), None)  # hooks are told of what it raises

        async def invoke(context: Any, given: str) -> Any:
            try:
                arguments = json.loads(given or "{}")
                _check(tool, arguments)
            except Exception:  # noqa: BLE001 - arguments that do not fit: the SDK has an answer to it
                return await tool.on_invoke_tool(context, given)
            call = await call_tool(
                self.session,
                (tool.name, arguments, context.tool_call_id),
                lambda new: bare.on_invoke_tool(context, json.dumps(new)),
                check=lambda new: _check(tool, new),
            )
            self.kept += [(-1, _user(item.text)) for item in call.done.context]
            if call.error is None:
                return call.value if call.untouched else call.done.text
            answer = resolve_function_tool_failure_error_function(tool, context)
            if answer is None:
                raise call.error
            text = answer(context, call.error)
            return await text if isawaitable(text) else text

        return replace(tool, on_invoke_tool=invoke)


class _Models(sdk.ModelProvider):
    def __init__(self, run: _Run, inner: sdk.ModelProvider) -> None:
        self._run, self._inner = run, inner
        self.aclose = inner.aclose

    def get_model(self, model_name: str | None) -> sdk.Model:
        return _Model(self._run, self._inner.get_model(model_name))


class _Model(sdk.Model):
    def __init__(self, run: _Run, inner: sdk.Model) -> None:
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
        items: list[Any] = [_user(given)] if isinstance(given, str) else list(given)
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
        kept = [_user(item.text) for item in asked.context]
        run.kept += [(len(items), item) for item in kept]
        return {**request, "input": [*asked.messages, *kept, *(_user(text) for text in asked.transient)]}

    async def _answered(self, output: list[Any], usage: Any) -> list[Any]:
        said = [each for each in output if isinstance(each, r.ResponseOutputMessage)]
        text = "".join(sdk.ItemHelpers.extract_text(each) or "" for each in said)
        made = [each for each in output if isinstance(each, r.ResponseFunctionToolCall)]
        calls = [told_call(each.call_id, each.name, each.arguments) for each in made]
        numbers = {key: getattr(usage, key, None) for key in ("input_tokens", "output_tokens")}
        answer = await self._run.session.answer(text, calls, numbers)
        others = (each for each in output if each not in said)
        return [_message(answer.text), *others] if answer.rewritten else output


def _conversation(options: dict[str, Any]) -> str:
    memory = options.get("session")
    return (memory.session_id if memory is not None else options.get("conversation_id")) or uuid4().hex


@cache
def _parameters(function: Callable[..., Any]) -> Any:
    return function_schema(function, strict_json_schema=False).params_pydantic_model


def _check(tool: sdk.FunctionTool, arguments: dict[str, Any]) -> None:
    """As the SDK checks them: by the signature of the function, if the tool is made of one."""
    function = getattr(tool, "__wrapped__", None)
    if function is not None:
        _parameters(function)(**arguments)


def _user(text: str) -> Any:
    return {"role": "user", "content": text}


def _message(text: str | None) -> r.ResponseOutputMessage:
    said = r.ResponseOutputText(text=text or "", type="output_text", annotations=[])
    made = {"id": f"msg_{uuid4().hex}", "role": "assistant", "type": "message", "status": "completed"}
    return r.ResponseOutputMessage.model_validate({**made, "content": [said]})


def _completed(message: r.ResponseOutputMessage) -> r.ResponseCompletedEvent:
    made: dict[str, Any] = {"id": f"resp_{uuid4().hex}", "created_at": 0, "model": "hookline", "tools": []}
    made |= {"output": [message], "object": "response", "parallel_tool_calls": False, "tool_choice": "none"}
    return r.ResponseCompletedEvent(response=r.Response(**made), sequence_number=0, type="response.completed")
