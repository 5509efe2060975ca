"""What a page is asked to show, as its address says it."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from hookline.console.index import (
    ALLOW,
    ASK,
    BLOCKED,
    FAILED,
    HOUR,
    PASS,
    STATUSES,
    TIMED_OUT,
    UNANSWERED,
)

MINUTE: Final = 60
#: The ranges of time that pages offer, in seconds; None: everything.
RANGES: Final[Mapping[str, int | None]] = {
    "1h": HOUR, "24h": 24 * HOUR, "7d": 7 * 24 * HOUR, "30d": 30 * 24 * HOUR, "all": None,
}  # fmt: skip
DEFAULT_RANGE: Final = "7d"
#: What can be asked for, and which runs that is.
STATUS_CONDITIONS: Final[Mapping[str, str]] = {
    "blocked": f"flags & {BLOCKED}",
    "unanswered": f"flags & {UNANSWERED}",
    "asked": f"verdict = {ASK}",
    "allowed": f"verdict = {ALLOW}",
    "passed": f"verdict = {PASS}",
    "failed": f"flags & {FAILED}",
    "timed_out": f"flags & {TIMED_OUT}",
    "untrusted": f"status = {STATUSES.index('untrusted')}",
    "cancelled": f"status = {STATUSES.index('cancelled')}",
}
FILTER_WORDS: Final = ("agent", "event", "session", "machine", "project")
_KEYS: Final = ("hook", *FILTER_WORDS, "status", "q", "since")


class Filter(Struct, frozen=True, kw_only=True):
    """What the address of a page asks for. Empty: everything."""

    hook: str = ""
    agent: str = ""
    event: str = ""
    session: str = ""
    machine: str = ""
    project: str = ""
    status: str = ""
    #: Words in the tool or its input.
    q: str = ""
    since: str = DEFAULT_RANGE
    #: Only runs before this one: the next page.
    before: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filter":
        texts = {key: query[key][:500] for key in _KEYS if query.get(key)}
        if texts.get("since", DEFAULT_RANGE) not in RANGES:
            del texts["since"]
        if texts.get("status", "") not in STATUS_CONDITIONS:
            texts.pop("status", None)
        before = query.get("before", "")
        return cls(**texts, before=int(before) if re.fullmatch(r"[0-9]{1,15}", before) else 0)

    def address(self, path: str = "/", **changes: str | int) -> str:
        changed = replace(self, **{"before": 0, **changes})
        pairs = {key: getattr(changed, key) for key in _KEYS if getattr(changed, key)}
        if pairs.get("since") == DEFAULT_RANGE:
            del pairs["since"]
        if changed.before:
            pairs["before"] = changed.before
        return f"{path}?{urlencode(pairs)}" if pairs else path

    @property
    def named(self) -> dict[str, str]:
        """What is asked for beside the time, for the script that adds new runs."""
        return {key: text for key in _KEYS if key != "since" and (text := getattr(self, key))}

    def begins(self, now: float) -> float:
        """Where counts begin, too: of the last hour a minute, of a day an hour, else a day."""
        length = RANGES[self.since]
        if length is None:
            return 0.0
        step = {"1h": MINUTE, "24h": HOUR}.get(self.since, 24 * HOUR)
        return float((now - length) // step * step)

    @property
    def is_counted(self) -> bool:
        """Whether the counts by the hour can answer it."""
        return self.since != "1h" and not any((self.session, self.project, self.q))
