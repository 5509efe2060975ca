"""Start, query, stop or run the daemon."""

import argparse
import asyncio
import os
import re
import time

import msgspec

from hookline import __version__
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.home import Home, home_of_call, projects_here
from hookline.hook.daemon.directory import DirectoryError, open_directory
from hookline.hook.daemon.server import Daemon, DaemonSettings, DaemonStatus
from hookline.hook.daemon.start import SWITCH, LogFile, ask, start
from hookline.model.safe_text import printable

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
#: Seconds until a daemon that was started must answer.
_START_SECONDS = 15.0
#: Seconds that its end may take to send telemetry.
_FLUSH_SECONDS = 5.0


def run(args: argparse.Namespace) -> int:
    actions = {"start": _start, "status": _status, "stop": _stop, "run": _run}
    try:
        return actions[args.action](args)
    except DirectoryError as problem:
        note(f"hookline daemon: {problem}")
        return ExitStatus.PROBLEM


def running(directory: str | None) -> DaemonStatus | None:
    """Return the daemon's status, or None if none answers."""
    try:
        reply = ask(directory, "status", version=__version__)
    except (OSError, DirectoryError):
        return None
    return msgspec.json.decode(reply.stdout, type=DaemonStatus) if reply.code == 0 else None


def _status(args: argparse.Namespace) -> int:
    found = running(args.directory)
    if args.json:
        show(msgspec.json.encode(found).decode(), as_json=True)
    else:
        show(as_text(found))
        if found is not None and (other := other_home(found, os.environ["HOME"])) is not None:
            note(printable(f"hookline daemon: {other}; `hookline daemon stop` ends it"))
    return ExitStatus.OK if found is not None else ExitStatus.PROBLEM


def _start(args: argparse.Namespace) -> int:
    status = running(args.directory)
    if status is not None and (other := other_home(status, os.environ["HOME"])) is not None:
        note(printable(f"hookline daemon: {other}; `hookline daemon stop` ends it, then start it again"))
        return ExitStatus.PROBLEM
    if status is not None:
        note("hookline daemon: it is running already")
        return _status(args)
    open_directory(args.directory, create=True).close()
    _seconds(args.idle)
    http = () if args.http is None else ("--http", str(args.http))
    pid = start(args.directory, ("--idle", args.idle, *http))
    until = time.monotonic() + _START_SECONDS
    while running(args.directory) is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended or time.monotonic() > until:
            why = (
                f"it ended with status {os.waitstatus_to_exitcode(status)}" if ended else "it does not answer"
            )
            note(f"hookline daemon: {why}; see {LogFile(os.environ).path}")
            return ExitStatus.PROBLEM
        time.sleep(0.02)
    return _status(args)


def stop(directory: str | None) -> bool:
    """Let the daemon take no more calls; False if none answers."""
    try:
        ask(directory, "stop", version=__version__)
    except (OSError, DirectoryError):
        return False
    return True


def _stop(args: argparse.Namespace) -> int:
    if not stop(args.directory):
        note("hookline daemon: it is not running")
        return ExitStatus.PROBLEM
    return show("it takes no more calls, and ends when the running ones are over")


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    if found is None:
        raise RequestError(f"--idle {text!r} is not a time: say 90s, 30m or 4h")
    return int(found[1]) * float(_UNITS[found[2]])


def _run(args: argparse.Namespace) -> int:
    from hookline.cli.engines import server_observer
    from hookline.handlers.process.containment import hide_memory
    from hookline.hook.daemon.handlers import SharedProcesses

    # Started by a call, it believes the user database as the call does.
    home = home_of_call(args.home, os.environ, projects_here)
    os.environ["HOME"] = home.path
    # It knows the environments of calls, which hooks of other calls must not see.
    hide_memory()
    log = LogFile(os.environ)
    settings = DaemonSettings(_seconds(args.idle), args.http, args.home)
    directory = open_directory(args.directory, create=True)
    # For all calls, as the environment of the agent that made the first one asks for it.
    observer = server_observer(os.environ, log, only_here=True)

    async def serve() -> bool:
        processes = SharedProcesses(containment="subreaper", warm=True)
        try:
            return await Daemon(directory, processes, log, settings, observer).run()
        finally:
            await processes.close_all()
            if observer is not None:
                observer.flush(_FLUSH_SECONDS)

    os.chdir(os.sep)
    if asyncio.run(serve()):
        return ExitStatus.OK
    note("hookline daemon: another one is running")
    return ExitStatus.PROBLEM


def other_home(status: DaemonStatus, home: str) -> str | None:
    """Explain the consequence if the daemon serves another home directory than this one; None if it does not."""
    if not status.home or Home(home).is_at(status.home):
        return None
    return (
        f"the running daemon serves {status.home}, and your home directory is {home}: each call of your agents starts "
        "Hookline anew"
    )


def warn_of_other_home() -> None:
    """Say in one line that the daemon which agents reach serves another home directory, if it does."""
    status = running(None) if os.environ.get(SWITCH) != "off" else None
    if status is not None and (other := other_home(status, os.environ.get("HOME", ""))) is not None:
        note(printable(f"hookline: {other}; `hookline daemon stop` ends it"))


def as_text(status: DaemonStatus | None) -> str:
    if status is None:
        return (
            "daemon not running: each call starts a new process\n"
            "start it with `hookline daemon start`; a call by the relay starts it, too"
        )
    lines = [
        f"the daemon is running{', and takes no more calls' if status.draining else ''}",
        f"  process   {status.pid}, version {status.version}",
        f"  since     {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(status.since))}",
        f"  calls     {status.calls:,} answered, {status.refused:,} left to other processes",
        f"  now       {status.running} running",
        f"  sessions  {status.sessions:,} remembered",
        f"  ends      after {status.idle_seconds:.0f} s without a call",
        f"  home      {status.home}",
        f"  log       {LogFile({'HOME': status.home}).path}",
    ]
    if status.http is not None:
        lines.append(f"  http      {status.http}")
    return "\n".join(lines)
