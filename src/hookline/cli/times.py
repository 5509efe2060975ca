"""Compute durations in figures: percentiles, as records and as text."""

import math
import statistics
from collections.abc import Iterable

from msgspec import Struct


class Times(Struct, frozen=True, forbid_unknown_fields=True):
    """Durations in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    worst_ms: float
    total_ms: float


def times(durations: Iterable[float]) -> Times | None:
    """Return the figures of durations in milliseconds; None if there are none."""
    ordered = sorted(durations)
    if not ordered:
        return None
    rank = math.ceil(0.95 * len(ordered)) - 1
    figures = statistics.median(ordered), ordered[rank], ordered[-1], math.fsum(ordered)
    return Times(len(ordered), *(round(each, 3) for each in figures))


def milliseconds(value: float) -> str:
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 1 else f"{value:.2f} ms"
