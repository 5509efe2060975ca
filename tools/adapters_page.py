"""What hooks can do in each agent framework, case by case: docs/reference/adapters.md."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from hookline.testing.conformance import Case, cases
from tools.adapters.results import Result, read_results
from tools.markdown import GENERATED, code, page, table

_HEAD = """# What hooks can do in each framework

Every host runs the same [conformance suite](../how-to/check-your-agent.md), the host API by hand and `hookline agent`
included. `full`: the agent does all that the case shows. `part`: what must never go wrong is right (the tool did not
run), and something else is missing. `none`: the framework has no way to do it; nothing is claimed about such a case.

What is not full is declared with the reason, and the case is played all the same: it must come out exactly as declared,
so no declaration outlives its reason. `make test-adapters` runs the suite for each adapter in an environment with its
framework, and checks that this table is what came out."""


def adapters_page(root: Path) -> str:
    results = read_results(root)
    rows = cases(slow=True)
    return page(
        GENERATED,
        _HEAD,
        table(("", *results), _counts(results)),
        "## Case by case",
        table(("case", "what it shows", *results), (_row(case, results) for case in rows)),
        "## Why",
        *(_reasons(name, result) for name, result in results.items() if result.limits),
    )


def _counts(results: Mapping[str, Result]) -> Iterator[tuple[str, ...]]:
    counts = [Counter(result.levels.values()) for result in results.values()]
    for level in ("full", "part", "none"):
        yield (level, *(str(each[level]) for each in counts))


def _row(case: Case, results: Mapping[str, Result]) -> tuple[str, ...]:
    levels = (result.levels.get(case.name, "not run") for result in results.values())
    return (case.name, case.shows, *(level if level == "full" else f"**{level}**" for level in levels))


def _reasons(name: str, result: Result) -> str:
    rows = [(case, limit.level, limit.reason, code(limit.source)) for case, limit in result.limits.items()]
    return f"### {name}\n\n" + table(("case", "", "why", "seen in"), rows)
