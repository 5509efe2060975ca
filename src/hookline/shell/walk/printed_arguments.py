"""Follow words that a line itself prints: `xargs` and `$(…)` may give them to a program, whatever they went
through.

`echo --compress-program=rm | cat | xargs sort`: what comes out of the pipe is not known, but the line prints
an option by which `sort` runs a program.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice

from hookline.shell.found import Inner, Line, Stdin
from hookline.shell.placeholders import HOLE, Words, base_name
from hookline.shell.programs import row_of
from hookline.shell.runs import does, look_through, program_of
from hookline.shell.walk.evaluated import EVALUATING

_PIECE = re.compile(r"[^\s;|&()<>`'\"]+")
#: An option, or the setting of a variable, which only make takes as a word.
_OPTION = re.compile(r"(?<![\w.-])(?:--?[A-Za-z]|[A-Za-z_]\w*=)")
#: With so many words behind it: `-exec rm {}`, `-c alias.x=!rm x`.
_LENGTH = 3
_MOST_OPTIONS = 32
_MOST_TEXTS = 64
_MOST_WORDS = 8
_LONGEST = 1024


class PrintedWords:
    """The texts that a line prints, and the commands that may get them."""

    def __init__(self) -> None:
        self._options: dict[Words, None] = {}
        #: Whole texts, as the words that they would be split into.
        self._texts: dict[Words, None] = {}
        self._given: dict[Words, Stdin] = {}
        #: There are more texts than are tried.
        self._more = False

    def note(self, words: Words) -> None:
        """Note a command that the line runs: its words may be printed."""
        if does(words[0], "prints"):
            self.prints(" ".join(words[1:]))
            self.prints("".join(words[1:]))
        else:
            for word in words[1:]:
                self.prints(word, 1)  # its beginning is an option of this command

    def prints(self, text: str, start: int = 0) -> None:
        """Note an output text: options are searched for behind `start`."""
        if len(text) > _LONGEST:
            self._more, text = True, text[:_LONGEST]
        words = tuple(text.split(None, _MOST_WORDS)[:_MOST_WORDS]) if not start else ()
        if len(words) > 1:
            self._keep(words, self._texts, _MOST_TEXTS)
        found = _OPTION.search(text, start) if "-" in text or "=" in text else None
        while found is not None and not self._more:
            pieces = islice(_PIECE.finditer(text, found.start()), _LENGTH)
            self._keep(tuple(piece[0] for piece in pieces), self._options, _MOST_OPTIONS)
            found = _OPTION.search(text, found.end())

    def _keep(self, words: Words, kept: dict[Words, None], most: int) -> None:
        self._more = self._more or (len(kept) >= most and words not in kept)
        if not self._more:
            kept[words] = None

    def give(self, words: Words, stdin: Stdin) -> None:
        """Note a command with words that are known only when it runs."""
        program = program_of(words[0])
        # Builtins that evaluate their words are judged by the evaluated text.
        if (
            program not in EVALUATING
            and row_of(program) is not None
            and any(HOLE in word for word in words[1:])
        ):
            self._given[words] = stdin

    def dangers(self, affords: Callable[[Words], bool]) -> Iterator[str]:
        """Yield words that a command may get and would run something else with, as far as the budget allows."""
        for words, stdin in self._given.items() if self._options or self._texts or self._more else ():
            program, option = base_name(words[0]), self._danger(words, stdin, affords)
            if option is not None:
                yield f"{program} may be given {option}, which the line prints, and run what comes with it"
            elif self._more:
                yield f"{program} may be given more words that the line prints than can be tried"

    def _danger(self, words: Words, stdin: Stdin, affords: Callable[[Words], bool]) -> str | None:
        plain = _runs(words, stdin)
        row = row_of(program_of(words[0]))
        takes_all = row is not None and row.others == "make variable"
        options = (each for each in self._options if takes_all or each[0][0] == "-")
        for option in chain(options, self._texts):
            for given in _with(option, words):
                if not affords(given):
                    return None
                if not _runs(given, stdin) <= plain:
                    return option[0]
        return None


def _with(option: Words, words: Words) -> Iterator[Words]:
    """Yield the command with an option in each of the unknown positions."""
    for at in (at for at, word in enumerate(words) if at and HOLE in word):
        # A word that is glued to unknown text begins or ends with it: `$(cat f)x`.
        before, _, after = words[at].partition(HOLE)
        yield (*words[:at], *filter(None, (before, *option, after)), *words[at + 1 :])


def _runs(words: Words, stdin: Stdin) -> set[str]:
    """Return the lines and programs that a command runs, whatever arguments they get."""
    found = look_through(words, stdin)
    return {
        each.code if isinstance(each, Line) else each.words[0]
        for each in found
        if isinstance(each, Line | Inner)
    }
