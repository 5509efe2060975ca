"""Options and guards: acts behind each option of a program, known and unknown, and files that are the value of one.
None may pass in silence."""

import os
from collections.abc import Callable, Iterable

from bench.findings import Finding
from tests.guards.behind_options import Asked, asked, asked_of_files

#: With fewer lines something was left out.
_FEWEST, _FEWEST_FILES = 10_000, 6_000


def soak(say: Callable[[str], None]) -> list[Finding]:
    os.environ["HOME"] = "/home/ada"
    return [
        _finding("acts behind an option that guards pass", asked(), _FEWEST, say),
        _finding("files named by an option that guards pass", asked_of_files(), _FEWEST_FILES, say),
    ]


def _finding(name: str, asked: Iterable[Asked], fewest: int, say: Callable[[str], None]) -> Finding:
    lines = [one for one in asked if not one.may_be_silent]
    say(f"  {len(lines):,} lines: {name}")
    silent = [one.line for one in lines if one.is_silent]
    for line in silent:
        say(f"  {line}")
    return Finding(name, f"{len(silent)} of {len(lines):,}", "0", not silent and len(lines) > fewest)
