"""Acts that guards are about, behind each option of their programs, known and unknown: none may pass in silence."""

import os
from collections.abc import Callable

from bench.findings import Finding
from tests.guards.behind_options import asked

#: With fewer lines something was left out.
_FEWEST = 10_000


def soak(say: Callable[[str], None]) -> list[Finding]:
    os.environ["HOME"] = "/home/ada"
    lines = [one for one in asked() if not one.may_be_silent]
    say(f"  {len(lines):,} lines of guards behind options")
    silent = [one.line for one in lines if one.is_silent]
    for line in silent:
        say(f"  {line}")
    name = "acts behind an option that guards pass"
    return [Finding(name, f"{len(silent)} of {len(lines):,}", "0", not silent and len(lines) > _FEWEST)]
