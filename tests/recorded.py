"""Cases recorded from a real client, in tests/dialects/DIALECT/recorded/cases, a file per event.

Each case is what the client was given (`hooks`, `settings`, `files`, the calls its model made, `payloads`), and what
was `observed`. `expect` is the same without what the client puts around the words of a hook, and without what only
a whole agent can show; `expect_agent` is there for the cases that `hookline agent` plays as well.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Case = Mapping[str, Any]

CLAUDE_CODE = Path(__file__).parent / "dialects/claude_code"


def recorded_cases(directory: Path = CLAUDE_CODE) -> dict[str, Case]:
    """Return the cases by id, of the dialect whose tests are in this directory."""
    files = sorted((directory / "recorded/cases").glob("*.json"))
    cases: list[Case] = [case for file in files for case in json.loads(file.read_text())]
    return {case["id"]: case for case in cases}


def listed(file: Path, word: str) -> dict[str, str]:
    """The cases that a list is about, each with what it says by that word."""
    return {row["id"]: row[word] for row in tomllib.loads(file.read_text())["case"]}
