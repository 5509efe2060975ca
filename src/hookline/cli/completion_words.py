"""What can be typed: asked of the commands themselves, by having them fill a parser that is read."""

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

Kind = Literal["flag", "file", "directory", "words", "anything"]


class Option(Struct, frozen=True):
    """An option, or (without strings) the words that may stand alone."""

    strings: tuple[str, ...]
    kind: Kind
    words: tuple[str, ...] = ()
    help: str = ""


class CommandWords(Struct, frozen=True):
    name: str
    help: str
    options: tuple[Option, ...] = ()
    positional: Option = Option((), "anything")

    @property
    def option_strings(self) -> tuple[str, ...]:
        return tuple(string for option in self.options for string in option.strings)


def all_commands() -> tuple[CommandWords, ...]:
    """Every command, in the order of the table."""
    from hookline.cli.main import COMMANDS
    from hookline.dialects.registry import standard_dialects
    from hookline.model.events import EVENTS

    lists = {"events": tuple(EVENTS), "dialects": (*standard_dialects(), "native")}
    found: list[CommandWords] = []
    for name in COMMANDS:
        parser = _Parser()
        import_module(f"hookline.cli.{name}").add_parser(parser)
        found.append(parser.heard(name, COMMANDS[name], lists))
    return tuple(found)


#: What a value is, where its metavar or its name says so.
_BY_METAVAR: Mapping[str, Kind] = {"FILE": "file", "DIR": "directory"}
_BY_NAME: Mapping[str, str] = {"--dialect": "dialects", "--print-config": "dialects", "--event": "events"}


class _Parser(argparse.ArgumentParser):
    """A parser that tells what it takes."""

    def add_parser(self, name: str, **said: Any) -> "_Parser":
        """Stands in for the place that a command puts its parser into."""
        del name, said  # the table's name and line are the ones that count
        return self

    def heard(self, name: str, line: str, lists: Mapping[str, tuple[str, ...]]) -> CommandWords:
        options: list[Option] = []
        alone = Option((), "anything")
        for action in self._actions:
            if action.option_strings:
                kind, words = _value(action, lists)
                options.append(Option(tuple(action.option_strings), kind, words, action.help or ""))
            elif not alone.words:
                alone = _alone(action, lists)
        return CommandWords(name, line, tuple(options), alone)


def _value(action: argparse.Action, lists: Mapping[str, tuple[str, ...]]) -> tuple[Kind, tuple[str, ...]]:
    if action.nargs == 0:
        return "flag", ()
    if action.choices:
        return "words", tuple(map(str, action.choices))
    for string in action.option_strings:
        if string in _BY_NAME:
            return "words", lists[_BY_NAME[string]]
    return _BY_METAVAR.get(str(action.metavar), "anything"), ()


def _alone(action: argparse.Action, lists: Mapping[str, tuple[str, ...]]) -> Option:
    if action.choices:
        return Option((), "words", tuple(map(str, action.choices)))
    return Option((), "words", lists["events"]) if "EVENT" in str(action.metavar) else Option((), "anything")
