"""Hooks in agents of the OpenAI Agents SDK::

    from hookline.adapters.openai_agents import HooklineRunner
    result = await HooklineRunner(engine).run(agent, "hello")

A session is a conversation, by the id of the SDK's `session`, its `conversation_id`, or the id that you choose. Agents
that are handed over to belong to it. An agent that a tool of another one runs with the runner is its sub-agent.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Unpack
from uuid import uuid4
from weakref import WeakKeyDictionary

import agents as sdk

from hookline import Engine, Session
from hookline.adapters.failures import tell_failure
from hookline.adapters.openai_agents.agent import HookedAgents
from hookline.adapters.openai_agents.model import HookedModels, RunHooks, RunStoppedError, user_item
from hookline.adapters.sessions import Sessions, sub_agent
from hookline.host import SceneOptions

__all__ = ["BLOCKED", "HooklineRunner", "HooklineStream", "RunStoppedError"]

#: Stands in the history for a prompt that hooks blocked.
BLOCKED = "(a hook blocked this prompt)"


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
        self._session, self._hooks = session, RunHooks(session, kept)
        agents = HookedAgents(self._hooks)
        given: Any = options.get("run_config") or dict[str, Any]()
        config: Any = given if isinstance(given, sdk.RunConfig) else sdk.RunConfig(**given)
        models = HookedModels(self._hooks, config.model_provider)
        changed = replace(config, model=agents.model(config.model), model_provider=models)
        self.options: Any = {**options, "run_config": changed}
        self.agent = agents.under_hooks(agent)
        self.items: Any = None
        #: Not even the first request was made.
        self._blocked = False

    async def begin(self, given: Any) -> None:
        self.items = [user_item(given)] if isinstance(given, str) else given
        paused: bool = isinstance(given, sdk.RunState)
        last: dict[str, Any] = {} if paused else self.items[-1]
        if last.get("role") != "user":  # it goes on where it was
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

    @asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        try:
            yield
        except Exception as error:
            if not isinstance(error, RunStoppedError):
                await tell_failure(self._session, error)
            raise

    async def goes_on(self, result: Any) -> bool:
        """Whether a Stop hook sends the model back; `items` is what it gets then."""
        if result.interruptions or self._blocked:
            return False
        over = await self._session.end("" if self._hooks.held else str(result.final_output))
        stored = self.options.get("session") or self.options.get("conversation_id")
        self.items = [*([] if stored else result.to_input_list()), *map(user_item, over.texts)]
        return bool(over.texts)


def _conversation(options: dict[str, Any]) -> str:
    memory = options.get("session")
    return (memory.session_id if memory is not None else options.get("conversation_id")) or uuid4().hex
