"""Suggest models to a user who has a key, and remember the choice for the next start."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hookline.agent.models.choose import PROVIDERS
from hookline.journal.file import state_dir
from hookline.model.safe_text import one_line

#: Models that are listed for each provider.
_MOST: Final = 5
_SMALLEST_WINDOW: Final = 100_000
#: Models for other things than text, by their names.
_OTHER: Final = re.compile(
    r"oss|audio|realtime|image|tts|live|search|transcribe|embed|robotics|vision|omni|cyber|\d{6,}|:"
)
_LONGEST: Final = 200


def providers_with_key(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the providers whose key is set."""
    return tuple(
        name
        for name, row in PROVIDERS.items()
        if row.speech not in ("chat", "responses")
        and any(env.get(variable) for variable in row.key_variables)
    )


def suggested_models(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return names of newer models of these providers, as far as the list of prices has them. Takes a while."""
    return tuple(f"{name}:{model}" for name in providers_with_key(env) for model in _newest(name))


def _newest(provider: str) -> Sequence[str]:
    try:
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 it takes a tenth of a second
    except ImportError:
        return ()
    families = PROVIDERS[provider].families
    found = [
        model.id
        for known in get_snapshot().providers
        if known.id == provider
        for model in known.models
        if model.id.startswith(families)
        and not _OTHER.search(model.id)
        and not model.deprecated
        and (model.context_window or 0) >= _SMALLEST_WINDOW
    ]
    return sorted(found, key=_version, reverse=True)[:_MOST]


def _version(name: str) -> tuple[tuple[int, ...], str]:
    return tuple(map(int, re.findall(r"\d+", name))), name


def remembered_model(env: Mapping[str, str]) -> str | None:
    """Return the model that the user chose at an earlier start."""
    try:
        with open(_file(env), encoding="utf-8") as file:
            text = file.read(_LONGEST).strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if text and text.isprintable() else None


def remember_model(name: str, env: Mapping[str, str]) -> str | None:
    """Remember a model. Returns why that is not possible."""
    try:
        os.makedirs(os.path.dirname(_file(env)), mode=0o700, exist_ok=True)
        with open(_file(env), "w", encoding="utf-8") as file:
            file.write(f"{one_line(name, _LONGEST)}\n")
    except OSError as problem:
        return str(problem)
    return None


def _file(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "agent_model")


def model_choices(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield a key and the name of each suggested model, for a question."""
    for number, name in enumerate(suggested_models(env)[:9], 1):
        yield str(number), name
