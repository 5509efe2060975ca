"""Which runs are asked for."""

import re
from datetime import datetime

from msgspec import Struct

from hookline.cli.fire_settings import RequestError
from hookline.cli.naming import means_hook
from hookline.model.run import Run

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Wanted(Struct, frozen=True, kw_only=True):
    """An empty list lets everything through; of several words one must fit."""

    hooks: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    since: float = 0.0

    def takes(self, run: Run) -> bool:
        return (
            run.at >= self.since
            and (not self.hooks or means_hook(self.hooks, run.hook, run.source))
            and (not self.events or _is_named(run, self.events))
            and (not self.decisions or any(_decided(run, word) for word in self.decisions))
            and (not self.statuses or any(_ended(run, word) for word in self.statuses))
            and (not self.sessions or run.session.startswith(self.sessions))
        )


def _is_named(run: Run, names: tuple[str, ...]) -> bool:
    own = {run.event.casefold(), run.spelled.casefold()}
    return any(name.casefold() in own for name in names)


def _decided(run: Run, word: str) -> bool:
    if word == "block":
        return is_block(run)
    if word == "pass":
        return run.decision is None and run.status == "ok"
    return run.decision == word


def _ended(run: Run, word: str) -> bool:
    return run.passed_without_answer if word == "unanswered" else run.status == word


def is_block(run: Run) -> bool:
    """It held the action back: it said no, or it failed and its failure means no."""
    return run.status == "blocked" or run.decision == "deny"


def is_failure(run: Run) -> bool:
    return run.status in ("failed", "timed_out", "not_started")


def since_of(text: str, now: float) -> float:
    """`2h` ago, or a date, in seconds since the epoch. A time without a zone is a local one."""
    said = text.strip()
    ago = re.fullmatch(r"(\d{1,9})([smhdw])", said)
    if ago is not None:
        return now - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(said).timestamp()
    except (ValueError, OverflowError, OSError):
        raise RequestError(
            f"--since {text!r} is no time: say 90s, 30m, 2h, 7d, 2026-01-02 or 2026-01-02T15:04"
        ) from None
