"""Rules and guards that are not asked about a program would have said nothing: all of them asked find the same."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.execguard.facts import ExecFacts
from hookline.execguard.judge import ExecJudge, ExecRules, GuardRow, RuleRow, reading_of
from hookline.guards import GUARD_NAMES
from hookline.guards.spec import policy_of
from hookline.shell import HOLE, ShellReader
from hookline.shell.programs import table
from tests.execguard.room import ATTACKS
from tests.matching.reaches import corpus

_LINES = Path(__file__).parents[1] / "guards"
#: Behind the name of each program of the table.
_ARGUMENTS = (
    ("x",), (".env",), ("x", "/home/ada/.ssh/id_rsa"), ("--log=/etc/x", "y"), ("-o", "/etc/x", ".env"),
    ("push", "--force"), ("status", "/etc/x"), ("-c", "import os; os.remove('/etc/x')"),
    ("a\n*** Update File: .env",), ("#include </home/ada/.ssh/id_rsa>",),
)  # fmt: skip
_FORBID = (GuardRow("forbid-host", ("host=x.org",)), GuardRow("forbid-path", ("path=/etc",)))
_RULES = (
    "Bash(rm *)", "Bash(rm)", "Bash(git push:*)", "Bash(*force*)", "Bash(g*)", "Bash(/usr/bin/env *)",
    "Bash(GIT status)", "Read(.env)", "Edit(/home/ada/**)", "Read(//etc/**)", "WebFetch(domain:x.org)",
)  # fmt: skip


def _commands() -> Iterator[tuple[str, ...]]:
    lines = [one.line for one in corpus()][::10]
    lines += json.loads((ATTACKS / "everyday.json").read_text())
    lines += [row.example for name in GUARD_NAMES for row in policy_of(name).rows]
    for file in (*_LINES.glob("lines/*.txt"), _LINES / "acting.txt"):
        lines += file.read_text().splitlines()
    reader = ShellReader()
    for line in lines:
        yield from (one.words for one in reader.read(line).commands if HOLE not in "".join(one.words))
    for name in {name.partition(" ")[0] for name in table()}:
        yield from ((name, *words) for words in _ARGUMENTS)
    yield from (("unheard-of", *words) for words in _ARGUMENTS)


@pytest.mark.unmeasured
def test_what_is_not_asked_would_have_found_nothing() -> None:
    rules = ExecRules(
        deny=tuple(map(RuleRow, _RULES)),
        guards=(*(GuardRow(name) for name in GUARD_NAMES if name != "self-protection"), *_FORBID),
        project="/home/ada/project",
        home="/home/ada",
    )
    judge = ExecJudge(rules)
    every = (1 << len(rules.deny) + len(rules.guards)) - 1
    commands = [*dict.fromkeys(_commands())][::3]
    assert len(commands) > 4000
    missed: list[tuple[tuple[str, ...], object]] = []
    unasked = 0
    for words in filter(any, commands):
        asked, _reading = judge.concerned(words)
        facts = ExecFacts(words, "/home/ada/project", words[0], words[0])
        if asked and not judge.is_concerned(facts):
            missed.append((words, "taken to be of no interest"))
        unasked += (every & ~asked).bit_count()
        found = judge.judged_by(every & ~asked, reading_of(words), shlex.join(words), "/home/ada/project")
        missed += [(words, found)] if found is not None else []
    assert missed == []
    assert unasked > 10 * len(commands)


def test_a_guard_that_is_asked_finds_what_is_there() -> None:
    judge = ExecJudge(ExecRules(guards=(GuardRow("force-push"), GuardRow("secrets-read")), home="/home/ada"))

    assert judge.concerned(("git", "status"))[0] == 0
    assert judge.concerned(("/bin/true", "x"))[0] == 0
    assert judge.concerned(("git", "push"))[0] & 1
    assert judge.concerned(("git", "-C", "x", "push"))[0] & 1
    assert judge.concerned(("env", "git", "push"))[0] & 1
    assert judge.concerned(("cat", ".env"))[0] & 2
