"""Parse assignments, redirections and here-documents."""

import re
from collections.abc import Callable

from hookline.shell.grammar.syntax import (
    Arithmetic,
    Assignment,
    Part,
    Redirect,
    Substitution,
    Text,
    Word,
)
from hookline.shell.grammar.word_parser import WordParser

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)")
_REDIRECT = re.compile(r"<<<|<<-?|<>|<&|>>|>&|>\||<|>")
_DESCRIPTOR = re.compile(r"(?:[0-9]+|\{([A-Za-z_][A-Za-z0-9_]*)\})(?=[<>])")
_READ_DIFFERENTLY = re.compile(r"[\s;&|<>()]")
_CONTINUES = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
_JOINS_NEXT_LINE = re.compile(r"(?<!\\)(?:\\\\)*\\\n$")
_IN_HERE_DOCUMENT = re.compile(r"[^\\$`]+")
_MOST_HERE_DOCUMENTS = 16


class PendingDocument:
    """A here-document that was announced and not read yet."""

    def __init__(self, end: str, literal: bool, tabs: bool, body: list[Part]) -> None:
        self.end, self.literal, self.tabs, self.body = end, literal, tabs, body


class RedirectParser(WordParser):
    def __init__(self, text: str, bash: bool, depth: int, steps: list[int] | None) -> None:
        super().__init__(text, bash, depth, steps)
        self.pending: list[PendingDocument] = []

    def mark(self) -> Callable[[], None]:
        go_back, announced = super().mark(), list(self.pending)

        def restore() -> None:
            go_back()
            self.pending = announced

        return restore

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
            elements = self._elements()
            if not self._at_end_of_word():
                raise self.unclear("more of a word comes after the elements of an array")
            return Assignment(found[1], elements=elements, append=append)
        empty = self._at_end_of_word()
        value = () if empty and not self.text.startswith(("<(", ">("), self.at) else self.word()
        return Assignment(found[1], value, None, None if subscript is None else tuple(subscript), append)

    def _at_end_of_word(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] in " \t\n;&|<>)"

    def _subscripted(self, begun: int) -> list[Part] | None:
        """Return the text between the brackets of `name[...]=`. Without the = bash still takes them for one word."""
        if not self.bash:
            self.at = begun
            return None
        parts: list[Part] = []
        self.subscript(parts)
        if not self.text.startswith(("=", "+="), self.at):
            inside = self.text[begun : self.at]
            if _READ_DIFFERENTLY.search(inside):
                raise self.unclear("what a bracket after a name holds is read differently by shells")
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
        """Parse `[key]=value` in an array: the key is evaluated, too."""
        begun = self.at
        parts: list[Part] = []
        self.at += 1
        self.subscript(parts)
        if not self.text.startswith(("=", "+="), self.at):
            self.at = begun
            return self.word()
        self.at += 1 + self.text.startswith("+", self.at)
        empty = self.at >= len(self.text) or self.text[self.at] in " \t\n)"
        return (Arithmetic(tuple(parts), quoted=True), *(() if empty else self.word()))

    # Redirections and here-documents

    def redirect(self, redirects: list[Redirect]) -> bool:
        """Read a redirection, if one comes next."""
        begun, variable, number = self.at, "", ""
        descriptor = _DESCRIPTOR.match(self.text, self.at)
        # Other shells know descriptors of one digit only: in `52>x` 52 is a word.
        if descriptor is not None and (self.bash or len(descriptor[0]) == 1):
            self.at, variable = descriptor.end(), descriptor[1] or ""
            number = "" if variable else descriptor[0]
        elif self.bash and self.text.startswith("&>", self.at):
            self.at += 3 if self.text.startswith("&>>", self.at) else 2
            self._target(Redirect("&>"), redirects)
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
            raise self.unclear("an operator continues on the next line")
        if operator in {"<<", "<<-"}:
            self._here_document(operator == "<<-", number or variable, redirects)
        else:
            self._target(Redirect(operator, variable=variable, number=number), redirects)
        return True

    def _target(self, redirect: Redirect, redirects: list[Redirect]) -> None:
        if redirect.operator == "<<<" and not self.bash:
            raise self.cannot("<<< is known to bash only")
        self.blanks()
        redirects.append(redirect._replace(target=self.word()))

    def _here_document(self, tabs: bool, number: str, redirects: list[Redirect]) -> None:
        self.blanks()
        begun = self.at
        word = self.word()
        raw = self.text[begun : self.at].replace("\\\n", "")
        if any(isinstance(part, Substitution | Arithmetic) for part in word) or "$'" in raw or '$"' in raw:
            raise self.unclear("the end of a here-document is expanded")
        literal = any(quote in raw for quote in "\\'\"")
        end = re.sub(r"\\(.)|['\"]", r"\1", raw) if literal else raw
        if len(self.pending) >= _MOST_HERE_DOCUMENTS:
            raise self.unclear("there are too many here-documents")
        body: list[Part] = []
        self.pending.append(PendingDocument(end, literal, tabs, body))
        redirects.append(Redirect("<<", body=body, number=number))

    def read_here_documents(self) -> None:
        """Read the bodies of the announced here-documents, after the end of a line."""
        waiting, self.pending = self.pending, []
        for document in waiting:
            text = self._body(document)
            document.body += [Text(text, quoted=True)] if document.literal else self.expanded(text)
            if not document.literal and "'" in text and _CONTINUES.search(text):
                # Bash joins lines before it reads anything, also those in quotes of a substitution; dash does
                # not.
                document.body += self.expanded(_CONTINUES.sub(r"\1", text))

    def end_here_documents(self) -> None:
        """End open here-documents at the end of the text: shells take the rest, which is nothing."""
        self.at = len(self.text)
        self.read_here_documents()

    def _body(self, document: PendingDocument) -> str:
        begun = self.at
        while self.at < len(self.text):
            self.step()
            end = self.text.find("\n", self.at)
            line = self.text[self.at :] if end < 0 else self.text[self.at : end]
            start, self.at = self.at, len(self.text) if end < 0 else end + 1
            if (line.lstrip("\t") if document.tabs else line) == document.end:
                body = self.text[begun:start]
                if not document.literal and _JOINS_NEXT_LINE.search(body):
                    raise self.unclear("the end of a here-document is joined to the line before it")
                return body
            if not document.literal and line == f"{document.end}\\":
                raise self.unclear("the end of a here-document may be joined to the line after it")
        return self.text[begun:]

    def expanded(self, body: str) -> list[Part]:
        if not ("$" in body or "`" in body or "\\" in body):
            return [Text(body, quoted=True)]
        around = self.text, self.at, self.pending
        self.text, self.at, self.pending = body, 0, []
        parts: list[Part] = []
        self.until(parts, "", _IN_HERE_DOCUMENT)
        self.text, self.at, self.pending = around
        return parts
