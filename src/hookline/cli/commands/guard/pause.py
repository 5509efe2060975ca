"""Pause a guard for a while, and end the pause: only a person at a terminal can begin one."""

import argparse
import getpass
import os
import sys
import time

from msgspec import Struct

from hookline.cli.output import note
from hookline.cli.requests import RequestError
from hookline.cli.text import json_lines, paragraph, with_tilde
from hookline.cli.times import parse_duration
from hookline.config.journals import user_journal
from hookline.config.pauses import LONGEST, GuardPauses, Pause, can_be_paused
from hookline.model.hook import Hook
from hookline.model.run import Called, Run
from hookline.model.safe_text import printable

USUAL = "10m"
_ORIGIN = "guard pause"


class PauseDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """A pause that began, or that was ended."""

    #: paused, or resumed.
    done: str
    name: str
    file: str
    #: Seconds since the epoch.
    until: float

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        if self.done == "resumed":
            return paragraph(printable(f"resumed {self.name}: it is active again"), width)
        text = (
            f"paused {self.name} ({with_tilde(self.file)}) until {clock_time(self.until)}: it stops nothing, and "
            f"Hookline records every call that it would have stopped. To end it now: hookline guard resume {self.name}"
        )
        return paragraph(printable(text), width)


def pause(args: argparse.Namespace, hook: Hook) -> PauseDocument | None:
    """Ask the person at the terminal, and begin the pause; None if the answer is not yes."""
    if not can_be_paused(hook):
        raise RequestError(
            f"{hook.name} cannot be paused: only a guard of your own or of a project can be, at an event at which "
            "hooks can stop an action"
        )
    if hook.mode != "enforce":
        raise RequestError(f"{hook.name} is in mode {hook.mode}: it stops nothing already")
    seconds = parse_duration(args.duration or USUAL, "--for")
    if not 0 < seconds <= LONGEST:
        raise RequestError(
            f"--for {args.duration}: at most {LONGEST // 3600} hours; `hookline guard off` switches a guard off"
        )
    if args.yes:
        raise RequestError("pause always asks: leave out --yes")
    if not _is_person():
        raise RequestError("only a person at a terminal can pause a guard; nothing was changed")
    until = clock_time(time.time() + seconds)
    sys.stdout.write(printable(f"Pause {hook.name} until {until}? It stops nothing meanwhile. [y/N] "))
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        note("hookline guard: nothing was changed")
        return None
    begun = GuardPauses(os.environ).begin(hook, seconds, by=_user(), terminal=_terminal())
    _record(
        hook, f"paused until {until} by {begun.by or 'the user'} at {begun.terminal or 'a terminal'}", begun
    )
    return PauseDocument("paused", hook.name, hook.where.file, begun.ends)


def resume(hook: Hook) -> PauseDocument:
    """End the pause of a guard."""
    pauses = GuardPauses(os.environ)
    lasting = pauses.pause_of(hook)
    if lasting is None or not pauses.end(hook):
        raise RequestError(f"{hook.name} is not paused")
    _record(hook, "the pause was ended", lasting)
    return PauseDocument("resumed", hook.name, hook.where.file, time.time())


def clock_time(at: float) -> str:
    """Return the local time; with the day, if that is another one."""
    day = "" if time.localtime(at)[:3] == time.localtime()[:3] else "%Y-%m-%d "
    return time.strftime(f"{day}%H:%M:%S", time.localtime(at))


def _is_person() -> bool:
    """Return True if both ends are a terminal. What an agent runs has none, and its lines are read before."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _record(hook: Hook, detail: str, lasting: Pause) -> None:
    """Record it in the journal, among the runs of the guard."""
    journal = user_journal(os.environ)
    called = Called(origin=_ORIGIN, project=os.getcwd())
    journal.record(
        Run(
            hook=hook.name, source=str(hook.where), type="pause", status="skipped", mode="paused",
            event=hook.event.name, detail=detail, at=time.time(), call=called, run_id=f"{lasting.begins:.3f}",
        )
    )  # fmt: skip
    journal.close()
    for problem in journal.problems:
        note(printable(f"hookline guard: {problem}"))


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return str(os.getuid())


def _terminal() -> str:
    try:
        return os.ttyname(sys.stdin.fileno())
    except OSError:
        return ""
