"""Write the completion scripts, one function per shell, from the parsers of the commands.

The scripts never call Hookline: completing is instant.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.cli.main import add_command_parser
from hookline.cli.output import ExitStatus, show
from hookline.config.commands import COMMANDS
from hookline.dialects.registry import standard_dialects
from hookline.model.events import EVENTS

Kind = Literal["flag", "file", "directory", "words", "anything"]

#: The kind of value that an option takes, by its metavar or its name.
_BY_METAVAR: Mapping[str, Kind] = {"FILE": "file", "DIR": "directory"}
_BY_NAME: Mapping[str, str] = {
    "--as": "dialects",
    "--dialect": "dialects",
    "--print-config": "dialects",
    "--event": "events",
}


class CompletionOption(Struct, frozen=True):
    """An option, or (without strings) the positional words."""

    strings: tuple[str, ...]
    kind: Kind
    words: tuple[str, ...] = ()
    help: str = ""


class CommandWords(Struct, frozen=True):
    name: str
    help: str
    options: tuple[CompletionOption, ...] = ()
    positional: CompletionOption = CompletionOption((), "anything")

    @property
    def option_strings(self) -> tuple[str, ...]:
        return tuple(string for option in self.options for string in option.strings)


def run(args: argparse.Namespace) -> ExitStatus:
    return show(SCRIPTS[args.shell](all_commands()).rstrip("\n"))


def all_commands() -> tuple[CommandWords, ...]:
    """Return every command, in the order of the table."""
    lists = {"events": tuple(EVENTS), "dialects": tuple(standard_dialects())}
    found: list[CommandWords] = []
    for name, command in COMMANDS.items():
        parser = _Parser(conflict_handler="resolve")
        add_command_parser(name, parser)
        found.append(parser.words(name, command.line, lists))
    return tuple(found)


class _Parser(argparse.ArgumentParser):
    """Parser that a command gets instead of the subparsers, and that lists what the command adds to it."""

    def add_parser(self, name: str, **texts: Any) -> "_Parser":
        del name, texts  # both are in COMMANDS
        return self

    def words(self, name: str, line: str, lists: Mapping[str, tuple[str, ...]]) -> CommandWords:
        options: list[CompletionOption] = []
        positional = CompletionOption((), "anything")
        for action in (each for each in self._actions if each.help != argparse.SUPPRESS):
            if action.option_strings:
                kind, words = _value(action, lists)
                options.append(CompletionOption(tuple(action.option_strings), kind, words, action.help or ""))
            elif not positional.words:
                positional = _positional(action, lists)
        return CommandWords(name, line, tuple(options), positional)


def _value(action: argparse.Action, lists: Mapping[str, tuple[str, ...]]) -> tuple[Kind, tuple[str, ...]]:
    if action.nargs == 0:
        return "flag", ()
    if action.choices:
        return "words", tuple(map(str, action.choices))
    for string in action.option_strings:
        if string in _BY_NAME:
            return "words", lists[_BY_NAME[string]]
    return _BY_METAVAR.get(str(action.metavar), "anything"), ()


def _positional(action: argparse.Action, lists: Mapping[str, tuple[str, ...]]) -> CompletionOption:
    if action.choices:
        return CompletionOption((), "words", tuple(map(str, action.choices)))
    if "EVENT" in str(action.metavar):
        return CompletionOption((), "words", lists["events"])
    # As in `add|list [NAME]`.
    first = str(action.metavar).partition(" ")[0]
    return (
        CompletionOption((), "words", tuple(first.split("|")))
        if "|" in first
        else CompletionOption((), "anything")
    )


_OWN_OPTIONS = ("--help", "--version")


def bash(commands: Sequence[CommandWords]) -> str:
    return _BASH.format(
        commands=" ".join([*(command.name for command in commands), *_OWN_OPTIONS]),
        cases="\n".join(line for command in commands for line in _bash_command(command)),
    )


#: No mapfile: the bash of macOS is from 2007.
_BASH = """\
# Completion of hookline for bash: source <(hookline completion bash)
_hookline() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local words="" command="" index
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "${{COMP_WORDS[index]}}" in
            -*) ;;
            *) command="${{COMP_WORDS[index]}}"; break ;;
        esac
    done
    COMPREPLY=()
    case "$command" in
        "") words="{commands}" ;;
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _hookline hookline
"""


def _bash_command(command: CommandWords) -> Iterator[str]:
    yield f"        {command.name})"
    yield '            case "$previous" in'
    for option in command.options:
        if option.kind != "flag":
            yield f"                {'|'.join(option.strings)}) {_bash_value(option)} ;;"
    yield "            esac"
    yield '            case "$current" in'
    yield f'                -*) words="{" ".join(command.option_strings)}" ;;'
    yield f'                *) words="{" ".join(command.positional.words)}" ;;'
    yield "            esac ;;"


def _bash_value(option: CompletionOption) -> str:
    if option.kind == "words":
        return f'COMPREPLY=($(compgen -W "{" ".join(option.words)}" -- "$current")); return'
    if option.kind == "directory":
        return "local IFS=$'\\n'; COMPREPLY=($(compgen -d -- \"$current\")); return"
    return "return"  # -o default: bash offers files


def zsh(commands: Sequence[CommandWords]) -> str:
    return _ZSH.format(
        commands="\n".join(f"        {_quoted(_zsh_pair(each.name, each.help))}" for each in commands),
        cases="\n".join(line for command in commands for line in _zsh_command(command)),
    )


_ZSH = """\
#compdef hookline
# Completion of hookline for zsh: hookline completion zsh > "${{fpath[1]}}/_hookline"
_hookline() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case "$words[2]" in
{cases}
    esac
}}
if [[ "$funcstack[1]" == "_hookline" ]]; then
    _hookline "$@"
