"""Run part s4 of the soak: random shell lines, judged by the rules and run by bash and dash in the sandbox.

The judge is the shells themselves. A line that started `rm` while a guard `Bash(rm *)` was silent, or while rules that
allow everyday programs allowed it, is a miss. The soak shortens each miss and prints it in the form of
the corpus (tests/matching/reaches.txt).

A line on which the guard fires and which is not allowed cannot be a miss. All lines are judged; of those that cannot be
one, every tenth runs anyway, to show how many of the made-up lines do reach `rm`.

Nothing is excused: a line that starts `rm` by way of a file that it writes counts like any other, though what no text
can show (the last family of the corpus) is not among the lines that are changed.

`python -m bench.soak_shell LINES SEED` runs it alone. With `PYTHONPATH=OTHER/src` it judges another version: of 4,000
lines (seed 20), 515 reached `rm` while the guard over the reader that was built on tree-sitter was silent, and in 24
families of the grammar one production by itself was enough: option clusters, names and abbreviated options of
wrappers, env -S, xargs, shells, paths of standard input, code on it for shells and for programs, shells that programs
start, process substitution, make, tar, options and settings of git, sort, script, gdb, aliases, arithmetic, BASH_CMDS,
backquote escapes and quotes of the form $'…'.
"""

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from bench.findings import Finding
from bench.shell_grammar import Grammar, Made
from bench.shell_mutation import Mutation
from bench.shell_sandbox import SHELLS, Ran, Sandbox, why_not
from hookline.matching.tool_rules import judge
from hookline.permissions.decide import decide
from tests.matching import reaches
from tests.matching.rules_on_calls import rule
from tests.permissions.permission_cases import bash, having

LINES = 100_000
#: What the rules allow: programs whose plain job is harmless, and none of them is to start rm.
ALLOWED: tuple[str, ...] = tuple(
    f"Bash({program}:*)"
    for program in (
        "echo", "true", "env", "git", "sort", "tar", "sed", "find", "xargs", "make", "awk", "cat", "printf", "ls", "cd",
        "read", "set", "export", "test", "wait", "sleep", "timeout", "nice", "nohup", "bash", "sh",
        "tee", "split", "zip", "less", "ssh", "install", "grep", "command", "f", "y",
    )
)  # fmt: skip
#: A program that is a script and uses rm: every program that runs it reaches rm.
_USES_RM = "filter-branch"
_SECONDS = 1.0
_SAMPLE = 10
_SHORTENED = 40
_TRIES = 600
Say = Callable[[str], None]


class Miss(Struct, frozen=True):
    line: str
    families: tuple[str, ...]
    silent: bool
    allowed: bool
    shell: str


class Judge:
    def __init__(self) -> None:
        self._guard = rule("Bash(rm *)")
        self._permissions = having(allow=ALLOWED)

    def silent(self, line: str) -> bool:
        return judge(self._guard, "Bash", {"command": line}, "/proj") is False

    def allowed(self, line: str) -> bool:
        return decide(bash(line), self._permissions).decision == "allow"


class Tally(Struct):
    made: int = 0
    silent: int = 0
    allowed: int = 0
    run: int = 0
    reached: int = 0
    #: Of those that were run for the count alone.
    sampled: int = 0
    sampled_reached: int = 0
    unended: int = 0


def made_up(seed: int) -> Iterator[Made]:
    """Three of the grammar, then two changed ones of the corpus, and so on, without end."""
    chance = random.Random(seed)
    grammar = Grammar(chance)
    lines = [
        (entry.family, entry.line)
        for entry in reaches.corpus()
        if entry.family != reaches.NO_TEXT_SHOWS and _USES_RM not in entry.line
    ]
    mutation = Mutation(lines, grammar, chance)
    while True:
        for _ in range(3):
            yield grammar.make()
        for _ in range(2):
            yield mutation.make()


def fuzz(sandbox: Sandbox, judge: Judge, lines: Iterator[Made], say: Say) -> tuple[Tally, list[Miss]]:
    tally = Tally()
    misses: list[Miss] = []
    begun = said = time.monotonic()
    while batch := list(islice(lines, 1000)):
        asked: list[tuple[Made, bool, bool]] = []
        for made in batch:
            silent, allowed = judge.silent(made.line), judge.allowed(made.line)
            tally.made += 1
            tally.silent += silent
            tally.allowed += allowed
            if silent or allowed or tally.made % _SAMPLE == 0:
                asked.append((made, silent, allowed))
        runs = sandbox.run(((shell, made.line) for made, _, _ in asked for shell in SHELLS), _SECONDS)
        for made, silent, allowed in asked:
            known = len(misses)
            _count(tally, misses, judge, made, silent, allowed, [next(runs) for _ in SHELLS])
            for miss in misses[known:]:
                say(f"{_kind(miss)} in {miss.shell}: {reaches.on_one_line(miss.line)}")
        if time.monotonic() - said > 20:
            said = time.monotonic()
            say(
                f"{tally.made:,} lines, {tally.run:,} run, {tally.reached:,} reached rm, {len(misses)} misses "
                f"({said - begun:.0f} s)"
            )
    return tally, misses


