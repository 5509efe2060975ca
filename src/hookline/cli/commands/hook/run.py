"""Print the entries that make an agent call Hookline, or be called by it."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.cli.output import ExitStatus, note, show

if TYPE_CHECKING:
    import argparse

    from hookline.dialects.dialect import Dialect
    from hookline.dialects.install import HookCall

#: Longer than the 600 seconds of a native hook: an agent that gives up first lets pass what a guard still judges.
_SECONDS = 660
#: Agents do not wait long for hooks at the end of a session.
_SECONDS_AT_END = 60
_RELAY = "hookline-relay"


def run(args: "argparse.Namespace") -> int:
    if args.print_config is not None:
        return _print_entries(args.print_config, args.words)
    try:
        from hookline.cli.commands.hook.serve import serve

        return serve(args.dialect, args.words, args.config, args.source, strict=args.strict, home=args.home)
    except Exception as problem:  # noqa: BLE001 if Hookline itself breaks, even on import, a guard must still block
        from hookline.model.safe_text import one_line

        note(one_line(f"hookline hook: broke: {type(problem).__name__}: {problem}", 500))
        return ExitStatus.BLOCKED


def _print_entries(name: str, events: Sequence[str]) -> ExitStatus:
    """The entries go to stdout; the file they belong in is named on stderr."""
    from hookline.config.engine import Engine

    dialect = Engine().loader.dialect(name)
    text = entries_text(dialect, events, faster(hookline_command()))
    note(f"# add this to {dialect.call_file}")
    return show(text)


def entries_text(dialect: "Dialect", events: Sequence[str], program: str) -> str:
    """The entries in the agent's own format. Raises `CallError` for an event the agent does not have."""
    return dialect.call_entries(hook_calls(dialect, events, program)).rstrip("\n")


def hook_calls(dialect: "Dialect", events: Sequence[str], program: str) -> "list[HookCall]":
    """The entries to write. Raises `CallError` for an event the agent does not have."""
    return [_call(dialect, name, program) for name in events or dialect.call_events]


def _call(dialect: "Dialect", name: str, program: str) -> "HookCall":
    from hookline.dialects.install import HookCall
    from hookline.resident.call.payload import event_named

    event = event_named(dialect, name)
    seconds = _SECONDS_AT_END if event.event.name == "SessionEnd" else _SECONDS
    return HookCall(name, hook_command(program, dialect, name), seconds, event.guards)


def hook_command(program: str, dialect: "Dialect", event: str, config: str = "", source: str = "") -> str:
    """The command of an entry: what an agent runs at an event, with the hooks of one file alone if it is given.

    `source` is the dialect of that file, where its path does not say it.
    """
    import shlex

    from hookline.config.home import Home

    # The process that an agent starts does not believe HOME.
    named = shlex.join(Home(os.environ.get("HOME", "")).option)
    of = f" {named}" if named else ""
    of += f" --config {shlex.quote(config)}" if config else ""
    of += f" --from {source}" if source else ""
    return f"{program} hook --dialect {dialect.name}{of} {event}"


def pinned_program() -> str:
    """This Hookline by its whole path, so that it does not matter which PATH an agent has."""
    import shlex

    for script in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), "hookline")):
        path = os.path.abspath(script)
        if os.path.basename(path) == "hookline" and os.path.isfile(path) and os.access(path, os.X_OK):
            return shlex.quote(path)
    return hookline_command({})


def faster(program: str, env: Mapping[str, str] = os.environ) -> str:
    """The relay of a Hookline that `hookline_command` or `pinned_program` names; the same if there is none."""
    import shlex

    from hookline.config.install.self_calls import program_words

    def has(folder: str, *names: str) -> bool:
        return bool(folder) and all(os.access(os.path.join(folder, name), os.X_OK) for name in names)

    if program == "hookline":
        folders = env.get("PATH", "").split(os.pathsep)
        found = next((folder for folder in folders if has(folder, "hookline")), "")
        return _RELAY if has(found, _RELAY) else program
    folder = os.path.dirname(program_words(shlex.split(program))[0])
    return shlex.quote(os.path.join(folder, _RELAY)) if has(folder, "hookline", _RELAY) else program


def moved_program(words: Sequence[str], env: Mapping[str, str] = os.environ) -> str | None:
    """What is wrong with how an entry starts Hookline: it is gone, or another one than this; None if nothing is."""
    import shlex

    from hookline.config.install.self_calls import program_words

    folders = [each for each in env.get("PATH", "").split(os.pathsep) if each]
    named = [words[0]] if os.path.isabs(words[0]) else [os.path.join(each, words[0]) for each in folders]
    program = next((each for each in named if os.path.isfile(each) and os.access(each, os.X_OK)), None)
    if program is None:
        return f"{words[0]} is not there"
    own = program_words(shlex.split(pinned_program()))[0]
    real, own_real = os.path.realpath(program), os.path.realpath(own)
    if os.path.basename(program) == _RELAY:  # it starts the one beside it, wherever a link to it is
        real = os.path.join(os.path.dirname(real), "hookline")
    same = real == own_real or os.path.dirname(program) == os.path.dirname(own)
    return None if same else f"it starts {program}, and this is {own}"


def hookline_command(env: Mapping[str, str] = os.environ) -> str:
    """`hookline` if a shell finds it, else this installation."""

    folders = env.get("PATH", "").split(os.pathsep)
    if any(os.access(os.path.join(folder, "hookline"), os.X_OK) for folder in folders if folder):
        return "hookline"
    from hookline.config.install.self_calls import isolated_program

    return isolated_program()
