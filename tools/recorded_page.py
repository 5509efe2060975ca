"""The pages of recorded cases: per dialect, how many are played, which are different, which need an agent."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.markdown import GENERATED, code, page, table

#: Beside a dialect's tests: the recording, and the two lists about it.
_CASES, _DIFFERENT, _NEEDS_AGENT = "recorded/cases.json", "different.toml", "needs_agent.toml"


def recorded_pages(root: Path) -> dict[str, str]:
    """Every page by its path, for each dialect that has recorded cases."""
    pages: dict[str, str] = {}
    for cases in sorted((root / "tests/dialects").glob(f"*/{_CASES}")):
        folder = cases.parent.parent
        name = folder.name.replace("_", "-")
        pages[f"docs/dialects/{name}-recorded.md"] = recorded_page(name, folder)
    return pages


def recorded_page(name: str, folder: Path) -> str:
    cases: list[Mapping[str, Any]] = json.loads((folder / _CASES).read_text())
    different, needs_agent = _rows(folder / _DIFFERENT, "reason"), _rows(folder / _NEEDS_AGENT, "why")
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
        "after taking off the words the client puts around them.",
        table(("of the recorded cases", "number"), ((what, str(count)) for what, count in counts)),
        "## Different on purpose",
        table(("case", "why"), ((code(case), words) for case, words in different)),
        "## Not for an engine alone",
        table(("case", "what it needs"), ((code(case), words) for case, words in needs_agent)),
        "## Played, and the same",
        ", ".join(map(code, agreeing)) + ".",
    )


def _rows(path: Path, word: str) -> list[tuple[str, str]]:
    rows = tomllib.loads(path.read_text()).get("case", [])
    return [(row["id"], row[word]) for row in rows]
