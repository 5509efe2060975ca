"""Run lines in the sandbox that guards stop, and see that each of them really acts.

    python -m bench.guard_lines    runs all of `tests/guards/acting.txt`

A section of the file begins with `= NAME`; ␊ is a new line. Before each line the room gets what can be lost, read,
overwritten or sent; after it a witness, a program that leaves a mark, is started if that happened.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.attacks import GUARDS, Judges, attack_by
from bench.findings import Finding
from bench.shell_sandbox import Sandbox

FILE = Path(__file__).parents[1] / "tests/guards/acting.txt"
#: The content of every file that matters.
_MARK = "MARKX"
_FILES = (
    f"mkdir -p ~/other/keep ~/.ssh ~/.aws data/deep; for f in ~/other/keep/f1 ~/.ssh/id_rsa ~/.aws/credentials .env "
    f"data/deep/x notes.txt; do echo {_MARK} > $f; done"
)
_REMOTE = (
    "git init -q --bare -b main ~/remote.git; git remote add origin ~/remote.git; git push -q origin main; "
    "git commit -q --amend -m other"
)


_NOTHING = "cat f > /dev/null"


class Stage(NamedTuple):
    """How to see that lines of one kind act."""

    before: str
    #: The line is put between them.
    around: tuple[str, str]
    after: str
    forbidden: tuple[str, ...] = ("witness",)


_STAGES = {
    "delete": Stage(_FILES, ("(", "\n)"), "[ -s ~/other/keep/f1 ] && [ -s data/deep/x ] || witness acted"),
    "force-push": Stage(
        _REMOTE,
        ("(", "\n) >/dev/null 2>&1"),
        '[ "$(git -C ~/remote.git rev-parse main)" = "$(git rev-parse main)" ] && witness acted',
    ),
    "secrets-read": Stage(_FILES, ("(", f"\n) 2>&1 | grep -q {_MARK} && witness acted"), ""),
    "network-upload": Stage(_FILES, ("", ""), "", ("curl", "wget")),
}


class Acting(NamedTuple):
    kind: str
    line: str


def corpus() -> Iterator[Acting]:
    kind = ""
    for row in FILE.read_text().splitlines():
        if row.startswith("= "):
            kind = row[2:]
        elif row:
            yield Acting(kind, row.replace("␊", "\n"))


def silent(judges: Judges) -> list[Acting]:
    """Return the lines that no guard of their kind stops."""
    return [one for one in corpus() if not judges.stopping(attack_by(one.line), GUARDS[one.kind])]


def idle(lines: Iterable[Acting], say: Callable[[str], None]) -> list[Acting]:
    """Return the lines that do nothing of their kind when bash runs them."""
    found: list[Acting] = []
    asked = list(lines)
    for kind, stage in _STAGES.items():
        # A line that does nothing shows that the witness is not started by itself.
        ours = [one for one in asked if one.kind == kind] + [Acting(kind, _NOTHING)]
        texts = [
            f"{stage.before}\n{stage.around[0]}{one.line}{stage.around[1]}\n{stage.after}" for one in ours
        ]
        with Sandbox(stage.forbidden, workers=2) as sandbox:
            for one, ran in zip(ours, sandbox.run((("bash", text) for text in texts), 20.0), strict=True):
                words = " ".join(word for mark in ran.marks.values() for word in mark)
                if not ran.marks or (
                    kind == "network-upload" and _MARK not in words and "notes" not in words
                ):
                    found.append(one)
    assert [one.kind for one in found if one.line == _NOTHING] == list(_STAGES)
    for one in found:
        say(f"does nothing: {one.line!r}")
    return [one for one in found if one.line != _NOTHING]


def acting(say: Callable[[str], None]) -> Iterator[Finding]:
    """All lines act, and all are stopped."""
    lines = list(corpus())
    passed, without = silent(Judges()), idle(lines, say)
    for one in passed:
        say(f"not stopped: {one.line!r}")
    yield Finding(f"{len(lines)} lines that act", f"{len(passed)} go through", "none", not passed)
    yield Finding(f"{len(lines)} lines that act", f"{len(without)} do nothing in bash", "none", not without)


def main() -> int:
    findings = list(acting(print))
    for finding in findings:
        print(finding)
    return 0 if all(finding.ok for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
