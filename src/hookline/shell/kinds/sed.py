"""Read scripts of sed: the commands e, r and w, and the flags e and w of s."""

import re
from collections.abc import Iterator

from msgspec import Struct

from hookline.shell.found import Foreign, Found, Line, ShellDoubt
from hookline.shell.placeholders import HOLE

_TO_THE_END = "erRwW#v"
_BETWEEN = "\n; \t{}"
_LABELS = "btT:"
_TEXTS = "aic"
#: `\\x72`, `\\o162`, `\\d114`, `\\cR`.
_NUMBERED = re.compile(r"\\[xodc]")
_PLAIN = "=dDgGhHnNpPqQxzlLF"


#: Brackets; where the group is empty, they are never closed.
_BRACKETS = r"\[\^?(?:\][^]\n]*+\]|[^]\n]*+(\]?))"


class _Act(Struct, frozen=True):
    #: `runs` a line, runs its `input`, `reads` or `writes` a file, or `unread`: the script could not be read.
    what: str
    text: str = ""


UNREAD = _Act("unread")


def found(script: str) -> Iterator[Found]:
    if script == HOLE:
        yield ShellDoubt("a script of sed is put together at run time")
        return
    for action in actions(script):
        if action.what == "runs":
            if _NUMBERED.search(action.text):
                yield ShellDoubt("sed runs a line that holds characters by their number")
            # Most take backslashes out of it.
            yield from map(
                Line, dict.fromkeys((action.text, re.sub(r"\\(.)", r"\1", action.text, flags=re.DOTALL)))
            )
        elif action.what == "input":
            yield Foreign(script)
            yield ShellDoubt("sed runs what it reads as a line of shell")
        elif action.what == "unread" and "e" in script:
            yield Foreign(script)
            yield ShellDoubt("a script of sed cannot be read")


def beyond(script: str) -> bool:
    return script == HOLE or any(
        action.what != "writes" or action.text.strip() not in {"/dev/stdout", "/dev/stderr"}
        for action in actions(script)
        if action.what != "reads"
    )


def actions(script: str) -> list[_Act]:
    """Return the effects of a script. Some seds take a slash in brackets for the end of an expression, and
    some do not."""
    found = list(_read(script))
    if "[" not in script:
        return found
    others = list(
        _read(re.sub(_BRACKETS, lambda found: "x" * len(found[0]) if found[1] != "" else found[0], script))
    )
    both = dict.fromkeys((*found, *others))
    return [action for action in both if action != UNREAD or (action in found and action in others)]


def _read(script: str) -> Iterator[_Act]:
    at = 0
    while 0 <= at < len(script):
        at = _after_address(script, at)
        if 0 <= at < len(script):
            at, actions = _command(script, at)
            yield from actions
    if at < 0:
        yield UNREAD


def _command(script: str, at: int) -> tuple[int, list[_Act]]:
    """Read one command; return the position after it and its effects; -1 when it cannot be read."""
    letter = script[at]
    at += 1
    end = _end_of_line(script, at)
    if letter in _BETWEEN or letter in _PLAIN:
        return at, []
    if letter in _TO_THE_END:
        end = _after_text(script, at) if letter == "e" else end
        return end, list(_of_line(letter, script[at:end]))
    if letter in _LABELS:
        ends = (index for index in range(at, end) if script[index] in ";}")
        return next(ends, end), []
    if letter in _TEXTS:
        return _after_text(script, at), []
    if letter in "sy" and at < len(script):
        mark = script[at]
        at = _after_part(script, _after_part(script, at + 1, mark), mark)
        return (at, []) if letter == "y" or at < 0 else _flags(script, at)
    return -1, []


def _of_line(letter: str, rest: str) -> Iterator[_Act]:
    if letter == "e":
        yield _Act("runs", rest.strip()) if rest.strip() else _Act("input")
    elif letter in "rRwW":
        yield _Act("reads" if letter in "rR" else "writes", rest)


def _flags(script: str, at: int) -> tuple[int, list[_Act]]:
    actions: list[_Act] = []
    while at < len(script) and script[at] in "gpiImMe0123456789w":
        if script[at] == "e":
            actions.append(_Act("input"))
        if script[at] == "w":
            end = _end_of_line(script, at)
            return end, [*actions, _Act("writes", script[at + 1 : end])]
        at += 1
    return at, actions


def _after_address(script: str, at: int) -> int:
    """Skip addresses and `!`; -1 when one has no end."""
    while at < len(script):
        letter = script[at]
        if letter in " \t;\n0123456789,$+~!":
            at += 1
        elif letter == HOLE:
            # An expansion here may be an address, or anything else.
            at += 1
        elif letter in "/\\":
            opening = letter if letter == "/" else script[at + 1 : at + 2]
            at = _after_part(script, at + (1 if letter == "/" else 2), opening) if opening else -1
            while 0 <= at < len(script) and script[at] in "IM":
                at += 1
            if at < 0:
                return -1
        else:
            return at
    return at


def _after_part(script: str, at: int, end: str) -> int:
    """Skip to after the next `end` that has no backslash; -1 when there is none."""
    if at < 0 or not end:
        return -1
    while at < len(script):
        if script[at] == "\\":
            at += 2
        elif script[at] == end:
            return at + 1
        else:
            at += 1
    return -1


def _end_of_line(script: str, at: int) -> int:
    end = script.find("\n", at)
    return len(script) if end < 0 else end


def _after_text(script: str, at: int) -> int:
    """Skip the text of a, i and c, which continues on the next line after a backslash."""
    end = _end_of_line(script, at)
    while end < len(script) and script[at:end].rstrip(" \t").endswith("\\"):
        at = end + 1
        end = _end_of_line(script, at)
    return end
