"""Parse git's settings: `[section "subsection"]`, and below it `name = value`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADER = r'\[\s*([-\w.]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]'
#: With `=`, or alone on its line.
_NAME = r"(?P<name>[A-Za-z][-A-Za-z0-9]*)[ \t]*(?:(?P<equals>=)|(?=[\r\n#;]|$))"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


class GitLine(NamedTuple):
    """One setting of a text."""

    section: str
    subsection: str
    name: str
    value: str
    #: It is in git's format. Of other text, as one with placeholders, the rest of a line behind `=` is the value.
    plain: bool = True

    @property
    def key(self) -> str:
        return ".".join(filter(None, self[:3]))


def parse_settings(text: str) -> Iterator[GitLine]:
    """Yield the settings of a text, and every line that is not in git's format."""
    section = subsection = ""
    at, end = 0, len(text)
    header, name = re.compile(_HEADER), re.compile(_NAME)
    while at < end:
        letter = text[at]
        if letter.isspace():
            at += 1
            continue
        if letter in "#;":
            at = _end_of_line(text, at)
            continue
        found = header.match(text, at) if letter == "[" else name.match(text, at) if section else None
        if found is None:
            stop = _end_of_line(text, at)
            key, _, value = text[at:stop].partition("=")
            yield GitLine(section, subsection, key.strip(), value.strip().strip('"'), plain=False)
            at = stop
        elif letter == "[":
            section, at = found[1].lower(), found.end()
            subsection = re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else ""
            if found[2] is None and "." in section:
                section, _, subsection = section.partition(".")
        elif found["equals"]:
            value, at, closed = _value(text, found.end())
            yield GitLine(section, subsection, found["name"].lower(), value, closed)
        else:
            yield GitLine(section, subsection, found["name"].lower(), "true")
            at = found.end()


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _value(text: str, at: int) -> tuple[str, int, bool]:
    """Return the value that begins here, where it ends, and if its quotes are closed."""
    found: list[str] = []
    quoted = False
    kept = 0
    while at < len(text) and text[at] != "\n":
        letter = text[at]
        if letter == "\\":
            following = text[at + 1 : at + 3]
            if following.startswith(("\n", "\r\n")):
                at += 2 if following[0] == "\n" else 3
                continue
            found.append(_ESCAPES.get(following[:1], following[:1]))
            at, kept = at + 2, len(found)
            continue
        if letter == '"':
            quoted = not quoted
            kept = len(found)
        elif letter in "#;" and not quoted:
            at = _end_of_line(text, at)
            break
        elif quoted or not letter.isspace():
            found.append(letter)
            kept = len(found)
        elif found:
            found.append(letter)
        at += 1
    return "".join(found[:kept]), at, not quoted
