"""Leave out findings that are known: those in an earlier document of `hookline doctor --json`."""

import os
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from hookline.cli.requests import RequestError
from hookline.model.diagnostics import Diagnostic

_MOST_BYTES = 20_000_000


class _Known(Struct, frozen=True):
    id: str
    file: str


class _Document(Struct, frozen=True):
    cwd: str
    problems: tuple[_Known, ...]


def without_known(
    problems: Sequence[Diagnostic], baseline: str, cwd: str, finding: Callable[[Diagnostic], str]
) -> tuple[tuple[Diagnostic, ...], int]:
    """Return the findings that the baseline does not have, and how many it has.

    A finding is known by its name and its file, not by its line: other lines of the file may change.
    """
    known = _read(baseline)
    left: list[Diagnostic] = []
    for one in problems:
        key = (finding(one), os.path.relpath(one.where.file or cwd, cwd))
        if known[key] > 0:
            known[key] -= 1
        else:
            left.append(one)
    return tuple(left), len(problems) - len(left)


def _read(file: str) -> Counter[tuple[str, str]]:
    made = "`hookline doctor --ci --json > FILE` makes one"
    try:
        with open(file, "rb") as stream:
            document = msgspec.json.decode(stream.read(_MOST_BYTES), type=_Document)
    except OSError as problem:
        raise RequestError(f"--baseline {file}: {problem.strerror}; {made}") from None
    except msgspec.DecodeError:
        raise RequestError(f"--baseline {file} is not a document of hookline doctor --json; {made}") from None
    return Counter(
        (each.id, os.path.relpath(each.file or document.cwd, document.cwd)) for each in document.problems
    )
