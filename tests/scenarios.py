"""Scenario files: one behaviour each, in one text.

The first lines state the fact. `-- NAME --` begins a file, verbatim. The last two sections have the steps and the
expected results, as TOML::

    A deny survives an allow.

    -- .hookline/hooks.toml --
    ...
    -- do --
    fire PreToolUse tool_name=Bash tool_input.command="git push"
    -- expect --
    permission = "deny"
    runs = ["first blocked", "second ok"]

A file that begins with `#!` may be executed. `-- NAME (mode 755) --` gives any other permissions.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

_SECTION = re.compile(r"^-- (.+?) --\n", re.MULTILINE)
_MODE = re.compile(r" \(mode (\d+)\)$")
#: Keeps every byte as it is: some files are no text on purpose.
_BYTES = "latin-1"


class Scenario(Struct, frozen=True):
    fact: str
    files: Mapping[str, str]
    #: One line each; the first word is the step.
    steps: tuple[str, ...]
    expected: Mapping[str, Any]

    def write_to(self, directory: Path) -> None:
        for heading, text in self.files.items():
            mode = _MODE.search(heading)
            file = directory / _MODE.sub("", heading)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, _BYTES, newline="")
            file.chmod(int(mode[1], 8) if mode else 0o755 if text.startswith("#!") else 0o644)


def read_scenario(file: Path) -> Scenario:
    with file.open(encoding=_BYTES, newline="") as opened:
        return parsed_scenario(opened.read())


def parsed_scenario(text: str) -> Scenario:
    """Raise ValueError for a text that is not a scenario: a test that tests nothing must not pass."""
    head, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    steps, expected = sections.pop("do", "").strip(), sections.pop("expect", "").strip()
    fact = head.strip()
    if not fact or not steps or not expected:
        raise ValueError("a scenario needs a first line, -- do -- and -- expect --")
    return Scenario(fact, sections, tuple(steps.splitlines()), tomllib.loads(expected))


def payload_document(line: str) -> dict[str, Any]:
    """`fire PreToolUse tool_input.command=ls` as a payload; values that are JSON are taken as JSON."""
    _fire, event, *settings = shlex.split(line)
    document: dict[str, Any] = {"hook_event_name": event}
    for setting in settings:
        path, _, value = setting.partition("=")
        *way, last = path.split(".")
        inner = document
        for key in way:
            inner = inner.setdefault(key, {})
        inner[last] = _value(value)
    return document


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
