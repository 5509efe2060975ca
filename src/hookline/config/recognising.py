"""Whose configuration a file is: by its place, then by its shape, else native."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookline.config.files import read_file

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

NATIVE = "native"


def dialect_of(file: str, dialects: "Iterable[Dialect]") -> str:
    """The name of the dialect. Where two shapes fit, nobody guesses: it is native, whose reader says what is wrong."""
    path = os.path.abspath(file).replace(os.sep, "/")
    if "/.hookline/" in path:
        return NATIVE
    known = list(dialects)
    by_place = [one.name for one in known if any(path.endswith(f"/{name}") for name in one.project_files)]
    if by_place:
        return by_place[0]
    value = read_file(file).value
    by_shape = [one.name for one in known if value is not None and one.recognises(value)]
    return by_shape[0] if len(by_shape) == 1 else NATIVE
