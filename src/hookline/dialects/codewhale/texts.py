"""Shorten texts of payloads and answers, and redact reasons.

A reason reaches the model and a transcript, so it must not carry paths, flags, commands or secrets. It is
read word by word, quoted text as one word. In doubt it redacts a word.
"""

import re
from collections.abc import Iterator
from functools import cache

CAPTURE = 64 << 10
FIELD_CHARS = 2_000
LABEL_CHARS = 64
SUBMIT_REASON_CHARS = 240
METADATA_BYTES = 4_096

#: Marks a cut in a hook's answer, and in a hook's input.
CUT = "…[truncated]"
PAYLOAD_CUT = "...[truncated]"

PATH, ARGUMENT, SECRET, COMMAND = "[path]", "[argument]", "[secret]", "[command]"

_AROUND = "'\"`()[]{},;"
#: Quotes are read at the start of a word and after `key=` only: the apostrophe of "don't" opens nothing.
_WORD = r"""(?:[^\s"'=:]*[=:])?(?:"[^"]*"?|'[^']*'?)\S*|\S+"""
_KEYED = r"""["'`(\[{]*([A-Za-z0-9_.-]+)["'`]?[=:](.*)"""
#: Keys of `key=value` and the kind of their values.
_KEYS = (
    (r"token|secret|password|passwd|api_?key|authorization|bearer|.*_(?:api_?key|token|secret|password)", SECRET),
    (r"path|file|directory|cwd|workspace", PATH),
    (r"command|cmd|argv|executable", COMMAND),
)  # fmt: skip
_PROMISES_ONE = r"token|secret|password|passwd|key"
_LIKELY = r"(?=.*\d)\S{6,}|\S{20,}"
_KNOWN_STARTS = r"sk-|ghp_|gho_|ghs_|github_pat_"
_DRIVE = r"[A-Za-z]:(?:[\\/].*)?"


@cache
def _controls() -> re.Pattern[str]:
    return re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def captured(output: bytes, *, truncated: bool = False) -> str:
    """Return the used part of an output: its first 64 KiB as text, and a mark when there was more."""
    text = output[:CAPTURE].decode("utf-8", "replace")
    return text + CUT if truncated or len(output) > CAPTURE else text


def cleaned(text: str) -> str:
    """Remove terminal control characters. Newlines and tabs stay."""
    return _controls().sub(" ", text.replace("\r", ""))


def at_most(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters] + CUT


def field_text(value: object) -> str:
    """Return a text field of an answer, cleaned and cut; empty when it is not text or only blanks."""
    if not isinstance(value, str):
        return ""
    text = at_most(cleaned(value), FIELD_CHARS)
    return text if text.strip() else ""


def one_line(text: str, characters: int) -> str:
    return at_most(" ".join(cleaned(text).split()), characters)


def encodable(text: str) -> str:
    """Return text that any program can take: no NUL, no lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def cut_bytes(text: str, most: int) -> str:
    """Return at most `most` bytes of UTF-8, whole characters only, and a mark when it was cut."""
    kept, was_cut = prefix(encodable(text), most)
    return kept + PAYLOAD_CUT if was_cut else kept


def prefix(text: str, most: int) -> tuple[str, bool]:
    """Return the longest beginning of at most `most` bytes, and True if there is more."""
    if len(text) <= most and (text.isascii() or len(text.encode()) <= most):
        return text, False
    return text[:most].encode()[:most].decode("utf-8", "ignore"), True


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.DOTALL | re.IGNORECASE)


def redacted(reason: str) -> str:
    """Redact the reason; its lines are kept."""
    return "\n".join(" ".join(_Line().words(line)) for line in reason.split("\n")).strip()


class _Line:
    """A redaction of one line. It remembers what a word announces about the next ones: `Bearer` is followed
    by a secret."""

    def __init__(self) -> None:
        self._promised: list[str] = []
        self._after_secret_word = False

    def words(self, line: str) -> Iterator[str]:
        before = ""
        for found in _pattern(_WORD).finditer(line):
            word = found.group()
            if word in ("=", ":"):
                # `token = abc` means the same as `token=abc`.
                if not self._promised:
                    self._assigned(before, "")
            else:
                yield self._promised.pop() if self._promised else self._word(word)
            before = word.strip(_AROUND)

    def _word(self, word: str) -> str:
        core = word.strip(_AROUND)
        suspicious, self._after_secret_word = self._after_secret_word, False
        keyed = _pattern(_KEYED).fullmatch(word)
        mark = self._mark(core) if keyed is None else self._assigned(keyed[1], keyed[2].strip(_AROUND))
        if mark is not None:
            return mark
        inner = word.strip("'\"`")
        if inner != word and any(blank in inner for blank in " \t"):
            return word.replace(inner, " ".join(_Line().words(inner)), 1)
        if suspicious and _pattern(_LIKELY).fullmatch(core):
            return SECRET
        return _bare_mark(core) or word

    def _mark(self, core: str) -> str | None:
        """Return the mark of a word that announces a secret: `Bearer abc`, `Authorization Digest abc`."""
        if _pattern("bearer|authorization").fullmatch(core):
            self._promised = [SECRET] * (2 if core[0] in "aA" else 1)
            return SECRET
        self._after_secret_word = _pattern(_PROMISES_ONE).fullmatch(core) is not None
        return None

    def _assigned(self, key: str, value: str) -> str | None:
        """Return the mark of `key=value`; a value that has not come yet is marked when it does."""
        plain = key.replace("-", "_").replace(".", "_").strip("_").lower()
        for names, mark in _KEYS:
            if _pattern(names).fullmatch(plain):
                self._promised = [mark] * _still_to_come(plain, value)
                return mark
        return None


def _still_to_come(key: str, value: str) -> int:
    """Return the number of words after this one that belong to the value. An authorization is a scheme and a
    credential."""
    if key == "authorization":
        return 2 if not value else 0 if " " in value else 1
    return 0 if value else 1


def _bare_mark(core: str) -> str | None:
    if _pattern(_KNOWN_STARTS).match(core):
        return SECRET
    if "/" in core or "\\" in core or _pattern(_DRIVE).fullmatch(core):
        return PATH
    return ARGUMENT if core.startswith("-") and len(core) > 1 else None
