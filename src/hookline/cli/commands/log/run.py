"""Read the journal: select the wanted runs, and count them; or follow it while others write it."""

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec
from msgspec import Struct

from hookline.cli.commands.log.report import LogDocument, RunCounts, no_journal_text, run_lines
from hookline.cli.describe import means_hook
from hookline.cli.output import ExitStatus, Progress, note, show, show_part
from hookline.cli.requests import RequestError
from hookline.cli.text import terminal_width
from hookline.cli.times import parse_since
from hookline.journal.file import journal_path
from hookline.journal.reader import Damage, records_in, scan_journal
from hookline.model.run import Run, is_block, would_have_blocked
from hookline.model.safe_text import one_line

_LIMIT, _LIMIT_FOLLOWING = 50, 10
_DAMAGE_SHOWN = 5
#: Seconds between two looks: a stat, and a read of nothing.
_INTERVAL = 0.25
_CHUNK = 1024 * 1024
#: A longer line is skipped; Hookline writes none.
_LONGEST = 4 * _CHUNK


class RunFilter(Struct, frozen=True, kw_only=True):
    """Filter of runs. An empty tuple lets everything through; of several words one must match."""

    hooks: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    #: Parts of a tool's name or of its input.
    calls: tuple[str, ...] = ()
    #: Agents, projects, and commands that tried the hooks.
    origins: tuple[str, ...] = ()
    #: Of runs, or of decisions that a server made.
    ids: tuple[str, ...] = ()
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
            and (not self.ids or run.run_id in self.ids or run.decision_id in self.ids)
            and (not self.calls or any(_is_about(run, text) for text in self.calls))
            and (not self.origins or any(_is_from(run, who) for who in self.origins))
        )


def _has_event(run: Run, names: tuple[str, ...]) -> bool:
    own = {run.event.casefold(), run.dialect_event.casefold()}
    return any(name.casefold() in own for name in names)


def _has_decision(run: Run, word: str) -> bool:
    if word == "block":
        return is_block(run)
    if word == "would_block":
        return would_have_blocked(run)
    if word == "pass":
        return run.decision is None and run.status == "ok"
    return run.decision == word


def _has_status(run: Run, word: str) -> bool:
    return run.failed_open if word == "failed_open" else run.status == word


def _is_about(run: Run, text: str) -> bool:
    return text.casefold() in f"{run.call.tool}\n{run.call.input}".casefold()


def _is_from(run: Run, who: str) -> bool:
    """Return True if a run is from a caller or a directory.

    A run of `fire` is from `fire`, whichever agent it played.
    """
    if who.startswith((".", "/", "~")):
        place = os.path.abspath(os.path.expanduser(who))
        return f"{run.call.project}/".startswith(f"{place.rstrip('/')}/")
    agent = run.call.origin or run.call.caller
    return who.casefold() in agent.casefold() or who == os.path.basename(run.call.project)


def run(args: argparse.Namespace) -> ExitStatus:
    if args.limit is not None and args.limit < 0:
        raise RequestError(f"--limit {args.limit}: say how many, or 0 for all")
    wanted = RunFilter(
        hooks=tuple(args.hook or ()),
        events=tuple(args.event or ()),
        decisions=tuple(args.decision or ()),
        statuses=tuple(args.status or ()),
        sessions=tuple(args.session or ()),
        ids=tuple(args.ids or ()),
        calls=tuple(args.call or ()),
        origins=tuple(args.origin or ()),
        since=0.0 if args.since is None else parse_since(args.since, time.time()),
    )
    path = journal_path(os.environ)
    if args.follow:
        limit = _LIMIT_FOLLOWING if args.limit is None else args.limit
        return _follow(path, wanted, limit or None, as_json=args.json)
    limit = _LIMIT if args.limit is None else args.limit
    document = read(path, wanted, limit or None)
    shown = _show(document, args)
    _report_damage(path, document.damage)
    if document.runs and not args.json and (page := _page(wanted)):
        note(f"in the console: {page}")
    if not document.runs and document.exists:
        _suggest_events(wanted.events)
    return ExitStatus.PROBLEM if document.unreadable else shown


def _page(wanted: RunFilter) -> str:
    """Return the address of these runs in the console, as far as it can filter like this; empty if none runs."""
    from hookline.config.console_address import console_page

    one = {"hook": wanted.hooks, "event": wanted.events, "session": wanted.sessions}
    given = {name: values[0] for name, values in one.items() if len(values) == 1}
    return console_page(os.environ, "/runs", **given, status="all")


def read(path: str, wanted: RunFilter, limit: int | None) -> LogDocument:
    """Return the newest wanted runs, and counts of all of them."""
    newest: deque[Run] = deque(maxlen=limit)
    counts = RunCounts()
    damage: list[str] = []
    with Progress() as progress:
        both = chain(_records_of(_rotated(path), wanted.since), _records_of(path, wanted.since))
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
        exists=os.path.lexists(path) or os.path.lexists(_rotated(path)),
        runs=tuple(newest),
        totals=counts.totals,
        hooks=counts.hooks,
        damage=tuple(damage),
    )


def _rotated(path: str) -> str:
    """Return the path of the older journal, moved there when it was full."""
    return f"{path}.1"


def _records_of(file: str, since: float) -> Iterator[Run | Damage]:
    """Yield the records of a file, unless all of them are older than wanted."""
    return scan_journal(file) if os.path.lexists(file) and _modified(file) >= since else iter(())


