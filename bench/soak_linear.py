"""Patterns and hostile calls on every text that takes a pattern long: time grows with the length, never faster."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.findings import Finding
from tests.linear import calls
from tests.linear.patterns import all_patterns, slow_patterns

Say = Callable[[str], None]

#: More than any pattern has.
_ALL_TEXTS = 10_000


def linear(say: Say) -> Iterator[Finding]:
    say(f"{len(all_patterns()[0])} patterns ...")
    yield _finding("patterns", slow_patterns(_ALL_TEXTS))
    extent = calls.Extent()
    with (
        tempfile.TemporaryDirectory(prefix="hookline-soak-") as directory,
        calls.asking(Path(directory)) as ask,
    ):
        say("calls ...")
        yield _finding("guards and rules, arguments of a megabyte", calls.slow_calls(ask, extent))
        yield _finding("guards and rules, the longest lines", calls.slow_lines(ask, extent))
        say("programs ...")
        for quoted in (True, False):
            name = f"guards and rules, {'quoted' if quoted else 'plain'} words of programs"
            yield _finding(name, calls.slow_programs(ask, extent, quoted=quoted))
    say("permissions and redaction ...")
    yield _finding("permissions", calls.slow_permissions(extent))
    yield _finding("redaction", calls.slow_redaction(extent))


def _finding(name: str, slow: list[str]) -> Finding:
    shown = f"{len(slow)}: {'; '.join(slow[:5])}" if slow else "0"
    return Finding(f"{name}: texts with more than linear work", shown, "0", not slow)
