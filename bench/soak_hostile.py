"""Open hostile repositories by every command under strace: none of their code may run, connect or write."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from bench.findings import Finding
from tests.hostile import traces
from tests.hostile.control import trusted_run
from tests.hostile.opened import Kind, Wrong, opened
from tests.hostile.openings import openings
from tests.hostile.repositories import REPOSITORIES, Build
from tests.hostile.site import Site

Say = Callable[[str], None]

#: What must not happen, as it is printed.
_FIGURES: dict[Kind, str] = {
    "exec": "programs of theirs",
    "connect": "connections",
    "write": "files changed outside our own state",
    "leak": "secrets printed, words of theirs in the terminal or told to the model",
    "guard": "guards of the user's own that did not stop a call",
    "hang": "commands that did not end",
    "crash": "commands that broke",
}
#: Most of the time is waiting for processes and for a terminal to fall silent.
_AT_ONCE = 3
_MOST_SHOWN = 12


class _Result(Struct, frozen=True):
    name: str
    commands: int
    wrong: Sequence[tuple[str, Wrong]]
    marks: Sequence[str]
    connections: int


def s3(say: Say) -> Iterator[Finding]:
    if missing := traces.problem():
        yield Finding("hostile repositories", f"skipped: {missing}", "needs ptrace", True)
        return
    yield _control()
    results: list[_Result] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for result in pool.map(_opened_by_all, REPOSITORIES, REPOSITORIES.values()):
            results.append(result)
            say(_line(result))
            for text in _shown(result):
                say(f"   {text}")
    yield from _findings(results)


def _control() -> Finding:
    """A harness that sees nothing finds nothing."""
    with tempfile.TemporaryDirectory() as top:
        site, seen = trusted_run(Path(top))
        kinds = {wrong.kind for wrong in seen.wrong}
        ok = kinds >= {"exec", "connect", "write"} and bool(site.marked()) and site.connections > 0
    name = "what it sees where the user trusts the repository"
    return Finding(name, ", ".join(sorted(kinds)), "exec, connect, write", ok)


def _opened_by_all(name: str, build: Build) -> _Result:
    with tempfile.TemporaryDirectory() as top, Site(Path(top, "site")) as site:
        build(site)
        wrong: list[tuple[str, Wrong]] = []
        ways = list(openings(site))
        for number, opening in enumerate(ways):
            seen = opened(site, opening, Path(top, "traces", str(number)))
            wrong += [(opening.name, each) for each in seen.wrong]
        return _Result(name, len(ways), wrong, site.marked(), site.connections)


def _line(result: _Result) -> str:
    counts = Counter(each.kind for _, each in result.wrong)
    seen = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"
    left = f"{len(result.marks)} marks, {result.connections} connections"
    return f"{result.name}: {result.commands} commands, {seen}; {left}"


def _shown(result: _Result) -> list[str]:
    """The different things that went wrong, each with the first command that showed it."""
    first: dict[str, str] = {}
    for command, each in result.wrong:
        first.setdefault(str(each), command)
    lines = [f"`{command}` {text}" for text, command in first.items()]
    return lines[:_MOST_SHOWN] + (
        [f"... and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else []
    )


def _findings(results: Sequence[_Result]) -> Iterator[Finding]:
    commands = sum(result.commands for result in results)
    counts = Counter(each.kind for result in results for _, each in result.wrong)
    yield Finding(
        "hostile repositories", f"{len(results)} opened by {commands} commands", ">= 20", len(results) >= 20
    )
    for kind, text in _FIGURES.items():
        yield Finding(text, str(counts[kind]), "0", not counts[kind])
    marks, connections = sum(len(each.marks) for each in results), sum(each.connections for each in results)
    yield Finding(
        "marks left, connections accepted", f"{marks}, {connections}", "0, 0", not marks and not connections
    )
