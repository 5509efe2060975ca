"""Add hooks to agents of the OpenAI Agents SDK::

    from hookline.adapters.openai_agents import HooklineRunner
    result = await HooklineRunner(engine).run(agent, "hello")

A session is a conversation, by the id of the SDK's `session`, its `conversation_id`, or the id that you choose. Agents
that are handed over to belong to it. An agent that a tool of another one runs with the runner is its subagent.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Unpack
from uuid import uuid4
from warnings import catch_warnings, simplefilter
from weakref import WeakKeyDictionary

import agents as sdk
from agents.run import RunOptions

from hookline import Engine, Session
from hookline.adapters.failures import tell_failure
from hookline.adapters.openai_agents.agent import HookedAgents
from hookline.adapters.openai_agents.model import HookedModels, RunHooks, RunStoppedError, user_item
from hookline.adapters.sessions import AdapterSessions, keep_run_context, sub_agent
from hookline.host import PendingCall, SessionOptions

__all__ = ["BLOCKED", "HooklineRunner", "HooklineStream", "RunStoppedError"]

#: A prompt, items, or the state of a run that paused.
Input = str | list[sdk.TResponseInputItem] | sdk.RunState[Any]
#: Stands in the history for a prompt that hooks blocked.
BLOCKED = "(a hook blocked this prompt)"
_PENDING = "hookline_pending"


class HooklineRunner:
    """Runner of agents with hooks.

    `session_id` chooses the session by a run's options; hooks see the fields of `info`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        session_id: Callable[[Any], str] | None = None,
        **info: Unpack[SessionOptions],
    ) -> None:
        self._sessions = AdapterSessions(engine, info)
        self._session_id = session_id or _conversation
        #: Text of hooks that stays in a conversation, and where.
        self._kept: WeakKeyDictionary[Session, list[tuple[int, Any]]] = WeakKeyDictionary()
        #: Ends the session of one conversation, or of all.
        self.close = self._sessions.close
        #: Returns the session of a conversation by its id: to add hooks to it, or to read its inbox.
        self.session_of = self._sessions.of

    async def run(
        self, agent: sdk.Agent[Any], input: Input, **options: Unpack[RunOptions[Any]]
    ) -> sdk.RunResult:
        """Run an agent as `Runner.run` does."""
        run = self._run(agent, options)
        await run.begin(input)
        while True:
            async with run.watched():
                result = await sdk.Runner.run(run.agent, run.items, **run.options)
            if not await run.goes_on(result):
                return run.whole(result)

    def run_sync(
        self, agent: sdk.Agent[Any], input: Input, **options: Unpack[RunOptions[Any]]
    ) -> sdk.RunResult:
        """Run an agent as `Runner.run_sync` does: on the loop of this thread, which clients of models are bound to."""
        loop = _loop_of_thread()
        task = loop.create_task(self.run(agent, input, **options))
        try:
            return loop.run_until_complete(task)
        finally:
            if not task.done():  # an interrupt: let the run end first
                task.cancel()
                with suppress(asyncio.CancelledError):
                    loop.run_until_complete(task)

    def run_streamed(
        self, agent: sdk.Agent[Any], input: Input, **options: Unpack[RunOptions[Any]]
    ) -> "HooklineStream":
        """Run an agent as `Runner.run_streamed` does."""
        return HooklineStream(self._run(agent, options), input)

    def _run(self, agent: sdk.Agent[Any], options: Any) -> "_Run":
        session = sub_agent(agent.name) or self._sessions.of(self._session_id(options))
        keep_run_context(session, _context(options.get("context")))
        return _Run(agent, options, RunHooks(session, self._kept.setdefault(session, [])), self)

    @staticmethod
    def pending(result: Any) -> tuple[PendingCall, ...]:
        """Return the calls of an interrupted run that hooks ask about: the questions, with their reasons.

        ::

            for call in runner.pending(result):
                print(call.tool_name, call.tool_input, call.reason)
        """
        return result.__dict__.get(_PENDING, ())


class HooklineStream:
    """A streamed run. It begins when it is iterated, and has the attributes of the SDK's own result then.

    Before, `is_complete` is False, and `cancel` means that it never begins.
    """

    def __init__(self, run: "_Run", input: Any) -> None:
        self._run, self._input, self._result = run, input, None
        self._cancelled = False

    @property
    def current_agent(self) -> Any:
        """The agent that runs; the first one before the run begins."""
        return self._run.agent if self._result is None else self._result.current_agent

    @property
    def is_complete(self) -> bool:
        """True once the run is over."""
        return self._cancelled if self._result is None else self._result.is_complete

    def cancel(self, mode: Literal["immediate", "after_turn"] = "immediate") -> None:
        """End the run, as the SDK's own `cancel` does."""
        self._cancelled = True
        if self._result is not None:
            self._result.cancel(mode)

    async def stream_events(self) -> AsyncGenerator[Any]:
        if self._cancelled:
            return
        await self._run.begin(self._input)
        while True:
            result = self._result = sdk.Runner.run_streamed(
                self._run.agent, self._run.items, **self._run.options
            )
            async with self._run.watched():
                async for event in result.stream_events():
                    yield event
            if self._cancelled or not await self._run.goes_on(result):
                self._run.whole(result)
                return

    def __getattr__(self, name: str) -> Any:
        if self._result is None:
            raise AttributeError(f"{name} is there when the stream has begun: iterate over stream_events()")
        return getattr(self._result, name)


