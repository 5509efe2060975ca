"""Screens that are checked in as text: what changes from run to run is replaced by a mark."""

import os
import re
from pathlib import Path

_DIRECTORY = Path(__file__).parent / "screens"
_CHANGES = (
    (r"/tmp/hl-[a-z0-9_]{8}", "/tmp/hl-########"),
    (r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠿"),
    (r"\b\d\d:\d\d:\d\d\b", "##:##:##"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "########-####-####-####-############"),
    (r"home-project-[0-9a-f]{8}", "home-project-########"),
    (r"\d+\.\d s\b", "#.# s"),
    (r" *\d+ ms *", "  # ms  "),
    (r"retry in \d+ s", "retry in # s"),
    (r"127.0.0.1:\d+", "127.0.0.1:#"),
    (r"\d+ tok", "# tok"),
    (r"hookline \d+\.\d+\.\d+", "hookline #.#.#"),
)


def check(name: str, text: str, *, columns: bool = False) -> None:
    """Compare with the file; HOOKLINE_GOLDEN=write writes it. `columns`: how wide they are depends on the times."""
    if columns:
        text = re.sub("  +", "  ", text)
    for pattern, mark in _CHANGES:
        text = re.sub(pattern, mark, text)
    file = _DIRECTORY / f"{name}.txt"
    if os.environ.get("HOOKLINE_GOLDEN") == "write":
        _DIRECTORY.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text(), f"{name} has changed; HOOKLINE_GOLDEN=write approves it"
