"""Approved texts of what must not change. HOOKLINE_GOLDEN=write approves what the code gives now."""

import difflib
import os
from pathlib import Path

DIRECTORY = Path(__file__).parent / "approved"


def check_approved(name: str, text: str) -> None:
    """The text equals tests/frozen/approved/NAME."""
    file = DIRECTORY / name
    if os.environ.get("HOOKLINE_GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert file.exists(), f"{file} is missing; HOOKLINE_GOLDEN=write creates it"
    approved = file.read_text()
    lines = difflib.unified_diff(
        approved.splitlines(), text.splitlines(), "approved", "now", n=0, lineterm=""
    )
    assert text == approved, "\n".join([f"{file.name} changes; HOOKLINE_GOLDEN=write approves it", *lines])