def _modified(file: str) -> float:
    """Return when it was last written; infinity if that is unknown, so that reading it reports the problem."""
    try:
        return os.stat(file).st_mtime
    except OSError:
        return float("inf")


def _show(document: LogDocument, args: argparse.Namespace) -> ExitStatus:
    if args.json:
        return show(document.as_json(), as_json=True)
    if document.exists and document.unreadable and not document.runs:
        return ExitStatus.PROBLEM  # `_report_damage` says why
    return show(document.as_text(terminal_width(), counts=args.counts, took=args.times))


def _report_damage(path: str, damage: Sequence[str]) -> None:
    for each in damage[:_DAMAGE_SHOWN]:
        note(one_line(f"hookline log: {path}: {each}", 500))
    more = len(damage) - _DAMAGE_SHOWN
    if more > 0:
        note(f"hookline log: and {more} more damaged lines")


def _suggest_events(names: Sequence[str]) -> None:
    """Suggest event names for misspelt ones; an agent's own name is not looked up."""
    from hookline.matching.nearest import nearest
    from hookline.model.events import EVENTS

    known = {name.casefold() for name in EVENTS}
    for name in names:
        meant = nearest(name, EVENTS) if name.casefold() not in known else None
        if meant is not None:
            note(
                one_line(
                    f"hookline log: no run of an event called {name[:100]!r}; did you mean {meant!r}?", 300
                )
            )


class Tail:
    """Reader of new lines of a journal, across its rotation; the first call returns all there is."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rest = b""
        self._line = 0
        self._fd = self._opened()

    def look(self) -> Iterator[Run | Damage]:
        """Yield all complete records so far. A rotated file is read to its end before the new one."""
        yield from self._read()
        if self._replaced():
            yield from self._read()  # lines written between the last read and the rotation
            self.close()
            if self._rest:
                yield from records_in(self._rest, self._line + 1)
            self._rest, self._line = b"", 0
            self._fd = self._opened()
            yield from self._read()

    @property
    def is_open(self) -> bool:
        return self._fd is not None

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _opened(self) -> int | None:
        try:
            return os.open(
                self._path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
            )
        except OSError:
            return None  # not there yet, or not any more

    def _replaced(self) -> bool:
        if self._fd is None:
            return os.path.exists(self._path)
        try:
            current = os.stat(self._path)
        except OSError:
            return False  # gone, and not replaced yet
        opened = os.fstat(self._fd)
        shorter = os.lseek(self._fd, 0, os.SEEK_CUR) > opened.st_size
        return shorter or (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino)

    def _read(self) -> Iterator[Run | Damage]:
        while self._fd is not None:
            try:
                chunk = os.read(self._fd, _CHUNK)
            except OSError as problem:
                yield Damage(0, f"the journal cannot be read: {problem.strerror}")
                self.close()
                return
            if not chunk:
                return
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            for line in lines:
                self._line += 1
                yield from records_in(line + b"\n", self._line)
            if len(self._rest) > _LONGEST:
                yield Damage(self._line + 1, f"longer than {_LONGEST} bytes, skipped")
                self._rest = b""


def _follow(path: str, wanted: RunFilter, limit: int | None, *, as_json: bool) -> ExitStatus:
    """Follow the journal until stdout closes or an interrupt comes."""
    tail = Tail(path)  # first, so that a file rotated from now on is still read to its end
    try:
        newest, damage = _so_far(path, tail, wanted, limit)
        if not tail.is_open and not damage:
            note(no_journal_text(path, terminal_width()))
        _report_damage(path, damage)
        for run in newest:
            status = _show_run(run, as_json=as_json)
            if status is not None:
                return status
        return _from_now_on(path, tail, wanted, damage[-1] if damage else "", as_json=as_json)
    finally:
        tail.close()


def _so_far(
    path: str, tail: Tail, wanted: RunFilter, limit: int | None
) -> tuple[Sequence[Run], Sequence[str]]:
    newest: deque[Run] = deque(maxlen=limit)
    damage: list[str] = []
    for item in chain(_records_of(_rotated(path), wanted.since), tail.look()):
        if isinstance(item, Damage):
            damage += [str(item)] if str(item) not in damage[-1:] else []
        elif wanted.takes(item):
            newest.append(item)
    return newest, damage


def _from_now_on(path: str, tail: Tail, wanted: RunFilter, reported: str, *, as_json: bool) -> ExitStatus:
    while not _reader_is_gone():
        for item in tail.look():
            if isinstance(item, Damage):
                if str(item) != reported:  # an unreadable file would be reported at every look
                    _report_damage(path, [str(item)])
                reported = str(item)
            elif wanted.takes(item):
                status = _show_run(item, as_json=as_json)
                if status is not None:
                    return status
        time.sleep(_INTERVAL)
    return ExitStatus.OK


def _show_run(run: Run, *, as_json: bool) -> ExitStatus | None:
    text = msgspec.json.encode(run).decode() if as_json else "\n".join(run_lines(run, terminal_width()))
    return show_part(text, as_json=as_json)


def _reader_is_gone() -> bool:
    """Return True if the other end of the pipe is closed, without writing: the next run may be hours away."""
    try:
        import select

        poll = select.poll()  # not on every system
        poll.register(sys.stdout.fileno(), 0)
        return bool(poll.poll(0)) and not os.isatty(sys.stdout.fileno())
    except (ImportError, AttributeError, OSError, ValueError):
        return False
