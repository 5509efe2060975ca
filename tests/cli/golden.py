"""Compare texts with the approved ones. HOOKLINE_GOLDEN=write approves the current output."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

DIRECTORY = Path(__file__).parent / "golden"


def _duration(found: re.Match[str]) -> str:
    return f"{' ' if found[1] else ''}N ms{'  ' if found[2] else ''}"


#: What differs from run to run, and what stands for it.
_VARIES = (
    (re.compile(r"(?:/private)?/tmp/hl-[a-z0-9_]{8}/home"), "/home/ada"),
    # A duration may be one digit longer next time, and the column beside it one blank shorter.
    (re.compile(r"( *)\b\d+(?:\.\d+)? (?:ms|µs)\b( {2,})?"), _duration),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "DATE TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b"), "TIME"),
    (re.compile(r'("(?:at|\w+_ms)": )[\d.e+-]+'), r"\g<1>0.0"),
    (re.compile(r'("run_id": )"[^"]*"'), r'\g<1>"ID"'),
    # What the machine can do, and why not more.
    (re.compile(r"^Exec guard: .*(?:\n.+)*", re.MULTILINE), "Exec guard: LEVEL"),
    (re.compile(r'("exec_guard": )\{[^}]*\}'), r"\g<1>{}"),
)


def normalised(text: str, places: Mapping[str, str] | None = None) -> str:
    """Replace durations, dates and temporary directories; `places` names further replacements."""
    for place in sorted(places or {}, key=len, reverse=True):
        text = text.replace(place, (places or {})[place])
    for pattern, stands_for in _VARIES:
        text = pattern.sub(stands_for, text)
    return text


def check_golden(name: str, text: str, places: Mapping[str, str] | None = None) -> None:
    """Compare the text with tests/cli/golden/NAME, except for what differs from run to run.

    Print into `run_cli.place()`, not into tmp_path: its path is equally long every time.
    """
    file = DIRECTORY / name
    found = normalised(text, places)
    if os.environ.get("HOOKLINE_GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found)
        return
    assert file.exists(), f"no golden file {name}; HOOKLINE_GOLDEN=write makes it"
    assert found == file.read_text()
