"""Reach real models through pydantic-ai. Imported when a model of a provider is chosen: it takes seconds."""

import ssl
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from typing import Any, Final, cast

import httpx2
from pydantic_ai import exceptions as x
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from hookline.agent.models.choose import PROVIDERS, ModelSetupError, ModelTarget, missing, target_of
from hookline.agent.models.port import (
    CompletionRequest,
    CompletionResponse,
    Effort,
    ModelError,
    Piece,
    Remedy,
    TextPiece,
    ThoughtPiece,
)
from hookline.agent.models.provider_messages import model_messages, parameters, response_of, sendable
from hookline.model.messages import Assistant, ToolMessage
from hookline.model.safe_text import bare_url, one_line

#: For a connection, and for the next byte of an answer: a model may think for minutes.
TIMEOUT: Final = httpx2.Timeout(300.0, connect=15.0, pool=15.0)
#: Seconds for the whole answer: a server that sends a byte now and then must not hold a turn for ever.
LONGEST_REQUEST: Final = 1800.0

#: Far more than any provider sends.
MOST_BYTES: Final = 64 << 20
#: For an answer that is compressed although we refuse compression: it may unpack to a thousand times its size.
MOST_PACKED_BYTES: Final = 256 << 10

_LIBRARIES: Final = r"(pydantic_ai|openai|anthropic|google\.genai|genai_prices)(\.|$)"

#: The first row that matches; else the HTTP status decides.
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
_REMEDIES: Final[Mapping[str, Remedy]] = {"rate_limit": "retry", "server": "retry", "max_tokens": "compact"}
_THINKING_TOKENS: Final = 32_000
_MOST_THOUGHTS: Final = 200
_LONGEST: Final = 600
_SHORTEST_KEY: Final = 8


class ProviderPort:
    """A port to the model it was made for, and to others that a request names."""

    def __init__(self, target: ModelTarget, env: Mapping[str, str]) -> None:
        self._target = target
        self._env = env
        self._client: httpx2.AsyncClient | None = None
        self._models: dict[ModelTarget, Model[Any]] = {}
        #: Thoughts before calls, by the id of the first call.
        self._thoughts: dict[str, list[ThinkingPart]] = {}

    def prepare(self) -> None:
        """Load the model's packages. Raises ModelSetupError if one is not installed."""
        try:
            self._model(self._target)
        except ModelError as problem:
            raise ModelSetupError(str(problem)) from problem

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        target = self._target_for(request.model)
        model = self._model(target)
        # A warning of a library, such as a deprecated model, must not be printed or end the turn.
        warnings.filterwarnings("ignore", module=_LIBRARIES)
        marks = target.row.speech == "anthropic" or target.at_home
        try:
            async with model_request_stream(
                model,
                model_messages(request.messages, marks=marks, thoughts=self._thoughts),
                model_settings=request_settings(
                    target, tools=bool(request.tools), effort=self._effort(request)
                ),
                model_request_parameters=parameters(request),
                instrument=False,
            ) as stream:
                async for event in stream:
                    if text := _text(event):
                        yield TextPiece(sendable(text))
                    elif thought := _thought(event):
                        yield ThoughtPiece(sendable(thought))
                answer = stream.get()
                response = response_of(answer)
                self._keep_thoughts(answer, response)
        except Exception as problem:
            raise model_error(problem, target) from problem
        yield response

    def _keep_thoughts(self, answer: ModelResponse, response: CompletionResponse) -> None:
        """Keep the thoughts before calls: providers want them back, signed, with the results of the calls."""
        thoughts = [part for part in answer.parts if isinstance(part, ThinkingPart)]
        if thoughts and response.tool_calls:
            self._thoughts[response.tool_calls[0].id] = thoughts
            while len(self._thoughts) > _MOST_THOUGHTS:
                del self._thoughts[next(iter(self._thoughts))]

    def _effort(self, request: CompletionRequest) -> Effort:
        """Return the request's effort; none in the middle of calls whose thoughts are not known any more."""
        last = next((each for each in reversed(request.messages) if isinstance(each, Assistant)), None)
        open_calls = last is not None and last.tool_calls and isinstance(request.messages[-1], ToolMessage)
        known = last is None or not open_calls or last.tool_calls[0].id in self._thoughts
        return request.effort if known else ""

    async def close(self) -> None:
        """Close the connections. The port may be used again."""
        client, self._client = self._client, None
        self._models.clear()
        if client is not None:
            await client.aclose()

    def _target_for(self, name: str) -> ModelTarget:
        """Resolve a model that a request names: another one of this provider (`gpt-5`) or of another one
        (`anthropic:…`).
        """
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
        return ModelTarget(
            provider=own.provider, model=name, base_url=own.base_url, api_key=own.api_key, at_home=own.at_home
        )

    def _model(self, target: ModelTarget) -> Model[Any]:
        model = self._models.get(target)
        if model is None:
            if self._client is None:
                self._client = connect()
            try:
                model = self._models[target] = build_model(target, self._client)
            except ImportError as problem:
                raise ModelError("unknown", missing(target.provider, problem)) from problem
        return model


