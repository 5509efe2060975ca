"""Find how many tokens a model takes: the size of its context window."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from hookline.agent.models.choose import DEMO, SCRIPTED

#: Beginnings of names whose windows the price list lacks.
_FAMILIES: Final[Mapping[str, int]] = {"gemini-": 1_000_000}


@cache
def context_window(model: str) -> int | None:
    """Return the window of a model (`anthropic:NAME`, or a bare name); None if no table has it."""
    provider, colon, name = model.partition(":")
    if provider in (SCRIPTED, DEMO):
        return None
    name = name if colon else model
    return _listed(name, provider if colon else None) or next(
        (size for begin, size in _FAMILIES.items() if name.startswith(begin)), None
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
