"""Read what is piped to an agent without a conversation: it is context for the first prompt."""

import os
import select
import stat
from collections.abc import Sequence

from hookline.cli.output import note

_MOST_BYTES = 1 << 20
#: A pipe that stays silent for so many seconds is not waited for: the program that started the agent may hold it open.
_FIRST_BYTE = 3.0


def with_piped_input(words: Sequence[str], descriptor: int = 0) -> list[str]:
    """Return the prompts; the first one with the piped text, if there is any."""
    if not words or not _is_piped(descriptor):
        return list(words)
    text, cut = _read(descriptor)
    if not text.strip():
        return list(words)
    if cut:
        note(f"warning: only the first {_MOST_BYTES} bytes of standard input are used")
    return [f"{words[0]}\n\n<stdin>\n{text.rstrip()}\n</stdin>", *words[1:]]


def _is_piped(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _read(descriptor: int) -> tuple[str, bool]:
    if not select.select([descriptor], [], [], _FIRST_BYTE)[0]:
        note(f"note: nothing on standard input for {_FIRST_BYTE:g} s; continuing without it")
        return "", False
    content = b""
    while len(content) <= _MOST_BYTES:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            break
        if not chunk:
            break
        content += chunk
    return content[:_MOST_BYTES].decode("utf-8", "replace"), len(content) > _MOST_BYTES
