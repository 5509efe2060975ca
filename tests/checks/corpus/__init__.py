"""Read the corpus of doctor: cases in one text, each with its files."""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_CASE = re.compile(r"^=== (.+)\n", re.MULTILINE)
_SECTION = re.compile(r"^-- (\S+)(?: \((mode (\d+)|crlf)\))? --\n", re.MULTILINE)


class Case(Struct, frozen=True):
    """Files as a user has them; of a mistake also the kind of finding, and whether `--fix` mends it."""

    what: str
    files: tuple[tuple[str, str, int], ...]
    code: str = ""
    mended: bool = False

    def write_to(self, home: Path, project: Path) -> None:
        for name, text, mode in self.files:
            file = home / name[2:] if name.startswith("~/") else project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, newline="")
            file.chmod(mode)


def read_corpus(name: str) -> Iterator[Case]:
    _head, *parts = _CASE.split((Path(__file__).parent / f"{name}.txt").read_text())
    for what, text in zip(parts[::2], parts[1::2], strict=True):
        facts, *sections = _SECTION.split(text)
        code, _, more = facts.strip().partition(",")
        yield Case(what, tuple(_files(sections)), code, more.strip() == "mended")


def _files(sections: list[str]) -> Iterator[tuple[str, str, int]]:
    for name, special, mode, text in zip(*(sections[start::4] for start in range(4)), strict=True):
        body = f"{text.rstrip()}\n"
        yield (
            name,
            body.replace("\n", "\r\n") if special == "crlf" else body,
            int(mode, 8) if mode else 0o755 if text.startswith("#!") else 0o644,
        )
