"""Read environment variables that are code or options (`variables.txt`), and list those that cannot be.

And those that by convention hold a program, and programs that by convention print such settings.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from hookline.shell.found import Found, Inner, ShellDoubt
from hookline.shell.kinds import KINDS
from hookline.shell.placeholders import HOLE

#: More settings than this are not judged.
_MOST_SETTINGS = 100
#: Kinds that are read here.
_OWN_KINDS = frozenset(("piped line", "git settings"))


@cache
def _settings() -> Mapping[str, tuple[str, ...]]:
    """Return the expressions of programs that by convention print settings for a shell (`printed_settings.txt`)."""
    found: dict[str, tuple[str, ...]] = {}
    for names, words in re.findall(r"(?m)^(\S[^=]*?)\n +=[ ](.*)$", _table("printed_settings.txt")):
        for name in names.replace(",", " ").split():
            found[name] = (*found.get(name, ()), words)
    return found


def _table(name: str) -> str:
    """Return the rows of a file beside this one, without what explains them."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as file:
        return file.read().decode().partition("\n\n")[2]


def prints_settings(words: Sequence[str]) -> bool:
    """Return True if a command by convention prints settings for a shell: `ssh-agent -s`, `kubectl completion
    bash`."""
    directory, slash, name = words[0].rpartition("/")
    if slash and not f"{directory}/".startswith(("/opt/", "/usr/", "/home/linuxbrew/")):
        return False
    rest = " ".join(words[1:])
    return any(re.fullmatch(one, rest) for one in _settings().get(name, ()))


class _Variables(NamedTuple):
    """The table of variables: the kind or the options of each name, and of each pattern of names."""

    exact: dict[str, list[str]]
    patterns: tuple[tuple[str, str], ...]


@cache
def _variables() -> _Variables:
    text = _table("variables.txt").replace("\n    ", " ")
    exact: dict[str, list[str]] = {}
    patterns: list[tuple[str, str]] = []
    for what, _, names in (row.partition(": ") for row in text.split("\n")):
        for name in names.split():
            if "*" in name:
                patterns.append((name.replace("*", ".*"), what))
            else:
                exact.setdefault(name, []).append(what)
    return _Variables(exact, tuple(patterns))


@lru_cache(maxsize=256)
def _rows_of(name: str) -> tuple[str, ...]:
    table = _variables()
    return (
        *table.exact.get(name, ()),
        *(what for pattern, what in table.patterns if re.fullmatch(pattern, name)),
    )


def is_harmless(name: str) -> bool:
    """Return True if a variable cannot make a program run or load anything."""
    return "harmless" in _rows_of(name)


def program_in(name: str) -> str | None:
    """Return the program that a variable holds by convention: `$PYTHON -m pytest` is not taken for `rm`."""
    return next((what[6:] for what in _rows_of(name) if what.startswith("holds ")), None)


def kind_of_variable(name: str) -> str | None:
    """Return the kind of a variable's value, if some program runs or loads it."""
    return next((what for what in _rows_of(name) if what in KINDS or what in _OWN_KINDS), None)


def options_of_variable(name: str) -> Iterator[tuple[str, str]]:
    """Yield the programs that take the value of a variable for that of an option, each with the option."""
    for what in (what for what in _rows_of(name) if " -" in what):
        for one in what.split(", "):
            program, _, option = one.partition(" ")
            yield program, option


def git_settings(value: str) -> Iterator[str]:
    """Yield the settings in GIT_CONFIG_PARAMETERS: `'a.b=c' 'd.e'='f'`."""
    return (found[1] for found in re.finditer(r"'((?:[^']|'\\'')*)'", value.replace("'='", "=")))


def look_at_variable(name: str, value: str) -> Iterator[Found]:
    """Yield what may run because a variable of this name has this value."""
    kind = kind_of_variable(name)
    if kind is None:
        return
    if kind == "expanded":
        yield from KINDS["expanded"].found(value)
        if name in {"BASH_ENV", "ENV"} and value:
            # A shell reads the file before anything else.
            yield Inner((value,))
            yield from KINDS["file"].found(value)
    elif kind == "piped line":
        # `|line %s`, `||-line %s`; without the bar it is run just as well.
        yield from KINDS["usual line"].found(value.lstrip("|-").replace("%s", HOLE))
    elif kind == "git settings":
        for at, setting in enumerate(git_settings(value)):
            if at == _MOST_SETTINGS:
                yield ShellDoubt("it sets too much in git to judge it all")
                return
            yield from KINDS["git setting"].found(setting)
    else:
        yield from KINDS[kind].found(value)
