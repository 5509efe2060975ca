"""Compare what commands really read and write with the rows about files: no file may be touched unnoticed.

Each command runs alone in the sandbox, with new files: those of the tests' table, and common programs with
each letter as an option.
"""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from os.path import normpath
from pathlib import Path

from bench.findings import Finding
from hookline.shell import HOLE
from hookline.shell.files import CommandFiles, files_of
from tests.shell.file_lines import ROWS

#: Programs that are tried with every letter, and the words before their operands.
_TRIED = {
    "grep": "x", "sed": "p", "awk": "{print}", "jq": ".", "yq": ".",
    **dict.fromkeys(
        (
            "sort", "uniq", "head", "cat", "od", "diff", "cmp", "comm", "join", "paste", "cut", "nl", "wc", "fold",
            "fmt", "expand", "shuf", "split", "csplit", "base64", "xxd", "strings", "nm", "objdump", "file", "column",
            "iconv", "md5sum", "tee", "tar", "zip", "gzip", "xz", "cp", "mv", "install", "ln", "touch", "patch", "make",
            "less",
        ),
        "",
    ),
}  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: Their files are those of the command inside them, or git's, which reads every file.
_LEFT_OUT = frozenset(("bash", "sudo", "xargs", "git", "find"))


def commands() -> Iterator[tuple[str, ...]]:
    for line, _reads, _writes in ROWS:
        words = tuple(shlex.split(line))
        if "…" not in line and words[0] not in _LEFT_OUT and shutil.which(words[0]):
            yield words
    for program, first in _TRIED.items():
        if shutil.which(program):
            for letter in _LETTERS:
                yield (program, f"-{letter}", "g", *filter(None, (first,)), "f")


def soak(say: Callable[[str], None]) -> list[Finding]:
    tried = list(commands())
    say(f"  {len(tried):,} commands and the files they touch")
    started = untold = 0
    for words, reads, writes in observed(tried):
        started += 1
        missed = untold_of(words, reads, writes)
        if missed:
            untold += 1
            say(f"  {shlex.join(words)} touches {', '.join(missed)}")
    name = "commands that touch a file the rows do not tell"
    enough = started > len(tried) // 2
    return [Finding(name, f"{untold} of {started:,} that ran", "0", untold == 0 and enough)]


def untold_of(words: tuple[str, ...], reads: list[str], writes: list[str]) -> list[str]:
    """Of the files that a command touched, those that its words do not tell."""
    files = files_of(words)
    return [
        *(path for path in reads if not _is_read(path, files)),
        *(path for path in writes if not _is_written(path, files)),
    ]


def observed(tried: list[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], list[str], list[str]]]:
    """Yield what each command that could be started read and wrote."""
    asked = "".join(json.dumps(words) + "\n" for words in tried)
    run = subprocess.run(
        [sys.executable, "-m", "bench.files_room"],
        cwd=Path(__file__).parent.parent,
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    for words, answer in zip(tried, run.stdout.splitlines()[1:], strict=True):
        reads, writes, started = json.loads(answer)
        if started:
            yield words, reads, writes


def _is_read(path: str, files: CommandFiles) -> bool:
    # A written file may be read before.
    return any(_covers(word, path) for word in (*files.reads, *files.perhaps, *files.keys, *files.writes))


def _is_written(path: str, files: CommandFiles) -> bool:
    return any(
        # The names of copies and packed files begin like the file's own.
        _covers(word, path) or path.startswith(normpath(word))
        for word in (*files.writes, *files.perhaps, *files.into, *files.links)
    )


def _covers(word: str, path: str) -> bool:
    received = normpath(word)
    return (
        received in {path, "."}
        or HOLE in word
        or path.startswith(f"{received}/")
        or fnmatchcase(path, received)
    )
