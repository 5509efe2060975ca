"""Look up programs in one table of rows, `rows/*.txt`. A row is read when it is needed.

Use `row_of` to find what a command runs. Readers that take a program together with its sub-commands, as
guards and the readers of files do, use `words_at_once` and `style_at_once`.
"""

import os
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from hookline.shell.options import OptionSpec, Style
from hookline.shell.programs.row import ProgramRow, Word, names_of

__all__ = [
    "ProgramRow",
    "Word",
    "has_rows_below",
    "row_of",
    "row_with_files",
    "spec_at_once",
    "style_at_once",
    "table",
    "words_at_once",
]

TOPICS = (
    "builds",
    "consoles",
    "containers",
    "files",
    "git",
    "interpreters",
    "network",
    "packages",
    "plain",
    "privileges",
    "shells",
    "terminals",
    "texts",
    "wrappers",
)
_DIRECTORY = os.path.join(os.path.dirname(__file__), "rows")


class Table:
    """The position of each row, and the rows that were read."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Index `texts`, the rows by their topics."""
        self._written: dict[str, tuple[str, str]] = {}
        self._read: dict[str, ProgramRow] = {}
        #: Programs, and sub-commands, with sub-commands that may run something.
        self.above: set[str] = set()
        #: Programs and sub-commands, and those above them, that may run others in a directory that an option names.
        self.entering: set[str] = set()
        #: The same, whether these run anything or not.
        self.over: set[str] = set()
        self._below: dict[str, list[str]] = {}
        for topic, text in texts.items():
            for block in text.split("\n\n"):
                names, _, job = block.partition("\n")[0].partition(" = ")
                at = (topic, block)
                if " chdir=" in block:
                    parts = [name.split(" ") for name in names_of(names)]
                    self.entering |= {
                        " ".join(each[:end]) for each in parts for end in range(1, len(each) + 1)
                    }
                if " " not in names:
                    self._written[names] = at
                    continue
                for name in names_of(names):
                    self._written[name] = at
                    if " " in name:
                        self._below.setdefault(name.partition(" ")[0], []).append(name)
                        self.over.add(name.rpartition(" ")[0])
                        if job:
                            self.above.add(name.rpartition(" ")[0])

    def __contains__(self, key: str) -> bool:
        return key in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def get(self, key: str) -> ProgramRow | None:
        written = self._written.get(key)
        if written is None:
            return None
        row = self._read.get(written[1])
        if row is None:
            row = self._read[written[1]] = self._row(*written)
        return row

    def below(self, key: str) -> Iterator[ProgramRow]:
        """Yield the rows of its sub-commands, at every depth."""
        for name in self._below.get(key.partition(" ")[0], ()):
            if name.startswith(f"{key} ") and (row := self.get(name)) is not None:
                yield row

    def _row(self, topic: str, block: str) -> ProgramRow:
        head, _, body = block.partition("\n")
        names, _, job = head.partition(" = ")
        options: list[str] = []
        given: dict[str, Any] = {}
        for word in body.split():
            if word[0] in "-+":
                options.append(word)
            else:
                name, _, value = word.partition("=")
                given[name] = self._property(topic, name, value)
        return ProgramRow(names, job, tuple(options), **given)

    def _property(self, topic: str, name: str, value: str) -> Any:
        match name:
            case "command" | "stdin_operands":
                made = int(value)
            case (
                "quiet" | "silent" | "away" | "changes" | "shows" | "instead" | "stays" | "besides" | "unread" | "loose"
                | "chdir" | "does" | "hooks" | "loads" | "recipes" | "recipes_by" | "hidden" | "removes"
            ):  # fmt: skip
                made = tuple(filter(None, value.split(",")))
            case "plain" | "near":
                made = tuple(value.replace("-", " ").split(","))
            case "first" | "others" | "stdin":
                made = value.replace("-", " ")
            case "like":
                made = self.get(value.replace("_", " "))
            case "ordered" | "reader":
                made = getattr(import_module(f"{__name__}.{topic}"), value)
            case "sub":
                made = value or "before"
            case "builtin":
                made = value or "only"
            case "style" | "files" | "default" | "package":
                made = value
            case _:
                made = True
        return made


def text_of(topic: str) -> str:
    """Return the rows of a topic, with an empty line between them."""
    with open(os.path.join(_DIRECTORY, f"{topic}.txt"), "rb") as file:
        return file.read().decode().rstrip("\n")


@cache
def table() -> Table:
    return Table({topic: text_of(topic) for topic in TOPICS})


@lru_cache(maxsize=1024)
def row_of(key: str) -> ProgramRow | None:
    """Return the row of a program, or of a sub-command (`git bisect run`), that may run something."""
    row = table().get(key)
    return row if row is not None and row.job else None


@lru_cache(maxsize=1024)
def row_with_files(key: str) -> ProgramRow | None:
    """Return the row of a program, or of a sub-command, with known files."""
    row = table().get(key)
    return row if row is not None and row.files is not None else None


def has_rows_below(key: str) -> bool:
    """Return True if sub-commands of it have their own rows, and may run something."""
    return key in table().above


@cache
def words_at_once(key: str) -> Mapping[str, Word]:
    """Return the options of a program in the table and of its sub-commands, unless these come strictly behind
    it.

    Nothing is known of an option that has a value for some sub-commands only.
    """
    rows = table()
    row = rows.get(key)
    if row is None or row.sub == "before":
        return {} if row is None else row.words
    found: dict[str, Word] = {}
    unsure: set[str] = set()
    for below in rows.below(key):
        for name, word in below.words.items():
            if found.setdefault(name, word).takes != word.takes:
                unsure.add(name)
    common = rows.get(f"{key} *")
    sure = {name: word for name, word in found.items() if name not in unsure}
    return {**sure, **(common.words if common is not None else {}), **row.words}


def style_at_once(key: str, row: ProgramRow) -> Style:
    """Return the style of the options of a program and of its sub-commands, read at once."""
    if row.sub == "before":
        return "posix"
    # They may also follow the sub-command.
    return "gnu" if row.style == "posix" and has_rows_below(key) else row.style


@cache
def spec_at_once(key: str) -> OptionSpec:
    """Return the options of a program in the table with those of its sub-commands."""
    row = table().get(key)
    if row is None:
        return OptionSpec()
    words = words_at_once(key).values()
    text = " ".join(word.name + word.takes for word in words)
    return OptionSpec(text, style_at_once(key, row), exact=row.exact)
