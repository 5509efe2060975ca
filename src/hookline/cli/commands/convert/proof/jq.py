"""The programs of jq that are followed: those that take fields, and those that write an object."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from hookline.cli.commands.convert.proof.values import SOME_VALUE, Value, as_json, as_member

#: A field of the payload, and a text.
_FIELD: Final = re.compile(r"\.[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\??")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\["\\/bfnrt])*"')
#: What stands between fields, and what is done with what was taken.
_BETWEEN: Final = re.compile(r"\s+|//|==|!=|[(),]|\b(?:empty|null|true|false|and|or)\b|\d+(?![\w.])")
_DONE: Final = re.compile(
    r"\||\b(?:not|select|test|startswith|endswith|contains|ascii_downcase|ascii_upcase|length|tostring|ltrimstr"
    r"|rtrimstr|type)\b"
)
_WORD: Final = re.compile(r"[A-Za-z_]\w*|\"[^\"\\]*\"")
_VARIABLE: Final = re.compile(r"\$[A-Za-z_]\w*")
_FLAGS: Final = re.compile(r"-[renjcM]+")
_LONG_FLAGS: Final = {
    "--raw-output": "r", "--exit-status": "e", "--null-input": "n", "--join-output": "j",
    "--compact-output": "c", "--monochrome-output": "M",
}  # fmt: skip


class JqCall(Struct, frozen=True):
    """The words of a command."""

    program: str
    flags: str
    #: What stands for the values of `--arg`, by their names.
    names: Mapping[str, str]
    files: bool


def read_call(values: Sequence[Value]) -> JqCall | None:
    """None for options that are not known, and words that are not certain; values of `--arg` may be any."""
    flags, names, operands = "", dict[str, str](), list[str | None]()
    rest = [value.text for value in values]
    while rest:
        word = rest.pop(0)
        if word == "--arg":
            name = rest.pop(0) if rest else None
            if name is None or not rest:
                return None
            names[name] = as_member(values[-len(rest)])
            rest.pop(0)
        elif word is not None and word in _LONG_FLAGS:
            flags += _LONG_FLAGS[word]
        elif word is not None and _FLAGS.fullmatch(word):
            flags += word[1:]
        elif word is not None and word.startswith("-"):
            return None
        else:
            operands.append(word)
    program = operands[0] if operands else None
    return None if program is None else JqCall(program, flags, names, len(operands) > 1)


def fields_of(program: str) -> frozenset[tuple[str, ...]] | None:
    """The fields that a program takes of its input; None for one that may take more.

    Before the first `|` all there is are fields; after it there may be none, and what is done is done to the fields.
    """
    found: set[tuple[str, ...]] = set()
    at, piped, depth = 0, False, 0
    text = program.strip()
    while at < len(text):
        if token := _FIELD.match(text, at):
            if piped or depth:
                return None
            found.add(tuple(token[0].strip("?")[1:].split(".")))
        elif token := _DONE.match(text, at):
            piped = piped or (token[0] == "|" and not depth)
            if not piped:
                return None
        elif token := _STRING.match(text, at) or _BETWEEN.match(text, at):
            depth += (token[0] == "(") - (token[0] == ")")
        else:
            return None
        at = token.end()
    return frozenset(found) if found else None


def written_object(program: str, names: Mapping[str, str]) -> str | None:
    """The JSON text that a program without input writes; None for one that is not an object written out."""
    reader = _Object(program.strip(), names)
    try:
        value = reader.value()
        return as_json(value) if reader.at == len(reader.text) and isinstance(value, dict) else None
    except _NoObjectError:
        return None


class _NoObjectError(Exception):
    pass


class _Object:
    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        self.text, self.at, self._names = text, 0, names

    def value(self, depth: int = 0) -> Any:
        self._blanks()
        if depth > 8:
            raise _NoObjectError
        if self._take("{"):
            found = dict(self._members(depth))
            self._blanks()
            return found
        for pattern in (_STRING, _VARIABLE):
            if token := pattern.match(self.text, self.at):
                self.at = token.end()
                self._blanks()
                return self._said(token[0])
        for word, known in (("true", True), ("false", False)):
            if self._take(word):
                self._blanks()
                return known
        raise _NoObjectError

    def _said(self, token: str) -> str:
        if token.startswith("$"):
            if token[1:] not in self._names:
                raise _NoObjectError
            return self._names[token[1:]]
        if "\\" in token:
            return SOME_VALUE
        return token[1:-1]

    def _members(self, depth: int) -> Iterator[tuple[str, Any]]:
        self._blanks()
        if self._take("}"):
            return
        while True:
            self._blanks()
            key = _WORD.match(self.text, self.at)
            if key is None:
                raise _NoObjectError
            self.at = key.end()
            self._blanks()
            if not self._take(":"):
                raise _NoObjectError
            yield key[0].strip('"'), self.value(depth + 1)
            self._blanks()
            if self._take("}"):
                return
            if not self._take(","):
                raise _NoObjectError

    def _take(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def _blanks(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
