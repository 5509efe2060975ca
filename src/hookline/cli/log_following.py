"""`hookline log --follow`: what was, then what happens, until nobody reads any more."""

import os
import sys
import time
from collections import deque
from collections.abc import Sequence
from itertools import chain

from hookline.cli.log_filter import Wanted
from hookline.cli.log_lines import run_lines
from hookline.cli.log_reading import items, moved_aside, nothing_yet, run_json, tell_damage
from hookline.cli.log_tail import Tail
from hookline.cli.output import FINE, keep_showing, tell
from hookline.cli.text import terminal_width
from hookline.engine.journal_reading import Damage
from hookline.model.run import Run

#: Seconds between two looks: a stat and a read of nothing each.
_LOOKS_EVERY = 0.25


def follow(path: str, wanted: Wanted, limit: int | None, *, as_json: bool) -> int:
    """Ends when stdout does; an interrupt ends it like every command."""
    tail = Tail(path)  # first: what is moved aside from now on is still read by it
    try:
        newest, damage = _so_far(path, tail, wanted, limit)
        if not tail.there and not damage:
            tell(nothing_yet(path, terminal_width()))
        tell_damage(path, damage)
        for run in newest:
            status = _show(run, as_json=as_json)
            if status is not None:
                return status
        return _go_on(path, tail, wanted, damage[-1] if damage else "", as_json=as_json)
    finally:
        tail.close()


def _so_far(path: str, tail: Tail, wanted: Wanted, limit: int | None) -> tuple[Sequence[Run], Sequence[str]]:
    newest: deque[Run] = deque(maxlen=limit)
    damage: list[str] = []
    for item in chain(items(moved_aside(path), wanted.since), tail.look()):
        if isinstance(item, Damage):
            damage += [str(item)] if str(item) not in damage[-1:] else []
        elif wanted.takes(item):
            newest.append(item)
    return newest, damage


def _go_on(path: str, tail: Tail, wanted: Wanted, told: str, *, as_json: bool) -> int:
    while not _nobody_reads():
        for item in tail.look():
            if isinstance(item, Damage):
                if str(item) != told:  # what cannot be read now cannot be read four times a second
                    tell_damage(path, [str(item)])
                told = str(item)
            elif wanted.takes(item):
                status = _show(item, as_json=as_json)
                if status is not None:
                    return status
        time.sleep(_LOOKS_EVERY)
    return FINE


def _show(run: Run, *, as_json: bool) -> int | None:
    text = run_json(run) if as_json else "\n".join(run_lines(run, terminal_width()))
    return keep_showing(text, as_json=as_json)


def _nobody_reads() -> bool:
    """Whether the other end of a pipe is closed: found out without writing, which may be hours away."""
    try:
        import select

        poll = select.poll()  # not on every system
        poll.register(sys.stdout.fileno(), 0)
        return bool(poll.poll(0)) and not os.isatty(sys.stdout.fileno())
    except (ImportError, AttributeError, OSError, ValueError):
        return False
