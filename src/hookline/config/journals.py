"""Make the journals that engines write to: the user's file, or memory."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.dialects.files import payload_settings
from hookline.disk import DISK, Disk
from hookline.journal.file import JournalFile, journal_path
from hookline.journal.journal import Journal, Trace, trace_wanted
from hookline.journal.redaction import Redactor
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.journal.payloads import PayloadFile


def user_journal(
    env: Mapping[str, str],
    *,
    caller: str = "",
    origin: str = "",
    subscribers: Sequence[Callable[[Run], None]] = (),
) -> Journal:
    """Make the journal that writes the user's file, with payloads if their settings ask for that."""
    redactor = Redactor(env)
    return Journal(
        redactor,
        file=JournalFile(journal_path(env)),
        subscribers=subscribers,
        caller=caller,
        origin=origin,
        payloads=payload_file(env, redactor),
    )


def payload_file(env: Mapping[str, str], redactor: Redactor) -> "PayloadFile | None":
    """Return the file of stored payloads; None if the user's settings do not ask for it."""
    if not keeps_payloads(env):
        return None
    from hookline.journal.payloads import PayloadFile, payloads_path  # noqa: PLC0415 few users keep them

    return PayloadFile(payloads_path(env), redactor)


def keeps_payloads(env: Mapping[str, str], disk: Disk = DISK) -> bool:
    """Return True if `keep_payloads = true` is at the top of the user's settings. Those of a project are
    ignored."""
    return any(value is True for _, value in payload_settings(env, disk))


def memory_journal() -> Journal:
    """Make a journal that keeps the newest runs, and prints each run if HOOKLINE_TRACE is set."""
    return Journal(Redactor(dict(os.environ)), subscribers=tracers())


def tracers() -> tuple[Callable[[Run], None], ...]:
    return (Trace(sys.stderr).record,) if trace_wanted(os.environ) else ()
