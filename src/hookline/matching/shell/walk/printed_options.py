"""Options that a line itself prints: `xargs` and `$(…)` may give them to a program, whatever they went through.

`echo --compress-program=rm | cat | xargs sort`: what comes out of the pipe is not known, but the line prints an option
by which `sort` runs a program.
"""

import re
from collections.abc import Callable, Iterator

from hookline.matching.shell.found import Inner, Line, Stdin
from hookline.matching.shell.holes import HOLE, Words, base_name
from hookline.matching.shell.runs import look_through

#: They print their words.
_PRINTING = frozenset(("echo", "printf", "print"))
_PIECE = re.compile(r"[^\s;|&()<>`'\"]+")
#: An option, or the setting of a variable, which make takes as a word.
_OPTION = re.compile(r"(?<![\w.-])(?:--?[A-Za-z]|[A-Za-z_]\w*=)")
#: With so many words behind it: `-exec rm {}`, `-c alias.x=!rm x`.
_LENGTH = 3
_MOST_OPTIONS = 8
_MOST_GIVEN = 8


class PrintedOptions:
    """What a line prints, and the commands that may be given it."""

    def __init__(self) -> None:
        self._options: dict[Words, None] = {}
        self._given: dict[Words, Stdin] = {}

    def note(self, words: Words, stdin: Stdin) -> None:
        """A command that the line runs: its words and what it reads may be printed."""
        if base_name(words[0]) in _PRINTING:
            self._print(" ".join(words[1:]), 0)
            self._print("".join(words[1:]), 0)
        else:
            for word in words[1:]:
                self._print(word, 1)  # what it begins with is an option of this command
        if stdin.kind == "text":
            self._print(stdin.text, 0)

    def give(self, words: Words, stdin: Stdin) -> None:
        """A command with words that are known only when it runs."""
        if len(self._given) < _MOST_GIVEN and any(HOLE in word for word in words[1:]):
            self._given[words] = stdin

    def dangers(self, affords: Callable[[Words], bool]) -> Iterator[tuple[str, str]]:
        """(program, option): with this option it would run something else. As far as it can be afforded."""
        for words, stdin in self._given.items() if self._options else ():
            at = next(at for at, word in enumerate(words) if at and HOLE in word)
            # A word that is glued to what is not known begins or ends with it: `$(cat f)x`.
            before, _, after = words[at].partition(HOLE)
            plain = _runs(words, stdin)
            for option in self._options:
                given = (*words[:at], *filter(None, (before, *option, after)), *words[at + 1 :])
                if not affords(given):
                    return
                if not _runs(given, stdin) <= plain:
                    yield base_name(words[0]), option[0]
                    break

    def _print(self, text: str, start: int) -> None:
        found = _OPTION.search(text, start) if "-" in text or "=" in text else None
        while found is not None and len(self._options) < _MOST_OPTIONS:
            pieces = _PIECE.findall(text, found.start())
            self._options[tuple(pieces[:_LENGTH])] = None
            found = _OPTION.search(text, found.end())


def _runs(words: Words, stdin: Stdin) -> set[str]:
    """The lines and programs that a command runs, whatever arguments they get."""
    found = look_through(words, stdin)
    return {
        each.code if isinstance(each, Line) else each.words[0]
        for each in found
        if isinstance(each, Line | Inner)
    }
