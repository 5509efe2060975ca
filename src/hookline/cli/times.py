"""Read times on the command line (`--since 2h`), and compute percentiles of durations, as records and as text."""

import math
import re
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from hookline.cli.requests import RequestError


class Times(Struct, frozen=True, forbid_unknown_fields=True):
    """Durations in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    worst_ms: float
    total_ms: float


def times(durations: Iterable[float]) -> Times | None:
    """Return the figures of durations in milliseconds; None if there are none."""
    import statistics  # only for commands that show durations

    ordered = sorted(durations)
    if not ordered:
        return None
    rank = math.ceil(0.95 * len(ordered)) - 1
    figures = statistics.median(ordered), ordered[rank], ordered[-1], math.fsum(ordered)
    return Times(len(ordered), *(round(each, 3) for each in figures))


def milliseconds(value: float) -> str:
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 1 else f"{value:.2f} ms"


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_duration(text: str, option: str) -> float:
    """Parse `10m` to seconds. Raises RequestError, which names the option."""
    found = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    if found is None:
        raise RequestError(f"{option} {text!r} is not a time: say 90s, 10m or 2h")
    return float(int(found[1]) * _UNITS[found[2]])


def parse_since(text: str, now: float) -> float:
    """Parse `2h` (ago), or a date, to seconds since the epoch. A time without a zone is local."""
    ago = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    if ago is not None:
        return now - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise RequestError(
            f"--since {text!r} is not a time: say 90s, 30m, 2h, 7d, 2026-01-02 or 2026-01-02T15:04"
        ) from None
