"""Check in a real shell what rules that allow a program allow: its ordinary work, and nothing smuggled in.

It also finds everyday lines that guards stop without a reason. The lines are those of
`tests/permissions/plain_jobs.txt` and `everyday.txt`, and random mixtures of them. They run in the sandbox, where rm
is a shim, and a file that was written, changed or removed is seen by a command after the line."""

import os
import random
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from bench.findings import Finding
from bench.shell_sandbox import SHELLS, Sandbox
from hookline.config.protection.calls import CallReaders
from hookline.guards import GUARD_NAMES
from hookline.guards.runner import GuardRunner
from hookline.matching.shell_rules import shell_argument
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo
from hookline.permissions.decide import decide
from hookline.permissions.state import Permissions
from hookline.shell import ShellReader
from tests.permissions.permission_cases import SHELL, Entry, PlainJob, bash, corpus, having, plain_jobs

#: Bash(rm *), Bash(curl *), and the guards by meaning.
STOPPING = ("rm", "curl", *GUARD_NAMES)
_PROJECT = "/home/ada/project"

MIXTURES = 20_000
SEED = 20_261
#: Jobs that write no file, by the verb that their description begins with.
_PRINTING = ("prints", "print", "shows", "show", "lists", "filters", "greps")
_SECONDS = 6.0
#: Many lines wait for input or a terminal until their time is over.
_WORKERS = 12
_AT_ONCE = 60
#: Programs that take a second or more to start: a fifth of their mixtures.
_SLOW, _SLOWER = ("Bash(npm:*)",), 5
_STATE = "$(cat f y d/a.txt 2>&1; ls -A . d 2>&1 | grep -v '^.git$')"
_BEFORE = f"c={_STATE}\n"
#: curl is a shim as well: here it only leaves the mark that a file was changed.
_AFTER = f'\n[ "{_STATE}" != "$c" ] && curl changed'

Say = Callable[[str], None]


def allow(say: Say) -> Iterator[Finding]:
    """All of it; about ten minutes on two cores."""
    yield from _alarms(say)
    jobs = list(plain_jobs())
    say(f"seed {SEED}")
    with Sandbox(workers=_WORKERS) as sandbox:
        everyday = [entry for entry in corpus("everyday.txt") if entry.rules]
        rules = having(allow=everyday[0].rules)
        lines = _allowed((entry.line for entry in everyday), rules)
        reached = _reaching(sandbox, lines)
        yield _finding(f"{len(lines)} everyday lines that rules allow", "none starts rm", reached, say)
        count, failed, honest = 0, list[str](), list[str]()
        for number, job in enumerate(jobs):
            say(f"{number} of {len(jobs)} programs, {count:,} mixtures run, {len(failed)} did more")
            wanted = MIXTURES // len(jobs) // (_SLOWER if job.rules[0] in _SLOW else 1)
            lines = _allowed(mixtures(job, wanted), having(allow=job.rules))
            count += len(lines)
            prints = job.job.split()[0] in _PRINTING
            failed += _doing_more(sandbox, lines) if prints else _reaching(sandbox, lines)
        title = f"{count:,} of {MIXTURES:,} mixtures of lines that a rule for the program allows"
        yield _finding(title, "none does more than the plain job", failed, say)
        smuggling = [line for job in jobs for line in job.seen]
        for begin in range(0, len(smuggling), _AT_ONCE):
            say(f"{begin} of {len(smuggling)} lines that do more than a plain job")
            some = smuggling[begin : begin + _AT_ONCE]
            honest += set(some).difference(_doing_more(sandbox, some, terminal=True))
        yield _finding(f"{len(smuggling)} lines that do more than a plain job", "seen to do so", honest, say)


class Alarms(NamedTuple):
    """By guard, the lines that it stops without a reason; and which guard is silent about which line."""

    false: dict[str, list[str]]
    missed: list[tuple[str, str]]


def everyday_alarms(entries: Iterable[Entry]) -> Alarms:
    readers = CallReaders(os.environ, ShellReader)
    runner = GuardRunner(lambda actions, cwd: readers.changes_guards(actions, cwd, ()))
    rules = {program: shell_argument(f"{program} *", SHELL) for program in ("rm", "curl")}
    info = SessionInfo(cwd=_PROJECT, project_dir=_PROJECT)
    found = Alarms({name: [] for name in STOPPING}, [])
    for entry in entries:
        given = {"command": entry.line}
        call = ToolCall(tool_name="Bash", tool_input=given)
        stopping = {name for name, rule in rules.items() if rule.judge(given, _PROJECT) is not False}
        stopping |= {name for name in GUARD_NAMES if runner.decision(name, (), call, info) is not None}
        found.missed.extend((name, entry.line) for name in entry.hits - stopping)
        for name in filter(entry.false_alarm, stopping):
            found.false[name].append(entry.line)
    return found


