"""Follow text of a line that bash evaluates: arithmetic, subscripts and prompts run their substitutions."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from hookline.shell.found import Foreign, Found, Line, ShellDoubt
from hookline.shell.grammar.parser import CannotParseError, Parser, UnclearError
from hookline.shell.grammar.syntax import Part, Text

#: Text that becomes code when it is evaluated as arithmetic or as a prompt.
_HIDDEN_CODE = re.compile(r"\$\(|`|\[\$")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_CODE = re.compile(r"\\[^A-Za-z0-9\n]")
#: Ends the here-document in which such text is read.
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
        self._translated: set[str] = set()
        self._happens = False

    def happens(self, so: bool = True) -> None:
        """Note that the line evaluates some text, no matter which."""
        self._happens = self._happens or so

    def hide(self, word: Sequence[Part]) -> None:
        """Remember quoted text that holds substitutions, in case the line evaluates it."""
        if len(word) == 1 and isinstance(word[0], Text):
            self.hide_text(word[0].text)
            return
        parts = [part.text if isinstance(part, Text) else None for part in word]
        # A substitution may be empty.
        for instead in (" ", "") if None in parts else ("",):
            self.hide_text("".join(instead if text is None else text for text in parts))

    def hide_text(self, text: str) -> None:
        if ("$" in text or "`" in text) and _HIDDEN_CODE.search(text):
            self._hidden[text] = None

    def found(self, steps: list[int]) -> Iterator[Found]:
        """Yield what such text runs, if the line evaluates any; each text is reported once."""
        if not self._happens or not self._hidden:
            return
        # `read` takes backslashes out.
        every = chain(self._hidden, (_ESCAPED.sub(r"\1", one) for one in self._hidden if "\\" in one))
        texts = [
            text for text in dict.fromkeys(one.rstrip("\n") for one in every) if text not in self._translated
        ]
        self._hidden = {}
        self._translated.update(texts)
        for text in texts:
            if _ESCAPED_CODE.search(text):
                yield ShellDoubt("quoted text that holds substitutions is evaluated more than once")
            try:
                Parser(text, steps=steps).expanded(text)
            except CannotParseError as error:
                yield Foreign(text)
                if isinstance(error, UnclearError):
                    yield ShellDoubt(f"text that is evaluated cannot be parsed: {error}")
            else:
                # As a here-document it is read like any other line, with its assignments and definitions.
                yield Line(f"<<{_END}\n{text}\n{_END}")
