"""The corpus of shell lines that really start a forbidden program, as it is written in `reaches.txt`.

A line of the file is the program and the shells in which it was seen to start (b: bash, d: dash), then the line:

    = option clusters
    rm:bd bash -euo pipefail -c 'rm y'

`= name` begins a family. Control characters are written as their pictures (␊ is a new line, ␉ a tab). The last family
is what no text can show: a guard may be silent there, and a comment above each line or group of lines says why.

A new line is entered with `?` in place of program and shells; `python -m bench.shell_confirm` runs it in the sandbox
and fills that in, or says that it starts nothing.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

FILE = Path(__file__).with_name("reaches.txt")
NO_TEXT_SHOWS = "no text can show it"
_PICTURES = re.compile("[\u2400-\u241f]")
_CONTROLS = re.compile("[\0-\x1f]")


class Reaching(Struct, frozen=True):
    family: str
    #: The program it starts; empty before it was confirmed.
    program: str
    shells: tuple[str, ...]
    line: str
    why: str = ""


def corpus() -> tuple[Reaching, ...]:
    return tuple(read(FILE.read_text()))


def read(text: str) -> Iterator[Reaching]:
    family = why = ""
    for row in text.split("\n"):
        if row.startswith("= "):
            family, why = row[2:], ""
        elif row.startswith("#"):
            why = row.lstrip("# ")
        elif row:
            seen, _, line = row.partition(" ")
            program, _, shells = seen.partition(":")
            line = _PICTURES.sub(lambda found: chr(ord(found[0]) - 0x2400), line)
            names = tuple(name for name in ("bash", "dash") if name[0] in shells)
            yield Reaching(
                family, "" if program == "?" else program, names, line, why if family == NO_TEXT_SHOWS else ""
            )


def written(entries: Iterable[Reaching]) -> Iterator[str]:
    """The rows of the file below its heading."""
    family = why = ""
    for entry in entries:
        if entry.family != family:
            family, why = entry.family, ""
            yield ""
            yield f"= {family}"
        if entry.why != why:
            why = entry.why
            yield f"# {why}"
        seen = f"{entry.program}:{''.join(name[0] for name in entry.shells)}" if entry.program else "?"
        yield f"{seen} {on_one_line(entry.line)}"


def on_one_line(line: str) -> str:
    """As the corpus has it."""
    return _CONTROLS.sub(lambda found: chr(ord(found[0]) + 0x2400), line)
