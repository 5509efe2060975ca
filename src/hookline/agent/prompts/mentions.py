"""Find `@file` mentions in a prompt, and add the files they name to the end of the prompt."""

import codecs
import os
import re
import stat
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hookline.agent.prompts.prompt import PromptContext
from hookline.agent.safe_files import UnusableFileError, chunks, opened, reason
from hookline.dialects.dialect import upward
from hookline.model.safe_text import one_line
from hookline.trust.project import is_inside

#: After these characters an @ is part of an address, a package name or an escape.
_MENTION = re.compile(r'(?<![\w@.+/\\-])@(?:"([^"\n]+)"|([^\s"\'`<>|]+))(#L\d+(?:-L?\d+)?(?!\w))?')
_RANGE = re.compile(r"(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?", re.DOTALL)
_SENTENCE_MARKS = ".,;:!?)]}*。，、；：！？）"
#: With more words that have an @, the text was pasted.
MOST_WORDS = 300
_LONGEST = 4096
#: Endings that make a word look like a file, even if there is none. `@app.route` and `@example.com` do not.
_LISTED = (
    "c cc cfg conf cpp cs css csv dart env ex exs go gradle h hpp htm html ini ipynb java jpeg jpg js json jsonc "
    "jsonl jsx kt less lock log lua md mdx mjs pdf php pl png proto ps1 py pyi r rb rs rst sass scala scss sh sql "
    "svelte svg swift tf toml ts tsv tsx txt vue xml yaml yml zig"
)
_ENDINGS = frozenset(_LISTED.split())
MOST_MENTIONS = 20
MOST_LINES = 2000
MOST_BYTES = 100_000
#: Bytes of a file that are searched for a line.
_FARTHEST = 64 * 1024 * 1024
_MOST_LISTED = 500
_MOST_SCANNED = 20_000
_WIDEST_PATH = 500


class MentionCandidate(Struct, frozen=True):
    """One way to read a mention: a path and a range of lines."""

    path: str
    first: int = 1
    #: None: to the end.
    last: int | None = None
    #: The range was given.
    ranged: bool = False


class Mention(Struct, frozen=True):
    """A word after an @, and the ways to read it, the most likely first."""

    word: str
    readings: tuple[MentionCandidate, ...]
    quoted: bool = False

    @property
    def name(self) -> str:
        """The path for messages, without punctuation after it."""
        return self.readings[-1].path

    def looks_like_a_path(self) -> bool:
        """True if the user would expect it to be read."""
        path = self.name
        if self.readings[-1].ranged or path.startswith(("./", "../", "~/", "/")):
            return True
        last = path.rstrip("/").rsplit("/", 1)[-1]
        _stem, dot, ending = last.rpartition(".")
        # A scoped package is `@scope/name`: a slash alone says nothing, unless it is quoted.
        return ("/" in path and (self.quoted or bool(dot))) or (bool(dot) and ending.lower() in _ENDINGS)


def mentions(text: str) -> list[Mention]:
    """Return every word that may name a file, in order, each once."""
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(text):
        quoted, plain, lines = match[1], match[2], match[3] or ""
        word = (quoted or plain) + lines
        if len(word) <= _LONGEST:
            found.setdefault(word, Mention(word, _readings(word, trim=quoted is None), quoted is not None))
        if len(found) > MOST_WORDS:
            break
    return list(found.values())


def _readings(word: str, *, trim: bool) -> tuple[MentionCandidate, ...]:
    """Return the readings of a word: as typed, and without punctuation at its end; each also with a range of lines."""
    texts = [word]
    shorter = word.rstrip(_SENTENCE_MARKS)
    if trim and shorter and shorter != word:
        texts.append(shorter)
    found: list[MentionCandidate] = []
    for text in texts:
        found.append(MentionCandidate(text))
        lines = _RANGE.fullmatch(text)
        if lines is not None:
            first = max(int(lines[2]), 1)
            last = int(lines[3]) if lines[3] else first
            found.append(MentionCandidate(lines[1], first, last, ranged=True))
    return tuple(found)


class MentionedFile(Struct, frozen=True):
    """A mentioned file that exists."""

    name: str
    path: str
    reading: MentionCandidate


class Expanded(Struct, frozen=True):
    blocks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class _Contents(Struct, frozen=True):
    text: str
    #: The label's text after the path.
    says: str = ""


def expand(found: Sequence[Mention], context: PromptContext) -> Expanded:
    """Return the files that are mentioned as blocks for the end of the prompt, and the problems found. Blocking."""
    blocks: list[str] = []
    problems: list[str] = []
    for each in wanted_files(found, context):
        if isinstance(each, str):
            problems.append(each)
            continue
        try:
            blocks.append(block(each, context))
        except UnusableFileError as problem:
            problems.append(f"@{each.name} {problem}")
    return Expanded(tuple(blocks), tuple(problems))


def wanted_files(found: Sequence[Mention], context: PromptContext) -> Iterator[MentionedFile | str]:
    """Yield the mentioned files, each once, and the problems of the others."""
    seen: set[tuple[str, int, int | None]] = set()
    for mention in found[:MOST_WORDS]:
        name = one_line(mention.name, 200)
        there = _there(mention, context)
        if there is None:
            if _is_missed(mention, context):
                yield f"@{name}: no such file"
            continue
        path, reading = there
        key = (path, reading.first, reading.last)
        if key in seen:
            continue
        if len(seen) >= MOST_MENTIONS:
            yield f"only the first {MOST_MENTIONS} mentioned files were read"
            break
        seen.add(key)
        yield MentionedFile(name, path, reading)
    if len(found) > MOST_WORDS:
        yield f"only the first {MOST_WORDS} words with an @ were read"


