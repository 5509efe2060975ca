"""List the commands of the command line, one row for each, and the options of `hookline hook`, which agents run.

`hookline --help` shows the lines; self-protection reads a command's effect on guards, so it needs no second list. The
command line, the daemon, `doctor` and the installation derive what they know of `hookline hook` from its options, and
a test holds both relays to them. It is below the command line because an engine without one needs it, too.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from hookline.dialects.entries import HookSelection

#: With one of these options any command is treated as a change, in full or abbreviated.
CONFIRMING = ("--yes", "--write")
#: As the first word: show the help of the command that follows, or the group `more`.
HELP = "help"
#: It runs another command, which is judged by itself.
_RUN = "run"
#: With one of these, none does anything else.
_SHOWS = frozenset(("--help", "-h", "--version"))


#: The groups of `hookline --help`, in this order; `hookline help more` lists the last one.
Group = Literal["check", "guard", "agents", "team", "more"]
GROUPS: tuple[Group, ...] = get_args(Group)


class Command(NamedTuple):
    """One command; it is the package of that name in `cli/commands`."""

    group: Group
    #: Its line in `hookline --help`.
    line: str
    #: `always` if it changes which hooks, rules or servers are active or trusted, here or for an agent that it starts;
    #: `by option` only with one of CONFIRMING, or of `changes_with`.
    changes_guards: Literal["never", "by option", "always"]
    #: Actions and options with which a command that changes guards does not; an empty one means no action.
    unless: tuple[str, ...] = ()
    #: Options with which it does, whatever else it is given.
    changes_with: tuple[str, ...] = ()


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "doctor": Command(
            "check",
            "where Hookline is installed, every hook, and what is wrong",
            "by option",
            changes_with=("--fix", "--undo"),
        ),
        "explain": Command("check", "why each hook would run, or would not; runs nothing", "never"),
        # A project is trusted by the user alone, also for one run.
        "fire": Command(
            "check", "run the hooks on one event, or measure them", "by option", changes_with=("--trust",)
        ),
        "log": Command("check", "what the hooks did, from the journal", "never"),
        "backtest": Command(
            "check",
            "what your hooks would have done in past sessions",
            "by option",
            changes_with=("--trust",),
        ),
        "coverage": Command("check", "find tool calls your hooks missed", "never"),
        "guard": Command("guard", "add, watch, enforce and remove guards", "always", ("", "list", "test")),
        "trust": Command(
            "guard", "see what a project would run, and trust it", "always", ("--diff", "--list")
        ),
        "run": Command("guard", "run a command while your rules hold for all it starts", "never"),
        "install": Command("agents", "make the agents on this machine ask Hookline", "always"),
        "uninstall": Command("agents", "take Hookline out of their files again", "always"),
        "convert": Command("agents", "run the hooks of one agent in another", "by option"),
        # An agent without the user's hooks, or with more permissions than the user gave, does what its caller may not.
        "agent": Command(
            "agents",
            "a coding agent that fires every event",
            "by option",
            changes_with=(
                "--no-hooks",
                "--trust",
                "--config",
                "--dialect",
                "--hook",
                "--mode",
                "--allow",
                "--add-dir",
                "--definition",
            ),
        ),
        "fleet": Command(
            "team", "the machines of a team, over a NATS server", "always", ("", "status", "worker")
        ),
        # An agent that answers its own questions has no guards.
        "approvals": Command("team", "answer calls that wait for a person", "always", ("", "list", "show")),
        "serve": Command("team", "serve decisions over HTTP", "never"),
        "console": Command("team", "what the hooks did, in your browser", "never"),
        "list": Command("more", "the active hooks here, in the order they run", "never"),
        "events": Command("more", "list the events, or show all about one", "never"),
        "schema": Command("more", "the JSON Schemas of payloads, answers and config", "never"),
        # A job that is dropped is a hook that never runs.
        "jobs": Command(
            "more", "what durable hooks still have to do", "always", ("", "list", "retry", "run", "show")
        ),
        # A call of it by the agent would report to Hookline something that did not happen.
        "hook": Command("more", "run as a hook of another agent", "always", ("--print-config",)),
        # Agents that only speak http have no guards without it, and with another home they have those of that one.
        "daemon": Command(
            "more",
            "manage the daemon that speeds up hooks",
            "always",
            ("", "run", "start", "status"),
            changes_with=("--home",),
        ),
        "mcp": Command("more", "the MCP server with which agents check and write hooks", "never"),
        "docs": Command("more", "print a page of the documentation", "never"),
        "completion": Command("more", "print a completion script for your shell", "never"),
    }
)


def changing_command(words: Sequence[str]) -> str | None:
    """Return the command among the words after `hookline`, if it changes what guards the agent; also an unknown one."""
    if list(words[:1]) == [_RUN] and "--" in words:
        # The words behind it are another command, which is judged by itself.
        words = words[: words.index("--")]
    operands = [word for word in words if not word.startswith("-")]
    if not operands or words[0] == HELP:
        return None
    # An option may have a value before the command.
    named = [word for word in operands[:3] if word in COMMANDS] or operands[:1]
    return next((name for name in named if _changes(name, words)), None)


def _changes(name: str, words: Sequence[str]) -> bool:
    """Return True if this command changes guards with these words."""
    command = COMMANDS.get(name)
    if any(_is_one_of(word, CONFIRMING) or word == "-y" for word in words):
        return True
    if command is not None and any(_is_one_of(word, command.changes_with) for word in words):
        return True
    # Words after `--` are not options.
    options = {*words[: words.index("--")]} if "--" in words else {*words}
    if options & _SHOWS:
        return False
    if command is None or command.changes_guards != "always":
        return command is None
    if any(word.startswith("-") and word in options for word in command.unless):
        return False
    return _action(words[words.index(name) + 1 :]) not in command.unless


def _action(words: Sequence[str]) -> str | None:
    """Return the first word, or an empty one without any; None where it may be the value of an option."""
    rest = [word for word in words if word != "--json" and not (word.startswith("--") and "=" in word)]
    if rest and not rest[0].startswith("-"):
        return rest[0]
    return None if any(not word.startswith("-") for word in rest) else ""


def may_change(word: str) -> bool:
    """Return True if a word is a command that changes guards, at least with some of its words."""
    command = COMMANDS.get(word)
    return command is not None and command.changes_guards != "never"


def _is_one_of(word: str, options: Sequence[str]) -> bool:
    """Return True if a word is one of these options, in full or abbreviated."""
    name = word.partition("=")[0]
    return len(name) > 2 and any(option.startswith(name) for option in options)


class HookOption(NamedTuple):
    """An option of `hookline hook`."""

    #: Its field in `HookArguments`.
    field: str
    #: The name of its value in help; empty for an option without a value.
    value: str = ""
    choices: tuple[str, ...] = ()
    repeatable: bool = False
    #: True if entries that are installed or printed have it.
    installed: bool = False


HOOK_OPTIONS: Final[Mapping[str, HookOption]] = {
    "--dialect": HookOption("dialect", "NAME", installed=True),
    "--config": HookOption("files", "FILE", repeatable=True),
    "--from": HookOption("source", "NAME"),
    "--hooks": HookOption("hooks", "own|all", ("own", "all"), installed=True),
    "--scope": HookOption("scope", "NAME", installed=True),
    "--home": HookOption("home", "DIR", installed=True),
    "--strict": HookOption("strict"),
    "--print-config": HookOption("print_config", "NAME"),
}


class HookArguments(NamedTuple):
    """The arguments of `hookline hook`."""

    #: The agent that calls.
    dialect: str | None = None
    #: The agent's name of the event; more than one only to print entries.
    events: tuple[str, ...] = ()
    #: The files whose hooks alone answer.
    files: tuple[str, ...] = ()
    #: The dialect of these files, if their paths do not show it.
    source: str | None = None
    hooks: "HookSelection | None" = None
    #: The file that the entry is in, for an agent that runs equal ones of two files.
    scope: str = ""
    #: The home directory that the entry names.
    home: str | None = None
    strict: bool = False
    print_config: str | None = None


def read_hook_words(words: Sequence[str]) -> HookArguments | str:
    """Parse the words after `hook` as the command line does; return what is wrong with them if it refuses them."""
    given: dict[str, Any] = {}
    events: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            events.append(word)
            continue
        if word == "--":
            events += rest
            break
        named, equals, value = word.partition("=")
        meant = (
            [named] if named in HOOK_OPTIONS else [name for name in HOOK_OPTIONS if name.startswith(named)]
        )
        if len(meant) != 1 or len(named) < 3:
            return f"hookline hook has no option {named[:100]!r}"
        option = HOOK_OPTIONS[meant[0]]
        if not option.value:
            if equals:
                return f"{meant[0]} takes no value"
            given[option.field] = True
            continue
        if not equals:
            value = next(rest, "--")
            if value.startswith("-") and value != "-":
                return f"{meant[0]} has no value"
        if option.choices and value not in option.choices:
            return f"{meant[0]} is {' or '.join(option.choices)}, not {value[:100]!r}"
        given[option.field] = (*given.get(option.field, ()), value) if option.repeatable else value
    return HookArguments(**given, events=tuple(events))


def is_as_installed(arguments: HookArguments) -> bool:
    """Return True if an entry has no option but those that installed entries have."""
    own = {option.field for option in HOOK_OPTIONS.values() if option.installed}
    return len(arguments.events) <= 1 and all(
        getattr(arguments, option.field) == getattr(HookArguments(), option.field)
        for option in HOOK_OPTIONS.values()
        if option.field not in own
    )
