"""What people call a hook whose entry has no name."""

import re

_PROGRAM = re.compile(r"[\w./~+$@%:{}-]+")
_RUNNERS = re.compile(r"(?:env|sh|bash|zsh|dash|node|npx|uvx?|ruby|perl|deno|bun|python[\d.]*)")
_LONGEST = 60


def command_label(command: str) -> str:
    """The script a command is about: `python3 hooks/check.py --fast` is check.py."""
    words = [word.replace('"', "").replace("'", "") for word in command.split(maxsplit=3)[:3]]
    if not words or not _PROGRAM.fullmatch(words[0]):
        return shortened(command.strip().split("\n", 1)[0]) or "command"
    base = words[0].rsplit("/", 1)[-1]
    if len(words) > 1 and _RUNNERS.fullmatch(base) and _PROGRAM.fullmatch(words[1]) and words[1][0] != "-":
        return shortened(words[1].rsplit("/", 1)[-1] or base)
    return shortened(base) or "command"


def url_label(url: str) -> str:
    """Without what may be secret: user, password, query."""
    return (
        shortened(url.rsplit("://", maxsplit=1)[-1].split("?", maxsplit=1)[0].rsplit("@", maxsplit=1)[-1])
        or "http"
    )


def shortened(text: str) -> str:
    return " ".join(text[: 4 * _LONGEST].split())[:_LONGEST]
