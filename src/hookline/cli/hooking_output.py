"""The answer on its way out: written whole or not at all, and the streams closed behind it."""

import os
import select
from contextlib import suppress

from hookline.model.outcome import Outcome
from hookline.model.wire import Told


def give(told: Told, outcome: Outcome) -> int:
    """Write the answer; the status to exit with. A no, or a question, that cannot be written is a no by status."""
    if not _written(1, told.stdout) and outcome.permission in ("deny", "ask", "defer"):
        told = Told(2, "", told.stderr or outcome.reason or "")
    _written(2, told.stderr if not told.stderr or told.stderr.endswith("\n") else f"{told.stderr}\n")
    return told.code


def close_streams() -> None:
    """The agent has its answer; what still runs must not keep it waiting for more."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.close(nowhere)


def _written(stream: int, text: str) -> bool:
    left = text.encode("utf-8", "replace")
    try:
        while left:
            try:
                left = left[os.write(stream, left) :]
            except BlockingIOError:
                select.select((), (stream,), ())
    except OSError:
        return False
    return True
