"""What a page is asked to show, as its address says it."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
from hookline.model.safe_text import one_line

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
#: What the address of a page with a filter may say.
FILTER_PARAMETERS: Final = (*_KEYS, "before")
#: Longer than any name that the journal keeps.
_LONGEST: Final = 2000
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


class BadAddressError(Exception):
    """The address of a page asks for something that there is not. The text is a sentence for the user."""


def check_parameters(given: Iterable[tuple[str, str]], known: Sequence[str]) -> None:
    """Raises BadAddressError for a parameter that the page does not have: it would show more than was asked for."""
    seen: set[str] = set()
    for name, text in given:
        shown = one_line(name, 40)
        if name not in known:
            there = f"It has: {', '.join(known)}." if known else "It has none."
            raise BadAddressError(f"This page has no parameter {shown!r}. {there}")
        if name in seen:
            raise BadAddressError(f"The parameter {shown!r} is there twice. Name it once.")
        if len(text) > _LONGEST:
            raise BadAddressError(
                f"The parameter {shown!r} is longer than {_LONGEST} characters. Shorten it."
            )
        seen.add(name)


def check_choice(name: str, text: str, choices: Iterable[str]) -> None:
    """Raises BadAddressError for what is none of them; nothing at all is everything."""
    there = list(choices)
    if text and text not in there:
        raise BadAddressError(f"{name}={one_line(text, 40)} is not possible. Say one of: {', '.join(there)}.")


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
        """Raises BadAddressError if a value means nothing."""
        texts = {key: query[key] for key in _KEYS if query.get(key)}
        check_choice("since", texts.get("since", ""), RANGES)
        check_choice("status", texts.get("status", ""), STATUS_CONDITIONS)
        before = query.get("before", "")
        if before and not _NUMBER.fullmatch(before):
            raise BadAddressError(f"before={one_line(before, 40)} is not the number of a run.")
        return cls(**texts, before=int(before or 0))

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
