"""Patterns for paths: `*` and `?` within a name, `**` across folders, `[abc]`, `{a,b}`."""

import os
import re
from collections.abc import Callable
from typing import Final

from hookline.matching.patterns import LONGEST_PATTERN, compile_re2
from hookline.model.errors import PatternError

_LONGEST_PATH: Final = 1 << 16
_PARTS: Final = (
    r"(?P<deep>(?:(?<=/)|^)\*\*(?:/|$))|(?P<stars>\*+)|(?P<one>\?)|(?P<some>\[[!^]?\]?[^\]/]*\])"
    r"|(?P<escaped>\\.)|(?P<brace>[{},])|(?P<other>.)"
)
_MAGIC: Final = frozenset("*?[{\\")


def path_pattern(pattern: str) -> Callable[[str], bool]:
    """Whether a path, as seen from where the search starts, fits. A pattern without a slash fits at any depth.

    Raises PatternError.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(pattern[:40] + "...", f"longer than {LONGEST_PATTERN} characters")
    whole = pattern.removeprefix("./") if "/" in pattern else f"**/{pattern}"
    try:
        return compile_re2(f"(?s){_translated(whole)}", True, _LONGEST_PATH).found
    except PatternError as problem:
        raise PatternError(pattern, problem.problem) from None


def split_base(pattern: str) -> tuple[str, str]:
    """The folder all that fits must be in, and the rest of the pattern, which is bound to that folder."""
    segments = pattern.split("/")
    plain = 0
    while plain < len(segments) - 1 and not _MAGIC & set(segments[plain]):
        plain += 1
    base = "/".join(segments[:plain]) or ("/" if pattern.startswith("/") and plain else "")
    rest = "/".join(segments[plain:])
    return os.path.expanduser(base), f"./{rest}" if plain or len(segments) > 1 else rest


def _translated(pattern: str) -> str:
    balanced = pattern.count("{") == pattern.count("}")
    written: list[str] = []
    depth = 0
    for token in re.finditer(_PARTS, pattern, re.DOTALL):
        text = token[0]
        if token.lastgroup == "brace":
            piece, depth = _brace(text, depth) if balanced else (re.escape(text), 0)
        else:
            piece = _piece(token.lastgroup, text)
        written.append(piece)
    return "".join(written)


def _brace(text: str, depth: int) -> tuple[str, int]:
    if text == "{":
        return "(?:", depth + 1
    if depth:
        return ("|", depth) if text == "," else (")", depth - 1)
    return re.escape(text), 0


def _piece(kind: str | None, text: str) -> str:
    if kind == "some":
        inner = text[1:-1]
        negated = inner[:1] in {"!", "^"}
        body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
        return ("[^/" if negated else "[") + body + "]"
    if kind == "deep":
        return "(?:.*/)?" if text.endswith("/") else ".*"
    plain = {"stars": "[^/]*", "one": "[^/]"}
    return plain.get(kind or "") or re.escape(text[1:] if kind == "escaped" else text)
