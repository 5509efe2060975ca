"""Reasons without what they must not carry into a transcript: paths, flags, commands, secrets.

A reason is read word by word, quoted text as one word. In doubt a word is redacted.
"""

import re
from collections.abc import Iterator
from functools import cache

PATH, ARGUMENT, SECRET, COMMAND = "[path]", "[argument]", "[secret]", "[command]"

_AROUND = "'\"`()[]{},;"
#: Quotes count at the start of a word and after `key=` only: the apostrophe of "don't" opens nothing.
_WORD = r"""(?:[^\s"'=:]*[=:])?(?:"[^"]*"?|'[^']*'?)\S*|\S+"""
_KEYED = r"""["'`(\[{]*([A-Za-z0-9_.-]+)["'`]?[=:](.*)"""
#: What the key of `key=value` says about the value.
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
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.DOTALL | re.IGNORECASE)


def redacted(reason: str) -> str:
    """The reason with its lines kept."""
    return "\n".join(" ".join(_Line().words(line)) for line in reason.split("\n")).strip()


class _Line:
    """Redacts one line. Keeps what a word says about the words after it: `Bearer` is followed by a secret."""

    def __init__(self) -> None:
        self._promised: list[str] = []
        self._after_secret_word = False

    def words(self, line: str) -> Iterator[str]:
        before = ""
        for found in _pattern(_WORD).finditer(line):
            word = found.group()
            if word in ("=", ":"):
                # `token = abc` is `token=abc` with air in it.
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
        """The mark of a word that announces a secret: `Bearer abc`, `Authorization Digest abc`."""
        if _pattern("bearer|authorization").fullmatch(core):
            self._promised = [SECRET] * (2 if core[0] in "aA" else 1)
            return SECRET
        self._after_secret_word = _pattern(_PROMISES_ONE).fullmatch(core) is not None
        return None

    def _assigned(self, key: str, value: str) -> str | None:
        """The mark of `key=value`; a value that has not come yet is marked when it does."""
        plain = key.replace("-", "_").replace(".", "_").strip("_").lower()
        for names, mark in _KEYS:
            if _pattern(names).fullmatch(plain):
                self._promised = [mark] * _still_to_come(plain, value)
                return mark
        return None


def _still_to_come(key: str, value: str) -> int:
    """How many words after this one belong to the value. An authorization is a scheme and a credential."""
    if key == "authorization":
        return 2 if not value else 0 if " " in value else 1
    return 0 if value else 1


def _bare_mark(core: str) -> str | None:
    if _pattern(_KNOWN_STARTS).match(core):
        return SECRET
    if "/" in core or "\\" in core or _pattern(_DRIVE).fullmatch(core):
        return PATH
    return ARGUMENT if core.startswith("-") and len(core) > 1 else None
