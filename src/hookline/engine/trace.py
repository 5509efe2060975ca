"""Runs printed as they happen, one readable line each, for whoever set HOOKLINE_TRACE=1."""

import time
from collections.abc import Mapping
from typing import TextIO

from hookline.model.run import Run
from hookline.model.safetext import one_line

_OFF = frozenset({"", "0", "false", "no", "off"})
_REASON_COLUMNS = 160
_NAME_COLUMNS = 60


def trace_wanted(env: Mapping[str, str]) -> bool:
    return env.get("HOOKLINE_TRACE", "").strip().lower() not in _OFF


class Trace:
    """A sink that prints. A stream that is closed or broken ends the trace and nothing else."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def record(self, run: Run) -> None:
        stream = self._stream
        if stream is None:
            return
        try:
            encoding = getattr(stream, "encoding", None) or "utf-8"
            line = trace_line(run) + "\n"
            stream.write(line.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except (OSError, ValueError, LookupError):
            self._stream = None


def trace_line(run: Run) -> str:
    """Time, event, hook, status, decision, milliseconds, and the words that explain it."""
    clock = time.strftime("%H:%M:%S", time.localtime(run.at)) + f".{int(run.at * 1000) % 1000:03d}"
    says = (run.cause, run.decision, *_flags(run))
    names = (one_line(name, _NAME_COLUMNS) for name in (run.spelled or run.event or "?", run.hook))
    words = ["hookline", clock, *names, run.status, *filter(None, says), f"{run.duration_ms:.1f}ms"]
    because = one_line(run.reason or run.detail, _REASON_COLUMNS)
    return " ".join(words) + (f": {because}" if because else "")


def _flags(run: Run) -> tuple[str, ...]:
    return (
        "shadow" if run.mode == "shadow" else "",
        "recheck" if run.recheck else "",
        "passed-without-answer" if run.passed_without_answer else "",
    )
