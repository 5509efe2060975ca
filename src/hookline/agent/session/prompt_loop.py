"""Play what the user types, until the input ends or a command leaves."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from hookline.agent.session.session import Agent, PromptTurn
from hookline.model import events as e
from hookline.model import payloads as p


class Inputs(Protocol):
    """Source of prompts; they are queued with `agent.submit`."""

    @property
    def leaves_at_end(self) -> bool:
        """True if the end of the input means to leave at once, as with a closed terminal; the end of a pipe
        does not.
        """
        ...

    async def more(self) -> bool:
        """Wait until another prompt is queued, or the user released those on hold.

        Returns False when the input is over.
        """
        ...


async def talk(
    agent: Agent, inputs: Inputs, tell: Callable[[PromptTurn], None], last: PromptTurn | None = None
) -> PromptTurn | None:
    """Play prompts, and return the result of the last one. `tell` is called with each; `last` is one from before."""
    idle = False
    while True:
        result = await agent.run(wait=False, tell=tell)
        last = result if result is not None and result.is_answer else last
        if agent.leaving is not None:
            return last
        if result is not None or not idle:
            await _wait_begins(agent)
        idle = True
        if not await _next(agent, inputs):
            more = None if inputs.leaves_at_end else await agent.run(tell=tell)
            agent.leaving = agent.leaving or "prompt_input_exit"
            return more or last


async def _wait_begins(agent: Agent) -> None:
    """Fire the event once for each wait, or a hook that wakes the agent would run again and again."""
    await agent.fire(
        e.NOTIFICATION, p.Notice(message="waiting for your input", notification_type="idle_prompt")
    )
    await agent.fire(e.USER_INPUT_WAITING, p.InputAwaited(reason="idle"))


async def _next(agent: Agent, inputs: Inputs) -> bool:
    """Wait for the user or for a hook that wakes the agent. Returns False when the input is over."""
    typing = asyncio.ensure_future(inputs.more())
    waking = asyncio.ensure_future(agent.wait_for_wake())
    done, left = await asyncio.wait({typing, waking}, return_when=asyncio.FIRST_COMPLETED)
    for one in left:
        one.cancel()
    if left:
        await asyncio.wait(left)
    return typing.result() if typing in done else True