def _there(mention: Mention, context: PromptContext) -> tuple[str, MentionCandidate] | None:
    for reading in mention.readings:
        path = _absolute(reading.path, context)
        try:
            os.lstat(path)
        except (OSError, ValueError):
            continue
        return path, reading
    return None


def _absolute(path: str, context: PromptContext) -> str:
    home = context.env.get("HOME", "")
    if path.startswith("~/") and os.path.isabs(home):
        path = os.path.join(home, path[2:])
    return os.path.normpath(os.path.join(context.cwd, path))


def _is_missed(mention: Mention, context: PromptContext) -> bool:
    """Return True if a missing file should be reported, also when its first directory exists: `@src/nothing`."""
    if mention.looks_like_a_path():
        return True
    above, slash, _rest = mention.name.partition("/")
    return bool(slash) and _is_directory(_absolute(above, context))


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def block(wanted: MentionedFile, context: PromptContext) -> str:
    """Return a file as a block. Raises UnreadableError."""
    path, reading = wanted.path, wanted.reading
    _refuse_forbidden(path, context)
    if _is_directory(path):
        contents, kind = _listing(path), "Directory"
    else:
        contents, kind = _lines(path, reading), "File"
    label = f"{kind} {one_line(_label(path, context.cwd), _WIDEST_PATH)}"
    label += f" ({contents.says}):" if contents.says else ":"
    fence = _fence(contents.text)
    return f"{label}\n{fence}\n{contents.text}\n{fence}"


def _refuse_forbidden(path: str, context: PromptContext) -> None:
    real, root = os.path.realpath(path), upward(os.path.abspath(context.cwd))[-1]
    if is_inside(path, root) and not is_inside(real, os.path.realpath(root)):
        # The user typed the name of a project's file, not the target that the repository chose for it.
        raise UnusableFileError(
            f"was not read: it is a link to {one_line(real, 300)}; mention that if you mean it"
        )
    if context.objection is None:
        return
    for name in dict.fromkeys((path, real)):
        why = context.objection(name)
        if why is not None:
            raise UnusableFileError(f"was not read: {one_line(why, 300)}")


def _label(path: str, cwd: str) -> str:
    inside = os.path.relpath(path, cwd)
    return path if inside.startswith("..") else inside


def _fence(text: str) -> str:
    """Return a fence longer than any in the text, so that the file cannot end its own block."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _listing(path: str) -> _Contents:
    names: list[str] = []
    try:
        with os.scandir(path) as scan:
            for entry in scan:
                names.append(one_line(entry.name, 300) + ("/" if entry.is_dir(follow_symlinks=False) else ""))
                if len(names) >= _MOST_SCANNED:
                    break
    except OSError as error:
        raise UnusableFileError(f"cannot be listed: {reason(error)}") from None
    names.sort()
    cut = len(names) > _MOST_LISTED
    says = f"the first {_MOST_LISTED} of at least {len(names):,} names" if cut else ""
    return _Contents("\n".join(names[:_MOST_LISTED]), says)


def _lines(path: str, reading: MentionCandidate) -> _Contents:
    if reading.last is not None and reading.last < reading.first:
        raise UnusableFileError(f"asks for lines {reading.first} to {reading.last}, which runs backwards")
    wanted = MOST_LINES if reading.last is None else min(reading.last - reading.first + 1, MOST_LINES)
    raw, more = _window(path, reading.first, wanted)
    if b"\0" in raw:
        raise UnusableFileError("is not text")
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(raw[:MOST_BYTES])
    shown = text.count("\n") + (not text.endswith("\n"))
    complete = not more or (reading.last is not None and wanted == reading.last - reading.first + 1)
    cut = len(raw) > MOST_BYTES or not complete
    return _Contents(text.removesuffix("\n"), _says(reading, shown, cut=cut))


def _says(reading: MentionCandidate, shown: int, *, cut: bool) -> str:
    if not reading.ranged and not cut:
        return ""
    said = f"lines {reading.first}-{reading.first + max(shown, 1) - 1}"
    return f"{said}; the rest was cut" if cut else said


def _window(path: str, first: int, count: int) -> tuple[bytes, bool]:
    """Return `count` lines from line `first`, perhaps more than may be shown, and True if the file continues."""
    skip = first - 1
    kept = b""
    with opened(path) as descriptor:
        for chunk in chunks(descriptor, _FARTHEST):
            skip, rest = _skipped(chunk, skip)
            kept += rest
            lines = kept.split(b"\n", count)
            if len(lines) > count:
                goes_on = bool(lines[count]) or bool(os.read(descriptor, 1))
                return kept[: len(kept) - len(lines[count])], goes_on
            if len(kept) > MOST_BYTES:
                return kept, True
    if skip or (first > 1 and not kept):
        raise UnusableFileError(f"has no line {first}")
    return kept, False


def _skipped(chunk: bytes, skip: int) -> tuple[int, bytes]:
    """Return how many lines are still to be skipped after this chunk, and the rest of it."""
    breaks = chunk.count(b"\n") if skip else 0
    if breaks < skip:
        return skip - breaks, b""
    return 0, chunk.split(b"\n", skip)[skip] if skip else chunk
