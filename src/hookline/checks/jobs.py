"""Check that the queue of durable hooks can be used, and report its dead letters."""

import os
import time
from collections.abc import Iterator
from typing import Final

from hookline.checks.context import CheckContext
from hookline.config.load import Loaded
from hookline.journal.file import jobs_path
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.safe_text import one_line

#: Seconds after which a job that nothing has begun should have been.
_LATE: Final = 3600.0
_MOST_SHOWN: Final = 120


def jobs(_loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Check the user's queue, which does not depend on the project."""
    path = jobs_path(context.env)
    if not os.path.lexists(path):
        return
    from hookline.jobs.file import user_queue  # noqa: PLC0415 few users have a queue
    from hookline.jobs.port import FLEET, DurableError  # noqa: PLC0415 the same

    queue = user_queue(context.env)
    try:
        known = queue.jobs()
    except DurableError as problem:
        message = f"durable hooks fail: {problem}"
        yield Diagnostic("error", "jobs-unusable", message, Where(path))
        return
    finally:
        queue.close()
    dead = [job for job in known if job.state == "dead"]
    if dead:
        last = one_line(max(dead, key=lambda job: job.settled or job.sent).why, _MOST_SHOWN)
        message = f"{_count(len(dead), 'dead letter')} of durable hooks, the last one: {last or 'no reason is known'}"
        yield Diagnostic("warning", "dead-letters", message, Where(path), fix="`hookline jobs` lists them")
    late = [
        job
        for job in known
        if job.state == "queued" and job.queue != FLEET and job.sent < time.time() - _LATE
    ]
    if late:
        message = f"{_count(len(late), 'job')} of durable hooks waited for more than an hour"
        yield Diagnostic(
            "warning", "jobs-wait", message, Where(path), fix="`hookline jobs run` runs the waiting jobs"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
