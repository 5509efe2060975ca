"""The words of a shell line: quotes, parameters, substitutions, arithmetic, assignments, redirections."""

import re
from abc import ABC, abstractmethod

from hookline.matching.shell.limits import INVISIBLE
from hookline.matching.shell.syntax import (
    Arithmetic,
    Assignment,
    List,
    Parameter,
    Part,
    Redirect,
    Substitution,
    Text,
    Word,
)

#: Everything the parser does is counted, so that a hostile line costs no more than this many steps.
MOST_STEPS = 4000
DEEPEST = 32

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN = re.compile(r"[^ \t\n\\'\"$`;&|<>()]+")
_IN_QUOTES = re.compile(r'[^\\"$`]+')
_IN_HERE_DOCUMENT = re.compile(r"[^\\$`]+")
_IN_BACKQUOTES = re.compile(r"[^\\`]+")
_IN_ANSI = re.compile(r"[^\\']+")
_IN_BRACES = re.compile(r"[^\\'\"$`}<>]+")
_IN_SUBSCRIPT = re.compile(r"[^\\'\"$`\[\]]+")
_IN_ARITHMETIC = re.compile(r"[^\\'\"$`()]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_SHORT_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?|//?|\^\^?|,,?|@[a-zA-Z]|:")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)")
_REDIRECT = re.compile(r"<<<|<<-?|<>|<&|>>|>&|>\||<|>")
_DESCRIPTOR = re.compile(r"(?:[0-9]+|\{([A-Za-z_][A-Za-z0-9_]*)\})(?=[<>])")
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))|([^\\]+)", re.DOTALL
)
_NAMED = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
#: A parameter that nobody knows, for text that only the shell can make.
UNKNOWN = Parameter("", quoted=True)


class CannotParseError(Exception):
    """The line is not one that all shells read as this parser would, or it is too much to read."""


class _PendingDocument:
    """A here-document that was announced and not read yet."""

    def __init__(self, end: str, literal: bool, tabs: bool, body: list[Part]) -> None:
        self.end, self.literal, self.tabs, self.body = end, literal, tabs, body


