"""The providers by name: where each one is, and which variables it reads."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

#: How a provider is spoken to. `openai` is whichever of the two OpenAI APIs fits the place.
Speech = Literal["openai", "chat", "responses", "anthropic", "google"]


class Provider(Struct, frozen=True, kw_only=True):
    speech: Speech
    #: Where it is unless a base URL says otherwise.
    home: str
    url_variable: str
    #: The first one that is set counts.
    key_variables: tuple[str, ...]
    #: False: it answers without a key, as servers on one's own machine do.
    needs_key: bool = True
    #: How its models are called, for the hint when somebody leaves the provider out.
    families: tuple[str, ...] = ()


def _openai(speech: Speech, *families: str) -> Provider:
    return Provider(
        speech=speech,
        home="https://api.openai.com/v1",
        url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        families=families,
    )


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": _openai("openai", "gpt", "o1", "o3", "o4", "chatgpt"),
    "openai-chat": _openai("chat"),
    "openai-responses": _openai("responses"),
    "anthropic": Provider(
        speech="anthropic",
        home="https://api.anthropic.com",
        url_variable="ANTHROPIC_BASE_URL",
        key_variables=("ANTHROPIC_API_KEY",),
        families=("claude", "opus", "sonnet", "haiku"),
    ),
    "google": Provider(
        speech="google",
        home="https://generativelanguage.googleapis.com",
        url_variable="GOOGLE_BASE_URL",
        key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        families=("gemini",),
    ),
    "ollama": Provider(
        speech="chat",
        home="http://localhost:11434/v1",
        url_variable="OLLAMA_BASE_URL",
        key_variables=("OLLAMA_API_KEY",),
        needs_key=False,
        families=("llama", "qwen", "mistral", "gemma"),
    ),
}
