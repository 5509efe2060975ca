"""The port to real models: one request out, its answer streamed back."""

import warnings
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model

from hookline.agent.modelport import ModelError, Piece, Request, TextPiece
from hookline.agent.providers.answers import response_of
from hookline.agent.providers.building import built, settings
from hookline.agent.providers.choosing import ModelSetupError, Target, missing, target_of
from hookline.agent.providers.connection import connect
from hookline.agent.providers.failures import model_error
from hookline.agent.providers.history import model_messages, parameters
from hookline.agent.providers.plain import sendable
from hookline.agent.providers.table import PROVIDERS

_LIBRARIES: Final = r"(pydantic_ai|openai|anthropic|google\.genai|genai_prices)(\.|$)"


class ProviderPort:
    """Reaches the model it was made for, and any other that a request names."""

    def __init__(self, target: Target, env: Mapping[str, str]) -> None:
        self._target = target
        self._env = env
        self._client: httpx2.AsyncClient | None = None
        self._models: dict[Target, Model[Any]] = {}

    def prepare(self) -> None:
        """Load what the model needs. Raises ModelSetupError where that is not installed."""
        try:
            self._model(self._target)
        except ModelError as problem:
            raise ModelSetupError(str(problem)) from problem

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        target = self._meant(request.model)
        model = self._model(target)
        # A library's remark ("this model is deprecated") must neither land on the screen nor end the turn.
        warnings.filterwarnings("ignore", module=_LIBRARIES)
        marks = target.row.speech == "anthropic" or target.at_home
        try:
            async with model_request_stream(
                model,
                model_messages(request.messages, marks=marks),
                model_settings=settings(target, tools=bool(request.tools)),
                model_request_parameters=parameters(request),
                instrument=False,
            ) as stream:
                async for event in stream:
                    text = _text(event)
                    if text:
                        yield TextPiece(sendable(text))
                response = response_of(stream.get())
        except Exception as problem:
            raise model_error(problem, target) from problem
        yield response

    async def close(self) -> None:
        """Let go of the connections; the port may be used again."""
        client, self._client = self._client, None
        self._models.clear()
        if client is not None:
            await client.aclose()

    def _meant(self, name: str) -> Target:
        """A request may name another model, here (`gpt-5`) or elsewhere (`anthropic:…`)."""
        own = self._target
        if name in {"", own.model, f"{own.provider}:{own.model}"}:
            return own
        provider, _, model = name.partition(":")
        if provider == own.provider and model:
            name = model
        elif provider in PROVIDERS:
            try:
                return target_of(name, env=self._env)
            except ModelSetupError as problem:
                raise ModelError("auth_failed", str(problem)) from None
        return Target(
            provider=own.provider, model=name, base_url=own.base_url, api_key=own.api_key, at_home=own.at_home
        )

    def _model(self, target: Target) -> Model[Any]:
        model = self._models.get(target)
        if model is None:
            if self._client is None:
                self._client = connect()
            try:
                model = self._models[target] = built(target, self._client)
            except ImportError as problem:
                raise ModelError("unknown", missing(target.provider, problem)) from problem
        return model


def _text(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
