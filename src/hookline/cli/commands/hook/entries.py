"""`hookline hook --print-config NAME`: the entries that make an agent call Hookline, in the agent's own format."""

import os
import sys
from collections.abc import Mapping, Sequence

from hookline.cli.commands.hook.payload import event_named
from hookline.cli.output import ExitStatus, note, show
from hookline.config.engine import Engine
from hookline.dialects.dialect import Dialect
from hookline.dialects.install import HookCall

#: Longer than the 600 seconds of a native hook: an agent that gives up first lets pass what a guard still judges.
_SECONDS = 660
#: Agents do not wait long for hooks at the end of a session.
_SECONDS_AT_END = 60


def print_entries(name: str, words: Sequence[str]) -> ExitStatus:
    """The entries go to stdout; the file they belong in is named on stderr."""
    dialect = Engine().loader.dialect(name)
    text = entries_text(dialect, words, hookline_command())
    note(f"# add this to {dialect.call_file}")
    return show(text)


def entries_text(dialect: Dialect, events: Sequence[str], program: str) -> str:
    """Raises `CallError` for an event the agent does not have."""
    calls = [_call(dialect, name, program) for name in events or dialect.call_events]
    return dialect.call_entries(calls).rstrip("\n")


def _call(dialect: Dialect, name: str, program: str) -> HookCall:
    event = event_named(dialect, name)
    seconds = _SECONDS_AT_END if event.event.name == "SessionEnd" else _SECONDS
    return HookCall(name, f"{program} hook --dialect {dialect.name} {name}", seconds, event.guards)


def hookline_command(env: Mapping[str, str] = os.environ) -> str:
    """`hookline` if a shell finds it, else this installation."""
    import shlex

    folders = env.get("PATH", "").split(os.pathsep)
    if any(os.access(os.path.join(folder, "hookline"), os.X_OK) for folder in folders if folder):
        return "hookline"
    return f"{shlex.quote(sys.executable)} -m hookline"
