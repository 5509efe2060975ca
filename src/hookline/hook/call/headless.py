"""Find out if the agent that calls runs without a user: some agents hang on a question then.

Linux only, and only asked when a hook asks; elsewhere an agent counts as one with a user.
"""

import os
from collections.abc import Sequence

#: Processes between an agent and its hook: shells, and the launchers that some agents have.
_MOST_PARENTS = 8


def runs_headless(pid: int, programs: Sequence[str], options: Sequence[str]) -> bool:
    """Return True if a process above this one is one of the programs, with one of the options or without a terminal."""
    for _ in range(_MOST_PARENTS):
        words = _words(pid)
        at = next((at for at, word in enumerate(words[:4]) if os.path.basename(word) in programs), None)
        if at is not None:
            given = words[at + 1 :]
            named = any(word == each or word.startswith(f"{each}=") for word in given for each in options)
            return named or not _has_terminal(pid)
        parent = _parent(pid)
        if parent <= 1:
            return False
        pid = parent
    return False


def _words(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            return [os.fsdecode(word) for word in stream.read(1 << 16).split(b"\0") if word]
    except OSError:
        return []


def _has_terminal(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/fd/0").startswith(("/dev/pts/", "/dev/tty", "/dev/console"))
    except OSError:
        return True


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return int(stream.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
