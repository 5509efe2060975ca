"""Google's ADK with its real client of Gemini, against a provider on loopback."""

from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode  # pyright: ignore[reportPrivateImportUsage]
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types

from hookline import Engine
from hookline.adapters.google_adk import HooklinePlugin
from hookline.events import PRE_MODEL_CALL
from tests.adapters.provider import Provider
from tests.adapters.real_client import check_decisions, check_failure, look

pytestmark = pytest.mark.filterwarnings("ignore")


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


def test_hooks_decide_by_every_entry() -> None:
    systems: list[Any] = []

    async def play(server: Provider, engine: Engine) -> list[str]:
        engine.add(PRE_MODEL_CALL, lambda request: systems.append(request.messages[0].text), quick=True)
        return [*await asked(server, engine), *await asked(server, engine, StreamingMode.SSE)]

    check_decisions(play, "contents")
    assert all("You look." in text for text in systems)


def test_a_provider_that_fails_ends_the_turn_once() -> None:
    check_failure(asked)
