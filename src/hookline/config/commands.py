"""The commands of the command line: one row for each, with what it does to the guards of an agent.

`hookline --help` shows the lines; self-protection reads the rest, so it needs no list of its own. It is below the
command line because an engine without one protects itself, too.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

#: With one of these options any command counts as a change, in full or abbreviated.
CONFIRMING = ("--yes", "--write")
#: With one of these, none does anything else.
_SHOWS = frozenset(("--help", "-h", "--version"))


class Command(NamedTuple):
    """One command; it is the package of that name in `cli/commands`."""

    #: Its line in `hookline --help`.
    line: str
    #: Whether it changes which hooks, rules or servers are active or trusted: `confirmed` only with such an option.
    changes_guards: Literal["never", "confirmed", "always"]
    #: Actions and options with which one that changes guards does not; an empty one: it has no action.
    unless: tuple[str, ...] = ()


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "doctor": Command("find every hook, and what is wrong with it", "never"),
        "list": Command("the hooks in force here, in the order they run", "never"),
        "fire": Command("run the hooks on one event", "never"),
        "explain": Command("why each hook would run, or would not", "never"),
        "events": Command("list the events, or show all about one", "never"),
        "schema": Command("the JSON Schemas of payloads, answers and config", "never"),
        # A call of it in the agent's place would report to Hookline what the agent did not do.
        "hook": Command("be one hook inside another agent", "always", ("--print-config",)),
        "convert": Command("run the hooks of one agent in another", "confirmed"),
        "init": Command("write a first guard and show it at work", "always"),
        "install": Command("make the agents on this machine ask Hookline", "always"),
        "uninstall": Command("take Hookline out of their files again", "always"),
        "status": Command("where Hookline is installed, trusted and seen at work", "never"),
        "resident": Command("the server that makes calls of other agents fast", "never"),
        "trust": Command("see what a project would run, and trust it", "always", ("--diff", "--list")),
        "log": Command("what the hooks did, from the journal", "never"),
        "console": Command("what the hooks did, in your browser", "never"),
        "observed": Command("were your hooks asked about every call they should have been?", "never"),
        "backtest": Command("what your hooks would have done in past sessions", "never"),
        "rule": Command("add a rule, watch it, and put it in force", "always", ("list",)),
        "serve": Command("decide for others, over http", "never"),
        # A job that is dropped is a hook that never runs.
        "jobs": Command(
            "what durable hooks still have to do", "always", ("", "list", "retry", "run", "show")
        ),
        "fleet": Command("the machines of a team, over a NATS server", "always", ("status", "worker")),
        "bench": Command("how long your hooks take", "never"),
        "agent": Command("a coding agent that fires every event", "never"),
        "completion": Command("print a completion script for your shell", "never"),
    }
)


def changing_command(words: Sequence[str]) -> str | None:
    """The command among the words after `hookline`, if it changes what guards the agent; also one that is not known."""
    operands = [word for word in words if not word.startswith("-")]
    confirmed = any(map(_confirms, words))
    # What follows `--` is no option.
    options = {*words[: words.index("--")]} if "--" in words else {*words}
    if not operands or (options & _SHOWS and not confirmed):
        return None
    # An option may have a value before the command.
    name = next((word for word in operands[:3] if may_change(word)), operands[0])
    command = COMMANDS.get(name)
    if command is None or confirmed:
        return name
    if command.changes_guards != "always" or not options.isdisjoint(_options(command)):
        return None
    return None if _action(words[words.index(name) + 1 :]) in command.unless else name


def _action(words: Sequence[str]) -> str | None:
    """The first word, or an empty one without any; None where it may be the value of an option."""
    rest = [word for word in words if word != "--json" and not (word.startswith("--") and "=" in word)]
    if rest and not rest[0].startswith("-"):
        return rest[0]
    return None if any(not word.startswith("-") for word in rest) else ""


def _options(command: Command) -> Sequence[str]:
    return [word for word in command.unless if word.startswith("-")]


def may_change(word: str) -> bool:
    """Whether a word is a command that changes guards, at least with some of its words."""
    command = COMMANDS.get(word)
    return command is not None and command.changes_guards != "never"


def _confirms(option: str) -> bool:
    name = option.partition("=")[0]
    return name == "-y" or (len(name) > 2 and any(each.startswith(name) for each in CONFIRMING))
