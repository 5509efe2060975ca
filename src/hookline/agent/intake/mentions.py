"""`@file` in a prompt: what could be meant. Pure; whether a file is there is another's question."""

import re

from msgspec import Struct

#: After these a sign is part of an address, a package or an escape, and mentions nothing.
_MENTION = re.compile(r'(?<![\w@.+/\\-])@(?:"([^"\n]+)"|([^\s"\'`<>|]+))(#L\d+(?:-L?\d+)?(?!\w))?')
_RANGE = re.compile(r"(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?", re.DOTALL)
_SENTENCE_MARKS = ".,;:!?)]}*。，、；：！？）"
#: More words with an @ than this are no mentions but pasted text.
MOST_WORDS = 300
_LONGEST = 4096

#: Endings that make a word look like a file even where no such file is. `@app.route` and `@example.com` are none.
_LISTED = (
    "c cc cfg conf cpp cs css csv dart env ex exs go gradle h hpp htm html ini ipynb java jpeg jpg js json jsonc "
    "jsonl jsx kt less lock log lua md mdx mjs pdf php pl png proto ps1 py pyi r rb rs rst sass scala scss sh sql "
    "svelte svg swift tf toml ts tsv tsx txt vue xml yaml yml zig"
)
_ENDINGS = frozenset(_LISTED.split())


class Reading(Struct, frozen=True):
    """One way to read a mention: a path, and the lines of it."""

    path: str
    first: int = 1
    #: None: to the end.
    last: int | None = None
    #: The lines were asked for.
    ranged: bool = False


class Mention(Struct, frozen=True):
    """A word with an @, as typed without the sign, and the ways to read it: the likeliest first."""

    word: str
    readings: tuple[Reading, ...]
    quoted: bool = False

    @property
    def name(self) -> str:
        """What a message about it says: the path without the sentence around it."""
        return self.readings[-1].path

    def looks_like_a_path(self) -> bool:
        """Whether somebody would wonder why it was not read."""
        path = self.name
        if self.readings[-1].ranged or path.startswith(("./", "../", "~/", "/")):
            return True
        last = path.rstrip("/").rsplit("/", 1)[-1]
        _stem, dot, ending = last.rpartition(".")
        # A scoped package is `@scope/name`: a slash alone says nothing, unless somebody took care to quote it.
        return ("/" in path and (self.quoted or bool(dot))) or (bool(dot) and ending.lower() in _ENDINGS)


def mentions(text: str) -> list[Mention]:
    """Every word that could mention a file, in order, each once."""
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(text):
        quoted, plain, lines = match[1], match[2], match[3] or ""
        word = (quoted or plain) + lines
        if len(word) <= _LONGEST:
            found.setdefault(word, Mention(word, _readings(word, trim=quoted is None), quoted is not None))
        if len(found) > MOST_WORDS:
            break
    return list(found.values())


def _readings(word: str, *, trim: bool) -> tuple[Reading, ...]:
    """As it stands; without the marks that end a sentence; and each with its ending taken for lines."""
    texts = [word]
    shorter = word.rstrip(_SENTENCE_MARKS)
    if trim and shorter and shorter != word:
        texts.append(shorter)
    found: list[Reading] = []
    for text in texts:
        found.append(Reading(text))
        lines = _RANGE.fullmatch(text)
        if lines is not None:
            first = max(int(lines[2]), 1)
            last = int(lines[3]) if lines[3] else first
            found.append(Reading(lines[1], first, last, ranged=True))
    return tuple(found)
