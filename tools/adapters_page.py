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

_TOGETHER = """## Together in one environment

There are versions with which the extras of any two frameworks, and of all six, go into one environment.
`hookline[agent]`, the models and MCP servers of `hookline agent`, goes with all but `hookline[strands]`: Strands 1.62
wants `mcp` below 2.2, and the agent wants 2.3. On LangChain with Google ADK, and on many extras at once, pip may give
up although there is a solution; `uv pip install` finds it."""


def adapters_page(root: Path) -> str:
    results = read_results(root)
    rows = cases(slow=True)
    return page(
        GENERATED,
        _HEAD,
        table(("", *results), _counts(results)),
        _TOGETHER,
        "## Case by case",
        table(("case", "what it shows", *results), (_row(case, results) for case in rows)),
        "## Why",
        *(_reasons(name, result) for name, result in results.items() if result.limits),
    )


def _counts(results: Mapping[str, Result]) -> Iterator[tuple[str, ...]]:
    counts = [Counter(result.levels.values()) for result in results.values()]
    for level in ("full", "part", "none"):
        yield (level, *(str(each[level]) for each in counts))
    yield ("measured with", *(result.releases or "this version" for result in results.values()))


def _row(case: Case, results: Mapping[str, Result]) -> tuple[str, ...]:
    levels = (result.levels.get(case.name, "not run") for result in results.values())
    return (case.name, case.shows, *(level if level == "full" else f"**{level}**" for level in levels))


def _reasons(name: str, result: Result) -> str:
    rows = [(case, limit.level, limit.reason, code(limit.source)) for case, limit in result.limits.items()]
    return f"### {name}\n\n" + table(("case", "", "why", "seen in"), rows)
