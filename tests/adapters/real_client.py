"""Play one tool and some hooks with the real client of a provider: what every framework must do, and its result."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hookline import Engine, deny, rewrite
from hookline.events import POST_MODEL_CALL, PRE_TOOL_USE, STOP_FAILURE, TURN_SETTLED
from tests.adapters.provider import Provider, provider

#: A call of `look`.
LOOK = {"name": "look", "arguments": {"place": "there"}}
#: The places that `look` has seen.
RAN: list[str] = []


def look(place: str) -> str:
    """Look at a place.

    Args:
        place: Which one.
    """
    RAN.append(place)
    return f"saw {place}"


def check_decisions(
    play: Callable[[Provider, Engine], Awaitable[list[str]]], messages: str = "messages"
) -> None:
    """Deny the call and hide a part of the answer, by each of two entries that `play` returns the answers of."""

    async def main(server: Provider) -> list[str]:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not there"), quick=True)
            engine.add(POST_MODEL_CALL, _hide, quick=True, rewrites=True)
            return await play(server, engine)

    RAN.clear()
    with provider(LOOK, "the key is 123", LOOK, "the key is 123") as server:
        assert asyncio.run(main(server)) == ["the key is ***"] * 2
        assert "not there" in str(server.requests[1][messages])
    assert RAN == []


def _hide(answer: Any) -> Any:
    return rewrite(answer.response.replace("123", "***")) if "123" in answer.response else None


def check_repeated(ask: Callable[[Provider], list[str]]) -> None:
    """Let an entry without a loop answer two questions with one client."""
    RAN.clear()
    with provider(LOOK, "one", LOOK, "two") as server:
        assert ask(server) == ["one", "two"]
    assert RAN == ["there", "there"]


def check_failure(
    ask: Callable[[Provider, Engine], Awaitable[object]], status: int = 401, error: str = "auth_failed"
) -> None:
    """Let the provider refuse: the turn ends once, and hooks get the reason."""
    seen: list[str] = []

    async def main(server: Provider) -> None:
        async with Engine() as engine:
            report_end(engine, seen)
            with pytest.raises(Exception, match=str(status)):
                await ask(server, engine)

    with provider(status) as server:
        asyncio.run(main(server))
    assert seen == [error, "failed"]


def report_end(engine: Engine, seen: list[str]) -> None:
    """Add hooks that note why a turn failed, and how it ended."""
    engine.add(STOP_FAILURE, lambda failure: seen.append(failure.error), quick=True)
    engine.add(TURN_SETTLED, lambda turn: seen.append(turn.status), quick=True)
