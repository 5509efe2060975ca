"""Define a kind of text for a program: what it may run, and if that goes beyond the program's plain job."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hookline.shell.found import Found


def nothing(_text: str) -> Iterator[Found]:
    yield from ()


def always(_text: str) -> bool:
    return True


def never(_text: str) -> bool:
    return False


class ProgramKind(NamedTuple):
    #: Finds what a text of this kind runs.
    found: Callable[[str], Iterator[Found]] = nothing
    #: Returns True if a permission for the program alone does not apply.
    beyond: Callable[[str], bool] = always
    #: Its name in a reason: "a shell reads its commands from a pipe".
    title: str = "a program"
    #: Returns the path in it, which belongs to the plain job inside the project; `written` is True if
    #: something is written there.
    place: Callable[[str], str] | None = None
    written: bool = False
