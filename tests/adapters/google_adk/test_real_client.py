"""Google's ADK with its real client of Gemini, against a provider on loopback."""

import asyncio
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode  # pyright: ignore[reportPrivateImportUsage]
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types

from hookline import Engine, deny, rewrite
from hookline.adapters.google_adk import HooklinePlugin
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL, PRE_TOOL_USE, STOP_FAILURE, TURN_SETTLED
from tests.adapters.provider import Provider, provider

pytestmark = pytest.mark.filterwarnings("ignore")
LOOK = {"name": "look", "arguments": {"place": "there"}}
RAN: list[str] = []


def look(place: str) -> str:
    """Look at a place."""
    RAN.append(place)
    return f"saw {place}"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "x")


async def asked(server: Provider, engine: Engine, mode: StreamingMode = StreamingMode.NONE) -> list[str]:
    model = Gemini(model="gemini-2.5-flash", base_url=server.url.removesuffix("/v1"))
    agent = LlmAgent(name="main", model=model, tools=[look], instruction="You look.")
    async with InMemoryRunner(agent, app_name="app", plugins=[HooklinePlugin(engine)]) as runner:
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        run = runner.run_async(
            user_id="u",
            session_id=session.id,
            new_message=types.Content(role="user", parts=[types.Part(text="go")]),
            run_config=RunConfig(streaming_mode=mode),
        )
        events = [event async for event in run]
    parts = [part for event in events if event.content for part in event.content.parts or ()]
    return [part.text for part in parts if part.text]


def hide(answer: Any) -> Any:
    return rewrite(answer.response.replace("123", "***")) if "123" in answer.response else None


def test_hooks_decide_by_every_entry() -> None:
    systems: list[Any] = []

    async def play(server: Provider) -> list[list[str]]:
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, lambda _call: deny("not there"), quick=True)
            engine.add(POST_MODEL_CALL, hide, quick=True, rewrites=True)
            engine.add(PRE_MODEL_CALL, lambda request: systems.append(request.messages[0].text), quick=True)
            return [await asked(server, engine), await asked(server, engine, StreamingMode.SSE)]

    RAN.clear()
    with provider(LOOK, "the key is 123", LOOK, "the key is 123") as server:
        assert asyncio.run(play(server)) == [["the key is ***"]] * 2
        assert "not there" in str(server.requests[1]["contents"])
    assert RAN == []
    assert all("You look." in text for text in systems)


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    seen: list[str] = []

    async def play(server: Provider) -> None:
        async with Engine() as engine:
            engine.add(STOP_FAILURE, lambda failure: seen.append(failure.error), quick=True)
            engine.add(TURN_SETTLED, lambda turn: seen.append(turn.status), quick=True)
            with pytest.raises(Exception, match="401"):
                await asked(server, engine)

    with provider(401) as server:
        asyncio.run(play(server))
    assert seen == ["auth_failed", "failed"]
