"""Define the parts of a built-in guard: rows about commands, flows, files and signs in code. All of it is
data."""

import os
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
#: Said of a file that a guard keeps from being written.
OUTSIDE = "is outside the project and would be written"
NO_PARTS: Mapping[str, str] = MappingProxyType({})


class GuardedCommand(Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """Commands that a guard is about. All requirements of a row must hold."""

    #: Names of programs, then words of the sub-command, each with its alternatives: `docker|podman volume
    #: rm|prune`. `*` in a word is any text, and the word `**` any number of words.
    run: str
    #: The effect of such a command, as the end of a sentence about it.
    does: str
    #: A line that the row must match. A test checks every row with it.
    example: str
    #: One of these options is given; with `value`, with a value in which this expression is found.
    given: str = ""
    value: str = ""
    #: With one of these options it does nothing of that kind.
    unless: str = ""
    #: Found in an operand behind the sub-command: in any of them, in the first, in the last or in the only
    #: one.
    operand: str = ""
    which: Literal["any", "first", "last", "only"] = "any"
    #: Found in every operand: then the command is left alone.
    spare: str = ""
    #: One of its destinations must be on another machine. Operands, and options that its program's row marks as
    #: destinations, are destinations; `spare` finds those that are none.
    remote: bool = False
    #: Found in its words, in those of commands that feed it, or in text that is code for it.
    text: str = ""
    #: Its program is its input: it has no operand, or one that means standard input or text only the shell
    #: knows.
    fed: bool = False
    #: The part of the guard it belongs to, which can be switched on and off by that name.
    part: str = ""

    @cached_property
    def below(self) -> tuple[str, ...]:
        """The words of the sub-command."""
        return tuple(self.run.split()[1:])


class Flow(Struct, frozen=True, kw_only=True, dict=True):
    """The output of one command goes into another one, directly or through more."""

    #: Names of programs; `*` is every command that reads a file, unless `plain` finds the file's name.
    source: str
    plain: str = r"(?!)"
    into: tuple[GuardedCommand, ...]
    #: A file that the line reads is as good as the output of a program.
    files: bool = False
    #: So is a file that one of those programs writes and that the line then runs.
    kept: bool = False

    def takes(self, file: str) -> bool:
        """Return True if a file that the line reads is as good as the output of a program."""
        return self.files and file != os.devnull and not self.is_plain(file)

    def is_plain(self, file: str) -> bool:
        return re.search(self.plain, file[-LONGEST_PATH:], re.IGNORECASE) is not None

    @cached_property
    def sources(self) -> frozenset[str]:
        return frozenset(self.source.casefold().split("|"))

    @cached_property
    def by_program(self) -> Mapping[str, tuple[GuardedCommand, ...]]:
        return by_program(self.into)


class Secret(Struct, frozen=True, kw_only=True, dict=True):
    """Files with secrets, by how their paths end."""

    path: str
    what: str
    example: str
    part: str = ""
    #: Further paths, for patterns that may match them.
    more: str = ""

    def is_at(self, path: str) -> bool:
        """Return True if the path is one of these files. Takes linear time: `re` is only used where `re2`
        found it."""
        return _is_found(self._wide, path) and self._exact.search(path) is not None

    @cached_property
    def _wide(self) -> Expression:
        return _wide_expression([self])

    @cached_property
    def _exact(self) -> re.Pattern[str]:
        return re.compile(self.path, re.IGNORECASE)


class GuardSpec(Struct, frozen=True, kw_only=True, dict=True):
    """One guard."""

    name: str
    #: The actions it stops, in a few words.
    title: str
    #: The alternative, for the model and the user.
    instead: str
    rows: tuple[GuardedCommand, ...] = ()
    flows: tuple[Flow, ...] = ()
    #: Found in the path of a file that a line or a tool writes; `written_does` is the effect.
    written: str = ""
    written_does: str = ""
    #: Found in code of other languages; in such code if it starts programs; and what that does.
    code: str = ""
    started: str = ""
    code_does: str = ""
    #: All found in such code: then the user is asked.
    shows: tuple[str, ...] = ()
    #: Files that must not be read.
    secrets: tuple[Secret, ...] = ()
    #: It is about writing anywhere but in the project; `directories` about deleting whole directories; `protects`
    #: about files that guard the agent.
    outside: bool = False
    directories: bool = False
    protects: bool = False
    #: Its rows say all: files and flows are only further signs of what programs do.
    by_programs: bool = False
    #: Parts that are off by default, and those that are on, each with a description.
    more: Mapping[str, str] = NO_PARTS
    parts: Mapping[str, str] = NO_PARTS
    #: The kind of the patterns in `allow`; empty if it takes none.
    allows: Literal["", "commands", "paths", "hosts"] = "commands"
    #: Options with which users add to what it stops: `path`, `host`, `command`.
    adds: tuple[str, ...] = ()
    #: Its options `read` and `write` choose what may not be done with those paths.
    uses: bool = False
    #: Options for the lines below, and how to try others: a line that is stopped, and one that is not.
    example: tuple[str, ...] = ()
    tries: tuple[str, str] | None = None
    #: Lines beside those of the rows, for the page: those it catches and those it leaves alone.
    catches: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    #: Its blind spots, for the page.
    cannot: tuple[str, ...] = ()

    @cached_property
    def added_by(self) -> tuple[str, ...]:
        """The options with which users add to what it stops."""
        return self.adds or (("command",) if self.allows == "commands" else ())

    @property
    def holds_at_exec(self) -> bool:
        """True if it is about programs and their arguments alone: then a program can be judged when it starts."""
        return self.by_programs or (
            bool(self.rows)
            and not (self.secrets or self.outside or self.written or self.flows or self.protects)
        )

    @property
    def judges_code(self) -> bool:
        """True if it asks about what the text of code shows."""
        return bool(self.shows or self.secrets or self.outside)

    def may_be_secret(self, path: str) -> bool:
        """Return True if a path may be one of its secrets: most are not, and need not be compared with each."""
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
    # Half of a surrogate pair is not a letter for `re`, and nothing at all for `re2`.
    whole = path if path.isascii() else path.encode("utf-8", "replace").decode()
    # At a line feed that ends the text, `$` is before it as well.
    return expression.found(whole) or (whole[-1:] == "\n" and expression.found(whole[:-1]))


@cache
def policy_of(name: str) -> GuardSpec:
    """Return the guard of that name. Its tables are loaded when it is named."""
    module = import_module(f"hookline.guards.tables.{MODULES[name]}")
    return getattr(module, name.upper().replace("-", "_"))


def by_program(rows: tuple[GuardedCommand, ...]) -> Mapping[str, tuple[GuardedCommand, ...]]:
    """Return rows by each program they are about; under `SEVERAL` those for programs of names that begin alike."""
    found: dict[str, tuple[GuardedCommand, ...]] = {}
    for row in rows:
        for program in row.run.split(" ", 1)[0].split("|"):
            key = SEVERAL if "*" in program else program
            found[key] = (*found.get(key, ()), row)
    return found


def without_lookaround(pattern: str) -> str:
    """Return the pattern for `re2`, without `(?!…)`, `(?<!…)` and the like: it finds everything that the
    pattern finds, and more."""
    kept: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith(("(?!", "(?=", "(?<!", "(?<="), at):
            at = _end_of_group(pattern, at)
            continue
        if pattern.startswith("(?>", at):
            kept.append("(?:")
            at += 3
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
    """Skip one character, an escaped one, or a class of them."""
    if pattern[at] == "\\":
        return at + 2
    if pattern[at] != "[":
        return at + 1
    at += 2 if pattern[at + 1] in "]^" else 1
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
