"""pydantic-ai's model for a target: which of its classes, with our client, our key, our place, and no retries."""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from typing import Any, Final, cast

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from hookline.agent.models.choose import Target

#: Longest wait for a connection, and for the next byte of an answer: a model may think for minutes.
TIMEOUT: Final = httpx2.Timeout(300.0, connect=15.0, pool=15.0)
#: And for the whole of it, in seconds: a server that sends a byte now and then does not hold a turn for ever.
LONGEST_REQUEST: Final = 1800.0

#: The longest stream any provider sends is a fraction of this.
MOST_BYTES: Final = 64 << 20
#: Of an answer that came compressed although nobody asked for that: it may unpack to a thousand times as much.
MOST_PACKED_BYTES: Final = 256 << 10


class TooLongError(httpx2.ReadError):
    """A server sent more than any answer is long."""


def connect(most_bytes: int = MOST_BYTES) -> httpx2.AsyncClient:
    async def bound(response: httpx2.Response) -> None:
        packed = response.headers.get("content-encoding", "identity") != "identity"
        most = min(most_bytes, MOST_PACKED_BYTES) if packed else most_bytes
        response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream), most)

    return httpx2.AsyncClient(
        timeout=TIMEOUT,
        verify=_tls(),
        # A redirect to another host would take the key along in a header of the provider's own.
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
    )


@cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes 30 ms or more: once a process is enough."""
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


# Each function imports the client library it needs: half a second to a second each.
# ruff: noqa: PLC0415


def built(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    """The model. Raises ImportError where its client library is not installed."""
    speech = target.row.speech
    if speech == "openai":
        # Servers that are like OpenAI's rarely have its newer API.
        speech = "responses" if target.at_home else "chat"
    return _BUILDERS[speech](target, client)


def settings(target: Target, *, tools: bool) -> ModelSettings:
    """How every request is made. With tools it is an agent's, and the next one begins with the same bytes."""
    chosen: dict[str, Any] = {"request_timeout": LONGEST_REQUEST}
    if target.row.speech == "google":
        return ModelSettings(**chosen)  # its timeouts and retries are the provider's, set where it is built
    chosen |= {"timeout": TIMEOUT, "max_retries": 0}
    if target.row.speech == "anthropic" and tools:
        # Two of the four marks Anthropic allows; the others are left to messages that ask for one.
        chosen |= {"anthropic_cache_instructions": True, "anthropic_cache_messages": True}
    if target.provider.startswith("openai") and target.at_home:
        # OpenAI keeps conversations for weeks unless it is told not to.
        chosen["openai_store"] = False
    return ModelSettings(**chosen)


def _chat(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
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
    # Another name than OpenAI's: what it costs there is nobody's knowledge.
    return OpenAIChatModel(target.model, provider=OpenAICompatibleProvider("other", openai_client=api))


def _responses(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    api = AsyncOpenAI(api_key=target.api_key, base_url=target.base_url, http_client=client, max_retries=0)
    return OpenAIResponsesModel(target.model, provider=OpenAIProvider(openai_client=api))


def _anthropic(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    api = AsyncAnthropic(api_key=target.api_key, base_url=target.base_url, http_client=client, max_retries=0)
    return AnthropicModel(target.model, provider=AnthropicProvider(anthropic_client=api))


def _google(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
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


_BUILDERS: Final[Mapping[str, Callable[[Target, httpx2.AsyncClient], Model[Any]]]] = {
    "chat": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
}
