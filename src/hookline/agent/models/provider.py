"""The port to real models: one request out, its answer streamed back."""

import warnings
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, cast

import httpx2
from pydantic_ai import exceptions as x
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model

from hookline.agent.models.choose import PROVIDERS, ModelSetupError, Target, missing, target_of
from hookline.agent.models.port import ModelError, Piece, Request, TextPiece
from hookline.agent.models.provider_client import built, connect, settings
from hookline.agent.models.provider_messages import model_messages, parameters, response_of, sendable
from hookline.model.safe_text import one_line

#: The first row that fits. An error with a status that no row names goes by the status.
_KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (x.ModelQuotaExceededError, "billing"),
    (x.ModelContextWindowExceededError, "max_tokens"),
    (x.ModelAuthenticationError, "auth_failed"),
    (x.ModelRateLimitError, "rate_limit"),
    (x.ModelUnavailableError, "server"),
    (x.ModelServerError, "server"),
    (x.ModelConnectionError, "server"),
    (x.ModelRequestTimeout, "server"),
    (x.IncompleteToolCall, "max_tokens"),
    (x.ContentFilterError, "unknown"),
)
_STATUSES: Final[Mapping[int, str]] = {
    401: "auth_failed", 402: "billing", 403: "auth_failed", 408: "server", 413: "max_tokens", 429: "rate_limit",
}  # fmt: skip
_LONGEST: Final = 600
_SHORTEST_KEY: Final = 8


def model_error(problem: Exception, target: Target) -> ModelError:
    """The error as the agent knows errors. What cannot be understood came from the server's side."""
    if isinstance(problem, ModelError):
        return problem
    kind = _kind(problem)
    said = _without_key(_told(problem, target), target)
    return ModelError(kind, one_line(said + _hint(kind, problem, target), _LONGEST))


def _kind(problem: Exception) -> str:
    for known, kind in _KINDS:
        if isinstance(problem, known):
            return kind
    if isinstance(problem, x.ModelHTTPError):
        status = problem.status_code
        return _STATUSES.get(status, "server" if status >= 500 else "unknown")
    return "unknown" if isinstance(problem, x.UserError) else "server"


def _told(problem: Exception, target: Target) -> str:
    who = f"{target.provider}:{target.model}"
    if isinstance(problem, x.ModelHTTPError):
        words = _words(problem.body)
        return f"{who} answered HTTP {problem.status_code}" + (f": {words}" if words else "")
    if isinstance(problem, x.ModelConnectionError):
        return f"{who} at {target.base_url} cannot be reached or broke off: {problem.message}"
    if isinstance(problem, x.ModelAPIError):
        return f"{who} gave no answer that can be read: {problem.message}"
    return f"{who} gave no answer that can be read: {type(problem).__name__}: {problem}"


def _words(body: object) -> str:
    """The message in an error body, whichever way it is wrapped."""
    for _ in range(3):
        if not isinstance(body, dict):
            break
        fields = cast("dict[str, Any]", body)
        body = fields.get("error") or fields.get("message") or ""
    return sendable(str(body)) if body else ""


def _hint(kind: str, problem: Exception, target: Target) -> str:
    if kind == "auth_failed":
        return f" (check {' or '.join(target.row.key_variables)})"
    wait = getattr(problem, "retry_after", None) if kind in {"rate_limit", "server"} else None
    return f" (it asks to wait {wait:.0f} s)" if isinstance(wait, int | float) else ""


def _without_key(text: str, target: Target) -> str:
    """A server may quote what it was sent."""
    key = target.api_key
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else text


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
