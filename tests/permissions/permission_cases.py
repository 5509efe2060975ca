"""Share between the tests of this package."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.matching.patterns import Patterns
from hookline.model.outcome import Vote, VoteKind
from hookline.permissions.facts import CallFacts, Category, call_facts
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions
from hookline.shell import ShellReader

HERE = Path(__file__).parent
PROJECT = "/proj"
_FENCE = "~~~"
#: One for all: readings are pure, and the parser takes a while to load.
SHELL = ShellReader()
PATTERNS = Patterns()


def reader(home: str = "/home/anna") -> RuleReader:
    return RuleReader(PATTERNS, SHELL, home)


def rules(
    allow: Sequence[Any] = (), ask: Sequence[Any] = (), deny: Sequence[Any] = (), source: str = "settings"
) -> RuleSet:
    made, problems = RuleSet.parse(allow, ask, deny, source=source, reader=reader())
    assert problems == ()
    return made


def having(
    allow: Sequence[str] = (),
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
    mode: str = "default",
    directories: Sequence[str] = (),
) -> Permissions:
    return Permissions(
        rules(allow, ask, deny), mode=mode, directories=directories, root=PROJECT, reader=reader()
    )


def call(tool: str, **arguments: Any) -> CallFacts:
    return call_facts(tool, arguments, PROJECT)


def bash(command: str) -> CallFacts:
    return call("Bash", command=command)


def some_call(category: Category) -> CallFacts:
    """A harmless call of the category, inside the project."""
    return {
        "read": call("Read", file_path="src/a.py"),
        "write": call("Write", file_path="src/a.py", content="x"),
        "run": bash("make"),
        "web": call("WebFetch", url="https://example.com/x"),
        "mcp": call("mcp__db__query", sql="select 1"),
        "agent": call("Agent", prompt="look"),
        "other": call("Mystery", x=1),
    }[category]


def vote(kind: VoteKind, reason: str = "", means: str = "") -> Vote:
    return Vote(kind, reason, by="guard.sh", means=means)


class Entry(Struct, frozen=True):
    """A shell line, or several, of one of the corpora in this directory."""

    line: str
    #: The rules that apply to it, those of its section.
    rules: tuple[str, ...]
    #: Guards that are rightly about it, and guards that may have either opinion.
    hits: frozenset[str] = frozenset()
    either: frozenset[str] = frozenset()

    def false_alarm(self, guard: str) -> bool:
        """Return True if that guard has no reason to stop it."""
        return not (self.hits | self.either) & {guard, "all"}


def corpus(name: str) -> Iterator[Entry]:
    """Yield the entries of a corpus. The top of everyday.txt says how they are written."""
    rules: tuple[str, ...] = ()
    marks: list[str] = []
    adding = False
    lines = iter((HERE / name).read_text().split("\n"))
    for line in lines:
        if line.startswith("= "):
            one = () if line == "= nothing" else (line[2:],)
            rules = (*rules, *one) if adding else one
            adding = True
        elif line.startswith("@ "):
            marks = line[2:].split()
        elif line and line != "#" and not line.startswith("# "):
            adding = False
            text = "\n".join(iter(lines.__next__, _FENCE)) if line == _FENCE else _spelled_out(line)
            hits = frozenset(mark for mark in marks if mark[0] != "?")
            yield Entry(text, rules, hits, frozenset(mark[1:] for mark in marks if mark[0] == "?"))
            marks = []


class PlainJob(Struct, frozen=True):
    """The lines that rules for one program allow, and those they must not."""

    rules: tuple[str, ...]
    job: str
    plain: tuple[str, ...]
    #: Lines that do more than the plain job, as was seen in a real shell.
    seen: tuple[str, ...]
    #: Lines that do more, which cannot be seen without the program, a terminal or a network.
    unseen: tuple[str, ...]


def plain_jobs() -> Iterator[PlainJob]:
    for rules, entries in groupby(corpus("plain_jobs.txt"), lambda entry: entry.rules):
        lines: dict[str, list[str]] = {":": [], "": [], "!": [], "?": []}
        for entry in entries:
            sign, blank, rest = entry.line.partition(" ")
            marked = bool(blank) and sign in lines
            lines[sign if marked else ""].append(rest if marked else entry.line)
        yield PlainJob(rules, lines[":"][0], tuple(lines[""]), tuple(lines["!"]), tuple(lines["?"]))


def _spelled_out(line: str) -> str:
    line = re.sub(r"<U\+([0-9A-F]{4})>", lambda found: chr(int(found[1], 16)), line)
    return re.sub("[\u2400-\u241f]", lambda found: chr(ord(found[0]) - 0x2400), line)
