"""Scripts of sed: the commands e and w, and the flags e and w of s."""

from collections.abc import Iterator

from msgspec import Struct

from hookline.matching.shell.found import Doubt, Foreign, Found, Line
from hookline.matching.shell.holes import HOLE

_TO_THE_END = "rRwW"
_LABELS = "btT:"
_TEXTS = "aic"
_PLAIN = "=dDgGhHnNpPqQxzlLF"


class _Act(Struct, frozen=True):
    #: `runs` a line, runs its `input`, `writes` a file, or `unread`: what the script says is not known.
    what: str
    text: str = ""


def found(script: str) -> Iterator[Found]:
    if script == HOLE:
        yield Doubt("a script of sed is put together at run time")
        return
    for act in _acts(script):
        if act.what == "runs":
            yield Doubt("a line of shell is put together at run time") if HOLE in act.text else Line(act.text)
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


def _acts(script: str) -> Iterator[_Act]:
    at = 0
    size = len(script)
    while at < size:
        at = _after_address(script, at)
        if at < 0:
            yield _Act("unread")
            return
        if at >= size:
            return
        letter = script[at]
        at += 1
        if letter in "\n; \t{}" or letter in _PLAIN:
            continue
        end = _end_of_line(script, at)
        if letter == "#":
            at = end
        elif letter == "e":
            command = script[at:end].strip()
            yield _Act("runs", command) if command else _Act("input")
            at = end
        elif letter in _TO_THE_END:
            if letter in "wW":
                yield _Act("writes", script[at:end])
            at = end
        elif letter in _LABELS:
            while at < size and script[at] not in ";\n}":
                at += 1
        elif letter in _TEXTS:
            at = _after_text(script, at)
        elif letter == "v":
            at = end
        elif letter in "sy" and at < size:
            at = _after_part(script, _after_part(script, at + 1, script[at]), script[at])
            if at < 0:
                yield _Act("unread")
                return
            if letter == "s":
                at, acts = _flags(script, at)
                yield from acts
        else:
            yield _Act("unread")
            return


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
