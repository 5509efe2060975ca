"""Test which commands of the command line change guards: every word of the real parser is classified."""

import argparse
from collections.abc import Iterator
from typing import Any

from hookline.cli.main import add_command_parser
from hookline.config.commands import COMMANDS, CONFIRMING, changing_command
from tests.cli.golden import check_golden
from tests.every import every

#: Actions that the parser does not list, because they are the first of several words.
_ACTIONS = {
    "guard": (
        "add",
        "add x y",
        "list",
        "promote x",
        "demote x",
        "off x",
        "remove x",
        "test",
        "test x",
        "pause x",
        "resume x",
    )
}


def parser_of(name: str) -> argparse.ArgumentParser:
    """The real parser of a command, without the others."""
    found: list[argparse.ArgumentParser] = []

    class Commands(argparse.ArgumentParser):
        def add_parser(self, name: str, **texts: Any) -> argparse.ArgumentParser:
            del name, texts
            found.append(self)
            return self

    add_command_parser(name, Commands(conflict_handler="resolve"))
    return found[0]


def options_of(name: str) -> Iterator[tuple[str, str]]:
    """Every option, and as it is written with a value."""
    for option in parser_of(name)._actions:
        for text in option.option_strings:
            yield text, text if option.nargs == 0 else f"{text} value"


def lines_of(name: str) -> Iterator[str]:
    """The command alone, with each of its actions, and each of these with each option."""
    choices = (each.choices for each in parser_of(name)._actions if each.dest == "action" and each.choices)
    for action in ("", *_ACTIONS.get(name, ()), *next(choices, ())):
        start = f"{name} {action}".strip()
        yield start
        yield from (f"{start} {written}" for _option, written in options_of(name))


def test_every_command_action_and_option_is_known_to_change_guards_or_not() -> None:
    every_line = [line for name in COMMANDS for line in lines_of(name)]
    assert len(every_line) > 300
    # A person adds a new line by hand, after thinking about what it does.
    decided = [f"{'changes' if changing_command(line.split()) else 'reads  '} {line}" for line in every_line]
    check_golden("commands_and_guards.txt", "\n".join(decided) + "\n")


@every("name", COMMANDS)
def test_a_command_has_options_that_confirm_a_change_only_if_it_makes_one(name: str) -> None:
    confirming = [option for option, _written in options_of(name) if option in CONFIRMING]
    changes = COMMANDS[name].changes_guards
    assert (changes != "never") if confirming or COMMANDS[name].changes_with else (changes != "by option")


@every("name", COMMANDS)
def test_words_that_a_row_names_are_words_of_the_command(name: str) -> None:
    known = {option for option, _written in options_of(name)} | {line.split()[-1] for line in lines_of(name)}
    named = (*COMMANDS[name].unless, *COMMANDS[name].changes_with)
    assert [word for word in named if word and word not in known] == []


@every("name", COMMANDS)
def test_json_is_an_option_without_a_value_everywhere(name: str) -> None:
    assert [written for option, written in options_of(name) if option == "--json"] in ([], ["--json"])


@every(
    "line",
    (
        "guard --cwd list off x --user", "fleet --directory status publish guards/", "jobs --later show drop 5f2a",
        "trust -- --list", "guard off x -- --help", "trust --list --yes=1f0c", "guard off list", "tomorrow",
        "convert a --to codex --write=1", "--cwd help install", "install help", "--cwd agent trust",
        "agent -p x --no-ho", "agent --mode=bypass", "--cwd list agent --no-hooks", "agent --no-hooks --help",
        "daemon stop", "daemon start --home=/tmp/x", "daemon --idle start stop", "fire --trust Stop",
    ),
)  # fmt: skip
def test_a_word_that_only_looks_like_a_reading_one_changes_nothing_about_it(line: str) -> None:
    assert changing_command(line.split()) is not None


@every(
    "line",
    (
        "guard --json list",
        "jobs --json",
        "jobs --json show 5f2a",
        "trust --json --diff",
        "--version",
        "",
        "help",
        "help more",
        "help install",
        "agent -p hello",
        "agent --continue --deny Bash",
        "daemon",
        "daemon start --json",
        "fire PreToolUse",
    ),
)
def test_what_only_shows_something_is_no_change(line: str) -> None:
    assert changing_command(line.split()) is None
