"""Send the telemetry that calls of agents have written, until nothing has come for some seconds.

`hookline hook` starts it, with the variables of the call that telemetry needs and no others.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

from hookline.cli.engines import machine_name
from hookline.config.journals import user_journal
from hookline.model.run import Run
from hookline.telemetry.setup import flush, providers_from
from hookline.telemetry.spool import MOST_BYTES, SpoolFile

#: Seconds without anything to send after which it ends, and between two looks.
_IDLE: Final = 2.0
_LOOK: Final = 0.1
#: Seconds for one batch: an exporter tries again for so long.
_FLUSH: Final = 30.0


def main(env: Mapping[str, str], inherited: int) -> None:
    """Send until nothing comes. The lock of the file is inherited: no other process sends for the same variables."""
    file, send = SpoolFile(env, env["HOME"]), _sender(env)
    lock: int | None = inherited
    while lock is not None:
        os.set_inheritable(lock, False)
        try:
            _send_all(file, send)
        finally:
            file.release(lock)
        # A call that wrote while we had the lock has left it to us.
        lock = file.lock() if file.is_there() else None


def _send_all(file: SpoolFile, send: Callable[[bytes], None]) -> None:
    last = time.monotonic()
    while time.monotonic() - last < _IDLE:
        taken = file.take(_LOOK)
        if taken:
            send(taken)
            last = time.monotonic()
        time.sleep(_LOOK)


def _sender(env: Mapping[str, str]) -> Callable[[bytes], None]:
    """Return what sends the lines of calls; its failures go to the user's journal, once."""
    journal = user_journal(env, caller="hookline telemetry")

    def say(why: str) -> None:
        journal.record(Run(hook="telemetry", type="telemetry", status="failed", detail=why, at=time.time()))

    made = providers_from(env, say, only_here=True, machine=machine_name(env))
    if made is None:
        return lambda _lines: None  # it was said why
    from hookline.telemetry.replay import Replay  # of the extra, which is there

    replay = Replay(made)

    def send(lines: bytes) -> None:
        replay.add(lines)
        if len(lines) >= MOST_BYTES:
            more = (
                f"calls wrote more than {MOST_BYTES >> 20} MB before it could be sent, and the rest is lost"
            )
            made.warnings.say(more)
        flush(made.all, _FLUSH, made.warnings)

    return send


if __name__ == "__main__":
    os.nice(10)
    main(os.environ, int(sys.argv[1]))