class WordParser(ABC):
    def __init__(self, text: str, bash: bool, depth: int, steps: list[int] | None) -> None:
        self.text = text
        self.bash = bash
        self.at = 0
        self.depth = depth
        #: Shared by all parsers of one line.
        self.steps = steps if steps is not None else [0]
        self.pending: list[_PendingDocument] = []
        self._invisible = INVISIBLE.search(text) is not None

    @abstractmethod
    def nested(self, text: str) -> List: ...

    @abstractmethod
    def substituted(self) -> List: ...

    def cannot(self, problem: str) -> CannotParseError:
        return CannotParseError(problem)

    def step(self, count: int = 1) -> None:
        self.steps[0] += count
        if self.steps[0] > MOST_STEPS:
            raise self.cannot("it is too long to be judged")

    def deeper(self, by: int) -> None:
        self.depth += by
        if self.depth > DEEPEST:
            raise self.cannot(f"it is nested more than {DEEPEST} deep")

    def blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at)
        if found:
            self.at = found.end()

    def plain_word(self) -> str:
        """The word that comes next if nothing in it is quoted or expanded; else nothing."""
        found = _PLAIN.match(self.text, self.at)
        if found is None:
            return ""
        return "" if self.text[found.end() : found.end() + 1] in {"\\", "'", '"', "$", "`"} else found[0]

    def text_of(self, word: Word) -> str | None:
        """The text of a word without expansions; None for any other."""
        if len(word) == 1 and isinstance(word[0], Text):
            return word[0].text
        texts = [part.text for part in word if isinstance(part, Text)]
        return "".join(texts) if len(texts) == len(word) else None

    # Words

    def word(self, pattern: bool = False, regular: bool = False) -> Word:
        """One word. In a pattern and a regular expression, brackets and what they hold belong to it."""
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
        """Between quotes such characters are data; elsewhere a word is not what it looks like."""
        found = INVISIBLE.search(text) if self._invisible else None
        if found is not None:
            raise self.cannot(f"it contains the invisible character U+{ord(found[0]):04X}")

    def _bracketed(self) -> list[Part]:
        """`(a|b)` in a pattern, brackets in it included."""
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
        """Something that begins with a backslash, a quote, a dollar or a backquote."""
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
            self._until(parts, '"', _IN_QUOTES)
        elif character == "`":
            parts.append(self._backquotes(quoted))
        else:
            self._dollar(parts, quoted)

    def _backslash(self, parts: list[Part]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "":
            raise self.cannot("the line ends with a backslash")
        if following != "\n":
            parts.append(Text(following, quoted=True))
        self.at += 2

    def _until(self, parts: list[Part], end: str, plain: re.Pattern[str]) -> None:
        """The parts between double quotes, or of a here-document, whose end is nothing."""
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
        """The code is unescaped, then read as any other."""
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
            self._subscript(inner)
            parts.append(Arithmetic(tuple(inner), quoted))
        elif following == "'" and self.bash and not quoted:
            parts.extend(self._ansi())
        elif following == '"' and self.bash and not quoted:
            self.at += 1
            self._part(parts, quoted)
        elif following == "\\" and text.startswith("\n", at + 2):
            raise self.cannot("an expansion continues on the next line")
        else:
            name = _SHORT_PARAMETER.match(text, at + 1)
            self.at = name.end() if name else at + 1
            parts.append(Parameter(name[0], quoted) if name else Text("$", quoted=True))

    def _ansi(self) -> list[Part]:
        r"""`$'a\x72'`. Bytes past ASCII and characters that garble a word are left to the shell."""
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
        """The parts of `((...))`; None where it turns out to be a subshell in a subshell."""
        before, pending = self.at, list(self.pending)
        self.at = begin
        parts: list[Part] = []
        open_brackets = 1
        try:
            self.deeper(1)
            while open_brackets:
                self.step()
                found = _IN_ARITHMETIC.match(self.text, self.at)
                if found is not None:
                    parts.append(Text(found[0], quoted=True))
                    self.at = found.end()
                if self.at >= len(self.text):
                    raise self.cannot("(( is never closed")
                if self.text[self.at] in "()":
                    open_brackets += 1 if self.text[self.at] == "(" else -1
                    parts.append(Text(self.text[self.at], quoted=True))
                    self.at += 1
                elif self.text[self.at] == "'":
                    raise self.cannot("shells disagree about quotes in arithmetic")
                else:
                    self._part(parts, quoted=self.text[self.at] != '"')
        except CannotParseError:
            self.depth -= 1
            self.at, self.pending = before, pending
            return None
        self.depth -= 1
        if not self.text.startswith(")", self.at):
            self.at, self.pending = before, pending
            return None
        self.at += 1
        return tuple(parts[:-1])

    # Parameters

    def _braces(self, quoted: bool) -> Part:
        """What follows `${`."""
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
            self._subscript(subscript)
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
                raise self.cannot("shells disagree about ' between braces and quotes")
            self._part(parts, quoted=False)
        elif character == "\\" and quoted:
            following = self.text[self.at + 1 : self.at + 2]
            parts.append(Text(following if following in '$`"\\}' else "\\" + following, quoted=True))
            self.at += 2
        else:
            self._part(parts, quoted)

    def _subscript(self, parts: list[Part]) -> None:
        """Up to the `]` that closes it."""
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
                self._part(parts, quoted=self.text[self.at] not in "'\"")

    # Assignments

    def assignment(self) -> Assignment | None:
        found = _ASSIGNED.match(self.text, self.at)
        if found is None:
            return None
        begun = self.at
        subscript: list[Part] | None = None
        self.at = found.end()
        append = found[2] == "+="
        if found[2] == "[":
            subscript = self._subscripted(begun)
            if subscript is None:
                return None
            append = self.text.startswith("+", self.at)
            self.at += 2 if append else 1
        if append and not self.bash:
            self.at = begun
            return None
        if self.text.startswith("(", self.at) and self.bash and subscript is None:
            return Assignment(found[1], elements=self._elements(), append=append)
        empty = self.at >= len(self.text) or self.text[self.at] in " \t\n;&|<>)"
        value = () if empty and not self.text.startswith(("<(", ">("), self.at) else self.word()
        return Assignment(found[1], value, None, None if subscript is None else tuple(subscript), append)

    def _subscripted(self, begun: int) -> list[Part] | None:
        """What is between the brackets of `name[...]=`. Without the = bash still takes them for one word."""
        if not self.bash:
            self.at = begun
            return None
        parts: list[Part] = []
        self._subscript(parts)
        if not self.text.startswith(("=", "+="), self.at):
            inside = self.text[begun : self.at]
            if re.search(r"[\s;&|<>()]", inside):
                raise self.cannot("what a bracket after a name holds is read differently by shells")
            self.at = begun
            return None
        return parts

    def _elements(self) -> tuple[Word, ...]:
        self.at += 1
        found: list[Word] = []
        self.deeper(1)
        while True:
            self.step()
            self.blanks()
            character = self.text[self.at : self.at + 1]
            if character == ")":
                self.at += 1
                self.deeper(-1)
                return tuple(found)
            if character == "\n":
                self.at += 1
                if self.pending:
                    raise self.cannot("a here-document begins in an array")
            elif character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif character == "" or (
                character in ";&|<>(" and not self.text.startswith(("<(", ">("), self.at)
            ):
                raise self.cannot("an array is never closed")
            elif character == "[":
                found.append(self._keyed())
            else:
                found.append(self.word())

    def _keyed(self) -> Word:
        """`[key]=value` in an array: the key is evaluated, too."""
        begun = self.at
        parts: list[Part] = []
        self.at += 1
        self._subscript(parts)
        if not self.text.startswith(("=", "+="), self.at):
            self.at = begun
            return self.word()
        self.at += 1 + self.text.startswith("+", self.at)
        empty = self.at >= len(self.text) or self.text[self.at] in " \t\n)"
        return (Arithmetic(tuple(parts), quoted=True), *(() if empty else self.word()))

    # Redirections and here-documents

    def redirect(self, redirects: list[Redirect]) -> bool:
        """Reads a redirection, if one comes next."""
        begun, variable = self.at, ""
        descriptor = _DESCRIPTOR.match(self.text, self.at)
        if descriptor is not None and (self.bash or not descriptor[1]):
            self.at, variable = descriptor.end(), descriptor[1] or ""
        elif self.bash and self.text.startswith("&>", self.at):
            self.at += 3 if self.text.startswith("&>>", self.at) else 2
            self._target("&>", redirects, "")
            return True
        found = _REDIRECT.match(self.text, self.at)
        process = self.bash and self.text.startswith(("<(", ">("), self.at) and self.at == begun
        if found is None or process:
            self.at = begun
            return False
        operator = found[0]
        self.at = found.end()
        if self.text.startswith("\\\n", self.at) and self.text[self.at + 2 : self.at + 3] in {
            "<",
            ">",
            "&",
            "|",
            "(",
        }:
            raise self.cannot("an operator continues on the next line")
        if operator in {"<<", "<<-"}:
            self._here_document(operator == "<<-", redirects)
        else:
            self._target(operator, redirects, variable)
        return True

    def _target(self, operator: str, redirects: list[Redirect], variable: str) -> None:
        if operator == "<<<" and not self.bash:
            raise self.cannot("<<< is known to bash only")
        self.blanks()
        redirects.append(Redirect(operator, self.word(), variable=variable))

    def _here_document(self, tabs: bool, redirects: list[Redirect]) -> None:
        self.blanks()
        begun = self.at
        word = self.word()
        raw = self.text[begun : self.at]
        if any(isinstance(part, Substitution | Arithmetic) for part in word) or "$'" in raw or '$"' in raw:
            raise self.cannot("the end of a here-document is expanded")
        literal = any(quote in raw for quote in "\\'\"")
        end = re.sub(r"\\(.)|['\"]", r"\1", raw) if literal else raw
        if len(self.pending) >= 16:
            raise self.cannot("there are too many here-documents")
        body: list[Part] = []
        self.pending.append(_PendingDocument(end, literal, tabs, body))
        redirects.append(Redirect("<<", body=body))

    def read_here_documents(self) -> None:
        """After the end of a line: the bodies of the here-documents that were announced in it."""
        waiting, self.pending = self.pending, []
        for document in waiting:
            text = self._body(document)
            document.body += [Text(text, quoted=True)] if document.literal else self.expanded(text)

    def end_here_documents(self) -> None:
        """At the end of the text: shells take what there is, which is nothing."""
        self.at = len(self.text)
        self.read_here_documents()

    def _body(self, document: _PendingDocument) -> str:
        begun = self.at
        while self.at < len(self.text):
            self.step()
            end = self.text.find("\n", self.at)
            line = self.text[self.at :] if end < 0 else self.text[self.at : end]
            start, self.at = self.at, len(self.text) if end < 0 else end + 1
            if (line.lstrip("\t") if document.tabs else line) == document.end:
                body = self.text[begun:start]
                if not document.literal and re.search(r"(?<!\\)(?:\\\\)*\\\n$", body):
                    raise self.cannot("the end of a here-document is joined to the line before it")
                return body
        return self.text[begun:]

    def expanded(self, body: str) -> list[Part]:
        if not ("$" in body or "`" in body or "\\" in body):
            return [Text(body, quoted=True)]
        around = self.text, self.at, self.pending
        self.text, self.at, self.pending = body, 0, []
        parts: list[Part] = []
        self._until(parts, "", _IN_HERE_DOCUMENT)
        self.text, self.at, self.pending = around
        return parts
