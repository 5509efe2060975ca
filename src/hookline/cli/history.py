"""Find and read past sessions for the commands that replay them, with a line of progress."""

import argparse
import os
import time
from collections.abc import Mapping
from typing import Any

from hookline.cli.output import Progress
from hookline.cli.requests import RequestError
from hookline.cli.text import with_tilde
from hookline.cli.times import parse_since
from hookline.dialects.dialect import Dialect
from hookline.dialects.registry import every_dialect
from hookline.history.sources import Sources, find_sources
from hookline.history.workers import ReplayTask, look_back
from hookline.model.safe_text import one_line

_ALL = "all"


def since_of(args: argparse.Namespace, now: float) -> float:
    return 0.0 if args.since == _ALL else parse_since(args.since, now)


def readable_dialects() -> Mapping[str, Dialect]:
    """Return the dialects whose agents keep transcripts that can be read."""
    return {dialect.name: dialect for dialect in every_dialect() if dialect.transcripts is not None}


def agent_title(dialects: Mapping[str, Dialect], name: str) -> str:
    """Return an agent's name for people."""
    dialect = dialects.get(name)
    transcripts = dialect.transcripts if dialect is not None else None
    return (transcripts.caller if transcripts is not None else "") or (dialect.title if dialect else name)


def caller_of(dialects: Mapping[str, Dialect], name: str) -> str:
    """Return an agent's name in the journal."""
    dialect = dialects.get(name)
    transcripts = dialect.transcripts if dialect is not None else None
    return (transcripts.caller if transcripts is not None else "") or name


def sources_of(args: argparse.Namespace, dialects: Mapping[str, Dialect], since: float) -> Sources:
    """Find the transcripts. Raises RequestError for a path that does not exist, or is not a transcript."""
    try:
        found = find_sources(list(dialects.values()), os.environ, args.sources or (), since)
    except OSError as problem:
        raise RequestError(f"--from {one_line(str(problem.filename), 500)}: {problem.strerror}") from None
    if found.unknown:
        titles = ", ".join(agent_title(dialects, name) for name in dialects)
        named = one_line(found.unknown[0], 500)
        raise RequestError(f"--from {named}: not a transcript of an agent that can be read: {titles}")
    return found


async def read_history(job: ReplayTask, dialects: Mapping[str, Dialect]) -> Any:
    """Run the job, while a line shows its progress and the time left."""
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


def nothing_found(sources: Sources, args: argparse.Namespace, dialects: Mapping[str, Dialect]) -> str:
    """Explain why there are no sessions to replay. Raises RequestError if the user named where they are."""
    if args.sources:
        raise RequestError(f"no transcripts of a known agent in {', '.join(args.sources)} since {args.since}")
    searched = one_line(", ".join(map(with_tilde, sources.directories)), 2000)
    if not find_sources(list(dialects.values()), os.environ, (), 0).found:
        return f"No agent has left a session here yet; searched {searched}."
    return f"No session was written since {args.since}; `--since all` reads older ones. Searched {searched}."
