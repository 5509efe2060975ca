"""One word of a shell line as the shell would see it: quotes gone, what cannot be known marked as a hole."""

import re
from itertools import pairwise
from typing import Any

from hookline.matching.shell.names import HOLE

_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))", re.DOTALL
)
_NAMED = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "?": "?"}
#: Unquoted, these make a word into other words.
_UNQUOTED_MAGIC = re.compile(r"[*?\[]|\{.*(?:,|\.\.)|^~[^/]*$|[@!+]\(", re.DOTALL)
_BRACES = re.compile(r"\{.*(?:,|\.\.)", re.DOTALL)
_BACKSLASHED = re.compile(r"\\(\n|.)", re.DOTALL)


def word_text(node: Any) -> str:
    """The text of a word node; every part that is not literal becomes a hole."""
    reader = _LITERAL.get(node.type)
    return HOLE if reader is None else reader(node)


def _source(node: Any) -> str:
    return node.text.decode("utf-8", "replace")


def _bare(node: Any) -> str:
    source = _source(node)
    if "\\" in source:
        if _UNQUOTED_MAGIC.search(_BACKSLASHED.sub("", source)):
            return HOLE
        return _BACKSLASHED.sub(lambda found: "" if found[1] == "\n" else found[1], source)
    return HOLE if _UNQUOTED_MAGIC.search(source) else source


def _string(node: Any) -> str:
    if any(child.type not in {'"', "string_content"} for child in node.children):
        return _string_with_holes(node)
    # Whole, not by its children: the grammar leaves blanks between them out.
    return _double_quoted(_source(node)[1:-1])


def _double_quoted(inner: str) -> str:
    return re.sub(r'\\([$`"\\\n])', lambda found: "" if found[1] == "\n" else found[1], inner)


def _string_with_holes(node: Any) -> str:
    parts = [_double_quoted(_source(c)) if c.type == "string_content" else HOLE for c in node.children[1:-1]]
    return "".join(parts)


def _raw(node: Any) -> str:
    return _source(node)[1:-1]


def _ansi(node: Any) -> str:
    return _ESCAPE.sub(_unescaped, _source(node)[2:-1])


def _unescaped(found: re.Match[str]) -> str:
    octal, two, four, eight, other = found.groups()
    if other is not None:
        return _NAMED.get(other, HOLE)
    number = int(octal, 8) & 0xFF if octal is not None else int(two or four or eight, 16)
    # Bytes past ASCII and characters that end or garble a word are left to the shell.
    return chr(number) if 0x20 <= number < 0x7F else HOLE


def _translated(node: Any) -> str:
    return _string(node.children[-1])


def _together(node: Any) -> str:
    source = _source(node)
    # Brackets are words of their own to the grammar: only the whole shows that they expand.
    marks = {_source(child) for child in node.children if child.type == "word"}
    if "[" in marks or ("{" in marks and _BRACES.search(source)):
        return HOLE
    if _glued(node):
        return HOLE if "\\\n" in source else "".join(word_text(child) for child in node.children)
    return HOLE


def _glued(node: Any) -> bool:
    return all(left.end_byte == right.start_byte for left, right in pairwise(node.children))


_LITERAL: dict[str, Any] = {
    "word": _bare,
    "number": _bare,
    "string": _string,
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "translated_string": _translated,
    "concatenation": _together,
}
