"""A kind of text that a program is given: what it may run, and whether that goes beyond the program's plain job."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hookline.matching.shell.found import Found


def nothing(_text: str) -> Iterator[Found]:
    yield from ()


def always(_text: str) -> bool:
    return True


def never(_text: str) -> bool:
    return False


class Kind(NamedTuple):
    #: What a text of this kind runs.
    found: Callable[[str], Iterator[Found]] = nothing
    #: Whether a permission for the program alone does not count.
    beyond: Callable[[str], bool] = always
    #: What to call it in a reason: "a shell reads its commands from a pipe".
    title: str = "a program"
    #: The path in it, which belongs to the plain job inside the project; and whether something is written there.
    place: Callable[[str], str] | None = None
    written: bool = False