def _text(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _thought(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, ThinkingPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, ThinkingPartDelta):
        return event.delta.content_delta or ""
    return ""


# -- models of pydantic-ai ---------------------------------------------------------------------------------


# Each function imports the client library it needs: half a second to a second each.
# ruff: noqa: PLC0415


def build_model(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    """Build the model with our client, key and URL, and no retries. Raises ImportError without its client library."""
    speech = target.row.speech
    if speech == "openai":
        # Servers that imitate OpenAI's rarely have its newer API.
        speech = "responses" if target.at_home else "chat"
    return _BUILDERS[speech](target, client)


def request_settings(target: ModelTarget, *, tools: bool, effort: Effort = "") -> ModelSettings:
    """Return the settings of a request. With tools, the next request begins with the same bytes: they can be cached."""
    chosen: dict[str, Any] = {"request_timeout": LONGEST_REQUEST}
    if effort:
        chosen |= {"thinking": effort}
        if target.row.speech == "anthropic":
            chosen["max_tokens"] = _THINKING_TOKENS  # thoughts count, and the usual limit is too low for them
    if target.row.speech == "google":
        return ModelSettings(**chosen)  # its timeouts and retries are set in _google
    chosen |= {"timeout": TIMEOUT, "max_retries": 0}
    if target.row.speech == "anthropic" and tools:
        # Two of the four marks Anthropic allows; the others are for messages that ask for one.
        chosen |= {"anthropic_cache_instructions": True, "anthropic_cache_messages": True}
    if target.provider.startswith("openai") and target.at_home:
        # OpenAI stores conversations for weeks by default.
        chosen["openai_store"] = False
    return ModelSettings(**chosen)


def _chat(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    api = AsyncOpenAI(api_key=target.api_key, base_url=target.base_url, http_client=client, max_retries=0)
    if target.provider == "ollama":
        return OllamaModel(target.model, provider=OllamaProvider(openai_client=api))
    if target.at_home:
        return OpenAIChatModel(target.model, provider=OpenAIProvider(openai_client=api))
    # Not under OpenAI's name: its prices do not apply there.
    return OpenAIChatModel(target.model, provider=OpenAICompatibleProvider("other", openai_client=api))


def _responses(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    api = AsyncOpenAI(api_key=target.api_key, base_url=target.base_url, http_client=client, max_retries=0)
    return OpenAIResponsesModel(target.model, provider=OpenAIProvider(openai_client=api))


def _anthropic(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    api = AsyncAnthropic(api_key=target.api_key, base_url=target.base_url, http_client=client, max_retries=0)
    return AnthropicModel(target.model, provider=AnthropicProvider(anthropic_client=api))


def _google(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=target.api_key,
        base_url=target.base_url,
        http_client=client,
        retry_options=HttpRetryOptions(attempts=1),
    )
    return GoogleModel(target.model, provider=provider)


_BUILDERS: Final[Mapping[str, Callable[[ModelTarget, httpx2.AsyncClient], Model[Any]]]] = {
    "chat": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
}


# -- the HTTP client ---------------------------------------------------------------------------------------


class TooLongError(httpx2.ReadError):
    """An error: the server sent more than an answer may have."""


def connect(most_bytes: int = MOST_BYTES) -> httpx2.AsyncClient:
    """Return a client that is bounded in time and in bytes, and never sends a key to another host."""

    async def bound(response: httpx2.Response) -> None:
        packed = response.headers.get("content-encoding", "identity") != "identity"
        most = min(most_bytes, MOST_PACKED_BYTES) if packed else most_bytes
        response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream), most)

    return httpx2.AsyncClient(
        timeout=TIMEOUT,
        verify=_tls(),
        # A redirect to another host would be sent the key.
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
    )


@cache
def _tls() -> ssl.SSLContext:
    """Read the certificates once per process: it takes 30 ms or more."""
    return httpx2.create_ssl_context()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise TooLongError(f"the answer is longer than {self._most} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


# -- errors ------------------------------------------------------------------------------------------------


def model_error(problem: Exception, target: ModelTarget) -> ModelError:
    """Return the error in the agent's terms. An unknown one counts as the server's."""
    if isinstance(problem, ModelError):
        return problem
    kind = _kind(problem)
    said = _without_key(_described(problem, target), target)
    wait: Any = getattr(problem, "retry_after", None)
    return ModelError(
        kind,
        one_line(said + _hint(kind, problem, target), _LONGEST),
        _remedy(kind, problem),
        retry_after=float(wait) if isinstance(wait, int | float) else None,
    )


def _remedy(kind: str, problem: Exception) -> Remedy:
    if isinstance(problem, x.IncompleteToolCall):
        return ""  # its answer was too long, not the conversation
    if isinstance(problem, x.ModelHTTPError) and problem.provider_retry_hint is False:
        return ""
    return _REMEDIES.get(kind, "")


def _kind(problem: Exception) -> str:
    for known, kind in _KINDS:
        if isinstance(problem, known):
            return kind
    if isinstance(problem, x.ModelHTTPError):
        status = problem.status_code
        return _STATUSES.get(status, "server" if status >= 500 else "unknown")
    return "unknown" if isinstance(problem, x.UserError) else "server"


def _described(problem: Exception, target: ModelTarget) -> str:
    who = f"{target.provider}:{target.model}"
    if isinstance(problem, x.ModelHTTPError):
        message = _message(problem.body)
        return f"{who} answered HTTP {problem.status_code}" + (f": {message}" if message else "")
    if isinstance(problem, x.ModelConnectionError):
        return f"{who} at {bare_url(target.base_url)} cannot be reached or closed the connection: {problem.message}"
    if isinstance(problem, x.ModelAPIError):
        return f"{who} gave no readable answer: {problem.message}"
    return f"{who} gave no readable answer: {type(problem).__name__}: {problem}"


def _message(body: object) -> str:
    """Return the message in an error body, however it is nested."""
    for _ in range(3):
        if not isinstance(body, dict):
            break
        fields = cast("dict[str, Any]", body)
        body = fields.get("error") or fields.get("message") or ""
    return sendable(str(body)) if body else ""


def _hint(kind: str, problem: Exception, target: ModelTarget) -> str:
    if kind == "auth_failed":
        return f" (check {' or '.join(target.row.key_variables)})"
    wait = getattr(problem, "retry_after", None) if kind in {"rate_limit", "server"} else None
    return f" (it asks to wait {wait:.0f} s)" if isinstance(wait, int | float) else ""


def _without_key(text: str, target: ModelTarget) -> str:
    """Remove the key from a text: the server may quote its input."""
    key = target.api_key
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else text
