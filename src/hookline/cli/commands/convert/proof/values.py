"""Texts that a program has in its hands, as far as they are known before it runs."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from msgspec import Struct

#: In a text: whatever the program finds when it runs.
ANYTHING: Final = "\0"
#: In a text: an error message of a program, or none.
PERHAPS: Final = "\2"
#: In a text that is JSON: a string of which only a run tells what it is. It is a string by itself, never part of one.
SOME_VALUE: Final = "\ue001"
#: The same, for a text that is not blank.
SOME_TEXT: Final = "\ue002"
Texts = frozenset[str]
NOTHING: Final[Texts] = frozenset(("",))
UNKNOWN: Final[Texts] = frozenset((ANYTHING,))
#: More texts than this that one place may hold are no longer told apart.
_MOST: Final = 8
_LONGEST: Final = 20_000


class Value(Struct, frozen=True):
    """What a word or a variable may be."""

    texts: Texts = UNKNOWN
    #: It is the payload as a whole, or made of it.
    whole: bool = False
    #: The parts of the payload that it may be; () is all of it, read.
    fields: frozenset[tuple[str, ...]] = frozenset()
    #: It is not text: the texts are what it is in JSON.
    data: bool = False

    @property
    def text(self) -> str | None:
        """The one text that it is for certain."""
        (only,) = self.texts if len(self.texts) == 1 else (ANYTHING,)
        return None if is_open(only) else only


EMPTY: Final = Value(NOTHING)
PAYLOAD: Final = Value(UNKNOWN, whole=True)


def literal(text: str) -> Value:
    return Value() if is_open(text) else Value(frozenset((text,)))


_MARKS: Final = (ANYTHING, PERHAPS, SOME_VALUE, SOME_TEXT)


def is_open(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def as_member(value: Value) -> str:
    """What stands in an object for a text that is known when the program runs."""
    known = [text.translate(_UNMARKED).strip() for text in value.texts]
    return SOME_TEXT if all(known) and not value.data else SOME_VALUE


_UNMARKED: Final = {ord(mark): None for mark in _MARKS}


def either(values: Iterable[Value]) -> Value:
    """What is one of these."""
    found = list(values)
    data = {each.data for each in found}
    return Value(
        limited(text for each in found for text in each.texts) if len(data) == 1 else UNKNOWN,
        any(each.whole for each in found),
        frozenset(field for each in found for field in each.fields),
        data == {True},
    )


def joined(values: Iterable[Value]) -> Value:
    """One after another."""
    texts, whole = NOTHING, False
    for each in values:
        texts = after(texts, UNKNOWN if each.data else each.texts)
        whole = whole or each.whole
    return Value(texts, whole)


def after(before: Texts, added: Texts) -> Texts:
    return limited(_one_after(first, second) for first in before for second in added)


def _one_after(first: str, second: str) -> str:
    if second and second == first[-1:] and second in (ANYTHING, PERHAPS):
        return first
    return first + second


def repeated(before: Texts, once: Texts) -> Texts:
    """What has been written after any number of turns of a loop, of which this is what the first one left."""
    return before if before == once else limited((*before, *(_one_after(text, ANYTHING) for text in once)))


def limited(texts: Iterable[str]) -> Texts:
    found = frozenset(texts)
    return found if len(found) <= _MOST and all(len(text) <= _LONGEST for text in found) else UNKNOWN


def as_json(value: Any) -> str:
    """A JSON text; `SOME_VALUE` stands for what is not known."""
    return json.dumps(value, ensure_ascii=False)


def read_answer(text: str) -> Mapping[str, Any] | None:
    """The object that a text is, if it is one."""
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
