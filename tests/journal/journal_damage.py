"""Journals that are cut and garbled, and disks that are full: used by tests and by the long runs in bench/."""

import os
import random
import subprocess
import sys
from pathlib import Path

from hookline.extending import Journal, JournalFile, Redactor, Run
from hookline.journal.file import encoded
from hookline.journal.reader import read_journal

RUNS = tuple(
    Run(
        hook=f"hook {number}",
        status="blocked" if number % 3 else "ok",
        reason="né " * (number % 7),
        at=number + 0.5,
    )
    for number in range(40)
)


def damaged_and_read(directory: Path, seed: int) -> str | None:
    """Damage a journal at random, continue writing to it, read it; return what the reading got wrong."""
    pick = random.Random(seed)
    path = directory / f"{seed}.jsonl"
    lines = [encoded(run) for run in RUNS]
    text = _damaged(b"".join(lines), pick)
    path.write_bytes(text)
    file = JournalFile(str(path))
    afterwards = [Run(hook=f"after {number}") for number in range(3)]
    for run in afterwards:
        file.append(run)
    file.close()
    reading = read_journal(str(path))
    path.unlink()
    whole = [run for run, line in zip(RUNS, lines, strict=True) if line.rstrip() in text]
    if list(reading.runs) != [*whole, *afterwards]:
        return f"read {[run.hook for run in reading.runs]}"
    if not reading.damage and any(line + b"\n" not in lines for line in text.split(b"\n") if line):
        return "the damage was not told"
    return None


def _damaged(whole: bytes, pick: random.Random) -> bytes:
    start = pick.randrange(len(whole))
    end = min(start + pick.randint(1, 200), len(whole))
    junk = pick.randbytes(end - start)
    accidents = (
        whole[:start],
        whole[:start] + junk,
        whole[:start] + junk + whole[end:],
        whole[:start] + b"\0" * (end - start) + whole[end:],
        whole[:start] + whole[end:],
    )
    return pick.choice(accidents)


def write_in_child(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with a journal at hand, in a process that may be limited or killed."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


#: A disk that takes 3,000 bytes and no more.
LIMITED = """
import resource, sys
from hookline.journal.journal import Journal
from hookline.journal.file import JournalFile
from hookline.journal.redaction import Redactor
from hookline.model.run import Run
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
file = JournalFile(sys.argv[1])
log = Journal(Redactor({}), file=file)
for number in range(200):
    log.record(Run(hook=f"hook {number}", reason="because " * 5))
print(log.runs, file.lost, len(log.problems), log.problems[0])
"""

WRITER = """
import sys
from hookline.journal.file import JournalFile
from hookline.model.run import Run
file = JournalFile(sys.argv[1], rotate_at=int(sys.argv[4]))
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    file.append(Run(hook=f"{sys.argv[2]} {number}", stdout=sys.argv[2] * (number % 3000)))
print(file.lost, *file.problems)
"""


def write_concurrently(path: Path, writers: int, runs: int, rotate_at: int) -> list[str]:
    """Several processes start writing at once; what each said when done."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(runs), str(rotate_at)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        for name in "abcdefgh"[:writers]
    ]  # fmt: skip
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return [child.communicate(timeout=60)[0].strip() for child in children]


def full_disk(path: Path | str, runs: int = 20) -> tuple[Journal, JournalFile]:
    """Record to a file that cannot be written."""
    file = JournalFile(str(path))
    log = Journal(Redactor({}), file=file)
    for number in range(runs):
        log.record(Run(hook=f"hook {number}"))
    return log, file
