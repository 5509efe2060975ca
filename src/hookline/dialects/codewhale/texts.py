"""How much of a text is passed on, and what marks a cut. All of it is bounded, whatever a hook printed."""

import re
from functools import cache

CAPTURE = 64 << 10
FIELD_CHARS = 2_000
LABEL_CHARS = 64
SUBMIT_REASON_CHARS = 240
METADATA_BYTES = 4_096

#: Mark a cut in what a hook answered, and in what a hook is given.
CUT = "…[truncated]"
PAYLOAD_CUT = "...[truncated]"


@cache
def _controls() -> re.Pattern[str]:
    return re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def captured(output: bytes, *, truncated: bool = False) -> str:
    """What counts of an output: its first 64 KiB as text, and a mark when there was more."""
    text = output[:CAPTURE].decode("utf-8", "replace")
    return text + CUT if truncated or len(output) > CAPTURE else text


def cleaned(text: str) -> str:
    """Without what could repaint a terminal. Lines and tabs stay."""
    return _controls().sub(" ", text.replace("\r", ""))


def at_most(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters] + CUT


def field_text(value: object) -> str:
    """A text field of an answer, cleaned and cut; empty when it is not text or only blanks."""
    if not isinstance(value, str):
        return ""
    text = at_most(cleaned(value), FIELD_CHARS)
    return text if text.strip() else ""


def one_line(text: str, characters: int) -> str:
    return at_most(" ".join(cleaned(text).split()), characters)


def encodable(text: str) -> str:
    """Text that any program can be given: no NUL, no halves of characters."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def cut_bytes(text: str, most: int) -> str:
    """At most so many bytes of UTF-8, whole characters only, and a mark when it was cut."""
    kept, was_cut = prefix(encodable(text), most)
    return kept + PAYLOAD_CUT if was_cut else kept


def prefix(text: str, most: int) -> tuple[str, bool]:
    """The longest beginning of at most so many bytes, and whether there is more."""
    if len(text) <= most and (text.isascii() or len(text.encode()) <= most):
        return text, False
    return text[:most].encode()[:most].decode("utf-8", "ignore"), True