else
    compdef _hookline hookline
fi
"""


def _zsh_pair(name: str, line: str) -> str:
    return f"{name}:{line.replace(':', chr(92) + ':')}"


def _zsh_command(command: CommandWords) -> Iterator[str]:
    yield f"        {command.name})"
    yield '            case "$words[CURRENT-1]" in'
    for option in command.options:
        if option.kind != "flag":
            yield f"                {'|'.join(option.strings)}) {_zsh_value(option)}; return ;;"
    yield "            esac"
    yield '            case "$PREFIX" in'
    yield f"                -*) compadd -- {' '.join(command.option_strings)} ;;"
    positional = " ".join(command.positional.words)
    yield f"                *) {f'compadd -- {positional}' if positional else '_files'} ;;"
    yield "            esac ;;"


def _zsh_value(option: CompletionOption) -> str:
    if option.kind == "words":
        return f"compadd -- {' '.join(option.words)}"
    return {"file": "_files", "directory": "_files -/"}.get(option.kind, "true")


def fish(commands: Sequence[CommandWords]) -> str:
    lines = [
        "# Completion of hookline for fish: hookline completion fish > ~/.config/fish/completions/hookline.fish",
        "complete -c hookline -f",
        "complete -c hookline -n __fish_use_subcommand -l help -d 'show help'",
        "complete -c hookline -n __fish_use_subcommand -l version -d 'print the version and exit'",
    ]
    for command in commands:
        lines.append(
            f"complete -c hookline -n __fish_use_subcommand -a {command.name} -d {_fish_quoted(command.help)}"
        )
        lines += _fish_command(command)
    return "\n".join(lines) + "\n"


def _fish_command(command: CommandWords) -> Iterator[str]:
    head = f"complete -c hookline -n '__fish_seen_subcommand_from {command.name}'"
    for option in command.options:
        yield f"{head} {_fish_names(option.strings)}{_fish_value(option)} -d {_fish_quoted(option.help)}"
    if command.positional.words:
        yield f"{head} -a {_fish_quoted(' '.join(command.positional.words))}"


def _fish_names(strings: Iterable[str]) -> str:
    return " ".join(f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in strings)


def _fish_value(option: CompletionOption) -> str:
    if option.kind == "words":
        return f" -x -a {_fish_quoted(' '.join(option.words))}"
    return {"flag": "", "file": " -r -F", "directory": " -x -a '(__fish_complete_directories)'"}.get(
        option.kind, " -x"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Mapping[str, Callable[[Sequence[CommandWords]], str]] = MappingProxyType(
    {"bash": bash, "zsh": zsh, "fish": fish}
)
