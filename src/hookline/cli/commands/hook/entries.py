"""Write the entries that make an agent call Hookline: their commands, and how they start this Hookline."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.config.install.self_calls import EntryChoice
    from hookline.dialects.dialect import Dialect, DialectEvent
    from hookline.dialects.entries import HookCall, HookSelection
    from hookline.dialects.installer import InstallScope
    from hookline.model.wire import HookReply

#: Longer than the 600 seconds of a native hook: an agent that gives up first would not wait for a guard.
_SECONDS = 660
#: Agents do not wait long for hooks at the end of a session.
_SECONDS_AT_END = 60
_RELAY = "hookline-relay"


def entries_text(
    dialect: "Dialect", events: Sequence[str], program: str, hooks: "HookSelection" = "all"
) -> str:
    """Return the entries in the agent's own format. Raises `CallError` for an event the agent does not have."""
    from hookline.config.install.self_calls import EntryChoice

    choice = EntryChoice(hooks, "block")
    return dialect.call_entries(hook_calls(dialect, events, program, choice)).rstrip("\n")


def hook_calls(
    dialect: "Dialect",
    events: Sequence[str],
    program: str,
    choice: "EntryChoice",
    file: str = "its file",
    scope: "InstallScope" = "user",
) -> "list[HookCall]":
    """Return the entries to write into a file of this scope. Raises `CallError` for an event the agent does
    not have."""
    return [_call(dialect, name, program, choice, file, scope) for name in events or dialect.call_events]


def _call(
    dialect: "Dialect", name: str, program: str, choice: "EntryChoice", file: str, scope: "InstallScope"
) -> "HookCall":
    from hookline.config.install.self_calls import installed_test
    from hookline.dialects.entries import HookCall, started_if
    from hookline.hook.call.payload import event_named

    event = event_named(dialect, name)
    seconds = _SECONDS_AT_END if event.event.name == "SessionEnd" else _SECONDS
    command = hook_command(program, dialect, name, hooks=choice.hooks, scope=scope)
    instead = _if_missing(dialect, event, file, blocks=choice.if_missing == "block")
    return HookCall(name, started_if(installed_test(program), instead, command), seconds, event.guards)


def _if_missing(dialect: "Dialect", event: "DialectEvent", file: str, *, blocks: bool) -> "HookReply":
    """Return the answer that an entry gives by itself once Hookline is not installed any more."""
    from hookline.config.install.self_calls import MISSING
    from hookline.model.outcome import Message, Outcome, Vote
    from hookline.model.wire import HookReply

    text = f"{MISSING}. Remove this entry from {file}, or install it again."
    if event.guards and blocks:
        return dialect.wire.answer(event.name, Outcome(votes=(Vote("block", text),)))
    if event.event.name != "SessionStart":
        # Not nothing: some agents read that as a failure.
        return dialect.wire.answer(event.name, Outcome())
    answer = dialect.wire.answer(event.name, Outcome(messages=(Message(text),)))
    # An agent that takes no message there shows what a failed hook wrote.
    return HookReply(1, "", text) if answer.lost else answer


def hook_command(
    program: str,
    dialect: "Dialect",
    event: str,
    config: str = "",
    source: str = "",
    hooks: "HookSelection" = "all",
    scope: "InstallScope" = "user",
) -> str:
    """Return the command of an entry, which an agent runs at an event; with `config`, for the hooks of that
    file alone.

    `source` is the dialect of that file, where its path does not say it.
    """
    import shlex

    from hookline.config.home import Home

    # The process that an agent starts does not trust HOME. An administrator's entry is for every user.
    named = shlex.join(Home(os.environ.get("HOME", "")).option) if scope != "managed" else ""
    of = f" {named}" if named else ""
    of += " --hooks own" if hooks == "own" else ""
    # Two entries with the same words would look like two equal calls.
    of += f" --scope {scope}" if dialect.repeats_entries and scope != "user" else ""
    of += f" --config {shlex.quote(config)}" if config else ""
    of += f" --from {source}" if source else ""
    return f"{program} hook --dialect {dialect.name}{of} {event}"


def pinned_program() -> str:
    """Return this Hookline by its whole path, so that the agent's PATH does not matter."""
    import shlex

    for script in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), "hookline")):
        path = os.path.abspath(script)
        if os.path.basename(path) == "hookline" and os.path.isfile(path) and os.access(path, os.X_OK):
            return shlex.quote(path)
    return hookline_command({})


def faster(program: str, env: Mapping[str, str] = os.environ) -> str:
    """Return the relay of a Hookline that `hookline_command` or `pinned_program` names; the same if there is none."""
    import shlex

    from hookline.config.install.self_calls import program_words

    def has(directory: str, *names: str) -> bool:
        return bool(directory) and all(os.access(os.path.join(directory, name), os.X_OK) for name in names)

    if program == "hookline":
        directories = env.get("PATH", "").split(os.pathsep)
        found = next((directory for directory in directories if has(directory, "hookline")), "")
        return _RELAY if has(found, _RELAY) else program
    directory = os.path.dirname(program_words(shlex.split(program))[0])
    return shlex.quote(os.path.join(directory, _RELAY)) if has(directory, "hookline", _RELAY) else program


GONE = "does not exist"


def moved_program(words: Sequence[str], env: Mapping[str, str] = os.environ) -> str | None:
    """Explain what is wrong with how an entry starts Hookline: it is gone, or another one than this; None if
    nothing is.
    """
    import shlex

    from hookline.config.install.self_calls import program_words

    directories = [each for each in env.get("PATH", "").split(os.pathsep) if each]
    named = [words[0]] if os.path.isabs(words[0]) else [os.path.join(each, words[0]) for each in directories]
    program = next((each for each in named if os.path.isfile(each) and os.access(each, os.X_OK)), None)
    if program is None:
        return f"{words[0]} {GONE}"
    own = program_words(shlex.split(pinned_program()))[0]
    real, own_real = os.path.realpath(program), os.path.realpath(own)
    if os.path.basename(program) == _RELAY:  # it starts the one beside it, wherever a link to it is
        real = os.path.join(os.path.dirname(real), "hookline")
    same = real == own_real or os.path.dirname(program) == os.path.dirname(own)
    return None if same else f"it starts {program}, and this is {own}"


def moved_text(problem: str) -> str:
    """Say it in a sentence: the program is gone, or agents ask another Hookline than this."""
    what = "Hookline has moved" if problem.endswith(GONE) else "another Hookline is asked there"
    return f"{what}: {problem}"


def hookline_command(env: Mapping[str, str] = os.environ) -> str:
    """Return `hookline` if a shell finds it, else this installation."""

    directories = env.get("PATH", "").split(os.pathsep)
    if any(os.access(os.path.join(directory, "hookline"), os.X_OK) for directory in directories if directory):
        return "hookline"
    from hookline.config.install.self_calls import isolated_program

    return isolated_program()
