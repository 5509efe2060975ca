"""Find the files of one command, by a row about its program."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from hookline.shell.options import Options, OptionSpec, read_options
from hookline.shell.placeholders import HOLE, Words
from hookline.shell.programs import (
    ProgramRow,
    row_with_files,
    style_at_once,
    table,
    words_at_once,
)


class CommandFiles(NamedTuple):
    """The files of one command, as its words have them. A word with a placeholder is a file that only the
    shell knows."""

    reads: Words = ()
    writes: Words = ()
    #: Each may be read, written or not a file at all: the program is not known, or a script decides.
    perhaps: Words = ()
    #: Files whose content goes to another machine.
    sends: Words = ()
    #: Files with which the command proves its identity (`ssh -i`). It does not reveal them.
    keys: Words = ()
    #: Files that are only named or listed. A command that gets this output as words may read or write them.
    names: Words = ()
    #: Files that get another name, under which they can be changed.
    links: Words = ()
    #: A directory among them means all that it holds.
    whole: bool = False
    #: Directories where files arrive under their own names, if the target is a directory.
    into: Words = ()
    #: Directories whose contents go into another one under their own names.
    contents: tuple[tuple[str, str], ...] = ()
    #: Code in another language, in which a file can only be searched for.
    code: Words = ()
    #: Reasons why it writes more than its plain job: names of options, or the text of a program.
    by_option: Words = ()


NOTHING = CommandFiles()
_STREAMS = frozenset(("", "-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"))


class FileUse(NamedTuple):
    """The file part of a row: its options, and what each of them has to do with files."""

    key: str
    row: ProgramRow
    spec: OptionSpec
    signs: Mapping[str, str]


@lru_cache(maxsize=512)
def file_use(key: str) -> FileUse | None:
    """Return the row about the files of a program or a sub-command, or None."""
    row = row_with_files(key)
    if row is None:
        return None
    words = row.words if row.sub else words_at_once(key)
    text = " ".join(word.name + word.takes for word in words.values())
    spec = OptionSpec(text, "posix" if row.sub else style_at_once(key, row), exact=row.exact)
    signs = {word.name: word.sign.replace("*", "") for word in words.values() if word.sign}
    return FileUse(key, row, spec, signs)


@lru_cache(maxsize=512)
def marked_use(key: str) -> FileUse | None:
    """Return the row of a program or a sub-command, whether its operands are known or not."""
    row = table().get(key)
    if row is None:
        return None
    # The options of a sub-command come behind it.
    spec = row.spec_before_operands if key in table().over else row.spec
    signs = {word.name: word.sign.replace("*", "") for word in row.words.values() if word.sign}
    return FileUse(key, row, spec, signs)


class ParsedCommand(NamedTuple):
    """A command whose words were read by its row."""

    use: FileUse
    #: All words after the program, or after the sub-command.
    rest: Words
    given: Options
    #: The files by the row alone.
    found: CommandFiles


def by_row(use: FileUse, rest: Words) -> ParsedCommand:
    given = read_options(rest, use.spec)
    return ParsedCommand(use, rest, given, _Found(use, rest, given).files())


def named_by_options(use: FileUse, rest: Words, given: Options) -> CommandFiles:
    """Return the files that options name."""
    return _Found(use, rest, given).files(operands=False)._replace(perhaps=())


class _Found:
    """Gathers the files of one command."""

    def __init__(self, use: FileUse, rest: Words, given: Options) -> None:
        row = self._row = use.row
        self._signs = use.signs
        self._given = given
        self._lists: dict[str, list[str]] = {sign: [] for sign in "<>?^!%#"}
        self._by_option: list[str] = []
        self._whole = row.whole
        self._in_place = self._dry = False
        for option in given.given:
            for sign in use.signs.get(option.name, ""):
                self._option(sign, option.name, option.value)
        for word in given.unknown:
            self._unknown(word)
        if given.first in given.perhaps_values:
            self._unknown_written(rest[given.first - 1], rest[given.first])

    def _option(self, sign: str, name: str, value: str | None) -> None:
        if sign == "~":
            self._in_place = True
        elif sign == ">" and (value is None or "~" in self._signs.get(name, "")):
            self._by_option.append(name)
        elif sign == "&":
            self._whole = True
        elif sign == "?":
            self._dry = True
        elif value is not None and sign == "@":
            self._lists["^"].extend(sent_files(value, name))
        elif value is not None and sign in "<!#^":
            self._lists[sign].extend(_files_in(value) if sign == "<" else (value,))
        elif value is not None and value not in _STREAMS:
            self._lists[">"].extend(_files_in(value))
            if sign == ">":
                self._by_option.append(name)

    def _unknown(self, word: str) -> None:
        """Handle `--report=x`: the value of an unknown option may be a file."""
        name, equals, value = word.partition("=")
        if equals and not self._unknown_written(name, value) and ("/" in value or value[:1] == "."):
            self._lists["?"].append(value)

    def _unknown_written(self, name: str, value: str) -> bool:
        is_written = any(part in name for part in ("out", "report", "xml", "log", "file"))
        if is_written:
            self._option(">", name, value)
        return is_written

    def files(self, *, operands: bool = True) -> CommandFiles:
        if operands:
            self._operands()
        lists = self._lists
        return CommandFiles(
            reads=plain([*lists["<"], *lists["^"]]),
            writes=plain(lists[">"]),
            perhaps=plain(lists["?"]),
            sends=plain(lists["^"]),
            keys=plain(lists["!"]),
            names=plain(lists["%"]),
            whole=self._whole,
            code=tuple(lists["#"]),
            by_option=tuple(self._by_option),
        )

    def _operands(self) -> None:
        operands = self._given.operands or ((self._row.default,) if self._row.default else ())
        signs = "" if self._row.sub else self._row.files or ""
        if signs[:1] == "-" and self._row.instead and self._given.has(*self._row.instead):
            signs = signs[1:]
        for word, sign in zip(operands, _spread(signs, operands), strict=False):
            self._operand(word, sign)

    def _operand(self, word: str, sign: str) -> None:
        reads, writes = sign in "<=", sign in ">=$" or (sign == "<" and self._in_place)
        if sign == "$" and word not in _STREAMS:
            self._by_option.append(word)
        if reads:
            self._lists["<"].append(word)
        if writes:
            self._lists["%" if self._dry else ">"].append(word)
        if sign in "?#":
            self._lists["?"].extend(paths_in((word,)))
        if sign in "^!%#":
            self._lists[sign].append(word)


def _spread(signs: str, operands: Words) -> str:
    """Return a sign for each of the operands."""
    head, star, last = signs.partition("*")
    if not star:
        return head.ljust(len(operands), "-")
    filled = head.ljust(len(operands), head[-1:])[: max(len(operands), 0)]
    if last and len(operands) == 1 and HOLE in operands[0]:
        # It may be several.
        return "="
    return filled[: len(operands) - 1] + last if last and len(operands) > 1 else filled


def plain(words: Iterable[str]) -> Words:
    # Most are empty.
    return () if not words else tuple(dict.fromkeys([word for word in words if word not in _STREAMS]))


def merged(one: CommandFiles, other: CommandFiles) -> CommandFiles:
    """Merge the files of both."""
    if NOTHING in (one, other):
        return other if one == NOTHING else one
    return CommandFiles(
        reads=plain(one.reads + other.reads),
        writes=plain(one.writes + other.writes),
        perhaps=plain(one.perhaps + other.perhaps),
        sends=plain(one.sends + other.sends),
        keys=plain(one.keys + other.keys),
        names=plain(one.names + other.names),
        links=plain(one.links + other.links),
        whole=one.whole or other.whole,
        into=plain(one.into + other.into),
        contents=(*one.contents, *other.contents),
        code=one.code + other.code,
        by_option=tuple(dict.fromkeys(one.by_option + other.by_option)),
    )


def paths_in(words: Words) -> Words:
    """Return the parts of an unknown program's words that may be files: a word, the text after `=`, or after
    an option's letter."""
    found: list[str] = []
    for word in words:
        _name, equals, value = word.partition("=")
        if word[:1] != "-":
            found.append(word)
        elif word[:2] != "--" and len(word) > 2:
            found.append(word[2:])
        if equals:
            found.append(value)
    return plain([word for word in found if "\n" not in word])


def looks_recursive(rest: Words) -> bool:
    return any(
        word in {"--recursive", "--archive", "--delete", "--mirror"}
        or (word[:1] == "-" and word[:2] != "--" and not {"r", "R"}.isdisjoint(word))
        for word in rest
    )


def _files_in(value: str) -> Words:
    """Return the value, and what follows the name in one: `--set-file key=.env`, `--emit asm=/x.s`."""
    return (value, value.rpartition("=")[2]) if "=" in value else (value,)


#: Patterns are compiled when they are needed first, and kept by `re`.
_SENT = r"(?s)(?:[^=@<]*=)?[@<](?P<file>.+)"


def sent_files(value: str, option: str = "") -> Words:
    """Return the file in a value such as `@file`, `name=@file` or `name=<file;type=x`; `name@file` only where
    that is one."""
    if option == "--data-urlencode" and "@" in value and "=" not in value:
        return (value.partition("@")[2],)
    match = re.match(_SENT, value)
    return (match["file"].partition(";")[0],) if match else ()
