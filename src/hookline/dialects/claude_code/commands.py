"""Cut a shell line into commands as the client does: at every operator, into every substitution.

It is not a parser: it follows quotes and substitutions, and nothing else. The text of each command is
kept as it was written, without the assignments before it.
"""

import re
from typing import Final

from msgspec import Struct

_LONGEST: Final = 1 << 16
_MOST_PARTS: Final = 2000
_DEEPEST: Final = 16
_OPERATOR: Final = re.compile(r"&&|\|\||;;?&?|\|&?|&(?!>)|\n")
#: Not `<<<`, which is a string.
_HERE_DOCUMENT: Final = re.compile(r"<<-?\s*[\"'\\\w]")
_OPENING: Final = re.compile(r"^(?:[({!]\s*|(?:if|then|elif|else|while|until|do)\s+)*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"])*\s+", re.DOTALL)


class CommandLine(Struct, frozen=True):
    parts: tuple[str, ...] = ()
    #: True if it holds `$(...)` or backticks.
    substitutes: bool = False
    #: True if every rule holds: a here-document, or too much to read.
    doubtful: bool = False


def read_line(line: str) -> CommandLine:
    """Read a line, in time linear in its length."""
    if len(line) > _LONGEST:
        return CommandLine(doubtful=True)
    cutting = _Cutting(line)
    cutting.cut()
    parts = tuple(text for part in cutting.parts if (text := _bare(part)))
    return CommandLine(parts, cutting.substitutes, cutting.doubtful or len(parts) > _MOST_PARTS)


def _bare(part: str) -> str:
    """Return the command itself: no brackets or keywords around it, no assignments before it."""
    text = _OPENING.sub("", part.strip())
    if text.endswith(")") and text.count(")") > text.count("("):
        text = text.rstrip(") ")
    while (found := _ASSIGNMENT.match(text)) is not None:
        text = text[found.end() :]
    return text


class _Cutting:
    """One pass over a line; the text inside a substitution is cut on a separate level."""

    def __init__(self, line: str) -> None:
        self._line = line
        self.parts: list[str] = []
        self.substitutes = False
        self.doubtful = False
        #: Per open substitution: its closing character, the start of the command around it, and True if in
        #: quotes.
        self._open: list[tuple[str, int, bool]] = []
        self._start = 0
        self._quoted = False

    def cut(self) -> None:
        at = 0
        while at < len(self._line) and not self.doubtful:
            at = self._step(at)
        for start in (self._start, *(start for _closer, start, _quoted in self._open)):
            self.parts.append(self._line[start:])

    def _step(self, at: int) -> int:
        character = self._line[at]
        if character == "\\":
            return at + 2
        if character in "'\"":
            return self._quote(at)
        if self._line.startswith("$(", at) and not self._line.startswith("$((", at):
            return self._descend(at, ")", 2)
        if self._open and character == self._open[-1][0] and not self._quoted:
            return self._ascend(at)
        if character == "`":
            return self._descend(at, "`", 1)
        return at + 1 if self._quoted else self._outside(at)

    def _outside(self, at: int) -> int:
        if _HERE_DOCUMENT.match(self._line, at) and self._line[at - 1 : at] != "<":
            self.doubtful = True
            return at
        operator = _OPERATOR.match(self._line, at)
        if operator is None or self._line[at - 1 : at] in (">", "<"):
            return at + 1
        self.parts.append(self._line[self._start : at])
        self._start = operator.end()
        return self._start

    def _quote(self, at: int) -> int:
        """Skip a quoted text: within double quotes substitutions are read; within single ones nothing is."""
        if self._line[at] == '"' or self._quoted:
            self._quoted ^= self._line[at] == '"'
            return at + 1
        end = self._line.find("'", at + 1)
        return len(self._line) if end < 0 else end + 1

    def _descend(self, at: int, closer: str, width: int) -> int:
        self.substitutes = True
        if len(self._open) >= _DEEPEST:
            self.doubtful = True
            return at
        self._open.append((closer, self._start, self._quoted))
        self._start = at + width
        self._quoted = False
        return self._start

    def _ascend(self, at: int) -> int:
        self.parts.append(self._line[self._start : at])
        _closer, self._start, self._quoted = self._open.pop()
        return at + 1
