"""Compile globs, and regular expressions in linear time, each distinct one once.

Regular expressions run on google-re2: linear time whatever the pattern, no lookaround, no back-references. In
a glob only `*` is special: any text, also none, also blanks and slashes.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from msgspec import Struct, field

from hookline.model.errors import PatternError

#: A text of these alone means itself in a regular expression, but for `|`.
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-, |")
#: Longer ones are generated or hostile, and cost memory each.
LONGEST_PATTERN = 4096
#: The most that a pattern may grow when its repeats are written out: nested counts such as (a{1,30}){1,30}
#: cost tens of milliseconds, and a long list of names must still be accepted.
MOST_GROWTH = 1000
#: The longest name or path that is tested. Even linear time is milliseconds per KiB for the worst patterns,
#: so a longer subject is not searched.
LONGEST_SUBJECT = 1024

#: No system opens a longer path. It may still be the end of one that a tool shortens first.
LONGEST_PATH = 4096

#: Messages of re2, and the message for the author of the pattern instead. The first that matches is used.
_REFUSALS = (
    ("invalid perl operator: (?=", "lookahead is not supported: list the names that should match"),
    ("invalid perl operator: (?!", "negative lookahead is not supported: list the names that should match"),
    ("invalid perl operator: (?<", "lookbehind is not supported: list the names that should match"),
    ("invalid perl operator: (?>", "atomic groups are not supported"),
    ("invalid perl operator", "this group syntax is not supported"),
    ("invalid named capture group", "this named group is not well formed: write (?P<name>...)"),
    ("invalid repetition size", "a repeat count may be at most 1000"),
    ("bad repetition operator", "a repeat follows a repeat (possessive quantifiers are not supported)"),
    ("no argument for repetition operator", "a repeat has nothing to repeat; for a file-style star write .*"),
    ("missing )", "a ( is never closed"),
    ("unexpected )", "a ) has no ( before it"),
    ("missing ]", "a [ is never closed"),
    ("trailing \\", "a backslash at the end escapes nothing"),
    ("invalid character class range", "this character class does not exist or runs backwards"),
    ("invalid UTF-8", "it is not valid Unicode text"),
    ("pattern too large", "it is too large once its repeats are written out"),
)


class Expression(Protocol):
    """A compiled pattern. `found` never raises and never takes long."""

    def found(self, subject: str) -> bool: ...


Compile = Callable[[str, bool], Expression]


class _Re2Expression:
    """Works on bytes: lone surrogates cannot raise."""

    __slots__ = ("_longest", "_search")

    def __init__(self, search: Callable[[bytes], object], longest: int) -> None:
        self._search = search
        self._longest = longest

    def found(self, subject: str) -> bool:
        """Search the subject. One too long to be a name is treated as found: in doubt a guard runs."""
        if len(subject) > self._longest:
            return True
        return self._search(subject.encode("utf-8", "surrogatepass")) is not None


class _Words(Struct, frozen=True):
    """Alternatives that mean themselves: nothing is compiled, and re2 is not imported for them."""

    words: frozenset[str]
    anchored: bool
    longest: int

    def found(self, subject: str) -> bool:
        """Search the subject like `_Re2Expression`."""
        if len(subject) > self.longest:
            return True
        return subject in self.words if self.anchored else any(word in subject for word in self.words)


@cache
def _re2() -> tuple[Any, Any]:
    """Import re2 with the first regular expression of a configuration: 13 ms that most never need."""
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    return re2, options


def compile_re2(pattern: str, anchored: bool, longest_subject: int = LONGEST_SUBJECT) -> Expression:
    """Compile a pattern. Raises PatternError with a sentence that helps."""
    re2, options = _re2()
    try:
        compiled = re2.compile(pattern.encode(), options)
    except UnicodeEncodeError:
        raise PatternError(pattern, "it is not valid Unicode text") from None
    except re2.error as error:
        raise PatternError(pattern, _refusal(error)) from None
    if compiled.programsize > len(pattern) + MOST_GROWTH:
        raise PatternError(pattern, "it is too large once its repeats are written out")
    return _Re2Expression(compiled.fullmatch if anchored else compiled.search, longest_subject)


def _refusal(error: Exception) -> str:
    message: Any = error.args[0] if error.args else b""
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    if text.startswith("invalid escape sequence: \\") and text[-1:].isdigit():
        return "back-references are not supported"
    for start, advice in _REFUSALS:
        if text.startswith(start):
            return f"{advice} ({text})"
    return f"not a regular expression ({text})"


class Patterns(Struct, eq=False):
    """The table of compiled patterns. Build one per configuration and pass it down.

    `fallback` compiles a pattern that re2 refuses, for dialects whose own engine has lookaround; it returns
    an expression or raises PatternError. `longest_subject` is for callers that search more than names.
    """

    fallback: Compile | None = None
    longest: int = LONGEST_PATTERN
    remembered: int = 4096
    longest_subject: int = LONGEST_SUBJECT
    _compiled: dict[tuple[str, bool], Expression] = field(default_factory=dict[tuple[str, bool], Expression])

    def __len__(self) -> int:
        return len(self._compiled)

    def expression(self, pattern: str, *, anchored: bool) -> Expression:
        key = (pattern, anchored)
        known = self._compiled.get(key)
        if known is None:
            known = self._compile(pattern, anchored)
            if len(self._compiled) >= self.remembered:
                del self._compiled[next(iter(self._compiled))]
            self._compiled[key] = known
        return known

    def _compile(self, pattern: str, anchored: bool) -> Expression:
        if len(pattern) > self.longest:
            shown = pattern[:40] + "..."
            raise PatternError(shown, f"{len(pattern)} characters, at most {self.longest} are accepted")
        if PLAIN.issuperset(pattern):
            return _Words(frozenset(pattern.split("|")), anchored, self.longest_subject)
        try:
            return compile_re2(pattern, anchored, self.longest_subject)
        except PatternError:
            if self.fallback is None:
                raise
            return self.fallback(pattern, anchored)


class Glob(Struct, frozen=True):
    """A pattern split at its stars. Linear: each piece is searched for once, from the left."""

    pieces: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return len(self.pieces) == 1

    def matches(self, text: str) -> bool:
        pieces = self.pieces
        if len(pieces) == 1:
            return text == pieces[0]
        first, last = pieces[0], pieces[-1]
        end = len(text) - len(last)
        if end < len(first) or not text.startswith(first) or not text.endswith(last):
            return False
        at = len(first)
        for piece in pieces[1:-1]:
            at = text.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    def may_match(self, known: str) -> bool:
        """Return True if some text that starts with `known` could match: False only when both certainly
        differ."""
        first = self.pieces[0]
        if len(self.pieces) == 1 and len(known) > len(first):
            return False
        return first.startswith(known) or known.startswith(first)


def glob(pattern: str) -> Glob:
    pieces = pattern.split("*")
    # `a**b` is `a*b`: an empty inner piece only costs time.
    inner = [piece for piece in pieces[1:-1] if piece]
    return Glob((pieces[0], *inner, pieces[-1]) if len(pieces) > 1 else (pattern,))
