"""The lines by which a TurnEnd hook speaks: `@@INJECT: text` for the model, `@@WARN: text` for the user."""

import re

from msgspec import Struct

_MARKED = re.compile(r"[ \t]*@@(INJECT|WARN):[ \t]*(.*)", re.IGNORECASE)

INJECT = "@@INJECT: "
WARN = "@@WARN: "


class Marked(Struct, frozen=True):
    inject: str = ""
    warnings: tuple[str, ...] = ()
    #: What stands on lines without a marker.
    rest: str = ""


def read_markers(text: str) -> Marked:
    """Several texts of one kind belong together: injected lines are one message, each warning is its own."""
    if "@@" not in text:
        return Marked(rest=text.strip())
    inject: list[str] = []
    warnings: list[str] = []
    rest: list[str] = []
    for line in text.splitlines():
        found = _MARKED.match(line)
        if found is None:
            rest.append(line)
        elif found[1].upper() == "INJECT":
            inject.append(found[2].rstrip())
        elif found[2].strip():
            warnings.append(found[2].strip())
    return Marked("\n".join(inject).strip(), tuple(warnings), "\n".join(rest).strip())


def marked_lines(marker: str, text: str) -> str:
    """Text as marker lines, which read back are the same text."""
    return "".join(f"{marker}{line}\n" for line in text.strip().splitlines())
