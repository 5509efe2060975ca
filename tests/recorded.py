"""Cases recorded from a real client, in tests/dialects/DIALECT/recorded/cases, a file per event.

Each case is what the client was given (`hooks`, `settings`, `files`, the calls its model made, `payloads`), and what
was `observed`. `expect` is the same without what the client puts around the words of a hook, and without what only
a whole agent can show; `expect_agent` is there for the cases that `hookline agent` plays as well.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Case = Mapping[str, Any]

_DIALECTS = Path(__file__).parent / "dialects"


def recorded_cases(folder: Path = _DIALECTS / "claude_code") -> dict[str, Case]:
    """By id, of the dialect whose tests are in this folder."""
    files = sorted((folder / "recorded/cases").glob("*.json"))
    cases: list[Case] = [case for file in files for case in json.loads(file.read_text())]
    return {case["id"]: case for case in cases}
