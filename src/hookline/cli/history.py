"""Past sessions for the commands that look back: which there are, and reading them with a line of progress."""

import argparse
import os
import time
from collections.abc import Mapping
from typing import Any

from hookline.cli.output import Progress
from hookline.cli.requests import RequestError
from hookline.cli.since import parse_since
from hookline.dialects.dialect import Dialect
from hookline.dialects.registry import every_dialect
from hookline.model.safe_text import one_line
from hookline.replay.sources import Sources, find_sources
from hookline.replay.worker import Job, look_back

_ALL = "all"


def since_of(args: argparse.Namespace, now: float) -> float:
    return 0.0 if args.since == _ALL else parse_since(args.since, now)


def readable_dialects() -> Mapping[str, Dialect]:
    """Those whose agents keep transcripts that can be read."""
    return {dialect.name: dialect for dialect in every_dialect() if dialect.transcripts is not None}


def agent_title(dialects: Mapping[str, Dialect], name: str) -> str:
    """An agent, as people call it."""
    dialect = dialects.get(name)
    transcripts = dialect.transcripts if dialect is not None else None
    return (transcripts.caller if transcripts is not None else "") or (dialect.title if dialect else name)


def caller_of(dialects: Mapping[str, Dialect], name: str) -> str:
    """An agent, as the journal calls it."""
    dialect = dialects.get(name)
    transcripts = dialect.transcripts if dialect is not None else None
    return (transcripts.caller if transcripts is not None else "") or name


def sources_of(args: argparse.Namespace, dialects: Mapping[str, Dialect], since: float) -> Sources:
    """Raises RequestError for a path that is not there, or is no transcript."""
    try:
        found = find_sources(list(dialects.values()), os.environ, args.sources or (), since)
    except OSError as problem:
        raise RequestError(f"--from {one_line(str(problem.filename), 500)}: {problem.strerror}") from None
    if found.unknown:
        titles = ", ".join(agent_title(dialects, name) for name in dialects)
        named = one_line(found.unknown[0], 500)
        raise RequestError(f"--from {named}: not a transcript of an agent that can be read: {titles}")
    return found


async def read_history(job: Job, dialects: Mapping[str, Dialect]) -> Any:
    """What the job found, while a line says how far it is and how long it will take."""
    whole, started = sum(source.size for source in job.sources), time.monotonic()
    with Progress() as progress:

        def tick(done: int) -> None:
            spent = time.monotonic() - started
            left = spent * (whole - done) / done if done else 0.0
            share = min(100 * done // max(whole, 1), 100)
            progress.say(
                f"reading past sessions: {share} % of {whole / 1e6:,.0f} MB, about {left:,.0f} s left"
            )

        return await look_back(job, dialects, tick)


def nothing_found(sources: Sources, args: argparse.Namespace) -> str:
    """Why there is nothing to look back at."""
    if args.sources:
        return f"no transcripts of a known agent in {', '.join(args.sources)} since {args.since}"
    folders = [folder for folder in sources.folders if os.path.isdir(folder)]
    if not folders:
        return f"no transcripts were found; looked in {', '.join(sources.folders)}"
    return f"no session was written since {args.since}; looked in {', '.join(folders)}"
