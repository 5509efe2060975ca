"""Check that calls of agents are fast: by the relay, to a daemon it can reach."""

import os
from collections.abc import Iterator
from typing import Final

from hookline import __version__
from hookline.checks.context import CheckContext, entries
from hookline.cli.commands.daemon.report import other_home
from hookline.cli.commands.daemon.run import running
from hookline.cli.commands.hook.entries import faster
from hookline.config.install.self_calls import plain_program
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.hook.daemon.directory import DirectoryError, default_directory, open_directory
from hookline.hook.daemon.start import SWITCH
from hookline.model.diagnostics import Diagnostic, Where

_RELAY: Final = "hookline-relay"


def about_daemon(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Yield one note for each file whose entries start Hookline anew, and problems of the daemon."""
    relays = False
    said: set[str] = set()
    for hook in entries(loaded):
        words = plain_program(getattr(hook.spec, "command", ""), hook.dialect)
        if words is None:
            continue
        if os.path.basename(words[0]) == _RELAY:
            relays = True
        elif hook.where.file not in said and faster(words[0], context.env) != words[0]:
            said.add(hook.where.file)
            message = "each call starts Hookline anew; the relay beside it answers in milliseconds"
            yield about(hook, "info", "slow-call", message, "command", fix=f"hookline install {hook.dialect}")
    if relays:
        yield from _reached(context)
    elif any(hook.durable for hook in loaded.hooks) and running(None) is None:
        message = (
            "no daemon is running, and nothing here starts one: what durable hooks leave behind when their agent "
            "ends waits for the next Hookline process"
        )
        fix = "hookline install, hookline daemon start, or hookline jobs run"
        yield Diagnostic("info", "no-daemon", message, Where(default_directory()), fix=fix)


def _reached(context: CheckContext) -> Iterator[Diagnostic]:
    place = Where(default_directory())
    try:
        open_directory().close()
    except DirectoryError as problem:
        if os.path.lexists(place.file):
            message = f"relays cannot reach a daemon: {problem}; each call starts Hookline anew"
            yield Diagnostic("warning", "no-daemon", message, place, fix="remove it, or chmod 700 it")
            return
    # Where it is switched off, one that runs for another home is of no concern.
    off = context.env.get(SWITCH) == "off"
    status = None if off else running(None)
    if status is None:
        message = "no daemon is running; the next call of an agent starts one"
        if off:
            message = f"{SWITCH}=off keeps calls from using a daemon: they are slow"
        yield Diagnostic("info", "no-daemon", message, place, fix="hookline daemon start")
    elif (other := other_home(status, context.env.get("HOME", ""))) is not None:
        fix = "hookline daemon stop; the next call of an agent starts one that serves it"
        yield Diagnostic("warning", "other-home", other, place, fix=fix)
    elif status.version != __version__:
        message = f"the daemon is of version {status.version}, and this is {__version__}"
        yield Diagnostic("info", "old-daemon", message, place, fix="hookline daemon stop")
