"""Retry requests to the model that failed for a while: too many requests, an overloaded server, a broken stream."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from hookline.agent.models.port import ModelError
from hookline.agent.ports import Shown
from hookline.agent.turn.turn import AgentParts

T = TypeVar("T")

#: Seconds before the first retry; each further one waits twice as long.
FIRST_SECONDS = 1.0
_MOST_SECONDS = 30.0
#: A provider that asks for a longer wait than this gets no retry: the user decides.
LONGEST_ASKED = 300.0
#: Clients that failed together must not come back together.
_SPREAD = 0.25


async def with_retries(parts: AgentParts, attempt: Callable[[], Awaitable[T]]) -> T:
    """Return the result of an attempt, which is repeated after errors that pass. Raises ModelError.

    Cancelling it ends a wait at once.
    """
    most = parts.settings.max_retries
    for number in range(1, most + 2):
        try:
            return await attempt()
        except ModelError as error:
            seconds = seconds_before(number, error)
            if seconds is None or number > most:
                raise
            parts.user.listener.show(
                Shown(
                    kind="retry",
                    text=f"the model failed ({error.kind}): {error}; retry {number} of {most}",
                    seconds=seconds,
                    agent=parts.workplace.agent_type,
                )
            )
        await asyncio.sleep(seconds)
    raise AssertionError("the last attempt returns or raises")


def seconds_before(number: int, error: ModelError) -> float | None:
    """Return how long to wait before this retry; None if none would help."""
    if error.remedy != "retry":
        return None
    if error.retry_after is not None:
        return error.retry_after if 0 <= error.retry_after <= LONGEST_ASKED else None
    seconds = min(FIRST_SECONDS * 2 ** (number - 1), _MOST_SECONDS)
    return seconds * (1 + _SPREAD * random.random())  # noqa: S311 no secret
