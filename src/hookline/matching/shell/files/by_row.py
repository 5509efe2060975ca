"""The files of one command, by a row about its program."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from hookline.matching.shell.files.rows import FileUse
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.options import Options, OptionSpec, Style, read_options


class Files(NamedTuple):
    """The files of one command, as its words have them. A word with a hole is a file that only the shell knows."""

    reads: Words = ()
    writes: Words = ()
    #: Each may be read, written or no file at all: the program is not known, or a script decides.
    perhaps: Words = ()
    #: Of what is read, what goes to another machine.
    sends: Words = ()
    #: Files with which the command proves who it is (`ssh -i`). It shows them to nobody.
    keys: Words = ()
    #: Files that are only named or listed. What gets the output of the command as words may read or write them.
    names: Words = ()
    #: Files that get another name, under which they can be changed.
    links: Words = ()
    #: A directory among them means all that it holds.
    whole: bool = False
    #: Where files arrive under their own names, if the target is a directory.
    into: Words = ()
    #: Directories whose contents go into another one under their own names.
    contents: tuple[tuple[str, str], ...] = ()
    #: Code in another language, in which a file can only be searched for.
    code: Words = ()
    #: What makes it write more than its plain job: names of options, or the text of a program.
    by_option: Words = ()


NOTHING = Files()
_STREAMS = frozenset(("", "-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"))


class _Plan(NamedTuple):
    """The options of a row: as the reader of options needs them, and what each has to do with files."""

    spec: OptionSpec
    marks: Mapping[str, str]


_MARKS = "<>+!@^#~&?"


@lru_cache(maxsize=512)
def _plan(options: str, style: Style) -> _Plan:
    marks: dict[str, str] = {}
    texts: list[str] = []
    for word in options.split():
        text = word.rstrip(_MARKS)
        texts.append(text)
        if text != word:
            marks[text.rstrip(":")] = word[len(text) :]
    return _Plan(OptionSpec(" ".join(texts), style), marks)


class Call(NamedTuple):
    """A command whose words were read by its row."""

    row: FileUse
    #: All words after the program, or after the sub-command.
    rest: Words
    given: Options
    #: What the row alone says.
    found: Files


def by_row(row: FileUse, rest: Words) -> Call:
    plan = _plan(row.options, row.style)
    given = read_options(rest, plan.spec)
    return Call(row, rest, given, _Found(row, plan, given).files())


class _Found:
    """Gathers the files of one command."""

    def __init__(self, row: FileUse, plan: _Plan, given: Options) -> None:
        self._row = row
        self._plan = plan
        self._given = given
        self._lists: dict[str, list[str]] = {sign: [] for sign in "<>?^!%#"}
        self._by_option: list[str] = []
        self._whole = row.whole
        self._in_place = self._dry = False
        for option in given.given:
            for mark in plan.marks.get(option.name, ""):
                self._option(mark, option.name, option.value)
        for word in given.unknown:
            self._unknown(word)

    def _option(self, mark: str, name: str, value: str | None) -> None:
        if mark == "~":
            self._in_place = True
        elif mark == ">" and (value is None or "~" in self._plan.marks.get(name, "")):
            self._by_option.append(name)
        elif mark == "&":
            self._whole = True
        elif mark == "?":
            self._dry = True
        elif value is not None and mark == "@":
            self._lists["^"].extend(sent_files(value, name))
        elif value is not None and mark in "<!#^":
            self._lists[mark].append(value)
        elif value is not None and value not in _STREAMS:
            self._lists[">"].append(value)
            if mark == ">":
                self._by_option.append(name)

    def _unknown(self, word: str) -> None:
        """`--report=x`: what an option of an unknown name may mean."""
        name, equals, value = word.partition("=")
        if equals and any(part in name for part in ("out", "report", "xml", "log", "file")):
            self._option(">", name, value)
        elif equals and ("/" in value or value[:1] == "."):
            self._lists["?"].append(value)

    def files(self) -> Files:
        operands = self._given.operands or ((self._row.default,) if self._row.default else ())
        signs = "" if self._row.sub else self._row.operands
        if signs[:1] == "-" and self._row.instead and self._given.has(*self._row.instead.split()):
            signs = signs[1:]
        for word, sign in zip(operands, _spread(signs, operands), strict=False):
            self._operand(word, sign)
        lists = self._lists
        return Files(
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
    """A sign for each of the operands."""
    head, star, last = signs.partition("*")
    if not star:
        return head.ljust(len(operands), "-")
    filled = head.ljust(len(operands), head[-1:])[: max(len(operands), 0)]
    if last and len(operands) == 1 and HOLE in operands[0]:
        # It may stand for several.
        return "="
    return filled[: len(operands) - 1] + last if last and len(operands) > 1 else filled


def plain(words: Iterable[str]) -> Words:
    # Most are empty.
    return () if not words else tuple(dict.fromkeys([word for word in words if word not in _STREAMS]))


def merged(one: Files, other: Files) -> Files:
    """The files of both."""
    if one == NOTHING:
        return other
    return other._replace(
        reads=one.reads + other.reads,
        writes=one.writes + other.writes,
        perhaps=one.perhaps + other.perhaps,
        sends=one.sends + other.sends,
        keys=one.keys + other.keys,
        names=one.names + other.names,
        code=one.code + other.code,
        by_option=one.by_option + other.by_option,
    )


def paths_in(words: Words) -> Words:
    """What in the words of an unknown program may be a file: a word, what follows `=`, an option's letter."""
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


#: Patterns are compiled when they are needed first, and kept by `re`.
_SENT = r"(?s)(?:[^=@<]*=)?[@<](?P<file>.+)"


def sent_files(value: str, option: str = "") -> Words:
    """The file in a value such as `@file`, `name=@file` or `name=<file;type=x`; `name@file` only where that is one."""
    if option == "--data-urlencode" and "@" in value and "=" not in value:
        return (value.partition("@")[2],)
    match = re.match(_SENT, value)
    return (match["file"].partition(";")[0],) if match else ()
