"""Texts that take a pattern long: its own beginnings and repeats, many times, and then something that does not fit."""

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

#: Python's own reader of patterns: what a pattern is made of, as a tree.
_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

_COMMON = " \t\n/a0._-\"'\\é=:,()[]{}<>@#$%&*+!?|;~^`AZ\0"
_ENDS = ("", "é", "!\0", "\n")
_REPEATS = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))
_ONE = frozenset(("LITERAL", "NOT_LITERAL", "IN", "ANY"))
#: A repeat of fewer times than this cannot take long.
_MANY = 20
_MOST_BODIES = 12
_LONGEST_BODY = 200

Tree = Sequence[tuple[Any, Any]]


class Shape(NamedTuple):
    """A beginning, something that is repeated, and an end."""

    head: str
    body: str
    tail: str

    def text(self, length: int) -> str:
        return self.head + (self.body * (length // len(self.body) + 1))[:length] + self.tail


def shapes(pattern: str | bytes, flags: int, most: int) -> Iterator[Shape]:
    """Yield texts for a pattern, each once."""
    source = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    tree = _parser.parse(source, flags)
    reader = _Reader(tree.state.flags, dict.fromkeys((*sorted(_letters(tree)), *_COMMON)))
    found: dict[Shape, None] = {}
    for head, body in reader.pumps(tree, ""):
        for start, repeated in ((head, body), ("", head + body), ("", body)):
            if repeated:
                found |= dict.fromkeys(Shape(start, repeated[:_LONGEST_BODY], end) for end in _ENDS)
    step = max(1, len(found) // most)
    yield from islice(found, 0, None, step)


def _letters(tree: Tree) -> Iterator[str]:
    for kind, value in tree:
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL"):
            yield chr(value)
        elif name == "IN":
            for inner, letters in value:
                if str(inner) == "LITERAL":
                    yield chr(letters)
                elif str(inner) == "RANGE":
                    yield from map(chr, letters)
        else:
            for below in _below(name, value):
                yield from _letters(below)


def _below(name: str, value: Any) -> Iterable[Tree]:
    """Return the trees inside an item."""
    if name == "BRANCH":
        return value[1]
    if name == "SUBPATTERN":
        return [value[3]]
    if name in _REPEATS:
        return [value[2]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [value[1]]
    if name == "ATOMIC_GROUP":
        return [value]
    return [each for each in value[1:] if each] if name == "GROUPREF_EXISTS" else []


class _Reader:
    """Makes texts from the tree of one pattern."""

    def __init__(self, flags: int, letters: Iterable[str]) -> None:
        self._flags = flags
        self._letters = list(letters)

    def _fitting(self, item: tuple[Any, Any]) -> list[str]:
        """Return letters that fit an item which stands for one."""
        if str(item[0]) == "LITERAL":
            return [chr(item[1])]
        alone = _parser.SubPattern(_parser.State())
        alone.state.flags = self._flags
        alone.data = [item]
        compiled: re.Pattern[str] = _compiler.compile(alone, self._flags)
        return [letter for letter in self._letters if compiled.match(letter)]

    def sample(self, tree: Tree) -> str:
        """Return a short text that fits."""
        parts: list[str] = []
        for kind, value in tree:
            name = str(kind)
            if name in _ONE:
                parts += self._fitting((kind, value))[:1]
            elif name in _REPEATS:
                parts.append(self.sample(value[2]) * int(value[0]))
            elif name not in ("ASSERT", "ASSERT_NOT"):
                parts += [self.sample(below) for below in list(_below(name, value))[:1]]
        return "".join(parts)

    def _bodies(self, tree: Tree) -> list[str]:
        """Return texts of which each fits."""
        items = list(tree)
        if len(items) == 1:
            name, value = str(items[0][0]), items[0][1]
            if name in _ONE:
                return self._fitting(items[0])[:_MOST_BODIES]
            if name in ("BRANCH", "SUBPATTERN"):
                inside = [self._bodies(below) for below in _below(name, value)]
                # Some of each branch.
                mixed = [each for row in zip(*inside, strict=False) for each in row]
                return list(dict.fromkeys((*mixed, *(body for each in inside for body in each))))[
                    :_MOST_BODIES
                ]
        found = [self.sample(items)]
        for at, (kind, value) in enumerate(items):
            if str(kind) in _REPEATS:
                before, after = self.sample(items[:at]), self.sample(items[at + 1 :])
                times = max(1, int(value[0]))
                found += [before + body * times + after for body in self._bodies(value[2])[:4]]
        return [body for body in dict.fromkeys(found) if body][:_MOST_BODIES]

    def pumps(self, tree: Tree, head: str) -> Iterator[tuple[str, str]]:
        """Yield what comes before a repeat and what is repeated there; and each beginning of the pattern."""
        for kind, value in tree:
            name = str(kind)
            if name in _REPEATS:
                least, most, inner = value
                yield from ((head, body) for body in (self._bodies(inner) if int(most) >= _MANY else ()))
                yield from self.pumps(inner, head)
                head += self.sample(inner) * max(int(least), 1)
            else:
                for below in _below(name, value):
                    yield from self.pumps(below, head)
                head += self.sample([(kind, value)])
            if head:
                yield head, ""
