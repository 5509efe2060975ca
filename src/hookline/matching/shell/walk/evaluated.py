"""Text of a line that bash evaluates: arithmetic, subscripts and prompts run what is substituted in them."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from hookline.matching.shell.found import Doubt, Foreign, Found, Line
from hookline.matching.shell.grammar.parser import CannotParseError, Parser, UnclearError
from hookline.matching.shell.grammar.syntax import Part, Text

#: Text that becomes code when it is evaluated as arithmetic or as a prompt.
_HIDDEN_CODE = re.compile(r"\$\(|`|\[\$")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_CODE = re.compile(r"\\[^A-Za-z0-9\n]")
#: Ends the here-document as which such text is read.
_END = "_END_OF_TEXT_"
#: Builtins that evaluate the subscripts and expressions in their words.
EVALUATING = frozenset(
    (
        "let", "test", "[", "printf", "read", "unset", "declare", "typeset", "local", "export", "readonly",
        "mapfile", "readarray", "wait", "getopts",
    )
)  # fmt: skip
#: Variables whose values bash evaluates as arithmetic.
INTEGERS = frozenset(
    ("RANDOM", "SECONDS", "LINENO", "OPTIND", "EPOCHSECONDS", "BASH_ARGV0", "SRANDOM", "HISTCMD")
)


class EvaluatedText:
    def __init__(self) -> None:
        self._hidden: dict[str, None] = {}
        self._told: set[str] = set()
        self._happens = False

    def happens(self, so: bool = True) -> None:
        """The line evaluates text: which one, nobody follows."""
        self._happens = self._happens or so

    def hide(self, word: Iterable[Part]) -> None:
        """Remembers quoted text that holds substitutions, should the line evaluate it."""
        parts = [part.text if isinstance(part, Text) else None for part in word]
        # What is substituted may be nothing.
        for instead in (" ", "") if None in parts else ("",):
            self.hide_text("".join(instead if text is None else text for text in parts))

    def hide_text(self, text: str) -> None:
        if ("$" in text or "`" in text) and _HIDDEN_CODE.search(text):
            self._hidden[text] = None

    def found(self, steps: list[int]) -> Iterator[Found]:
        """What such text runs, if the line evaluates any; each text is told once."""
        if not self._happens or not self._hidden:
            return
        # `read` takes backslashes out.
        every = chain(self._hidden, (_ESCAPED.sub(r"\1", one) for one in self._hidden if "\\" in one))
        texts = [text for text in dict.fromkeys(one.rstrip("\n") for one in every) if text not in self._told]
        self._hidden = {}
        self._told.update(texts)
        for text in texts:
            if _ESCAPED_CODE.search(text):
                yield Doubt("quoted text that holds substitutions is evaluated more than once")
            try:
                Parser(text, steps=steps).expanded(text)
            except CannotParseError as error:
                yield Foreign(text)
                if isinstance(error, UnclearError):
                    yield Doubt(f"text that is evaluated cannot be parsed: {error}")
            else:
                # As a here-document it is read like any other line, with what it assigns and defines.
                yield Line(f"<<{_END}\n{text}\n{_END}")
