"""What the tests of this layer share."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.model.outcome import Vote, VoteKind
from hookline.permissions.facts import CallFacts, Category, call_facts
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions

HERE = Path(__file__).parent
PROJECT = "/proj"
#: One for all: readings are pure, and the parser takes a moment to load.
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


def corpus(name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each line of a corpus with the rules that are in force for it."""
    in_force: list[str] = []
    collecting = False
    for line in (HERE / name).read_text().split("\n"):
        if not line or line.startswith("#"):
            continue
        if line.startswith("= "):
            in_force = [*(in_force if collecting else ()), line[2:]]
            collecting = True
        else:
            collecting = False
            yield tuple(in_force), _spelled_out(line)


def _spelled_out(line: str) -> str:
    line = re.sub(r"<U\+([0-9A-F]{4})>", lambda found: chr(int(found[1], 16)), line)
    return re.sub("[\u2400-\u241f]", lambda found: chr(ord(found[0]) - 0x2400), line)
