"""Write docs/reference/adapters.md: what hooks can do in each agent framework, case by case."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from hookline.model.events import EVENTS
from hookline.testing.conformance import Case, cases
from tools.adapters.results import Result, read_results
from tools.markdown import GENERATED, code, page, table

_HEAD = """# What hooks can do in each framework

Every host runs the same [conformance suite](../how-to/check-your-agent.md), the host API by hand and `hookline agent`
included. `full`: the agent does everything that the case shows. `part`: the essential part works (the tool did not
run), and something else is missing. `none`: the framework cannot do it; Hookline claims nothing about such a case.

An adapter declares every case that is not full, with the reason. The suite still plays the case, which must end
exactly as declared, so no declaration outlives its reason. `make test-adapters` runs the suite for each adapter in
an environment with its framework, and compares the results with this table."""

_TOGETHER = """## Together in one environment

The extras of all frameworks have versions that fit into one environment, but for `agent-framework` and `antigravity`,
which were not tried together with the others.
`hookline[agent]`, the models and MCP servers of `hookline agent`, fits with all but `hookline[strands]`: Strands 1.62
needs `mcp` below 2.2, and the agent needs 2.3. For LangChain with Google ADK, and for many extras at once, pip may give
up although there is a solution; `uv pip install` finds it."""


_EVENTS = """## Which events fire where

Seen in conversations with calls, questions, failures and a subagent; `-` means not seen there. SessionEnd fires when
the program closes a session. PreCompact and PostCompact fire in `hookline agent`, and by `session.compact` of the host
API. An adapter logs a warning (log `hookline`) for a hook whose event it never fires. For agents with hooks, see
[the events of each](../dialects/index.md); `hookline agent` fires [all of them](firing.md)."""


def adapters_page(root: Path) -> str:
    results = read_results(root)
    rows = cases(slow=True)
    return page(
        GENERATED,
        _HEAD,
        table(("cases", *results), _counts(results)),
        _TOGETHER,
        _EVENTS,
        table(("event", *results), _events(results)),
        "## Case by case",
        table(("case", "what it shows", *results), (_row(case, results) for case in rows)),
        "## Why",
        *(_reasons(name, result) for name, result in results.items() if result.limits),
    )


def _events(results: Mapping[str, Result]) -> Iterator[tuple[str, ...]]:
    fired = {name for result in results.values() for name in result.events}
    for event in (name for name in EVENTS if name in fired):
        yield (event, *("fires" if event in result.events else "-" for result in results.values()))


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
