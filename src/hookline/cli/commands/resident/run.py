"""Start, ask or stop the resident, or be it."""

import argparse
import asyncio
import os
import re
import time
from typing import TYPE_CHECKING

import msgspec

from hookline import __version__
from hookline.cli.commands.resident.report import as_text, other_home
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.home import home_of_call, projects_here
from hookline.model.safe_text import printable
from hookline.resident.folder import FolderError, open_folder
from hookline.resident.server import Resident, Settings, Status
from hookline.resident.start import LogFile, ask, start

if TYPE_CHECKING:
    from hookline.telemetry.observer import Telemetry

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
#: Seconds until a resident that was started must answer.
_START_SECONDS = 15.0
#: Seconds that its end may take to send telemetry.
_FLUSH_SECONDS = 5.0


def run(args: argparse.Namespace) -> int:
    actions = {"start": _start, "status": _status, "stop": _stop, "run": _run}
    try:
        return actions[args.action](args)
    except FolderError as problem:
        note(f"hookline resident: {problem}")
        return ExitStatus.PROBLEM


def running(folder: str | None) -> Status | None:
    """None if there is none that answers."""
    try:
        reply = ask(folder, "status", version=__version__)
    except (OSError, FolderError):
        return None
    return msgspec.json.decode(reply.stdout, type=Status) if reply.code == 0 else None


def _status(args: argparse.Namespace) -> int:
    found = running(args.folder)
    if args.json:
        show(msgspec.json.encode(found).decode(), as_json=True)
    else:
        show(as_text(found, LogFile(os.environ).path))
        if found is not None and (other := other_home(found, os.environ["HOME"])) is not None:
            note(printable(f"hookline resident: {other}; `hookline resident stop` ends it"))
    return ExitStatus.OK if found is not None else ExitStatus.PROBLEM


def _start(args: argparse.Namespace) -> int:
    status = running(args.folder)
    if status is not None and (other := other_home(status, os.environ["HOME"])) is not None:
        note(printable(f"hookline resident: {other}; `hookline resident stop` ends it, then start it again"))
        return ExitStatus.PROBLEM
    if status is not None:
        note("hookline resident: it is running already")
        return _status(args)
    open_folder(args.folder, create=True).close()
    _seconds(args.idle)
    http = () if args.http is None else ("--http", str(args.http))
    pid = start(args.folder, ("--idle", args.idle, *http))
    until = time.monotonic() + _START_SECONDS
    while running(args.folder) is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended or time.monotonic() > until:
            why = (
                f"it ended with status {os.waitstatus_to_exitcode(status)}" if ended else "it does not answer"
            )
            note(f"hookline resident: {why}; see {LogFile(os.environ).path}")
            return ExitStatus.PROBLEM
        time.sleep(0.02)
    return _status(args)


def _stop(args: argparse.Namespace) -> int:
    try:
        ask(args.folder, "stop", version=__version__)
    except (OSError, FolderError):
        note("hookline resident: it is not running")
        return ExitStatus.PROBLEM
    return show("it takes no more calls, and ends when those that are under way are over")


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    if found is None:
        raise RequestError(f"--idle {text!r} is no time: say 90s, 30m or 4h")
    return int(found[1]) * float(_UNITS[found[2]])


def _observer(log: LogFile) -> "Telemetry | None":
    """Telemetry of all calls, as the environment of the agent asks for it that made the first one."""
    if not any(name.startswith("OTEL_") for name in os.environ):
        return None
    from hookline.telemetry.setup import observer_from

    return observer_from(os.environ, log, only_here=True, seconds=None)


def _run(args: argparse.Namespace) -> int:
    from hookline.handlers.process.containment import hide_memory
    from hookline.resident.handlers import SharedProcesses

    # Started by a call, it believes the user database as the call does.
    home = home_of_call(args.home, os.environ, projects_here)
    os.environ["HOME"] = home.path
    # It knows the environments of calls, which hooks of other calls must not see.
    hide_memory()
    log = LogFile(os.environ)
    settings = Settings(_seconds(args.idle), args.http, args.home)
    folder = open_folder(args.folder, create=True)

    observer = _observer(log)

    async def be_resident() -> bool:
        processes = SharedProcesses(containment="subreaper", warm=True)
        try:
            return await Resident(folder, processes, log, settings, observer).run()
        finally:
            await processes.close_all()
            if observer is not None:
                observer.flush(_FLUSH_SECONDS)

    os.chdir(os.sep)
    if asyncio.run(be_resident()):
        return ExitStatus.OK
    note("hookline resident: another one is at work")
    return ExitStatus.PROBLEM
