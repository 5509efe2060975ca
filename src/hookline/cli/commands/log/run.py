"""From the journal on disk to what `hookline log` shows."""

import argparse
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from hookline.cli.commands.log.report import (
    Counts,
    LogDocument,
    Wanted,
    counts_table,
    run_lines,
    since_of,
    totals_line,
)
from hookline.cli.output import PROBLEM, show, tell
from hookline.cli.requests import RequestError
from hookline.cli.terminal import Progress
from hookline.cli.text import json_lines, paragraph, terminal_width
from hookline.journal.file import journal_path
from hookline.journal.reader import Damage, scan_journal
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable

_LIMIT, _LIMIT_FOLLOWING = 50, 10
_DAMAGE_SHOWN = 5


def log(args: argparse.Namespace) -> int:
    if args.limit is not None and args.limit < 0:
        raise RequestError(f"--limit {args.limit}: say how many, or 0 for all")
    wanted = Wanted(
        hooks=tuple(args.hook or ()),
        events=tuple(args.event or ()),
        decisions=tuple(args.decision or ()),
        statuses=tuple(args.status or ()),
        sessions=tuple(args.session or ()),
        since=0.0 if args.since is None else since_of(args.since, time.time()),
    )
    path = journal_path(os.environ)
    if args.follow:
        from hookline.cli.commands.log.follow import follow

        limit = _LIMIT_FOLLOWING if args.limit is None else args.limit
        return follow(path, wanted, limit or None, as_json=args.json)
    limit = _LIMIT if args.limit is None else args.limit
    document = read(path, wanted, limit or None)
    shown = _shown(document, counts=args.counts, as_json=args.json)
    tell_damage(path, document.damage)
    if not document.runs and document.exists:
        _tell_misspelt(wanted.events)
    return PROBLEM if _unreadable(document) else shown


def read(path: str, wanted: Wanted, limit: int | None) -> LogDocument:
    """The newest runs that are wanted, and all of them in numbers."""
    newest: deque[Run] = deque(maxlen=limit)
    counts = Counts()
    damage: list[str] = []
    with Progress() as progress:
        both = chain(items(moved_aside(path), wanted.since), items(path, wanted.since))
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
        exists=os.path.lexists(path) or os.path.lexists(moved_aside(path)),
        runs=tuple(newest),
        totals=counts.totals,
        hooks=counts.hooks,
        damage=tuple(damage),
    )


def moved_aside(path: str) -> str:
    """The journal that was full; what is in it came before."""
    return f"{path}.1"


def items(file: str, since: float) -> Iterator[Run | Damage]:
    """What is in a file, unless all of it is older than what is asked for."""
    return scan_journal(file) if os.path.lexists(file) and _touched(file) >= since else iter(())


def _touched(file: str) -> float:
    """When it was last written; a file nobody can ask is read, so that its trouble is told."""
    try:
        return os.stat(file).st_mtime
    except OSError:
        return float("inf")


def _shown(document: LogDocument, *, counts: bool, as_json: bool) -> int:
    if as_json:
        return show(json_lines(document), as_json=True)
    width = terminal_width()
    if not document.exists:
        return show(nothing_yet(document.journal, width))
    if _unreadable(document) and not document.runs:
        return PROBLEM  # which is told
    if not document.totals.runs and not document.runs:
        return show(paragraph(f"nothing in {document.journal} is like that", width))
    if counts:
        lines = [counts_table(document.hooks, width)]
    else:
        lines = [line for run in document.runs for line in run_lines(run, width)]
    ran = None if counts else sum(run.status not in ("skipped", "detached") for run in document.runs)
    return show("\n".join([*lines, "", totals_line(document.totals, ran)]))


def nothing_yet(path: str, width: int) -> str:
    told = "no journal yet: the first hook that Hookline runs begins it. It will be in"
    return f"{paragraph(told, width)}\n  {printable(path)}"


def _unreadable(document: LogDocument) -> bool:
    return any("cannot be read" in each for each in document.damage)


def tell_damage(path: str, damage: Sequence[str]) -> None:
    for each in damage[:_DAMAGE_SHOWN]:
        tell(one_line(f"hookline log: {path}: {each}", 500))
    more = len(damage) - _DAMAGE_SHOWN
    if more > 0:
        tell(f"hookline log: and {more} more that are not whole")


def _tell_misspelt(events: Sequence[str]) -> None:
    """A name that is in nobody's table may be a slip; an agent's own name is as good as any."""
    from hookline.matching.nearest import nearest
    from hookline.model.events import EVENTS

    known = {name.casefold() for name in EVENTS}
    for name in events:
        meant = nearest(name, EVENTS) if name.casefold() not in known else None
        if meant is not None:
            tell(
                one_line(
                    f"hookline log: no run is of an event called {name[:100]!r}; did you mean {meant!r}?", 300
                )
            )


def run_json(run: Run) -> str:
    return msgspec.json.encode(run).decode()
