"""Make text from outside safe to show: it cannot control a terminal, hide, or reorder text."""

import re
from collections.abc import Mapping
from functools import cache

#: A run of blanks wider than this pushes what follows out of sight, so it is shown as a mark instead.
_WIDEST_GAP = 64
_TAB_COLUMNS = 8
_LONG = 4096
#: Marks on one letter, such as accents; more of them cover the lines above and below.
_MOST_STACKED = 2
_ELLIPSIS = "…"

_SEQUENCES = (
    # CSI; one that never ends is taken as far as it goes.
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    # OSC, DCS, SOS, PM, APC that end on their line. Of one that does not, only the introducer is removed:
    # hiding the text after it would be worse than showing it.
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    # Two-character and charset escapes, then every other control character.
    r"|\x1b[ -/]*+[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
#: Characters that draw nothing or turn the reading direction: bidi controls, zero-width, fillers, separators,
#: variation selectors (but one emoji selector after a character), tags, lone surrogates.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
#: Joins two emoji into one: a family, a profession, a flag.
_JOINER = "(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff])"
_BLANK = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
#: Anything printable() may have to change. Plain text is searched once for it and returned as it is.
_SUSPECT = rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufe0f{_INVISIBLE}]|[{_BLANK}]{{9}}"


@cache
def _pattern(source: str) -> re.Pattern[str]:
    # Compiled at first use: importing this module has to stay cheap.
    return re.compile(source)


def printable(text: str) -> str:
    """Return the text as it may be shown in a terminal. Plain text comes back as the same object."""
    if text.isascii() and "  " not in text and text.isprintable():
        return text
    if _pattern(_SUSPECT).search(text) is None:
        return text
    text = _pattern(_SEQUENCES).sub("", text)
    text = _pattern(rf"(?:(?!{_JOINER})[{_INVISIBLE}])++|(?<![^\n\t\ufe0f])\ufe0f++").sub(_shown, text)
    return _pattern(rf"[{_BLANK}]{{9,}}+").sub(_gap, text)


def spelled_out(text: str) -> str:
    """Return the printable text with nothing removed: control characters, too, are shown as marks.

    For texts that a user judges. Only line feeds stay; more than two marks on one letter are spelled out.
    """
    if text.isascii() and text.isprintable():
        return printable(text)
    import unicodedata  # noqa: PLC0415 most texts have no such characters

    shown: list[str] = []
    stacked = 0
    for character in text:
        stacked = stacked + 1 if unicodedata.combining(character) else 0
        control = character != "\n" and unicodedata.category(character) == "Cc"
        shown.append(f"<U+{ord(character):04X}>" if control or stacked > _MOST_STACKED else character)
    return printable("".join(shown))


def one_line(text: str, width: int) -> str:
    """Return the printable text on one line of at most `width` columns, cut with an ellipsis."""
    flat = " ".join(printable(text).split())
    if flat.isascii():
        return flat if len(flat) <= width else flat[: max(width - 1, 0)] + _ELLIPSIS[:width]
    return _cut_to_columns(flat, width)


def bare_url(url: str) -> str:
    """Return the address as it is written, without what may be secret: user, password, query, fragment."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url.lstrip("/")
    address = re.split(r"[?#\\]", rest, maxsplit=1)[0]
    authority, slash, path = address.partition("/")
    host = authority.rpartition("@")[2]
    # A colon before anything but a port belongs to a password that the parts above have cut.
    known = _pattern(
        r"(?:\[[0-9A-Fa-f:.]+\]|(?:\$\{\w+\}|[^\s:@\[\]${}])*)(?::(?:\d*|\$\{\w+\}))?"
    ).fullmatch(host)
    return f"{scheme}{separator}{host}{slash}{path}" if known else f"{scheme}{separator}..."


def head_and_tail(text: str, keep: int) -> str:
    """Return the first and the last `keep` characters, with a mark that says how much is missing between them."""
    missing = len(text) - 2 * keep
    if missing <= 0:
        return text
    return f"{text[:keep]}\n[... {missing} characters left out ...]\n{text[-keep:]}"


def _shown(found: re.Match[str]) -> str:
    return "".join([f"<U+{ord(character):04X}>" for character in found.group()])


def _gap(found: re.Match[str]) -> str:
    blanks = found.group()
    columns = len(blanks) + blanks.count("\t") * (_TAB_COLUMNS - 1)
    return blanks if columns <= _WIDEST_GAP else f"<{len(blanks)} blanks>"


def _cut_to_columns(text: str, width: int) -> str:
    used = 0
    fits = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:fits] + _ELLIPSIS[:width]
        if used <= width - 1:
            fits = index + 1
    return text


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    import unicodedata  # noqa: PLC0415 as above

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def translated(text: str, table: Mapping[int, int | str | None]) -> str:
    """Return `text.translate(table)`, also for long texts that are not ASCII: those it takes long to translate."""
    if text.isascii() or len(text) < _LONG:
        return text.translate(table)
    for sign, instead in table.items():
        text = text.replace(chr(sign), chr(instead) if isinstance(instead, int) else instead or "")
    return text
