"""Show what a project has that needs trust, as text and as JSON.

Everything here may come from a hostile repository: texts are spelled out, cut to the terminal's width and
marked at the left, so that none of them can look like a line of ours.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.output import Colour, paint
from hookline.cli.text import count_of, json_lines, paragraph, pieces, with_tilde
from hookline.model.safe_text import one_line, spelled_out
from hookline.trust.describe import ItemText
from hookline.trust.items import decoded
from hookline.trust.review import NOT_COVERED, Review, ReviewItem
from hookline.trust.store import StoredProject
from hookline.trust.trust import State

#: If there is more, it is not shown, and no question is asked: a yes must not cover what was not shown.
MOST_SHOWN = 200
_LONGEST_TEXT, _MOST_LINES = 4000, 80
_LONGEST_LABEL = 70
_INDENT, _MARK = "    ", "    | "
_COLOURS: dict[State, Colour] = {"untrusted": "yellow", "modified": "red"}
_DIFF_COLOURS: dict[str, Colour] = {"+": "green", "-": "red"}
#: Texts for a model.
_SAID = frozenset({"prompt", "system"})
_WORDS: dict[State, str] = {"untrusted": "new", "modified": "changed"}


class ScriptDocument(Struct, frozen=True):
    """A file that an item names. `sha256` is null where its content is not covered; `why` says why."""

    path: str
    sha256: str | None
    size: int | None
    why: str | None


class ItemDocument(Struct, frozen=True, kw_only=True):
    kind: str
    state: State
    why: str
    label: str
    #: file:line
    source: str
    #: The project or the plugin that brings it.
    root: str
    identity: str
    does: tuple[str, ...]
    texts: tuple[ItemText, ...]
    files: tuple[ScriptDocument, ...]
    #: All its trusted facts, as they were read.
    facts: Any


class TrustReport(Struct, frozen=True, kw_only=True):
    """`hookline trust --json`."""

    root: str
    trusted: bool
    #: The hashes for --yes and HOOKLINE_TRUST that trust exactly this.
    hashes: str
    items: tuple[ItemDocument, ...]
    #: Guards that running sessions began with, and that are gone or changed.
    missed: tuple[str, ...]
    not_covered: tuple[str, ...]
    #: Why stored trust is not valid.
    problems: tuple[str, ...]


class ProjectDocument(Struct, frozen=True):
    root: str
    items: int
    #: When something in it was last trusted.
    at: str


class ProjectsDocument(Struct, frozen=True):
    """`hookline trust --list --json`."""

    projects: tuple[ProjectDocument, ...]
    problems: tuple[str, ...]


def as_json(review: Review) -> str:
    return json_lines(
        TrustReport(
            root=review.trust.root,
            trusted=not review.pending and not review.missed,
            hashes=",".join(review.hashes),
            items=tuple(_item_document(entry, review) for entry in review.entries),
            missed=tuple(guard.label for guard in review.missed.values()),
            not_covered=NOT_COVERED,
            problems=review.trust.problems,
        )
    )


def projects_document(projects: Sequence[StoredProject], problems: Sequence[str]) -> ProjectsDocument:
    listed = (
        ProjectDocument(each.root, len(each.items), max((item.at for item in each.items), default=""))
        for each in projects
    )
    return ProjectsDocument(tuple(listed), tuple(problems))


def _item_document(entry: ReviewItem, review: Review) -> ItemDocument:
    item = entry.item
    return ItemDocument(
        kind=item.kind,
        state=entry.status.state,
        why=entry.status.why,
        label=item.label,
        source=str(item.where),
        root=entry.root,
        identity=item.identity,
        does=entry.does,
        texts=tuple(entry.texts),
        files=tuple(_script(path, digest, review) for path, digest in item.files.items()),
        facts=decoded(item.facts),
    )


def _script(path: str, digest: str, review: Review) -> ScriptDocument:
    covered = not digest.startswith("(")
    try:
        size = os.stat(review.trust.project.path_of(path)).st_size
    except OSError:
        size = None
    return ScriptDocument(path, digest if covered else None, size, None if covered else digest.strip("()"))


# -- text


def as_text(review: Review, width: int) -> str:
    return "\n".join(_lines(review, width))


def is_shown_whole(review: Review) -> bool:
    """Return True if the text has everything that a yes would cover."""
    pending = review.pending
    return len(pending) <= MOST_SHOWN and not any(_is_cut(text) for entry in pending for text in entry.texts)


def _lines(review: Review, width: int) -> Iterator[str]:
    yield from pieces(_flat(_summary(review)), width)
    pending = review.pending
    for root in dict.fromkeys(entry.root for entry in pending[:MOST_SHOWN]):
        if len({entry.root for entry in pending}) > 1 or root != review.trust.root:
            yield ""
            yield from pieces(_flat(f"From {with_tilde(root)}"), width)
        for entry in pending[:MOST_SHOWN]:
            if entry.root == root:
                yield ""
                yield from _entry_lines(entry, review, width)
    if len(pending) > MOST_SHOWN:
        yield f"\n[... and {len(pending) - MOST_SHOWN} more, which are not shown here ...]"
    if review.missed:
        yield ""
        yield from _missed_lines(review, width)
    if pending:
        yield ""
        yield paragraph(f"Not covered by trust: {'; '.join(NOT_COVERED)}.", width)


def _summary(review: Review) -> str:
    counts, root = review.counts, with_tilde(review.trust.root)
    if not review.entries:
        return f"{root} brings nothing that needs your trust."
    if review.trust.trusts_all:
        return f"Your settings trust {root}: Hookline asks about none of its {count_of(len(review.entries), 'item')}."
    parts = [
        f"{counts[state]} {word}"
        for state, word in (
            ("modified", "changed"),
            ("untrusted", "new"),
            ("trusted", "trusted"),
            ("disabled", "off"),
        )
        if counts[state]
    ]
    return f"{root} brings {count_of(len(review.entries), 'item')}: {', '.join(parts)}."


def _entry_lines(entry: ReviewItem, review: Review, width: int) -> Iterator[str]:
    item, state = entry.item, entry.status.state
    line = item.where.line
    source = f"{item.file}{'' if line is None else f':{line}'}"
    word = _WORDS.get(state, state)
    label = one_line(spelled_out(item.label), _LONGEST_LABEL)
    yield f"{paint(word, _COLOURS.get(state, 'dim'))}  {item.kind} {label}"
    yield from _indented(f"in {source}", width)
    if state == "modified":
        yield from _indented(entry.status.why, width)
    for does in entry.does:
        yield from _indented(does, width)
    for text in entry.texts:
        yield from _text_lines(text, width)
    for path, digest in item.files.items():
        script = _script(path, digest, review)
        size = "" if script.size is None else f", {script.size:,} bytes"
        covered = f"sha256 {digest[:12]}" if script.sha256 else digest
        yield from _indented(f"file {path}{size}, {covered}", width)
    odd = _look_alikes(entry)
    if odd:
        shown = ", ".join(f"{spelled_out(each)} (U+{ord(each):04X})" for each in odd[:10])
        yield from _indented(f"careful: these letters may look like others: {shown}", width)


def _look_alikes(entry: ReviewItem) -> list[str]:
    """Return letters outside of ASCII in texts that are run, sent or opened; in messages they are harmless."""
    texts = (text.text for text in entry.texts if text.name not in _SAID)
    return sorted({each for text in (*texts, *entry.item.files) for each in text if not each.isascii()})


def _text_lines(text: ItemText, width: int) -> Iterator[str]:
    shown = spelled_out(text.text[:_LONGEST_TEXT])
    lines = list(pieces(shown, max(width - len(_MARK), 20)))
    yield f"{_INDENT}{one_line(spelled_out(text.name), 40)}"
    yield from (f"{_MARK}{line}" for line in lines[:_MOST_LINES])
    if _is_cut(text):
        yield f"{_INDENT}[... {len(text.text):,} characters in all; --json has them ...]"


def _is_cut(text: ItemText) -> bool:
    return len(text.text) > _LONGEST_TEXT or text.text.count("\n") >= _MOST_LINES


def _missed_lines(review: Review, width: int) -> Iterator[str]:
    yield paragraph("Running sessions began with guards that are gone or were changed:", width)
    labels = list(dict.fromkeys(guard.label for guard in review.missed.values()))
    for label in labels[:MOST_SHOWN]:
        yield from _indented(label, width)
    if len(labels) > MOST_SHOWN:
        yield f"{_INDENT}[... and {len(labels) - MOST_SHOWN} more ...]"


def _indented(text: str, width: int) -> Iterator[str]:
    yield from (f"{_INDENT}{line}" for line in pieces(_flat(text), max(width - len(_INDENT), 20)))


def _flat(text: str) -> str:
    """Put a text on one line, also a path with a line feed in it."""
    return spelled_out(text.replace("\n", "<U+000A>"))


def diff_text(lines: Sequence[str], width: int) -> str:
    """Format a difference with marked lines, so that none can be taken for something else."""
    shown: list[str] = []
    for line in lines:
        colour = _DIFF_COLOURS.get(line[:1])
        cut = pieces(spelled_out(line.replace("\n", " ")), max(width - len(_MARK), 20))
        shown += [_MARK + (paint(piece, colour) if colour else piece) for piece in cut]
    return "\n".join(shown)
