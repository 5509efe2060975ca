"""Write the pages of recorded cases: per dialect, how many are played, which differ, which need an agent."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.recorded import recorded_cases
from tools.markdown import GENERATED, code, page, table

#: Beside a dialect's tests: the recording, and the two lists about it.
_CASES, _DIFFERENT, _NEEDS_AGENT = "recorded/cases", "different.toml", "needs_agent.toml"
#: What the agent's tests say about the one client whose whole sessions were recorded.
_IN_AGENT, _WHOSE = "tests/agent/recorded", "claude-code"


def recorded_pages(root: Path) -> dict[str, str]:
    """Every page by its path, for each dialect that has recorded cases."""
    pages: dict[str, str] = {}
    for cases in sorted((root / "tests/dialects").glob(f"*/{_CASES}")):
        directory = cases.parent.parent
        name = directory.name.replace("_", "-")
        in_agent = root / _IN_AGENT if name == _WHOSE else None
        pages[f"docs/dialects/{name}-recorded.md"] = recorded_page(name, directory, in_agent)
    return pages


def recorded_page(name: str, directory: Path, in_agent: Path | None = None) -> str:
    cases = list(recorded_cases(directory).values())
    different, needs_agent = _rows(directory / _DIFFERENT, "reason"), _rows(directory / _NEEDS_AGENT, "why")
    apart = {case for case, _words in (*different, *needs_agent)}
    agreeing = [case["id"] for case in cases if case["id"] not in apart]
    counts = (
        ("agree", len(agreeing)),
        ("are different on purpose", len(different)),
        ("need an agent", len(needs_agent)),
    )
    return page(
        f"# {name}: the recorded cases",
        GENERATED,
        "Each case is the configuration, the scripts and the payloads of one run of the real client. The tests "
        "play it in the engine, with real processes and a real server, and compare what was blocked, the "
        "reason, the text for the model, the rewritten input, whether the run stopped and how many hooks ran, "
        "without the text that the client adds around them.",
        table(("of the recorded cases", "number"), ((what, str(count)) for what, count in counts)),
        "## Different on purpose",
        table(("case", "why"), ((code(case), words) for case, words in different)),
        "## Cases that need an agent",
        table(("case", "what it needs"), ((code(case), words) for case, words in needs_agent)),
        *(_agent_blocks(cases, directory, in_agent) if in_agent is not None else ()),
        "## Cases with the same result in the engine",
        ", ".join(map(code, agreeing)) + ".",
    )


def _agent_blocks(cases: Sequence[Mapping[str, Any]], directory: Path, in_agent: Path) -> Iterator[str]:
    played = [case["id"] for case in cases if "expect_agent" in case]
    different = _rows(in_agent / "different.toml", "reason")
    yield "## In the agent"
    yield (
        f"{len(played)} cases are played by `hookline agent` as well, with the calls the client's model made: "
        "all cases that show more than how Hookline finds, runs and reads one hook. The tests compare the requests "
        "to the model, what ran, which text of hooks the model saw and which it did not, how the turn ended, what was "
        f"shown, and how often hooks ran. {len(played) - len(different)} have the same result; these differ:"
    )
    yield table(("case", "why"), ((code(case), words) for case, words in different))
    yield from _order_blocks(directory, in_agent)


def _order_blocks(directory: Path, in_agent: Path) -> Iterator[str]:
    recorded = json.loads((directory / "recorded/firing_order.json").read_text())["runs"]
    listed = tomllib.loads((in_agent / "order_different.toml").read_text())
    rows, left_out = listed["difference"], listed["not_played"]
    differ = {run for row in rows for run in row["runs"]}
    same = [run for run in recorded if run not in differ and run not in {row["run"] for row in left_out}]
    yield "## The order of events in whole sessions"
    yield (
        f"{len(recorded)} sessions of the client were recorded. {len(recorded) - len(left_out)} are played by "
        "the agent with the same calls, and the events that the client has are compared one by one; Hookline "
        f"fires more. {len(same)} are the same from the first event to the last: {', '.join(map(code, same))}. "
        "The others differ only in this:"
    )
    yield table(
        ("session", "event", "only fired by", "after", "why"),
        (
            (
                ", ".join(map(code, row["runs"])),
                code(row["event"]),
                row["only"],
                code(row["after"]),
                row["reason"],
            )
            for row in rows
        ),
    )
    yield table(("not played", "why"), ((code(row["run"]), row["reason"]) for row in left_out))


def _rows(path: Path, word: str) -> list[tuple[str, str]]:
    rows = tomllib.loads(path.read_text()).get("case", [])
    return [(row["id"], row[word]) for row in rows]