def _count(
    tally: Tally,
    misses: list[Miss],
    judge: Judge,
    made: Made,
    silent: bool,
    allowed: bool,
    both: Sequence[Ran],
) -> None:
    reached = [ran.shell for ran in both if "rm" in ran.marks]
    tally.run += 1
    tally.reached += bool(reached)
    tally.unended += any(ran.ended and not ran.marks for ran in both)
    if not silent and not allowed:
        tally.sampled += 1
        tally.sampled_reached += bool(reached)
    elif reached:
        passes = judge.silent if silent else judge.allowed
        families = tuple(dict.fromkeys(family for family, alone in made.uses if passes(alone)))
        misses.append(Miss(made.line, families or ("several together",), silent, allowed, reached[0]))


def shortened(miss: Miss, sandbox: Sandbox, judge: Judge) -> Miss:
    """Shorten it while it is a miss of the same kind: without tokens, then without signs."""
    left = _TRIES

    def is_miss(line: str) -> bool:
        nonlocal left
        if (
            (miss.silent and not judge.silent(line))
            or (not miss.silent and not judge.allowed(line))
            or left <= 0
        ):
            return False
        left -= 1
        (ran,) = sandbox.run([(miss.shell, line)], _SECONDS)
        return "rm" in ran.marks

    best = miss.line
    for pattern in (r"\s+|\w+|.", r"."):
        pieces = re.findall(pattern, best, re.DOTALL)
        size = max(len(pieces) // 2, 1)
        while size:
            at = 0
            while at < len(pieces):
                fewer = pieces[:at] + pieces[at + size :]
                if is_miss("".join(fewer)):
                    pieces = fewer
                else:
                    at += size
            size //= 2
        best = "".join(pieces)
    return Miss(best, miss.families, miss.silent, miss.allowed, miss.shell)


def shortest(misses: Sequence[Miss], sandbox: Sandbox, judge: Judge) -> list[Miss]:
    """Return some of the misses, each as short as possible, of as many families as there are."""
    chosen: list[Miss] = []
    for seen in range(3):
        counted: Counter[tuple[str, ...]] = Counter()
        for miss in sorted(misses, key=lambda miss: len(miss.line)):
            counted[miss.families] += 1
            if counted[miss.families] == seen + 1:
                chosen.append(miss)
    short = {miss.line: miss for miss in (shortened(miss, sandbox, judge) for miss in chosen[:_SHORTENED])}
    return list(short.values())


def s4(say: Say, lines: int = LINES, seed: int | None = None) -> Iterator[Finding]:
    missing = why_not()
    if missing:
        yield Finding("S4 shell lines made up at random", f"no sandbox here: {missing}", "run", False)
        return
    seed = time.time_ns() % 1_000_000_000 if seed is None else seed
    say(f"seed {seed}")
    judge = Judge()
    with Sandbox() as sandbox:
        tally, misses = fuzz(sandbox, judge, islice(made_up(seed), lines), say)
        short = shortest(misses, sandbox, judge)
        own = [miss for miss in short if _through_a_file(miss, sandbox)]
    say(
        f"judged {tally.made:,}; guard silent on {tally.silent:,}, {tally.allowed:,} allowed; run {tally.run:,} in "
        f"bash and dash, {tally.reached:,} reached rm, {tally.unended:,} were ended after {_SECONDS:g} s"
    )
    say(f"of {tally.sampled:,} run for the count alone, {tally.sampled_reached:,} reached rm")
    for miss in short:
        note = " (through a file it writes)" if miss in own else ""
        say(f"{_kind(miss)}{note}: {', '.join(miss.families)} | ? {reaches.on_one_line(miss.line)}")
    for kind, found in (
        ("reached rm while the guard was silent", [miss for miss in misses if miss.silent]),
        ("reached rm while it was allowed", [miss for miss in misses if miss.allowed]),
    ):
        families = Counter(family for miss in found for family in miss.families)
        for family, count in families.most_common():
            say(f"{kind}: {count:,} {family}")
        yield Finding(
            f"S4 {tally.made:,} shell lines (seed {seed}), {tally.run:,} run in bash and dash, {kind}",
            f"{len(found)} in {len(families)} families",
            "0",
            not found,
        )


def _kind(miss: Miss) -> str:
    return "silent" if miss.silent else "allowed"


def _through_a_file(miss: Miss, sandbox: Sandbox) -> bool:
    """Return True if the line fails where no file can be written: a hint for the reader of the report."""
    (ran,) = sandbox.run([(miss.shell, f"exec 2>/dev/null; {miss.line}")], _SECONDS, read_only=True)
    return "rm" not in ran.marks


def main() -> int:
    lines, seed = (*map(int, sys.argv[1:3]), *(None, None))[:2]
    findings = list(s4(lambda text: print(text, flush=True), lines or LINES, seed))
    for finding in findings:
        print(finding)
    return 1 if not all(finding.ok for finding in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