class _Run:
    def __init__(
        self, agent: sdk.Agent[Any], options: Any, hooks: RunHooks, nested: "HooklineRunner"
    ) -> None:
        self._session, self._hooks = hooks.session, hooks
        agents = HookedAgents(self._hooks, nested)
        given: Any = options.get("run_config") or dict[str, Any]()
        config: Any = given if isinstance(given, sdk.RunConfig) else sdk.RunConfig(**given)
        provider = config.model_provider
        if isinstance(provider, HookedModels):  # of the run around this one
            provider = provider.inner
        models = HookedModels(self._hooks, provider)
        changed = replace(config, model=agents.model(config.model), model_provider=models)
        self.options: Any = {**options, "run_config": changed}
        self.agent = agents.under_hooks(agent)
        self.items: Any = None
        #: Not even the first request was made.
        self._blocked = False
        #: Results before the model was sent back.
        self._earlier: list[Any] = []

    async def begin(self, given: Any) -> None:
        paused: bool = isinstance(given, sdk.RunState)
        if paused:
            given = await self._under_hooks(given)
        self.items = [user_item(given)] if isinstance(given, str) else given
        last: dict[str, Any] = {} if paused or not self.items else self.items[-1]
        if last.get("role") != "user":  # it continues where it was
            return
        content: Any = last["content"]
        parts: list[Any] = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
        prompt = await self._session.prompt("\n".join(part["text"] for part in parts if "text" in part))
        self._hooks.held, self._blocked = prompt.blocked, prompt.blocked is not None
        if self._blocked:
            self.items = [*self.items[:-1], user_item(BLOCKED)]
        elif prompt.changed:
            words = [{"type": "input_text", "text": text} for text in prompt.texts]
            others = [part for part in parts if "text" not in part]
            self.items = [*self.items[:-1], {**last, "content": [*words, *others]}]

    async def _under_hooks(self, state: Any) -> Any:
        """Return the state of a paused run with the agents of this one: those of the user have no hooks."""
        context = sdk.RunContextWrapper(context=state._context.context)  # noqa: SLF001 - there is no other way
        written = state.to_json(context_serializer=_nothing)
        return await sdk.RunState.from_json(self.agent, written, context_override=context)

    @asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        try:
            yield
        except BaseException as error:
            if not isinstance(error, RunStoppedError):
                await tell_failure(self._session, error)
            raise

    async def goes_on(self, result: Any) -> bool:
        """Return True if a Stop hook sends the model back; `items` is its input then."""
        if result.interruptions or self._blocked:
            result.__dict__[_PENDING] = tuple(self._hooks.waiting.values())
            return False
        over = await self._session.end("" if self._hooks.held else str(result.final_output))
        stored = self.options.get("session") or self.options.get("conversation_id")
        self.items = [*([] if stored else result.to_input_list()), *map(user_item, over.texts)]
        if over.texts:
            self._earlier.append(result)
        return bool(over.texts)

    def whole(self, result: Any) -> Any:
        """Return the result with the items, responses and usage of the runs before the model was sent back."""
        if self._earlier:
            result.__dict__["to_input_list"] = copy(
                result
            ).to_input_list  # it has its input, and so all of them
            results = [*self._earlier, result]
            result.new_items = [item for each in results for item in each.new_items]
            result.raw_responses = [response for each in results for response in each.raw_responses]
            for each in self._earlier:
                result.context_wrapper.usage.add(each.context_wrapper.usage)
        return result


def _context(given: Any) -> Any:
    """Return the user's object: an agent behind a tool gets it wrapped."""
    wrapped: Any = given
    return wrapped.context if isinstance(given, sdk.RunContextWrapper) else given


def _nothing(_context: Any) -> dict[str, Any]:
    return {}


def _loop_of_thread() -> asyncio.AbstractEventLoop:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("run_sync() cannot be called where an event loop is running: await run()")
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)
        try:
            loop = asyncio.get_event_loop()
        except RuntimeError:
            loop = None
    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    return loop


def _conversation(options: dict[str, Any]) -> str:
    memory = options.get("session")
    return (memory.session_id if memory is not None else options.get("conversation_id")) or uuid4().hex
