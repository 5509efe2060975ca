"""Runs the corpus of lines that start a forbidden program, in bash and dash, in the sandbox.

`python -m bench.shell_confirm` fills in what new entries (`?`) start, takes out those that start nothing, and says so;
`python -m bench.shell_confirm all` does so for the whole corpus.
"""

import sys
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from bench.findings import Finding
from bench.shell_sandbox import SHELLS, Sandbox
from tests.matching import reaches
from tests.matching.reaches import Reaching

#: Some of the programs take a while to get to it, and the machine may be busy.
_SECONDS = 8.0


def confirmed(entries: Iterable[Reaching], say: Callable[[str], None]) -> Iterator[Reaching]:
    """Each entry as it went: without a program if it started none."""
    asked = list(entries)
    with Sandbox() as sandbox:
        runs = sandbox.run(((shell, entry.line) for entry in asked for shell in SHELLS), _SECONDS)
        for number, entry in enumerate(asked, 1):
            both = [next(runs) for _shell in SHELLS]
            programs = sorted({program for ran in both for program in ran.marks})
            program = entry.program if entry.program in programs else programs[-1] if programs else ""
            shells = tuple(ran.shell for ran in both if program in ran.marks)
            yield replace(entry, program=program, shells=shells)
            if number % 250 == 0:
                say(f"{number:,} of {len(asked):,} lines")


def soak(say: Callable[[str], None]) -> Iterator[Finding]:
    """The whole corpus does what it says."""
    entries = reaches.corpus()
    silent = [
        before.line
        for before, now in zip(entries, confirmed(entries, say), strict=True)
        if before.program != now.program or not set(before.shells) <= set(now.shells)
    ]
    for line in silent:
        say(f"not confirmed: {reaches.on_one_line(line)}")
    yield Finding(
        f"S4 corpus: {len(entries):,} lines in bash and dash",
        f"{len(silent)} do not start what they did",
        "none",
        not silent,
    )


def main() -> None:
    text = reaches.FILE.read_text()
    heading = text[: text.index("\n\n") + 1]
    entries = list(reaches.read(text))
    open_ones = [entry for entry in entries if not entry.program or "all" in sys.argv]
    answers = dict(
        zip(((entry.family, entry.line) for entry in open_ones), confirmed(open_ones, print), strict=True)
    )
    kept: list[Reaching] = []
    seen: set[str] = set()
    for entry in (answers.get((entry.family, entry.line), entry) for entry in entries):
        if entry.line in seen:
            print("twice:", reaches.on_one_line(entry.line))
        elif not entry.program:
            print("starts nothing:", entry.family, "|", reaches.on_one_line(entry.line))
        else:
            kept.append(entry)
        seen.add(entry.line)
    reaches.FILE.write_text(heading + "\n".join(reaches.written(kept)) + "\n")
    print(f"{len(kept)} lines, {len({entry.family for entry in kept})} families")


if __name__ == "__main__":
    main()
