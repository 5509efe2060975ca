"""Count tokens and money: agents fill these records, every format reads them. An unknown count is None."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one answer, or the sum of several."""

    #: All tokens of the request, also those that the provider had in its cache.
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    #: None if the price is not known.
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        sums: dict[str, Any] = {}
        for name in Usage.__struct_fields__:
            one, more = getattr(self, name), getattr(other, name)
            sums[name] = more if one is None else one if more is None else one + more
        return Usage(**sums)

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None:
            return self.output_tokens
        return self.input_tokens + (self.output_tokens or 0)

    @property
    def cache_miss_tokens(self) -> int | None:
        """Tokens of the request that the provider did not have in its cache."""
        if self.input_tokens is None or self.cache_read_tokens is None:
            return None
        return max(self.input_tokens - self.cache_read_tokens, 0)


class Totals(Usage, frozen=True, kw_only=True, omit_defaults=True):
    """The usage of a session so far."""

    #: Tokens of all requests and answers.
    session_tokens: int | None = None
    #: Tokens that the conversation takes now.
    conversation_tokens: int | None = None


def totals_of(usage: Usage, conversation_tokens: int | None = None) -> Totals:
    """Return the totals of a session that has used this."""
    fields: dict[str, Any] = {}
    for name in Usage.__struct_fields__:
        fields[name] = getattr(usage, name)
    return Totals(**fields, session_tokens=usage.total_tokens, conversation_tokens=conversation_tokens)


#: For each of our fields: the names that providers and frameworks use, with a dot where it is nested.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "input_tokens": (
        "input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count",
    ),
    "output_tokens": (
        "output_tokens", "completion_tokens", "outputTokens", "completionTokens", "candidates_token_count",
    ),
    "cache_read_tokens": (
        "cache_read_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens", "cacheReadInputTokens",
        "cacheHitTokens", "cached_input_tokens", "cached_content_token_count", "input_token_details.cache_read",
        "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens",
    ),
    "cache_write_tokens": (
        "cache_write_tokens", "cache_creation_input_tokens", "prompt_cache_write_tokens",
        "cacheWriteInputTokens", "cached_write_tokens", "input_token_details.cache_creation",
    ),
    "reasoning_tokens": (
        "reasoning_tokens", "thoughts_token_count", "output_token_details.reasoning",
        "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens",
    ),
}  # fmt: skip


def usage_of(given: Any) -> Usage | None:
    """Read counts as a host or another agent names them; None if it has none that are known here."""
    if not isinstance(given, Mapping):
        return given
    given = cast("Mapping[str, Any]", given)
    counts = {field: _found(given, names) for field, names in _NAMES.items()}
    cost = given.get("cost_usd")
    known: dict[str, Any] = {field: count for field, count in counts.items() if count is not None}
    if isinstance(cost, int | float) and not isinstance(cost, bool):
        known["cost_usd"] = float(cost)
    return Usage(**known) if known else None


def totals_given(given: Any) -> Totals | None:
    """Read the usage of a whole session, like `usage_of`."""
    if not isinstance(given, Mapping):
        return given
    given = cast("Mapping[str, Any]", given)
    usage = usage_of(given)
    found = totals_of(usage) if usage is not None else Totals()
    names = ("session_tokens", "conversation_tokens")
    counts = {name: count for name in names if (count := _count(given.get(name))) is not None}
    return None if usage is None and not counts else Totals(**{**_fields(found), **counts})


def _fields(record: Struct) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def _found(given: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        outer, _, inner = name.partition(".")
        value: Any = given.get(outer)
        if inner:
            value = cast("Mapping[str, Any]", value).get(inner) if isinstance(value, Mapping) else None
        if (count := _count(value)) is not None:
            return count
    return None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
