"""Read the options of a command, by getopt's rules: clusters, values glued or apart, abbreviated long
options, `--`.

Programs differ in which options they have, not in how options are written. So each program is described by
one line of text, and this module reads the arguments of all of them.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct

from hookline.shell.placeholders import HOLE, Words

#: `gnu`: options may come after operands. `posix`: the first operand ends them. `words`: every option is one
#: whole word with one dash, as with find, java and go. `shell`: as `posix`, but values are always separate
#: words, after a cluster that may take several (`-ceuo pipefail CODE`), and `+x` is an option, too. `glued`:
#: as `words`, but a value may be glued to an option of one letter, as with compilers.
Style = Literal["gnu", "posix", "words", "shell", "glued"]

#: Styles in which an option is one whole word.
_WHOLE = frozenset(("words", "glued"))
#: How options begin; nothing else does, but an empty word is read with care.
_SIGNS = frozenset(("-", "+", ""))
#: With so many unknown options the further readings of a command are left out.
_MOST_READINGS = 8


class OptionSpec(Struct, frozen=True):
    """The options of one program, as texts: `-i -n: -o:: --quiet --output: --color::`.

    `:` after a name means that a value follows, `::` that a value may be glued to it, `:::` that two words
    follow, of which the second is the value.
    """

    text: str = ""
    style: Style = "gnu"
    #: `--` ends nothing, as more options come behind commands: `find -exec grep -- x {} ; -exec …`.
    endless: bool = False
    #: Long options are written in full.
    exact: bool = False


class Option(NamedTuple):
    #: With its dashes, and in full where it was abbreviated.
    name: str
    value: str | None
    #: Its position among the arguments.
    at: int


class Options(NamedTuple):
    given: tuple[Option, ...]
    operands: Words
    #: The position of the first operand; the number of arguments where there is none.
    first: int
    #: Options that the program is not known to have: the next word may be their value or not.
    unknown: Words = ()
    #: The positions of operands that directly follow such an option.
    perhaps_values: tuple[int, ...] = ()

    def values(self, *names: str) -> Words:
        return tuple(one.value for one in self.given if one.name in names and one.value is not None)

    def has(self, *names: str) -> bool:
        return any(one.name in names for one in self.given)


class _Table(NamedTuple):
    """An option's name, and what it takes: 0 for nothing, 1 for a value, 2 for a value that can only be glued to it,
    3 for two words."""

    short: dict[str, int]
    long: dict[str, int]


@lru_cache(maxsize=512)
def _table(text: str) -> _Table:
    short: dict[str, int] = {}
    long: dict[str, int] = {}
    for word in text.split():
        name = word.rstrip(":")
        (long if name.startswith("--") or len(name) > 2 else short)[name] = len(word) - len(name)
    return _Table(short, long)


def valued(spec: OptionSpec) -> frozenset[str]:
    """Return the options whose value is the next word, unless it is glued to them."""
    return frozenset(name for names in _table(spec.text) for name, takes in names.items() if takes == 1)


def may_be_option(word: str) -> bool:
    """Return False for a word that is an operand to every program, unless an option before it takes it as a value."""
    return word[:1] in _SIGNS


def read_options(arguments: Words, spec: OptionSpec) -> Options:
    """Read the options and operands among the arguments of a command, without its name."""
    for word in arguments:
        if word[:1] in _SIGNS:
            break
    else:  # no options, as of most commands
        return Options((), arguments, 0)
    return _Reader(arguments, _table(spec.text), spec).read()


def readings(arguments: Words, spec: OptionSpec) -> Iterator[Options]:
    """Read the arguments as they seem to be meant, then with operands as values of unknown options before
    them.

    `kubectl --new-option 5 delete …` deletes, and so does `kubectl --new-flag delete …`.
    """
    return (read for read, _ in readings_with_words(arguments, spec))


def readings_with_words(arguments: Words, spec: OptionSpec) -> Iterator[tuple[Options, Words]]:
    """Yield the same, each with the arguments that it is of."""
    waiting = [(arguments, 0)]
    for index in range(_MOST_READINGS):
        if index == len(waiting):
            return
        words, start = waiting[index]
        read = read_options(words, spec)
        yield read, words
        waiting += [(_without_value(words, at, spec), at - 1) for at in read.perhaps_values if at >= start]


def _without_value(words: Words, at: int, spec: OptionSpec) -> Words:
    """Leave out the word there and the unknown option before it, but not what else is in its cluster."""
    option = words[at - 1]
    is_cluster = spec.style not in _WHOLE and option[:2] != "--" and len(option) > 2
    return (*words[: at - 1], *((option[:-1],) if is_cluster else ()), *words[at + 1 :])


class _Reader:
    def __init__(self, words: Words, table: _Table, spec: OptionSpec) -> None:
        self._words = words
        self._table = table
        self._style = spec.style
        self._endless = spec.endless
        self._exact = spec.exact or spec.style in _WHOLE
        self._given: list[Option] = []
        self._operands: list[str] = []
        self._unknown: list[str] = []
        self._first = len(words)
        #: The position of the word that may be the value of an unknown option.
        self._awaited = -1
        self._perhaps: list[int] = []

    def read(self) -> Options:
        at = 0
        while at < len(self._words):
            word = self._words[at]
            if word == "--":
                at += 1
                if self._endless:
                    continue
                self._take(at)
                break
            if self._style == "shell" and word[:1] in {"-", "+"} and word != "-":
                at += self._apart(word, at)
            elif word[:1] != "-" or word == "-":
                if self._style in {"posix", "shell"}:
                    self._take(at + (word == "-" and self._style == "shell"))
                    break
                self._first = min(self._first, at)
                self._note(at)
                self._operands.append(word)
                at += 1
            elif word.startswith("--") or self._style in _WHOLE:
                at += self._long(word, at)
            else:
                at += self._cluster(word, at)
        return Options(
            tuple(self._given),
            tuple(self._operands),
            self._first,
            tuple(self._unknown),
            tuple(self._perhaps),
        )

    def _note(self, at: int) -> None:
        if at == self._awaited:
            self._perhaps.append(at)

    def _take(self, at: int) -> None:
        """Take all remaining words as operands."""
        self._first = min(self._first, at)
        self._note(at)
        self._operands.extend(self._words[at:])

    def _next(self, at: int, further: int = 1) -> str | None:
        return self._words[at + further] if at + further < len(self._words) else None

    def _long(self, word: str, at: int) -> int:
        """Read a long option; return the number of words it takes."""
        name, equals, value = word.partition("=")
        names = self._full_names(name)
        if not names and self._style == "glued" and self._table.short.get(word[:2]):
            self._given.append(Option(word[:2], word[2:], at))
            return 1
        if not names:
            self._unknown.append(word)
            self._awaited = -1 if equals else at + 1
            return 1
        taken = 1
        for full in names:
            takes = self._table.long.get(full, self._table.short.get(full, 0))
            if equals:
                self._given.append(Option(full, value, at))
            elif takes == 1:
                self._given.append(Option(full, self._next(at), at))
                taken = max(taken, 2)
            elif takes == 3:
                self._given.append(Option(full, self._next(at, 2), at))
                taken = 3
            else:
                self._given.append(Option(full, None, at))
        return taken

    def _apart(self, word: str, at: int) -> int:
        """Read options of a shell. Long ones are written in full, and with one dash or two."""
        long = word if word.startswith("--") else f"-{word}"
        if long.partition("=")[0] in self._table.long:
            return self._long(long, at)
        if word.startswith("--"):
            self._unknown.append(word)
            return 1
        taken = 1
        for letter in word[1:]:
            takes = self._table.short.get(f"-{letter}")
            if takes is None:
                self._unknown.append(f"-{letter}")
            value = self._next(at + taken - 1) if takes else None
            self._given.append(Option(f"-{letter}", value, at))
            taken += bool(takes)
        return taken

    def _full_names(self, name: str) -> list[str]:
        """Return the options that a name may be short for. An ambiguous one is an error to the program: it is
        read as each of them."""
        if name in self._table.long or (self._style in _WHOLE and name in self._table.short):
            return [name]
        if self._exact or len(name) < 3:
            return []
        return [full for full in self._table.long if full.startswith(name)]

    def _cluster(self, word: str, at: int) -> int:
        """Read `-euo pipefail`: letters without a value, then at most one with a value."""
        if HOLE in word[:2]:
            self._unknown.append(word)
            return 1
        shown = False
        for index in range(1, len(word)):
            name = "-" + word[index]
            takes = self._table.short.get(name)
            if takes is None:
                # It may have a value, glued or apart, or none: `-xyz` says nothing about the next word. The
                # rest is reported once: a long word of unknown letters would take its length squared.
                self._unknown.append(name if shown else word[0] + word[index:])
                shown = True
                takes = 0
                if index + 1 == len(word):
                    self._awaited = at + 1
            if takes and index + 1 < len(word):
                self._given.append(Option(name, word[index + 1 :], at))
                return 1
            if takes == 1:
                self._given.append(Option(name, self._next(at), at))
                return 2
            self._given.append(Option(name, None, at))
        return 1
