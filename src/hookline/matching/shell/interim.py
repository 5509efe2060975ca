"""The programs table as it was, until its rows are there."""

from collections.abc import Iterator, Mapping

from hookline.matching.shell import found, wrappers
from hookline.matching.shell.found import Found, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.old_escapes import _forms as forms_of
from hookline.matching.shell.old_escapes import escapes
from hookline.matching.shell.wrappers import starts_programs

__all__ = [
    "CONVENTION",
    "HARMLESS",
    "escapes",
    "forms_of",
    "look_at_variable",
    "look_through",
    "starts_programs",
]
CONVENTION: Mapping[str, str] = {
    "PYTHON": "python",
    "EDITOR": "vi",
    "CC": "cc",
    "SHELL": "sh",
    "SUDO": "sudo",
    "MAKE": "make",
}
HARMLESS = frozenset(("CI", "NODE_ENV", "TZ", "LC_ALL"))


def look_at_variable(name: str, value: str) -> Iterator[Found]:
    if name in {"PS4", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PAGER", "GIT_PAGER", "EDITOR", "GIT_EDITOR"}:
        yield found.Line(value)


def look_through(words: Words, stdin: Stdin) -> Iterator[Found]:
    for one in wrappers.look_through(words, stdin.kind == "text"):
        if isinstance(one, wrappers.Line):
            yield found.Line(one.code)
        elif isinstance(one, wrappers.Inner):
            yield found.Inner(one.words, one.outer)
        elif isinstance(one, wrappers.Foreign):
            yield found.Foreign(one.text)
        elif "standard input" in one.reason and stdin.kind == "text":
            yield found.Line(stdin.text)
        else:
            yield found.Doubt(one.reason)
    if stdin.kind == "text" and wrappers.program_of(words[0]) in wrappers.tables.STDIN_INTERPRETERS:
        yield found.Foreign(stdin.text)
