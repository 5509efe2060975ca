"""Find a port that reaches a model by its name, or explain what to set; and how many tokens the model takes."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from hookline.agent.models.port import ModelPort
from hookline.agent.models.scripted import scripted_model
from hookline.extras import how_to_add
from hookline.matching.nearest import nearest
from hookline.model.errors import HooklineError
from hookline.model.safe_text import bare_url

#: The API of a provider. `openai` is the Responses API at OpenAI and the chat API elsewhere.
Speech = Literal["openai", "chat", "responses", "anthropic", "google"]
#: Context windows by the beginnings of names, where the price list lacks them.
_WINDOWS: Final[Mapping[str, int]] = {"gemini-": 1_000_000}


class Provider(Struct, frozen=True, kw_only=True):
    speech: Speech
    #: Its own base URL.
    home: str
    url_variable: str
    #: The first one that is set is used.
    key_variables: tuple[str, ...]
    #: False for servers that need no key, such as a local one.
    needs_key: bool = True
    #: How names of its models begin, for the hint when the provider is left out.
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


SCRIPTED: Final = "scripted"
#: A scripted session that comes with Hookline.
DEMO: Final = "demo"
_DEMO_FILE: Final = os.path.join(os.path.dirname(__file__), "demo.json")
MODEL_VARIABLE: Final = "HOOKLINE_MODEL"

_NAMES: Final = ", ".join(f"{name}:NAME" for name in PROVIDERS)
#: Sent to servers that need no key: the clients insist on one.
_NO_KEY: Final = "no-key-set"


class ModelSetupError(HooklineError):
    """An error: the model cannot be reached with these settings; the message says what to set. Nothing was sent."""


class ModelTarget(Struct, frozen=True, kw_only=True):
    """One model at one URL."""

    provider: str
    model: str
    base_url: str
    api_key: str
    #: False when the URL is not the provider's own.
    at_home: bool

    @property
    def row(self) -> Provider:
        return PROVIDERS[self.provider]


def default_model(env: Mapping[str, str]) -> str:
    """Return the model to use when none was named. Raises ModelSetupError."""
    name = env.get(MODEL_VARIABLE, "").strip()
    if name:
        return name
    ready = [
        f"{variable} is set, so {provider}:NAME can be used."
        for provider, row in PROVIDERS.items()
        if row.speech not in {"chat", "responses"}
        for variable in row.key_variables
        if env.get(variable)
    ]
    raise ModelSetupError(
        "\n".join(
            [
                f"no model is chosen: pass --model NAME or set {MODEL_VARIABLE}. Names are {_NAMES}.",
                *ready,
                "To try it without an account: --model demo plays a session, --model scripted:FILE your own answers.",
            ]
        )
    )


def provider_model(name: str, *, base_url: str | None = None, env: Mapping[str, str]) -> ModelPort:
    """Return a port to the named model.

    Raises ModelSetupError, or ConfigError for a script, before anything is sent.
    """
    kind, _, file = name.strip().partition(":")
    if name.strip() == DEMO:
        return scripted_model(_DEMO_FILE)
    if kind == SCRIPTED:
        if not file:
            raise ModelSetupError("scripted: needs a file: scripted:FILE, a YAML or JSON list of answers")
        return scripted_model(file)
    target = target_of(name, base_url=base_url, env=env)
    try:
        # Takes two to three seconds to load, and may not be installed.
        from hookline.agent.models.provider import ProviderPort  # noqa: PLC0415 - see above
    except ImportError as problem:
        raise ModelSetupError(missing(target.provider, problem)) from problem
    port = ProviderPort(target, env)
    port.prepare()
    return port


def check_model(name: str, *, base_url: str | None = None, env: Mapping[str, str]) -> None:
    """Raise ModelSetupError where `provider_model` would, without loading packages or scripts."""
    if name.strip().partition(":")[0] in (SCRIPTED, DEMO):
        return
    target = target_of(name, base_url=base_url, env=env)
    # Looks for the package without importing it.
    if find_spec("pydantic_ai") is None:
        raise ModelSetupError(missing(target.provider, ImportError(name="pydantic_ai")))


def missing(provider: str, problem: ImportError) -> str:
    what = f" ({problem.name})" if problem.name else ""
    return f"models of {provider} need packages that are not installed{what}: {how_to_add('agent')}"


def target_of(name: str, *, base_url: str | None = None, env: Mapping[str, str]) -> ModelTarget:
    """Resolve a name, checked as far as possible without a request. Raises ModelSetupError."""
    name = name.strip()
    provider, model = _split(name, elsewhere=bool(base_url or env.get(PROVIDERS["openai"].url_variable)))
    if not model:
        raise ModelSetupError(f"{name!r} names no model: use {provider}:NAME")
    row = PROVIDERS[provider]
    place = (base_url or env.get(row.url_variable) or row.home).strip()
    at_home = place.rstrip("/") == row.home
    _refuse_url(place, "--base-url" if base_url else row.url_variable)
    return ModelTarget(
        provider=provider,
        model=model,
        base_url=place,
        api_key=_key(name, row, env, needed=row.needs_key and at_home),
        at_home=at_home,
    )


def _split(name: str, *, elsewhere: bool) -> tuple[str, str]:
    """Split a name into provider and model. With a base URL, a name without a provider is a model of that server."""
    head, colon, tail = name.partition(":")
    if colon and head in PROVIDERS:
        return head, tail.strip()
    meant = nearest(head, (*PROVIDERS, SCRIPTED)) if colon else None
    if elsewhere and meant is None and name:
        return "openai", name
    if meant is not None:
        raise ModelSetupError(f"unknown provider {head!r}; did you mean {meant}:{tail}?")
    family = next((p for p, row in PROVIDERS.items() if name.lower().startswith(row.families or "\0")), None)
    if family is not None:
        raise ModelSetupError(
            f"{name!r} names no provider; did you mean {family}:{name}? Or use scripted:FILE to play a script."
        )
    what = f"unknown provider {head!r}" if colon else f"{name!r} names no provider"
    raise ModelSetupError(
        f"{what}: names are {_NAMES}, or scripted:FILE to play a script. "
        "--base-url reaches any server that speaks OpenAI's API."
    )


def _refuse_url(place: str, said_by: str) -> None:
    try:
        parts = urlsplit(place)
        fine = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or not place.isascii() or not place.isprintable() or " " in place:
        raise ModelSetupError(f"{said_by} is {bare_url(place)!r}, not a URL such as http://localhost:8000/v1")


def _key(name: str, row: Provider, env: Mapping[str, str], *, needed: bool) -> str:
    for variable in row.key_variables:
        key = env.get(variable, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise ModelSetupError(f"{variable} has characters that no key has; was it copied completely?")
        if key:
            return key
    if needed:
        raise ModelSetupError(
            f"{name} needs a key: set {' or '.join(row.key_variables)}. "
            "To try it without an account: --model scripted:FILE."
        )
    return _NO_KEY


@cache
def context_window(model: str) -> int | None:
    """Return the size of the context window of a model (`anthropic:NAME`, or a bare name); None if no table has it."""
    provider, colon, name = model.partition(":")
    if provider in (SCRIPTED, DEMO):
        return None
    name = name if colon else model
    return _listed(name, provider if colon else None) or next(
        (size for begin, size in _WINDOWS.items() if name.startswith(begin)), None
    )


def _listed(name: str, provider: str | None) -> int | None:
    try:
        # The list of prices has windows, too. It comes with the extra that has the providers.
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 it takes a tenth of a second
    except ImportError:
        return None
    for who in (provider, None):
        try:
            _provider, model = get_snapshot().find_provider_model(name, None, who, None)
        except LookupError:
            continue
        return model.context_window
    return None
