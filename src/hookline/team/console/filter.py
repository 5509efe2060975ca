"""Read a page's filter from its address."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.safe_text import one_line
from hookline.team.console.index import (
    ALLOW,
    ASK,
    BLOCKED,
    FAILED,
    FAILED_OPEN,
    HOUR,
    PASS,
    SLOW_MS,
    STATUSES,
    TIMED_OUT,
    WOULD_BLOCK,
)

MINUTE: Final = 60
#: The ranges of time that pages offer, in seconds; None: everything.
RANGES: Final[Mapping[str, int | None]] = {
    "1h": HOUR, "24h": 24 * HOUR, "7d": 7 * 24 * HOUR, "30d": 30 * 24 * HOUR, "all": None,
}  # fmt: skip
DEFAULT_RANGE: Final = "7d"
#: The statuses to filter by, and their conditions.
STATUS_CONDITIONS: Final[Mapping[str, str]] = {
    "all": "1",
    "notable": f"(flags & {BLOCKED | FAILED_OPEN | FAILED | WOULD_BLOCK} OR decision = {ASK} OR ms >= {SLOW_MS})",
    "blocked": f"flags & {BLOCKED}",
    "would_have_blocked": f"flags & {WOULD_BLOCK}",
    "failed_open": f"flags & {FAILED_OPEN}",
    "slow": f"ms >= {SLOW_MS}",
    "asked": f"decision = {ASK}",
    "allowed": f"decision = {ALLOW}",
    "passed": f"decision = {PASS}",
    "failed": f"flags & {FAILED}",
    "timed_out": f"flags & {TIMED_OUT}",
    "untrusted": f"status = {STATUSES.index('untrusted')}",
    "cancelled": f"status = {STATUSES.index('cancelled')}",
}
FILTER_WORDS: Final = ("agent", "event", "session", "machine", "project")
_KEYS: Final = ("hook", *FILTER_WORDS, "status", "q", "since", "from", "to")
#: Parameters in the address of a page with a filter.
FILTER_PARAMETERS: Final = (*_KEYS, "before")
#: Longer than any name that the journal keeps.
_LONGEST: Final = 2000
_NUMBER: Final = re.compile(r"[0-9]{1,15}")
#: A time as browsers write it, in the local time of this machine.
_TIME: Final = "%Y-%m-%dT%H:%M"
#: A longer range of the user's choice is counted by whole hours.
_BY_RUNS: Final = 48 * HOUR
_TERM: Final = re.compile(r'(?:(\w+):)?("[^"]*"|\S+)')
#: What a word of the search may name before a colon.
SEARCHED: Final = ("hook", "session", "reason", "agent", "event", "call")


class BadAddressError(Exception):
    """An error for an address with impossible values. The text is a sentence for the user."""


def check_parameters(given: Iterable[tuple[str, str]], known: Sequence[str]) -> None:
    """Raise BadAddressError for a parameter that the page does not have: ignoring it would show too much."""
    seen: set[str] = set()
    for name, text in given:
        shown = one_line(name, 40)
        if name not in known:
            there = f"It has: {', '.join(known)}." if known else "It has none."
            raise BadAddressError(f"This page has no parameter {shown!r}. {there}")
        if name in seen:
            raise BadAddressError(f"The parameter {shown!r} occurs twice. Write it once.")
        if len(text) > _LONGEST:
            raise BadAddressError(
                f"The parameter {shown!r} is longer than {_LONGEST} characters. Shorten it."
            )
        seen.add(name)


def check_choice(name: str, text: str, choices: Iterable[str]) -> None:
    """Raise BadAddressError for a value that is not a choice; an empty value means all."""
    there = list(choices)
    if text and text not in there:
        raise BadAddressError(f"{name}={one_line(text, 40)} is not possible. Say one of: {', '.join(there)}.")


class PageFilter(Struct, frozen=True, kw_only=True):
    """Filter in the address of a page. Empty: everything."""

    hook: str = ""
    agent: str = ""
    event: str = ""
    session: str = ""
    machine: str = ""
    project: str = ""
    status: str = ""
    #: Words of the call, the hook or the reason; `hook:x`, `session:x` and so on search there alone.
    q: str = ""
    since: str = DEFAULT_RANGE
    #: A range of the user's choice, instead of `since`: local times.
    start: str = ""
    end: str = ""
    #: Only runs before this one: the next page.
    before: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "PageFilter":
        """Read the filter of an address. Raises BadAddressError for an invalid value."""
        texts = {_FIELDS.get(key, key): query[key] for key in _KEYS if query.get(key)}
        for key in ("from", "to"):
            _seconds(key, query.get(key, ""))
        check_choice("since", texts.get("since", ""), RANGES)
        check_choice("status", texts.get("status", ""), STATUS_CONDITIONS)
        before = query.get("before", "")
        if before and not _NUMBER.fullmatch(before):
            raise BadAddressError(f"before={one_line(before, 40)} is not the number of a run.")
        return cls(**texts, before=int(before or 0))

    def address(self, path: str = "/runs", **changes: str | int) -> str:
        changed = replace(self, **{"before": 0, **changes})
        if "since" in changes:
            changed = replace(changed, start="", end="", since=changed.since or DEFAULT_RANGE)
        pairs = {key: text for key in _KEYS if (text := getattr(changed, _FIELDS.get(key, key)))}
        if pairs.get("since") == DEFAULT_RANGE or changed.start or changed.end:
            del pairs["since"]
        if changed.before:
            pairs["before"] = changed.before
        return f"{path}?{urlencode(pairs)}" if pairs else path

    @property
    def named(self) -> dict[str, str]:
        """The filter without the time, for the script that adds new runs."""
        times = ("since", "from", "to")
        return {key: text for key in _KEYS if key not in times and (text := getattr(self, key))}

    @property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """The words of the search: pairs of where, empty for everywhere, and a text."""
        found: list[tuple[str, str]] = []
        for name, text in _TERM.findall(self.q)[:8]:
            where = name if name in SEARCHED else ""
            bare = text.strip('"') or text
            found.append((where, bare if where or not name else f"{name}:{bare}"))
        return tuple(found)

    def begins(self, now: float) -> float:
        """Return the begin of the range, rounded as counts are: to a minute for the last hour, an hour for a
        day, else a day.
        """
        if self.start or self.end:
            begin = _seconds("from", self.start)
            return begin // HOUR * HOUR if self._by_hours else begin
        length = RANGES[self.since]
        if length is None:
            return 0.0
        step = {"1h": MINUTE, "24h": HOUR}.get(self.since, 24 * HOUR)
        return float((now - length) // step * step)

    @property
    def shown_status(self) -> str:
        """The status of the runs in a list: without a filter, only those that matter."""
        chosen = (self.hook, self.event, self.session, self.project, self.q)
        return self.status or ("all" if any(chosen) else "notable")

    @property
    def chooses(self) -> bool:
        """True if it finds single hooks of a call, and not only times, agents or machines."""
        return bool(self.hook or self.q or self.status not in ("", "all", "notable"))

    @property
    def ends(self) -> float | None:
        """The end of a range that the user chose; None: now."""
        if not self.end:
            return None
        end = _seconds("to", self.end)
        return -(-end // HOUR) * HOUR if self._by_hours else end

    @property
    def _by_hours(self) -> bool:
        end = _seconds("to", self.end) if self.end else time.time()
        return end - _seconds("from", self.start) > _BY_RUNS

    @property
    def is_short(self) -> bool:
        """True if the range is too short to be counted by hours."""
        return not self._by_hours if self.start or self.end else self.since == "1h"

    @property
    def is_counted(self) -> bool:
        """True if the hourly counts can answer it."""
        return not self.is_short and not any((self.session, self.project, self.q))


#: The field of a parameter that has another name.
_FIELDS: Final = {"from": "start", "to": "end"}


def _seconds(name: str, text: str) -> float:
    """Read a local time. Raises BadAddressError."""
    if not text:
        return 0.0
    try:
        return time.mktime(time.strptime(text, _TIME))
    except (ValueError, OverflowError):
        shown = one_line(text, 40)
        raise BadAddressError(f"{name}={shown} is not a time such as 2026-01-31T14:00.") from None
