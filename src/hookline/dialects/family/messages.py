"""Put messages that a hook rewrote in its own agent's shape back into the conversation they were shown from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from hookline.dialects.json_text import written
from hookline.model.messages import AnyMessage

Document = Mapping[str, Any]
#: A message and the document it was shown as; None for one that was not shown.
Shown = tuple[AnyMessage, Document | None]
#: The message that a document stands for, given the one it was before; None for one that the hook added.
Read = Callable[[Document, AnyMessage | None], AnyMessage]


def put_back(shown: Sequence[Shown], wanted: Sequence[Document], read: Read) -> list[AnyMessage]:
    """Return the conversation as the hook wants it. Messages it did not see stay where they were."""
    visible = [(index, document) for index, (_, document) in enumerate(shown) if document is not None]
    before = [document for _, document in visible]
    found: list[AnyMessage] = []
    done = 0
    for document, at in _paired(before, wanted):
        if at is None:
            found.append(read(document, None))
            continue
        place = visible[at][0]
        found += _hidden(shown[done:place])
        message = shown[place][0]
        found.append(message if document == before[at] else read(document, message))
        done = place + 1
    return [*found, *_hidden(shown[done:])]


def _hidden(shown: Sequence[Shown]) -> Iterator[AnyMessage]:
    return (message for message, document in shown if document is None)


def _paired(before: Sequence[Document], after: Sequence[Document]) -> Iterator[tuple[Document, int | None]]:
    """Yield each document with the index of the one it was made from: the same, or one of its role in the
    same position."""
    match = SequenceMatcher(None, [*map(written, before)], [*map(written, after)], autojunk=False)
    for tag, start, end, first, last in match.get_opcodes():
        for offset, document in enumerate(after[first:last]):
            at = start + offset
            made_from = at < end and (
                tag == "equal"
                or (end - start == last - first and document.get("role") == before[at].get("role"))
            )
            yield document, at if made_from else None
