"""Screens that are checked in as text: what changes from run to run is replaced by a mark."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from tests.waiting import LONG

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
    text, file = _marked(text, columns), _file(name)
    if os.environ.get("HOOKLINE_GOLDEN") == "write":
        _DIRECTORY.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text(), f"{name} has changed; HOOKLINE_GOLDEN=write approves it"


def check_settled(name: str, read: Callable[[], str]) -> None:
    """The same for a real terminal, which shows one part of a picture before the next one."""
    end = time.monotonic() + LONG
    while _marked(read(), False) != _file(name).read_text() and time.monotonic() < end:
        time.sleep(0.05)
    check(name, read())


def _marked(text: str, columns: bool) -> str:
    if columns:
        text = re.sub("  +", "  ", text)
    for pattern, mark in _CHANGES:
        text = re.sub(pattern, mark, text)
    return text


def _file(name: str) -> Path:
    return _DIRECTORY / f"{name}.txt"
