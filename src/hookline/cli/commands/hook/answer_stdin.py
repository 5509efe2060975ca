"""Answer one call of an agent in its own process: read stdin, write the answer, and end by the agent's rules."""

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.cli.engines import command_engine, require_files
from hookline.cli.output import note
from hookline.config.home import HomeError, home_of_call
from hookline.dialects.registry import dialect_named
from hookline.hook.call.answer import BLOCKED, FAILED, AgentCall
from hookline.hook.call.deduplicate import process_started
from hookline.hook.call.payload import CallError, read_input
from hookline.hook.call.project import projects_of
from hookline.model.errors import HooklineError
from hookline.model.outcome import Outcome
from hookline.model.safe_text import one_line, printable
from hookline.model.wire import HookReply

if TYPE_CHECKING:
    from hookline.config.commands import HookArguments
    from hookline.config.engine import Engine

#: Set by a relay that found no daemon: why, and the directory it looked in if that is not the usual one.
RELAY = "HOOKLINE_RELAY"
#: Seconds that background hooks have after the answer.
_DRAIN_SECONDS = 5.0


def answer_stdin(arguments: "HookArguments") -> int:
    """Read, answer, and return the exit status, which is the agent's own for the answer."""
    dialect, words = arguments.dialect, arguments.events
    if dialect is None:
        note("hookline hook: say which agent calls: hookline hook --dialect NAME [EVENT]")
        return BLOCKED
    if len(words) > 1:
        note(printable(f"hookline hook: one event at a time, not {' '.join(words)}"))
        return BLOCKED
    relay = os.environ.pop(RELAY, "")
    homeless = _find_home(dialect, arguments.home)
    # An agent reads the answer and the errors: nobody but a person has them written to a terminal.
    by_hand = os.isatty(1) or os.isatty(2)
    engine = command_engine(caller=dialect, origin="hand" if by_hand else "", from_agent=True)
    wrong = _unusable(engine, arguments) if arguments.files else None
    if wrong is not None:
        note(one_line(f"hookline hook: {wrong}", 500))
        return FAILED if words and _only_observes(dialect, words[0]) else BLOCKED
    # Before the input is read: an agent may take its time to send it.
    event, began = words[0] if words else None, process_started()
    call = AgentCall(
        engine,
        dialect,
        event,
        arguments.files or None,
        source=arguments.source,
        strict=arguments.strict,
        hooks=arguments.hooks or "all",
        scope=arguments.scope,
        by_hand=by_hand,
        started=lambda: began,
        pid=os.getpid(),
    )
    raw = homeless or _input()
    signalled: list[int] = []
    status = asyncio.run(_answer(call, raw, signalled))
    if relay and not signalled:
        from hookline.hook.daemon.start import start_if_wanted

        start_if_wanted(relay, os.environ)
    if signalled:
        import signal

        # End by the same signal, so that the agent sees that it had its effect.
        signal.signal(signalled[0], signal.SIG_DFL)
        os.kill(os.getpid(), signalled[0])
    return status


def _unusable(engine: "Engine", arguments: "HookArguments") -> str | None:
    """Return why the files cannot be used; None if they can."""
    try:
        require_files(engine, arguments.files)
        if arguments.source is not None:
            engine.loader.dialect(arguments.source)
    except HooklineError as problem:
        return str(problem)
    return None


def _only_observes(name: str, event: str) -> bool:
    """Return True at an event that guards nothing: a block at the end of a turn would start another one."""
    dialect = dialect_named(name)
    found = dialect.events.get(event) if dialect is not None else None
    return found is not None and not found.guards


def _find_home(name: str, named: str | None) -> CallError | None:
    """Decide on the home directory before anything below it is read or written; return the error if there is none."""
    dialect = dialect_named(name)
    variables = dialect.project_variables if dialect is not None else ()
    try:
        home = home_of_call(named, os.environ, lambda: projects_of(variables, os.environ))
    except HomeError as problem:
        os.environ.pop("HOME", None)
        return CallError(str(problem))
    if home.remark:
        note(printable(f"hookline hook: {home.remark}"))
    os.environ["HOME"] = home.path
    return None


def _input() -> bytes | CallError:
    try:
        return read_input()
    except CallError as problem:
        return problem


async def _answer(call: AgentCall, raw: bytes | CallError, signalled: list[int]) -> int:
    status = BLOCKED
    _stop_on_signals(signalled)
    try:
        answer = (await call.answer(raw)).with_lines(call.problems)
        status = _write_answer(answer, call.outcome)
        _close_streams()
        await call.finish(_DRAIN_SECONDS)
    except asyncio.CancelledError:
        if not signalled:
            raise
    finally:
        await call.close()
    return status


def _stop_on_signals(signalled: list[int]) -> None:
    """Cancel the call on a signal, so that hooks end with it."""
    import signal

    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop(number: int) -> None:
        signalled.append(number)
        if task is not None:
            task.cancel()

    for name in ("SIGTERM", "SIGHUP"):
        # Not every system has both, or lets a loop handle them.
        with suppress(AttributeError, ValueError, RuntimeError, NotImplementedError):
            number = getattr(signal, name)
            loop.add_signal_handler(number, stop, number)


def _write_answer(answer: HookReply, outcome: Outcome) -> int:
    """Write the answer and return the exit status. If a block cannot be written, the status alone must block."""
    if not _written(1, answer.stdout) and (why := answer.without_stdout(outcome)):
        answer = HookReply(BLOCKED, "", why)
    stderr = answer.stderr
    _written(2, stderr if not stderr or stderr.endswith("\n") else f"{stderr}\n")
    return answer.code


def _written(stream: int, text: str) -> bool:
    left = text.encode("utf-8", "replace")
    try:
        while left:
            try:
                left = left[os.write(stream, left) :]
            except BlockingIOError:
                import select

                select.select((), (stream,), ())
    except OSError:
        return False
    return True


def _close_streams() -> None:
    """Close the streams: the agent has its answer, and must not wait for hooks that still run."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.close(nowhere)
