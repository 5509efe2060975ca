"""Shell lines as lists of commands: what a reading holds, and which lines are not read at all."""

import re
from importlib import import_module
from typing import Any

from msgspec import Struct, field

from hookline.matching.shell.holes import HOLE, Words


class ShellCommand(Struct, frozen=True):
    """One simple command. `HOLE` in a word replaces what only the shell knows."""

    words: Words
    base_name: str
    #: The command as one folded text in the ways a rule may have it: as written, by base name, without the
    #: options before its first operand.
    forms: tuple[str, ...]
    #: It runs or writes more than its program's name says: only a rule with the exact command permits it.
    escapes: bool = False
    #: The words of the command that runs this one, where they name it plainly: `uv run pytest`.
    outer: Words = ()

    @property
    def pin(self) -> Words:
        """The words around it that name it: a permission for these covers it, too."""
        return self.outer[: len(self.outer) - len(self.words) + 1] if self.outer else ()

    @property
    def text(self) -> str:
        return " ".join(self.words).replace(HOLE, "…")


class ShellReading(Struct, frozen=True):
    commands: tuple[ShellCommand, ...] = ()
    #: Code of other languages, here-documents and values that may become code: text to search, not to parse.
    foreign: tuple[str, ...] = ()
    #: Why the list of commands may be incomplete.
    uncertain: str | None = None
    #: Nothing but literal words, lists and pipes: what a permission may be granted on.
    literal: bool = False
    #: The files that redirections write to.
    writes: Words = ()


class ShellReader(Struct, eq=False):
    """Reads shell lines and remembers the last of them. Build one and pass it down."""

    remembered: int = 128
    _readings: dict[str, ShellReading] = field(default_factory=dict[str, ShellReading])
    _parser: Any = None

    def read(self, line: str) -> ShellReading:
        """Never raises. A line that cannot be read gives an uncertain reading that says why."""
        readings = self._readings
        known = readings.pop(line, None)
        if known is None:
            # Imported with the first shell line that a rule is about, as the parser is.
            from hookline.matching.shell.parse import read_line  # noqa: PLC0415 - 5 ms that most never need

            known = read_line(line, self._parse)
            if len(readings) >= self.remembered:
                del readings[next(iter(readings))]
        readings[line] = known
        return known

    def _parse(self, line: str) -> Any:
        if self._parser is None:
            tree_sitter: Any = import_module("tree_sitter")
            grammar: Any = import_module("tree_sitter_bash")
            self._parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
        return self._parser.parse(line.encode()).root_node


LONGEST_LINE = 16 * 1024
DEEPEST_NESTING = 32
MOST_HERE_DOCUMENTS = 16
#: The parser takes quadratic time to recover from a mistake: 8,000 words behind an unclosed `${` cost a second. So what
#: it has to take apart is bounded, in a line and in all lines found inside it together.
MOST_PARTS = 350

#: Control characters but newline and tab, blanks that a shell does not treat as such, and invisible characters.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# What the parser takes in one piece: quoted text, a word, any other sign. Of a here-document the rest of its line and
# its body are groups.
_PART = r"""\\.
    |(?:^|(?<=\s))\#[^\n]*
    |'[^']*'
    |"(?:[^"$`\\]|\$(?=\w|\{\w+\})|\\.)*+"
    |\$\w+|\$\{\w+\}
    |<<-?[ \t]*(?P<quoted>['"\\]?)(?P<end>[\w.+-]+)['"]?(?P<rest>[^\n]*)\n(?P<body>(?:[^\n]*\n)*?)\t*(?P=end)$
    |[./-]?\w+(?:[./-]\w+)*
    |\S"""
_FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE
_OPERATORS = frozenset("()|&;<>{}")
_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\})")
_BRACKET = re.compile(r"[({\[)}\]]")
#: Line continuations that the parser and a shell read differently.
_JOINED_LINE = re.compile(r"[^\s\\]\\\n\S|(?:^|\n)[ \t]*\\\n")


def unreadable(line: str) -> str | None:
    """Why a reading of this line must not be trusted; None when it may be read."""
    if len(line) > LONGEST_LINE:
        return f"the line is longer than {LONGEST_LINE} characters"
    invisible = INVISIBLE.search(line)
    if invisible:
        return f"the line contains the invisible character U+{ord(invisible[0]):04X}"
    if _JOINED_LINE.search(line):
        return "a word continues on the next line"
    if line.count("<<") > MOST_HERE_DOCUMENTS:
        return "the line has too many here-documents"
    if parts_of(line) > MOST_PARTS:
        return TOO_MANY_PARTS
    return _too_nested(line)


TOO_MANY_PARTS = f"the line has more than {MOST_PARTS} words and signs"


def parts_of(line: str) -> int:
    """How much the parser has to take apart, at least; counted until it is too much."""
    count = 0
    # Compiled with the first line, and kept by `re`: commands that read none should not pay for it at their start.
    for part in re.finditer(_PART, line, _FLAGS):
        text = part[0]
        if part["end"] is not None:
            count += 3 + parts_of(part["rest"]) + _parts_of_body(part["body"], literal=bool(part["quoted"]))
        elif text[0] == "#":
            count += len(text.split()) + text.count("#")
        elif text[0] == '"':
            count += 1 + text.count("$")
        else:
            # Among these are the mistakes that cost most: a closing one without its opening one, one after another.
            count += 2 if text in _OPERATORS else 1
        if count > MOST_PARTS:
            break
    return count


def _parts_of_body(body: str, *, literal: bool) -> int:
    """A here-document is one piece, but for what is expanded in it."""
    if literal:
        return 1
    rest, variables = _VARIABLE.subn("", body)
    return variables + (parts_of(rest) if "$" in rest or "`" in rest else 1)


def _too_nested(line: str) -> str | None:
    # Closers inside quotes hide nesting from this count; the limit on punctuation bounds that, too.
    depth = 0
    for bracket in _BRACKET.findall(line):
        if bracket in ")}]":
            depth = max(0, depth - 1)
            continue
        depth += 1
        if depth > DEEPEST_NESTING:
            return f"the line nests deeper than {DEEPEST_NESTING} brackets"
    return None
