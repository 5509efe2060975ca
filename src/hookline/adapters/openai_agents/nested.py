"""Run the agents behind `as_tool` with hooks.

Such a tool starts its agent by the SDK's own `Runner`. So that one is made to look first whether a tool of Hookline is
waiting here; all other runs go through unchanged.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from agents.run import AgentRunner, get_default_agent_runner, set_default_agent_runner


class NestedRunner(Protocol):
    """Runs agents with hooks: `HooklineRunner`."""

    async def run(self, agent: Any, input: Any, **options: Any) -> Any:
        """Run an agent."""
        ...

    def run_streamed(self, agent: Any, input: Any, **options: Any) -> Any:
        """Run an agent, and stream its events."""
        ...


#: The runner for the agent that the tool which is invoked here starts.
_WAITING: ContextVar[NestedRunner | None] = ContextVar("hookline_nested_runner", default=None)


class _Runner(AgentRunner):
    """The SDK's runner, which leaves the agents of tools to the runner that waits for them."""

    def __init__(self, inner: AgentRunner) -> None:
        self._inner = inner

    async def run(self, starting_agent: Any, input: Any, **options: Any) -> Any:
        runner = _taken()
        if runner is None:
            return await self._inner.run(starting_agent, input, **options)
        return await runner.run(starting_agent, input, **_given(options))

    def run_sync(self, starting_agent: Any, input: Any, **options: Any) -> Any:
        return self._inner.run_sync(starting_agent, input, **options)

    def run_streamed(self, starting_agent: Any, input: Any, **options: Any) -> Any:
        runner = _taken()
        if runner is None:
            return self._inner.run_streamed(starting_agent, input, **options)
        return runner.run_streamed(starting_agent, input, **_given(options))


def _taken() -> NestedRunner | None:
    """Return the runner that waits, once: what its agents start is theirs."""
    runner = _WAITING.get()
    _WAITING.set(None)
    return runner


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


@contextmanager
def agents_run_by(runner: NestedRunner | None) -> Generator[None]:
    """Let this runner run the agent that a tool starts inside; None: the SDK's own does."""
    if runner is None:
        yield
        return
    default = get_default_agent_runner()
    if not isinstance(default, _Runner):
        set_default_agent_runner(_Runner(default))
    token = _WAITING.set(runner)
    try:
        yield
    finally:
        _WAITING.reset(token)
