"""Tokens and money: agents fill these records, every format reads them. A count that is not known is None."""

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
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens=_sum(self.reasoning_tokens, other.reasoning_tokens),
            cost_usd=_cost(self.cost_usd, other.cost_usd),
        )

    @property
    def total_tokens(self) -> int | None:
        return _sum(self.input_tokens, self.output_tokens)

    @property
    def cache_miss_tokens(self) -> int | None:
        """Tokens of the request that the provider did not have in its cache."""
        if self.input_tokens is None or self.cache_read_tokens is None:
            return None
        return max(self.input_tokens - self.cache_read_tokens, 0)


class Totals(Usage, frozen=True, kw_only=True, omit_defaults=True):
    """What a session has used so far."""

    #: Tokens of all requests and answers.
    session_tokens: int | None = None
    #: Tokens that the conversation takes now.
    conversation_tokens: int | None = None


def totals_of(usage: Usage, conversation_tokens: int | None = None) -> Totals:
    """The totals of a session that has used this."""
    return Totals(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=usage.cost_usd,
        session_tokens=usage.total_tokens,
        conversation_tokens=conversation_tokens,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def _cost(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


#: By our field: what providers and frameworks call the count, with a dot where it is nested.
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
    """Counts as a host or another agent names them; None if it names none that are known here."""
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
    """As `usage_of`, for a whole session."""
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
