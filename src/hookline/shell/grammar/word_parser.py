"""Parse the words of a shell line: quotes, parameters, substitutions, arithmetic."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from hookline.shell.grammar.limits import INVISIBLE
from hookline.shell.grammar.syntax import (
    Arithmetic,
    List,
    Parameter,
    Part,
    Substitution,
    Text,
    Word,
)

#: Everything the parser does is counted, so that a hostile line costs no more than this many steps.
MOST_STEPS = 3000
DEEPEST = 32

#: The beginning of a word that may be more than a word, and what follows it then.
_BEGUN = re.compile(r"\{?\w*\}?\+?")
_CONTINUED = re.compile(r"[\w=+\[{}<>\\]")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN = re.compile(r"[^ \t\n\\'\"$`;&|<>()]+")
_IN_QUOTES = re.compile(r'[^\\"$`]+')
_IN_BACKQUOTES = re.compile(r"[^\\`]+")
_IN_ANSI = re.compile(r"[^\\']+")
_IN_BRACES = re.compile(r"[^\\'\"$`}<>]+")
_IN_SUBSCRIPT = re.compile(r"[^\\'\"$`\[\]]+")
_IN_ARITHMETIC = re.compile(r"[^\\'\"$`()]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_SHORT_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?|//?|\^\^?|,,?|@[a-zA-Z]|:")
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))|([^\\]+)", re.DOTALL
)
_NAMED = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
#: An unknown parameter, for text that only the shell can make.
UNKNOWN = Parameter("", quoted=True)


class CannotParseError(Exception):
    """The line is not one that all shells read as this parser would, or it is too much to read."""


class TooMuchError(CannotParseError):
    """Reading the rest would cost too much."""


class UnclearError(CannotParseError):
    """Not a mistake: a shell reads it, but in a way this parser does not know."""


class WordParser(ABC):
    def __init__(self, text: str, bash: bool, depth: int, steps: list[int] | None) -> None:
        self.text = text
        self.bash = bash
        self.at = 0
        self.depth = depth
        #: Shared by all parsers of one line.
        self.steps = steps if steps is not None else [0]
        self._invisible = INVISIBLE.search(text) is not None

    @abstractmethod
    def nested(self, text: str) -> List: ...

    @abstractmethod
    def substituted(self) -> List: ...

    def cannot(self, problem: str) -> CannotParseError:
        return CannotParseError(problem)

    def unclear(self, problem: str) -> UnclearError:
        return UnclearError(problem)

    def step(self, count: int = 1) -> None:
        self.steps[0] += count
        if self.steps[0] > MOST_STEPS:
            raise TooMuchError("it is too long to be judged")

    def deeper(self, by: int) -> None:
        self.depth += by
        if self.depth > DEEPEST:
            raise self.unclear(f"it is nested more than {DEEPEST} deep")

    def blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at)
        if found:
            self.at = found.end()

    def plain_word(self) -> str:
        """Return the next word if nothing in it is quoted or expanded; else nothing."""
        found = _PLAIN.match(self.text, self.at)
        if found is None:
            return ""
        return "" if self.text[found.end() : found.end() + 1] in {"\\", "'", '"', "$", "`"} else found[0]

    def text_of(self, word: Word) -> str | None:
        """Return the text of a word without expansions; None for any other."""
        if len(word) == 1 and isinstance(word[0], Text):
            return word[0].text
        texts = [part.text for part in word if isinstance(part, Text)]
        return "".join(texts) if len(texts) == len(word) else None

    # Words

    def word(self, pattern: bool = False, regular: bool = False) -> Word:
        """Read one word. In a pattern and a regular expression, brackets and their contents belong to it."""
        parts: list[Part] = []
        begun = self.at
        text = self.text
        while self.at < len(text):
            self.step()
            found = _PLAIN.match(text, self.at)
            if found is not None:
                self._visible(found[0])
                parts.append(Text(found[0], quoted=False))
                self.at = found.end()
                continue
            character = text[self.at]
            if character in "<>" and self.bash and text.startswith("(", self.at + 1):
                parts.append(self._process(character))
            elif character == "(" and pattern and self.bash and (regular or self.at > begun):
                parts.extend(self._bracketed())
            elif character == "|" and regular:
                parts.append(Text("|", quoted=False))
                self.at += 1
            elif character in " \t\n;&|<>()":
                break
            else:
                self._part(parts, quoted=False)
        if self.at == begun:
            raise self.cannot(f"{text[self.at : self.at + 1]!r} is not expected")
        return tuple(parts)

    def _visible(self, text: str) -> None:
        """Refuse invisible characters outside of quotes, where a word is not what it looks like."""
        found = INVISIBLE.search(text) if self._invisible else None
        if found is not None:
            raise self.unclear(f"it contains the invisible character U+{ord(found[0]):04X}")

    def _bracketed(self) -> list[Part]:
        """Read `(a|b)` in a pattern, brackets in it included."""
        parts: list[Part] = [Text("(", quoted=False)]
        self.at += 1
        self.deeper(1)
        while not self.text.startswith(")", self.at):
            self.step()
            if self.at >= len(self.text) or self.text[self.at] == "\n":
                raise self.cannot("( is never closed")
            found = _PLAIN.match(self.text, self.at)
            if found is not None:
                parts.append(Text(found[0], quoted=False))
                self.at = found.end()
            elif self.text[self.at] == "(":
                parts.extend(self._bracketed())
            elif self.text[self.at] in " \t;&|<>":
                parts.append(Text(self.text[self.at], quoted=False))
                self.at += 1
            else:
                self._part(parts, quoted=False)
        self.at += 1
        self.deeper(-1)
        return [*parts, Text(")", quoted=False)]

    def _process(self, direction: str) -> Substitution:
        self.at += 2
        return Substitution(self.substituted(), quoted=True, direction="<" if direction == "<" else ">")

    def _part(self, parts: list[Part], quoted: bool) -> None:
        """Read a part that begins with a backslash, a quote, a dollar or a backquote."""
        character = self.text[self.at]
        if character == "\\":
            self._backslash(parts)
        elif character == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise self.cannot("a ' is never closed")
            parts.append(Text(self.text[self.at + 1 : end], quoted=True))
            self.at = end + 1
        elif character == '"':
            self.at += 1
            parts.append(Text("", quoted=True))
            self.until(parts, '"', _IN_QUOTES)
        elif character == "`":
            parts.append(self._backquotes(quoted))
        else:
            self._dollar(parts, quoted)

    def _backslash(self, parts: list[Part]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "":
            raise self.unclear("the line ends with a backslash")
        if following != "\n":
            parts.append(Text(following, quoted=True))
        elif _CONTINUED.match(self.text, self.at + 2) and _BEGUN.fullmatch(self.text_of(tuple(parts)) or "-"):
            # An assignment, a descriptor or a word of the shell may be cut in two.
            raise self.unclear("a word continues on the next line")
        self.at += 2

    def until(self, parts: list[Part], end: str, plain: re.Pattern[str]) -> None:
        """Read the parts between double quotes, or of a here-document, whose end is nothing."""
        escapes = '$`"\\\n' if end else "$`\\\n"
        while True:
            self.step()
            found = plain.match(self.text, self.at)
            if found is not None:
                parts.append(Text(found[0], quoted=True))
                self.at = found.end()
            if self.at >= len(self.text):
                if end:
                    raise self.cannot(f"a {end} is never closed")
                return
            character = self.text[self.at]
            if character == end:
                self.at += 1
                return
            if character == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                if following != "\n" or not following:
                    parts.append(
                        Text(following if following and following in escapes else "\\" + following, True)
                    )
                self.at += 2
            elif character == "`":
                parts.append(self._backquotes(quoted=True, in_quotes=bool(end)))
            else:
                self._dollar(parts, quoted=True)

    def _backquotes(self, quoted: bool, in_quotes: bool = False) -> Substitution:
        """Unescape the code, then read it as any other."""
        code: list[str] = []
        at = self.at + 1
        escapes = '$`\\"' if in_quotes else "$`\\"
        while True:
            self.step()
            found = _IN_BACKQUOTES.match(self.text, at)
            if found is not None:
                code.append(found[0])
                at = found.end()
            if at >= len(self.text):
                raise self.cannot("a ` is never closed")
            if self.text[at] == "`":
                break
            following = self.text[at + 1 : at + 2]
            code.append(following if following and following in escapes else "\\" + following)
            at += 2
        self.at = at + 1
        return Substitution(self.nested("".join(code)), quoted)

    def _dollar(self, parts: list[Part], quoted: bool) -> None:
        # The variable it refers to is read, too.
        self.step()
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        if following == "(":
            parts.append(self._brackets_after_dollar(quoted))
        elif following == "{":
            self.at += 2
            parts.append(self._braces(quoted))
        elif following == "[" and self.bash:
            self.at += 2
            inner: list[Part] = []
            self.subscript(inner)
            parts.append(Arithmetic(tuple(inner), quoted))
        elif following == "'" and self.bash and not quoted:
            parts.extend(self._ansi())
        elif following == '"' and self.bash and not quoted:
            self.at += 1
            self._part(parts, quoted)
        elif following == "\\" and text.startswith("\n", at + 2):
            raise self.unclear("an expansion continues on the next line")
        else:
            name = _SHORT_PARAMETER.match(text, at + 1)
            self.at = name.end() if name else at + 1
            parts.append(Parameter(name[0], quoted) if name else Text("$", quoted=True))

    def _ansi(self) -> list[Part]:
        r"""Read `$'a\x72'`. Bytes past ASCII and characters that garble a word are left to the shell."""
        at = self.at + 2
        while True:
            self.step()
            found = _IN_ANSI.match(self.text, at)
            at = found.end() if found else at
            if at >= len(self.text):
                raise self.cannot("a $' is never closed")
            if self.text[at] == "'":
                break
            at += 2
        body = self.text[self.at + 2 : at]
        self.at = at + 1
        parts: list[Part] = [Text("", quoted=True)]
        for octal, two, four, eight, other, plain in _ESCAPE.findall(body):
            self.step()
            if plain:
                parts.append(Text(plain, quoted=True))
            elif other:
                known = _NAMED.get(other)
                parts.append(
                    UNKNOWN
                    if known is None or not (known.isprintable() or known in "\n\t")
                    else Text(known, True)
                )
            else:
                number = int(octal, 8) & 0xFF if octal else int(two or four or eight, 16)
                parts.append(
                    Text(chr(number), True) if 0x20 <= number < 0x7F or number in {9, 10} else UNKNOWN
                )
        return parts

    def _brackets_after_dollar(self, quoted: bool) -> Part:
        if self.text.startswith("$((", self.at):
            expression = self.double_brackets(self.at + 3)
            if expression is not None:
                return Arithmetic(expression, quoted)
            if not self.bash:
                raise self.cannot("$(( is never closed")
        self.at += 2
        return Substitution(self.substituted(), quoted)

    def double_brackets(self, begin: int) -> Word | None:
        """Read the parts of `((...))`; None where it turns out to be a subshell in a subshell."""
        go_back = self.mark()
        self.at = begin
        try:
            self.deeper(1)
            parts = self._arithmetic()
            self.deeper(-1)
        except UnclearError:
            raise
        except CannotParseError:
            go_back()
            return None
        if self.text.startswith("\\\n", self.at):
            raise self.unclear("the end of an arithmetic expression continues on the next line")
        if not self.text.startswith(")", self.at):
            go_back()
            return None
        self.at += 1
        return parts

    def mark(self) -> Callable[[], None]:
        """Remember the position of the parser; the returned function goes back there."""
        at, depth = self.at, self.depth

        def go_back() -> None:
            self.at, self.depth = at, depth

        return go_back

    def _arithmetic(self) -> Word:
        parts: list[Part] = []
        open_brackets = 1
        quoted = False
        while True:
            self.step()
            found = _IN_ARITHMETIC.match(self.text, self.at)
            if found is not None:
                parts.append(Text(found[0], quoted=True))
                # It is searched for assignments.
                self.step(len(found[0]) // 16)
                self.at = found.end()
            if self.at >= len(self.text):
                raise self.cannot("(( is never closed")
            if self.text[self.at] in "()":
                if quoted:
                    raise self.unclear("a bracket is between quotes in arithmetic")
                open_brackets += 1 if self.text[self.at] == "(" else -1
                self.at += 1
                if not open_brackets:
                    return tuple(parts)
                parts.append(Text(self.text[self.at - 1], quoted=True))
            elif self.text[self.at] == "'":
                # It quotes nothing here: substitutions behind it are run.
                parts.append(Text("'", quoted=True))
                quoted = not quoted
                self.at += 1
            else:
                self._part(parts, quoted=not self.text.startswith(('"', "$'"), self.at))

    # Parameters

    def _braces(self, quoted: bool) -> Part:
        """Read what follows `${`."""
        # Its parts are read, collected and expanded, each in turn.
        self.step(3)
        indirect = False
        text = self.text
        counts = text.startswith("#", self.at) and text[self.at + 1 : self.at + 2] != "}"
        if counts:
            self.at += 1
        elif text.startswith("!", self.at) and _NAME.match(text, self.at + 1):
            self.at += 1
            indirect = True
        name = _PARAMETER.match(text, self.at)
        if name is None:
            raise self.cannot("${ is followed by no name")
        self.at = name.end()
        subscript: list[Part] | None = None
        if text.startswith("[", self.at) and self.bash:
            self.at += 1
            subscript = []
            self.subscript(subscript)
        operator, word = ("#", ()) if counts else self._operation(quoted)
        if counts and not text.startswith("}", self.at):
            raise self.cannot("${#name is not closed")
        self.at += 1
        return Parameter(
            name[0], quoted, operator, word, None if subscript is None else tuple(subscript), indirect
        )

    def _operation(self, quoted: bool) -> tuple[str, Word]:
        if self.text.startswith("}", self.at):
            return "", ()
        if self.text.startswith(("*}", "@}"), self.at):  # ${!prefix*}
            self.at += 1
            return "names", ()
        operator = _OPERATOR.match(self.text, self.at)
        if operator is None:
            raise self.cannot("an expansion has an operator that is not known")
        self.at = operator.end()
        parts: list[Part] = []
        self.deeper(1)
        while not self.text.startswith("}", self.at):
            self.step()
            found = _IN_BRACES.match(self.text, self.at)
            if found is not None:
                parts.append(Text(found[0], quoted))
                self.at = found.end()
            elif self.at >= len(self.text):
                raise self.cannot("${ is never closed")
            else:
                self._part_in_braces(parts, quoted)
        self.deeper(-1)
        return operator[0], tuple(parts)

    def _part_in_braces(self, parts: list[Part], quoted: bool) -> None:
        character = self.text[self.at]
        if character in "<>":
            if self.bash and not quoted and self.text.startswith("(", self.at + 1):
                parts.append(self._process(character))
            else:
                parts.append(Text(character, quoted))
                self.at += 1
        elif character in "'\"" and quoted:
            if character == "'":
                raise self.unclear("shells disagree about ' between braces and quotes")
            self._part(parts, quoted=False)
        elif character == "\\" and quoted:
            following = self.text[self.at + 1 : self.at + 2]
            parts.append(Text(following if following in '$`"\\}' else "\\" + following, quoted=True))
            self.at += 2
        else:
            self._part(parts, quoted)

    def subscript(self, parts: list[Part]) -> None:
        """Read up to the `]` that closes it."""
        open_brackets = 1
        self.deeper(1)
        while True:
            self.step()
            found = _IN_SUBSCRIPT.match(self.text, self.at)
            if found is not None:
                parts.append(Text(found[0], quoted=True))
                self.at = found.end()
            if self.at >= len(self.text):
                raise self.cannot("[ is never closed")
            if self.text[self.at] in "[]":
                open_brackets += 1 if self.text[self.at] == "[" else -1
                self.at += 1
                if not open_brackets:
                    self.deeper(-1)
                    return
                parts.append(Text(self.text[self.at - 1], quoted=True))
            else:
                self._part(parts, quoted=not self.text.startswith(("'", '"', "$'"), self.at))