def _alarms(say: Say) -> Iterator[Finding]:
    entries = list(corpus("everyday.txt"))
    found = everyday_alarms(entries)
    for name, lines in found.false.items():
        for line in lines:
            say(f"false alarm of {name}: {line!r}")
        share = f"{len(lines)} of {len(entries):,} everyday lines"
        yield Finding(f"alarms: {name}", share, "at most 1 %", len(lines) <= len(entries) * 0.01)
    yield _finding(f"{len(entries):,} everyday lines", "guards see what they are about", found.missed, say)


def _finding(title: str, goal: str, failed: Sequence[object], say: Say) -> Finding:
    for line in failed:
        say(f"FAILED: {line!r}")
    return Finding(f"allow: {title}", f"{len(failed)} of them not" if failed else "all", goal, not failed)


def _allowed(lines: Iterable[str], permissions: Permissions) -> list[str]:
    return sorted({line for line in lines if decide(bash(line), permissions).decision == "allow"})


def _reaching(sandbox: Sandbox, lines: Iterable[str]) -> list[str]:
    """Those that start rm in one of the shells."""
    runs = sandbox.run(((shell, line) for line in lines for shell in SHELLS), _SECONDS)
    return list(dict.fromkeys(ran.line for ran in runs if "rm" in ran.marks))


def _doing_more(sandbox: Sandbox, lines: Sequence[str], terminal: bool = False) -> list[str]:
    """Those that start rm, or change files."""
    found = dict.fromkeys(_reaching(sandbox, lines))
    watched = {_BEFORE + line + _AFTER: line for line in lines if line not in found}
    runs = sandbox.run(((shell, line) for line in watched for shell in SHELLS), _SECONDS)
    found.update((watched[ran.line], None) for ran in runs if "curl" in ran.marks)
    if terminal:
        # Pagers and editors are started at a terminal only.
        shown = {f"script -qec {shlex.quote(line)} /dev/null": line for line in lines if line not in found}
        runs = sandbox.run((("bash", line) for line in shown), _SECONDS)
        found.update((shown[ran.line], None) for ran in runs if "rm" in ran.marks)
    return list(found)


def mixtures(job: PlainJob, count: int) -> Iterator[str]:
    """Lines of a job with words of lines that smuggle, glued options and abbreviated ones."""
    chance = random.Random(f"{SEED} {job.rules}")
    words = [word for line in (*job.seen, *job.unseen) for word in line.split(" ") if word]
    for _line in range(count):
        line = chance.choice((*job.plain, *job.plain, *job.seen)).split(" ")
        for _change in range(chance.randint(1, 3)):
            _CHANGES[chance.randrange(len(_CHANGES))](line, chance.choice(words), chance)
        yield " ".join(line)


def _insert(line: list[str], word: str, chance: random.Random) -> None:
    line.insert(chance.randint(0, len(line)), word)


def _replace(line: list[str], word: str, chance: random.Random) -> None:
    line[chance.randrange(len(line))] = word


def _drop(line: list[str], _word: str, chance: random.Random) -> None:
    if len(line) > 1:
        del line[chance.randrange(len(line))]


def _glue(line: list[str], word: str, chance: random.Random) -> None:
    """`-u` and `-o` become `-uo`, `-o` and `out` become `-oout`."""
    at = chance.randrange(len(line))
    line[at] += word.lstrip("-") if word[:1] == "-" and word[:2] != "--" else word


def _shorten(line: list[str], word: str, chance: random.Random) -> None:
    """`--output=out` becomes `--outp=out`."""
    name, equals, value = word.partition("=")
    _insert(line, name[: chance.randint(1, max(1, len(name)))] + equals + value, chance)


def _quote(line: list[str], _word: str, chance: random.Random) -> None:
    at = chance.randrange(len(line))
    line[at] = chance.choice(("'", '"', "\\")) + line[at]


def _twice(line: list[str], word: str, chance: random.Random) -> None:
    _insert(line, word, chance)
    _insert(line, chance.choice(("out", "y", "rm", "--", "-", "-o", "f", "$X", "{}", "-e", ";", "|")), chance)


_CHANGES: tuple[Callable[[list[str], str, random.Random], None], ...] = (
    _insert, _insert, _replace, _drop, _glue, _shorten, _quote, _twice,
)  # fmt: skip
