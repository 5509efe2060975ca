"""Scenario files: one behaviour each, with configuration in its own format.

The first line states the fact. `-- name --` begins a file, verbatim; the sections `fire` and `outcome` say
what happens and what comes of it::

    A deny survives an allow.

    -- .hookline/hooks.toml --
    ...
    -- fire --
    PreToolUse tool_name=Bash tool_input.command="git push"
    -- outcome --
    permission: deny
    runs: first blocked, second ok
"""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

_SECTION = re.compile(r"^-- (.+?) --\n", re.MULTILINE)


class Scenario(Struct, frozen=True):
    fact: str
    files: Mapping[str, str]
    #: One event per line: its name, and key=value with dots for what is inside.
    fire: tuple[str, ...]
    outcome: Mapping[str, str]

    def write_to(self, directory: Path) -> None:
        for name, text in self.files.items():
            file = directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755 if text.startswith("#!") else 0o644)


def read_scenario(text: str) -> Scenario:
    """Raises ValueError for a text that is no scenario: a test that tests nothing must not pass."""
    head, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    fire, outcome = sections.pop("fire", "").strip(), sections.pop("outcome", "").strip()
    fact = head.strip()
    if not fact or not fire or not outcome:
        raise ValueError("a scenario needs a first line, -- fire -- and -- outcome --")
    expected = dict(line.split(": ", 1) for line in outcome.splitlines())
    return Scenario(fact, sections, tuple(fire.splitlines()), expected)


def payload_document(line: str) -> dict[str, Any]:
    """`PreToolUse tool_input.command=ls` as a payload document; values that are JSON are taken as JSON."""
    event, *settings = shlex.split(line)
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
