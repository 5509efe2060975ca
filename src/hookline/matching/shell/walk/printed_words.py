"""Words that a line itself prints: `xargs` and `$(…)` may give them to a program, whatever they went through.

`echo --compress-program=rm | cat | xargs sort`: what comes out of the pipe is not known, but the line prints an option
by which `sort` runs a program.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice

from hookline.matching.shell.found import Inner, Line, Stdin
from hookline.matching.shell.holes import HOLE, Words, base_name
from hookline.matching.shell.programs import row_of
from hookline.matching.shell.runs import look_through, program_of

#: They print their words.
_PRINTING = frozenset(("echo", "printf", "print"))
_PIECE = re.compile(r"[^\s;|&()<>`'\"]+")
#: An option, or the setting of a variable, which only make takes as a word.
_OPTION = re.compile(r"(?<![\w.-])(?:--?[A-Za-z]|[A-Za-z_]\w*=)")
_MAKE = frozenset(("make", "gmake"))
#: With so many words behind it: `-exec rm {}`, `-c alias.x=!rm x`.
_LENGTH = 3
_MOST_OPTIONS = 8
_MOST_TEXTS = 4
_LONGEST_TEXT = 8
_MOST_GIVEN = 8
_MOST_PLACES = 3


class PrintedWords:
    """What a line prints, and the commands that may be given it."""

    def __init__(self) -> None:
        self._options: dict[Words, None] = {}
        #: Whole texts, as the words that they would be split into.
        self._texts: dict[Words, None] = {}
        self._given: dict[Words, Stdin] = {}

    def note(self, words: Words) -> None:
        """A command that the line runs: its words may be printed."""
        if base_name(words[0]) in _PRINTING:
            self.prints(" ".join(words[1:]))
            self.prints("".join(words[1:]))
        else:
            for word in words[1:]:
                self.prints(word, 1)  # what it begins with is an option of this command

    def prints(self, text: str, start: int = 0) -> None:
        """A text that comes out of something: options are looked for behind `start`."""
        if (
            not start
            and len(self._texts) < _MOST_TEXTS
            and len(words := tuple(text.split()[:_LONGEST_TEXT])) > 1
        ):
            self._texts[words] = None
        found = _OPTION.search(text, start) if "-" in text or "=" in text else None
        while found is not None and len(self._options) < _MOST_OPTIONS:
            pieces = _PIECE.findall(text, found.start())
            self._options[tuple(pieces[:_LENGTH])] = None
            found = _OPTION.search(text, found.end())

    def give(self, words: Words, stdin: Stdin) -> None:
        """A command with words that are known only when it runs."""
        known = row_of(program_of(words[0])) is not None
        if known and len(self._given) < _MOST_GIVEN and any(HOLE in word for word in words[1:]):
            self._given[words] = stdin

    def dangers(self, affords: Callable[[Words], bool]) -> Iterator[tuple[str, str]]:
        """(program, option): with this option it would run something else. As far as it can be afforded."""
        for words, stdin in self._given.items() if self._options or self._texts else ():
            option = self._danger(words, stdin, affords)
            if option is not None:
                yield base_name(words[0]), option

    def _danger(self, words: Words, stdin: Stdin, affords: Callable[[Words], bool]) -> str | None:
        plain = _runs(words, stdin)
        takes_all = program_of(words[0]) in _MAKE
        options = (each for each in self._options if takes_all or each[0][0] == "-")
        for option in chain(options, self._texts):
            for given in _with(option, words):
                if not affords(given):
                    return None
                if not _runs(given, stdin) <= plain:
                    return option[0]
        return None


def _with(option: Words, words: Words) -> Iterator[Words]:
    """The command with an option in each of the places that are not known."""
    places = (at for at, word in enumerate(words) if at and HOLE in word)
    for at in islice(places, _MOST_PLACES):
        # A word that is glued to what is not known begins or ends with it: `$(cat f)x`.
        before, _, after = words[at].partition(HOLE)
        yield (*words[:at], *filter(None, (before, *option, after)), *words[at + 1 :])


def _runs(words: Words, stdin: Stdin) -> set[str]:
    """The lines and programs that a command runs, whatever arguments they get."""
    found = look_through(words, stdin)
    return {
        each.code if isinstance(each, Line) else each.words[0]
        for each in found
        if isinstance(each, Line | Inner)
    }
