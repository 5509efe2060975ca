"""Scripts of sed: the commands e and w, and the flags e and w of s."""

import re
from collections.abc import Iterator

from msgspec import Struct

from hookline.matching.shell.found import Doubt, Foreign, Found, Line
from hookline.matching.shell.holes import HOLE

_TO_THE_END = "erRwW#v"
_BETWEEN = "\n; \t{}"
_LABELS = "btT:"
_TEXTS = "aic"
#: `\\x72`, `\\o162`, `\\d114`, `\\cR`.
_NUMBERED = re.compile(r"\\[xodc]")
_PLAIN = "=dDgGhHnNpPqQxzlLF"


class _Act(Struct, frozen=True):
    #: `runs` a line, runs its `input`, `writes` a file, or `unread`: what the script says is not known.
    what: str
    text: str = ""


_UNREAD = _Act("unread")


def found(script: str) -> Iterator[Found]:
    if script == HOLE:
        yield Doubt("a script of sed is put together at run time")
        return
    for act in _acts(script):
        if act.what == "runs":
            if _NUMBERED.search(act.text):
                yield Doubt("sed runs a line that holds characters by their number")
            # Most take backslashes out of it.
            yield from map(
                Line, dict.fromkeys((act.text, re.sub(r"\\(.)", r"\1", act.text, flags=re.DOTALL)))
            )
        elif act.what == "input":
            yield Foreign(script)
            yield Doubt("sed runs what it reads as a line of shell")
        elif act.what == "unread" and "e" in script:
            yield Foreign(script)
            yield Doubt("a script of sed cannot be read")


def beyond(script: str) -> bool:
    return script == HOLE or any(act.what != "writes" or _is_file(act.text) for act in _acts(script))


def _is_file(name: str) -> bool:
    return name.strip() not in {"/dev/stdout", "/dev/stderr"}


def _acts(script: str) -> list[_Act]:
    """What a script does. Some take a slash in brackets for the end of an expression, and some do not."""
    acts = list(_read(script))
    if "[" not in script:
        return acts
    others = list(_read(re.sub(r"\[\^?\]?[^]\n]*\]", lambda found: "x" * len(found[0]), script)))
    both = dict.fromkeys((*acts, *others))
    return [act for act in both if act != _UNREAD or (act in acts and act in others)]


def _read(script: str) -> Iterator[_Act]:
    at = 0
    while 0 <= at < len(script):
        at = _after_address(script, at)
        if 0 <= at < len(script):
            at, acts = _command(script, at)
            yield from acts
    if at < 0:
        yield _UNREAD


def _command(script: str, at: int) -> tuple[int, list[_Act]]:
    """Past one command, and what it does; -1 when it cannot be read."""
    letter = script[at]
    at += 1
    end = _end_of_line(script, at)
    if letter in _BETWEEN or letter in _PLAIN:
        return at, []
    if letter in _TO_THE_END:
        end = _after_text(script, at) if letter == "e" else end
        return end, list(_of_line(letter, script[at:end]))
    if letter in _LABELS:
        ends = (place for place in range(at, end) if script[place] in ";}")
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
    elif letter in "wW":
        yield _Act("writes", rest)


def _flags(script: str, at: int) -> tuple[int, list[_Act]]:
    acts: list[_Act] = []
    while at < len(script) and script[at] in "gpiImMe0123456789w":
        if script[at] == "e":
            acts.append(_Act("input"))
        if script[at] == "w":
            end = _end_of_line(script, at)
            return end, [*acts, _Act("writes", script[at + 1 : end])]
        at += 1
    return at, acts


def _after_address(script: str, at: int) -> int:
    """Past addresses and `!`; -1 when one has no end."""
    while at < len(script):
        letter = script[at]
        if letter in " \t;\n0123456789,$+~!":
            at += 1
        elif letter == HOLE:
            # What is put in here may be an address, or anything else.
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
    """Past the next `end` that has no backslash; -1 when there is none."""
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
    """The text of a, i and c goes on in the next line after a backslash."""
    end = _end_of_line(script, at)
    while end < len(script) and script[at:end].rstrip(" \t").endswith("\\"):
        at = end + 1
        end = _end_of_line(script, at)
    return end
