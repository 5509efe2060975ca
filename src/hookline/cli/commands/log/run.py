"""Read the journal: which runs are wanted, and all of them in numbers."""

import argparse
import os
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain

from msgspec import Struct

from hookline.cli.commands.log.report import Counts, LogDocument, is_block
from hookline.cli.describe import means_hook
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.problems import RequestError
from hookline.cli.terminal import Progress
from hookline.cli.text import terminal_width
from hookline.journal.file import journal_path
from hookline.journal.reader import Damage, scan_journal
from hookline.model.run import Run
from hookline.model.safe_text import one_line

_LIMIT, _LIMIT_FOLLOWING = 50, 10
_DAMAGE_SHOWN = 5
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Filter(Struct, frozen=True, kw_only=True):
    """Which runs are wanted. An empty tuple lets everything through; of several words one must match."""

    hooks: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    #: Seconds since the epoch.
    since: float = 0.0

    def takes(self, run: Run) -> bool:
        return (
            run.at >= self.since
            and (not self.hooks or means_hook(self.hooks, run.hook, run.source))
            and (not self.events or _has_event(run, self.events))
            and (not self.decisions or any(_has_decision(run, word) for word in self.decisions))
            and (not self.statuses or any(_has_status(run, word) for word in self.statuses))
            and (not self.sessions or run.session.startswith(self.sessions))
        )


def _has_event(run: Run, names: tuple[str, ...]) -> bool:
    own = {run.event.casefold(), run.spelled.casefold()}
    return any(name.casefold() in own for name in names)


def _has_decision(run: Run, word: str) -> bool:
    if word == "block":
        return is_block(run)
    if word == "pass":
        return run.decision is None and run.status == "ok"
    return run.decision == word


def _has_status(run: Run, word: str) -> bool:
    return run.passed_without_answer if word == "unanswered" else run.status == word


def log(args: argparse.Namespace) -> ExitStatus:
    if args.limit is not None and args.limit < 0:
        raise RequestError(f"--limit {args.limit}: say how many, or 0 for all")
    wanted = Filter(
        hooks=tuple(args.hook or ()),
        events=tuple(args.event or ()),
        decisions=tuple(args.decision or ()),
        statuses=tuple(args.status or ()),
        sessions=tuple(args.session or ()),
        since=0.0 if args.since is None else parse_since(args.since, time.time()),
    )
    path = journal_path(os.environ)
    if args.follow:
        from hookline.cli.commands.log.follow import follow

        limit = _LIMIT_FOLLOWING if args.limit is None else args.limit
        return follow(path, wanted, limit or None, as_json=args.json)
    limit = _LIMIT if args.limit is None else args.limit
    document = read(path, wanted, limit or None)
    shown = _show(document, counts=args.counts, as_json=args.json)
    report_damage(path, document.damage)
    if not document.runs and document.exists:
        _suggest_events(wanted.events)
    return ExitStatus.PROBLEM if document.unreadable else shown


def parse_since(text: str, now: float) -> float:
    """`2h` ago, or a date, in seconds since the epoch. A time without a zone is local."""
    ago = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    if ago is not None:
        return now - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise RequestError(
            f"--since {text!r} is no time: say 90s, 30m, 2h, 7d, 2026-01-02 or 2026-01-02T15:04"
        ) from None


def read(path: str, wanted: Filter, limit: int | None) -> LogDocument:
    """The newest runs that are wanted, and all of them in numbers."""
    newest: deque[Run] = deque(maxlen=limit)
    counts = Counts()
    damage: list[str] = []
    with Progress() as progress:
        both = chain(records_of(rotated(path), wanted.since), records_of(path, wanted.since))
        for number, item in enumerate(both):
            if isinstance(item, Damage):
                damage.append(str(item))
            elif wanted.takes(item):
                newest.append(item)
                counts.add(item)
            if number % 1000 == 0:
                progress.say(f"reading {path}: {number} records")
    return LogDocument(
        journal=path,
        exists=os.path.lexists(path) or os.path.lexists(rotated(path)),
        runs=tuple(newest),
        totals=counts.totals,
        hooks=counts.hooks,
        damage=tuple(damage),
    )


def rotated(path: str) -> str:
    """The older journal, moved there when it was full."""
    return f"{path}.1"


def records_of(file: str, since: float) -> Iterator[Run | Damage]:
    """The records of a file, unless all of them are older than what is asked for."""
    return scan_journal(file) if os.path.lexists(file) and _modified(file) >= since else iter(())


def _modified(file: str) -> float:
    """When it was last written; never, if that is unknown, so that reading it reports the problem."""
    try:
        return os.stat(file).st_mtime
    except OSError:
        return float("inf")


def _show(document: LogDocument, *, counts: bool, as_json: bool) -> ExitStatus:
    if as_json:
        return show(document.as_json(), as_json=True)
    if document.exists and document.unreadable and not document.runs:
        return ExitStatus.PROBLEM  # `report_damage` says why
    return show(document.as_text(terminal_width(), counts=counts))


def report_damage(path: str, damage: Sequence[str]) -> None:
    for each in damage[:_DAMAGE_SHOWN]:
        note(one_line(f"hookline log: {path}: {each}", 500))
    more = len(damage) - _DAMAGE_SHOWN
    if more > 0:
        note(f"hookline log: and {more} more damaged lines")


def _suggest_events(names: Sequence[str]) -> None:
    """A name that is not in the table may be misspelt; an agent's own name is not looked up."""
    from hookline.matching.nearest import nearest
    from hookline.model.events import EVENTS

    known = {name.casefold() for name in EVENTS}
    for name in names:
        meant = nearest(name, EVENTS) if name.casefold() not in known else None
        if meant is not None:
            note(
                one_line(
                    f"hookline log: no run is of an event called {name[:100]!r}; did you mean {meant!r}?", 300
                )
            )
