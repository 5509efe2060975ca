"""Run every pattern of the source on texts that are made to take it long."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from hookline.matching.patterns import LONGEST_PATH
from tests.linear.pattern_sources import Unknown, Used, modules, used_in
from tests.linear.pattern_tables import TABLES
from tests.linear.pattern_texts import shapes
from tests.linear.work import grows_faster, unit, work

_LENGTH = 800
#: Patterns that are only used on texts of at most this length, by module and beginning.
_BOUNDED = {
    ("hookline.agent.tools.walk", "(?P<deep>"): 4096,
    ("hookline.guards.rows", "[-.]?"): 255,
    ("SSH keys", r"(?:^|/)\.ssh/"): LONGEST_PATH,
}
#: Patterns that are only used on texts in which they find what they look for, with the reason.
_FOUND = {
    ("hookline.documents.json_text", "(?:\n        (?P<mark>"): "JSON that was read already",
    ("hookline.journal.redaction", "://"): "words that end with the @ it looks for",
    ("hookline.documents.json_edit", ""): "JSON that was read already",
    ("hookline.documents.toml_text", ""): "TOML that was read already",
    ("hookline.documents.toml_edit", ""): "TOML that was read already",
}


@cache
def all_patterns() -> tuple[list[Used], list[Unknown]]:
    """Return every pattern, each once, and calls of which the source does not say the pattern."""
    used: dict[tuple[Any, ...], Used] = {}
    unknown: dict[Unknown, None] = {}
    for name, file in modules():
        if name.startswith("hookline.adapters."):  # their frameworks may not be here
            continue
        for each in used_in(name, file):
            if isinstance(each, Unknown):
                unknown[each] = None
            else:
                used.setdefault(each[:3], each)
    for patterns in TABLES.values():
        for each in () if isinstance(patterns, str) else patterns():
            used.setdefault(each[:3], each)
    return list(used.values()), list(unknown)


def _runs(used: Used) -> Callable[[Any], object]:
    compiled: Any = re.compile(used.pattern, used.flags)
    if used.method in ("findall", "finditer"):
        return lambda text: deque(compiled.finditer(text), 0)
    if used.method in ("sub", "subn"):
        nothing: Any = used.pattern[:0]
        return lambda text: compiled.sub(nothing, text)
    return getattr(compiled, used.method)


def _excused(used: Used, table: dict[tuple[str, str], Any]) -> Any:
    module = used.where.partition(":")[0]
    found = (
        value
        for (name, start), value in table.items()
        if name == module and str(used.pattern).startswith(start)
    )
    return next(found, None)


def slow(used: Used, most: int) -> Iterator[str]:
    """Yield the first text for which a pattern takes too long, of at most about so many."""
    run, bound = _runs(used), _excused(used, _BOUNDED)
    encode = isinstance(used.pattern, bytes)
    for shape in shapes(used.pattern, used.flags, most):

        def text(length: int, made: Callable[[int], str] = shape.text) -> Any:
            return made(length).encode("utf-8", "replace") if encode else made(length)

        if bound is None:
            wrong = grows_faster(run, text, _LENGTH)
        else:
            wrong = "too much work at its bound" if work(run, text(bound)) > 20 * unit() else None
        if wrong is not None:
            yield f"{used.where}: {used.method}({str(used.pattern)[:200]!r}) on {tuple(shape)!r}: {wrong}"
            return


def slow_patterns(most: int) -> list[str]:
    """Return the patterns that take more than linear time, each with a text."""
    patterns = [each for each in all_patterns()[0] if _excused(each, _FOUND) is None]
    return [wrong for used in patterns for wrong in slow(used, most)]
