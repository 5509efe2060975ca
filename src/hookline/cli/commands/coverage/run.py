"""Compare transcripts with the journal, and list the calls that guards missed, with the cause."""

import argparse
import os
import time
from typing import get_args

from hookline.cli.commands.coverage.report import coverage_document
from hookline.cli.engines import inspection_engine, require_files
from hookline.cli.history import (
    caller_of,
    nothing_found,
    read_history,
    readable_dialects,
    since_of,
    sources_of,
)
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError
from hookline.cli.text import terminal_width
from hookline.history.causes import Cause, Causes, SettingsCache
from hookline.history.coverage import CoverageTotals
from hookline.history.engines import Configuration
from hookline.history.workers import ReplayTask
from hookline.matching.nearest import nearest

_NOT_YET = (
    "Nothing is proven yet: use an agent, then run this again. `hookline doctor` says which agents ask."
)


async def run(args: argparse.Namespace) -> ExitStatus:
    excused = _excused(args.excused or ())
    engine = inspection_engine()
    require_files(engine, args.config or ())
    if args.dialect is not None:
        engine.loader.dialect(args.dialect)
    dialects, now = readable_dialects(), time.time()
    since = since_of(args, now)
    sources = sources_of(args, dialects, since)
    reason = "" if sources.found else nothing_found(sources, args, dialects)
    job = ReplayTask(sources=sources.found, configuration=_configuration(args), since=since, observe=True)
    started = time.monotonic()
    sightings: CoverageTotals = await read_history(job, dialects)
    callers = {name: caller_of(dialects, name) for name in dialects}
    missed = Causes(sightings, callers, SettingsCache(engine.loader, os.environ)).explained()
    document = coverage_document(sightings, missed, dialects, excused, time.monotonic() - started)
    text = f"{reason}\n{_NOT_YET}" if reason else document.as_text(terminal_width(), every=args.all)
    shown = show(document.as_json() if args.json else text, as_json=args.json)
    return shown or (ExitStatus.PROBLEM if document.unguarded else ExitStatus.OK)


def _configuration(args: argparse.Namespace) -> Configuration:
    files = None if args.config is None else tuple(os.path.abspath(file) for file in args.config)
    return Configuration(files=files, dialect=args.dialect, keep=False)


def _excused(words: "list[str] | tuple[str, ...]") -> frozenset[str]:
    known: tuple[str, ...] = get_args(Cause)
    for word in words:
        if word not in known:
            close = nearest(word, known)
            meant = f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"
            raise RequestError(f"--except {word!r} is not a cause; {meant}")
    return frozenset(words)
