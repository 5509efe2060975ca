"""What a guard by meaning is made of: rows about commands, flows, files and signs in code. All of it is data."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from hookline.guards import MODULES
from hookline.matching.patterns import LONGEST_PATH, Expression, compile_re2

#: No program has this name.
SEVERAL = "/"
#: What is said of a file that a guard keeps from being written.
OUTSIDE = "is outside the project and would be written"
NO_PARTS: Mapping[str, str] = MappingProxyType({})


class GuardedCommand(Struct, frozen=True, kw_only=True):
    """Commands that a guard is about. Everything that a row asks for must be so."""

    #: Names of programs, then words of the sub-command, each with its alternatives: `docker|podman volume rm|prune`.
    #: `*` in a word is any text, and the word `**` any number of words.
    run: str
    #: What such a command does, as the end of a sentence about it.
    does: str
    #: A line that the row is there for. A test holds every row to it.
    example: str
    #: One of these options is given; with `value`, with a value in which this expression is found.
    given: str = ""
    value: str = ""
    #: With one of these options it does nothing of that kind.
    unless: str = ""
    #: Found in an operand behind the sub-command: in any of them, in the first, in the last or in the only one.
    operand: str = ""
    which: Literal["any", "first", "last", "only"] = "any"
    #: Found in every operand: then the command is left alone.
    spare: str = ""
    #: Found in its words, in those of commands that feed it, or in text that is code for it.
    text: str = ""
    #: Its program is what comes in: it has no operand, or one that stands for standard input or for what only the
    #: shell knows.
    fed: bool = False
    #: The part of the guard it belongs to, which can be switched on and off by that name.
    part: str = ""


class Flow(Struct, frozen=True, kw_only=True):
    """The output of one command goes into another one, directly or through more."""

    #: Names of programs.
    source: str
    into: tuple[GuardedCommand, ...]
    #: A file that the line reads is as good as the output of a program.
    files: bool = False
    #: So is a file that one of those programs writes and that the line then runs.
    kept: bool = False


class Secret(Struct, frozen=True, kw_only=True, dict=True):
    """Files with secrets, by how their paths end."""

    path: str
    what: str
    example: str
    part: str = ""

    def is_at(self, path: str) -> bool:
        """Return True if the path is one of these files. Takes linear time: `re` is only asked where `re2` found it."""
        return _is_found(self._wide, path) and self._exact.search(path) is not None

    @cached_property
    def _wide(self) -> Expression:
        return _wide_expression([self])

    @cached_property
    def _exact(self) -> re.Pattern[str]:
        return re.compile(self.path, re.IGNORECASE)


class Policy(Struct, frozen=True, kw_only=True, dict=True):
    """One guard."""

    name: str
    #: What it stops, in a few words.
    title: str
    #: What to do instead: for the model and the user.
    instead: str
    rows: tuple[GuardedCommand, ...] = ()
    flows: tuple[Flow, ...] = ()
    #: Found in the path of a file that a line or a tool writes; and what that does.
    written: str = ""
    written_does: str = ""
    #: Found in code of other languages; in such code if it starts programs; and what that does.
    code: str = ""
    started: str = ""
    code_does: str = ""
    #: Files that must not be read.
    secrets: tuple[Secret, ...] = ()
    #: Writing anywhere but in the project is what it is about; deleting whole folders; what guards the agent.
    outside: bool = False
    folders: bool = False
    protects: bool = False
    #: Parts that are off unless they are asked for, and those that are on, each with what it is.
    more: Mapping[str, str] = NO_PARTS
    parts: Mapping[str, str] = NO_PARTS
    #: What `allow` is a pattern of; empty: it takes none.
    allows: Literal["", "commands", "paths"] = "commands"
    #: Lines beside those of the rows, for the page: what it catches and what it leaves alone.
    catches: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    #: What it cannot see, for the page.
    cannot: tuple[str, ...] = ()

    def may_be_secret(self, path: str) -> bool:
        """Whether a path may be one of its secrets: most are none, and need not be compared with each."""
        return _is_found(self._any_secret, path)

    @cached_property
    def _any_secret(self) -> Expression:
        return _wide_expression(self.secrets)

    @cached_property
    def by_program(self) -> Mapping[str, tuple[GuardedCommand, ...]]:
        return by_program(self.rows)


def _wide_expression(secrets: Sequence[Secret]) -> Expression:
    """Return an expression that finds all these secrets, and perhaps more, in linear time."""
    wide = (f"(?:{without_lookaround(secret.path)})" for secret in secrets)
    return compile_re2(f"(?i){'|'.join(wide)}", anchored=False, longest_subject=LONGEST_PATH)


def _is_found(expression: Expression, path: str) -> bool:
    # Half of a surrogate pair is no letter for `re`, and nothing at all for `re2`.
    whole = path if path.isascii() else path.encode("utf-8", "replace").decode()
    # At a line feed that ends the text, `$` is before it as well.
    return expression.found(whole) or (whole[-1:] == "\n" and expression.found(whole[:-1]))


@cache
def policy_of(name: str) -> Policy:
    """The guard of that name. Its tables are loaded when it is named."""
    module = import_module(f"hookline.guards.tables.{MODULES[name]}")
    return getattr(module, name.upper().replace("-", "_"))


def by_program(rows: tuple[GuardedCommand, ...]) -> Mapping[str, tuple[GuardedCommand, ...]]:
    """Rows by each program they are about; under `SEVERAL` those for programs of names that begin alike."""
    found: dict[str, tuple[GuardedCommand, ...]] = {}
    for row in rows:
        for program in row.run.split(" ", 1)[0].split("|"):
            key = SEVERAL if "*" in program else program
            found[key] = (*found.get(key, ()), row)
    return found


def without_lookaround(pattern: str) -> str:
    """Return the pattern for `re2`, without `(?!…)`, `(?<!…)` and the like: it finds all that it found, and more."""
    kept: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith(("(?!", "(?=", "(?<!", "(?<="), at):
            at = _end_of_group(pattern, at)
            continue
        end = _end_of_item(pattern, at)
        kept.append(_with_all_letters(pattern[at:end]))
        at = end
    return "".join(kept)


def _with_all_letters(item: str) -> str:
    """Let `\\w` and `\\d` be letters and digits of every script, as they are for `re`."""
    more = r"\x80-\x{10FFFF}"
    if item[0] == "[":
        return item.replace(r"\w", rf"\w{more}").replace(r"\d", rf"\d{more}")
    return f"[{item}{more}]" if item in (r"\w", r"\d") else item


def _end_of_group(pattern: str, at: int) -> int:
    depth = 0
    while at < len(pattern):
        depth += {"(": 1, ")": -1}.get(pattern[at], 0)
        at = _end_of_item(pattern, at)
        if not depth:
            break
    return at


def _end_of_item(pattern: str, at: int) -> int:
    """Behind one character, one that is escaped, or a class of them."""
    if pattern[at] == "\\":
        return at + 2
    if pattern[at] != "[":
        return at + 1
    at += 2 if pattern[at + 1] in "]^" else 1
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
