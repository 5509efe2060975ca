"""The journal under full disks, torn files, planted secrets and terminal tricks, at the counts of the goals."""

import io
import os
import subprocess
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from bench.findings import Finding
from hookline.journal.file import JournalFile
from hookline.journal.journal import Journal, Trace
from hookline.journal.reader import read_journal
from hookline.journal.redaction import Redactor
from hookline.journal.secret_formats import CONTEXTS, TOKEN_FORMATS
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from tests.journal.hostile_texts import (
    ENV,
    HARMLESS,
    PLANTED,
    PLANTED_FORMATS,
    terminal_tricks,
    unsafe_characters,
)
from tests.journal.journal_damage import (
    LIMITED,
    damaged_and_read,
    full_disk,
    write_concurrently,
    write_in_child,
)


def q4() -> list[Finding]:
    """Places that cannot be written: the journal says so once and every run is still counted."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "file").touch()
        (directory / "folder.jsonl").mkdir()
        (directory / "link.jsonl").symlink_to(directory / "file")
        places = (
            "/dev/full",
            "/proc/x.jsonl",
            directory / "file" / "x",
            directory / "folder.jsonl",
            directory / "link.jsonl",
        )
        bad = [str(place) for place in places if not _goes_on(place)]
        limited = write_in_child(LIMITED, str(directory / "limited.jsonl")).stdout.split()
        whole = len(read_journal(str(directory / "limited.jsonl")).runs)
        reading, said = _concurrent(directory / "many.jsonl")
    return [
        Finding(
            "q4 places that cannot be written", f"{len(bad)} of {len(places)} wrong {bad}", "0 wrong", not bad
        ),
        Finding(
            "q4 file size limit",
            f"{limited[0]} runs, {limited[1]} lost, {whole} read, {limited[2]} problem",
            "200 runs, each lost or read, 1 problem",
            limited[0] == "200" and int(limited[1]) + whole == 200 and limited[2] == "1",
        ),
        _small_disk(),
        Finding(
            "q4 four writers",
            f"{reading} whole, {said}",
            "20000 whole, 0 lost",
            (reading, said) == (20000, "0 lost"),
        ),
    ]


def _goes_on(place: Path | str) -> bool:
    log, file = full_disk(place, 1000)
    return (log.runs, file.lost, len(log.problems)) == (1000, 1000, 1)


def _concurrent(path: Path) -> tuple[int, str]:
    said = write_concurrently(path, 4, 5000, 1 << 30)
    reading = read_journal(str(path))
    lost = sum(int(words.split()[0]) for words in said)
    return len(reading.runs) if not reading.damage else -1, f"{lost} lost"


def _small_disk() -> Finding:
    name, goal = "q4 tmpfs of 1 MB", "every run lost or read, 1 problem, writing again after room was made"
    if os.geteuid() != 0:
        return Finding(name, "not run: only root can mount", goal, ok=False)
    with _mounted() as directory:
        now = [0.0]
        file = JournalFile(str(directory / "journal.jsonl"), clock=lambda: now[0])
        log = Journal(Redactor({}), file=file)
        (directory / "other").write_bytes(b"x" * 500_000)
        for number in range(2000):
            log.record(Run(hook=f"hook {number}", stdout="x" * 900))
        said, lost = len(log.problems), file.lost
        (directory / "other").unlink()
        now[0] = 60.0
        log.record(Run(hook="back"))
        log.close()
        reading = read_journal(file.path)
    ok = len(reading.runs) + lost == 2001 and said == 1 and reading.runs[-1].hook == "back"
    return Finding(
        name, f"{len(reading.runs)} read, {lost} lost, {said} problem, {len(reading.damage)} damage", goal, ok
    )


@contextmanager
def _mounted() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "hookline-soak", name], check=True)
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


def q5(cuts: int = 2000) -> list[Finding]:
    """Read torn and garbled journals: every whole record is read, damage is reported."""
    with tempfile.TemporaryDirectory() as name:
        bad = [seed for seed in range(cuts) if damaged_and_read(Path(name), seed) is not None]
    return [Finding("q5 random cuts", f"{len(bad)} of {cuts} wrong {bad[:5]}", "0 wrong", not bad)]


def s8() -> list[Finding]:
    """Planted secrets: in no file, trace, memory or subscriber."""
    found = [
        number
        for number, planted in enumerate(PLANTED)
        for text in (planted.text, f"before {planted.text}\nafter", planted.text + " " + "x" * 300_000)
        if planted.secret in _everything_kept(text)
    ]
    of_formats = [
        planted.text
        for planted in PLANTED_FORMATS
        if planted.secret in _everything_kept(f"before {planted.text}\nafter")
    ]
    changed = [text for text in HARMLESS if text not in _everything_kept(text)]
    formats = f"{len(TOKEN_FORMATS)} formats of tokens, {len(CONTEXTS)} contexts"
    return [
        Finding(
            "s8 planted secrets", f"{len(found)} of {3 * len(PLANTED)} seen {found}", "0 seen", not found
        ),
        Finding(
            f"s8 {formats}",
            f"{len(of_formats)} of {len(PLANTED_FORMATS)} seen {of_formats[:3]}",
            "0 seen",
            not of_formats,
        ),
        Finding("s8 harmless texts", f"{len(changed)} of {len(HARMLESS)} changed", "0 changed", not changed),
    ]


def _everything_kept(text: str) -> str:
    trace, received = io.StringIO(), list[Run]()
    with tempfile.TemporaryDirectory() as name:
        file = JournalFile(os.path.join(name, "journal.jsonl"))
        log = Journal(Redactor(ENV), file=file, subscribers=(received.append, Trace(trace).record))
        log.record(Run(hook=text, stdout=text, stderr=text, detail=text, why=text, dropped=(text,)))
        log.record(Run(hook="x", reason=text, truncated=True))
        log.record(
            Run(hook="x", call=log.called({"tool_name": "Bash", "tool_input": {"command": text}}, "/p"))
        )
        log.close()
        written = Path(file.path).read_text()
    return "".join(
        (written, trace.getvalue(), repr(received), repr(log.recent()), log.recent()[-2].reason or "")
    )


def s9(count: int = 10_000) -> list[Finding]:
    """Terminal tricks: nothing printed steers a terminal."""
    bad = [
        text
        for text in terminal_tricks(count, seed=9)
        if unsafe_characters(printable(text) + one_line(text, 80) + _traced(text))
    ]
    return [Finding("s9 terminal tricks", f"{len(bad)} of {count} got through", "0", not bad)]


def _traced(text: str) -> str:
    stream = io.StringIO()
    Trace(stream).record(Run(hook=text, reason=text))
    return stream.getvalue()


SOAKS: Mapping[str, Callable[[], list[Finding]]] = MappingProxyType({"q4": q4, "q5": q5, "s8": s8, "s9": s9})


if __name__ == "__main__":
    for soak in SOAKS.values():
        for finding in soak():
            print(finding, flush=True)
