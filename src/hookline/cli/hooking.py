"""`hookline hook` as a process: input read, answer given, streams closed, hooks stopped with it."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from hookline.cli.hooking_answer import Answering
from hookline.cli.hooking_caller import CLOSED, CallError
from hookline.cli.hooking_output import close_streams, give
from hookline.cli.hooking_payload import read_input
from hookline.cli.output import tell
from hookline.cli.sources import command_engine
from hookline.config.embedding import Engine
from hookline.model.safetext import printable
from hookline.model.wire import Told

#: Seconds that hooks nobody waits for have after the answer.
DRAIN = 5.0


def serve(dialect: str | None, words: Sequence[str], files: Sequence[str] | None) -> int:
    """The exit status; what there is to say is written by then."""
    if dialect is None:
        tell("hookline hook: say which agent calls: hookline hook --dialect NAME [EVENT]")
        return CLOSED
    if len(words) > 1:
        tell(printable(f"hookline hook: one event at a time, not {' '.join(words)}"))
        return CLOSED
    engine = command_engine()
    answering = Answering(engine, dialect, words[0] if words else None, files)
    # Before the loop starts: whoever waits for input must be stopped by the first signal.
    raw = _input()
    signalled: list[int] = []
    status = asyncio.run(_serve(answering, raw, signalled))
    if signalled:
        # So that the agent sees what it did.
        signal.signal(signalled[0], signal.SIG_DFL)
        os.kill(os.getpid(), signalled[0])
    return status


def _input() -> bytes | CallError:
    try:
        return read_input()
    except CallError as problem:
        return problem


async def _serve(answering: Answering, raw: bytes | CallError, signalled: list[int]) -> int:
    _stop_on_signals(signalled)
    engine = answering.engine
    status = CLOSED
    try:
        told = _with_journal(await answering.told(raw), engine)
        status = give(told, answering.outcome)
        close_streams()
        await engine.drain(DRAIN)
        answering.record_late()
    except asyncio.CancelledError:
        if not signalled:
            raise
    finally:
        await engine.close(0)
    return status


def _stop_on_signals(signalled: list[int]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop(number: int) -> None:
        signalled.append(number)
        if task is not None:
            task.cancel()

    for name in ("SIGTERM", "SIGHUP"):
        # Not every system has both, nor lets a loop wait for them.
        with suppress(AttributeError, ValueError, RuntimeError, NotImplementedError):
            number = getattr(signal, name)
            loop.add_signal_handler(number, stop, number)


def _with_journal(told: Told, engine: Engine) -> Told:
    """What is wrong with the journal, where stderr does not give the reason for something."""
    if told.code != 0 or not engine.journal.problems:
        return told
    lines = "\n".join(printable(f"hookline: {problem}") for problem in engine.journal.problems)
    return replace(told, stderr=f"{told.stderr}\n{lines}".strip())
