"""Cache answers as long as the server allows, so that the same question is not sent again and again.

Nothing is repeated unless the server says for how long: a denial that stays, or a permission with a lifetime.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from time import monotonic
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from hookline.model.raw import Replied

#: Fields that differ from call to call in one conversation; everything else of a question must be the same.
_OF_ONE_CALL: Final = frozenset({"tool_use_id", "prompt_id", "turn"})
_MOST_ANSWERS: Final = 256
_MOST_BYTES: Final = 64 * 1024
#: A longer time is a mistake of the server.
LONGEST_SECONDS: Final = 3600.0

Question = bytes


class ResponseCache:
    """A bounded number of answers, the oldest of which is forgotten first."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._answers: OrderedDict[Question, tuple[float, Replied]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, question: Question) -> Replied | None:
        """Return the answer, if it may still be repeated."""
        found = self._answers.get(question)
        if found is None:
            return None
        until, answer = found
        if self._clock() < until:
            return answer
        del self._answers[question]
        return None

    def keep(self, question: Question, answer: Replied) -> None:
        if answer.repeatable <= 0 or answer.truncated or len(answer.body) > _MOST_BYTES:
            return
        until = self._clock() + min(answer.repeatable, LONGEST_SECONDS)
        self._answers[question] = (until, replace(answer, repeatable=0.0, repeated=True))
        self._answers.move_to_end(question)
        if len(self._answers) > _MOST_ANSWERS:
            self._answers.popitem(last=False)


def question_of(url: str, headers: Sequence[tuple[bytes, bytes]], document: bytes) -> Question:
    """Return a key for the question, its receiver and its sender, without the ids of this one call."""
    try:
        value: Any = msgspec.json.decode(document)
        if isinstance(value, dict):
            value = {key: each for key, each in value.items() if key not in _OF_ONE_CALL}  # pyright: ignore[reportUnknownVariableType] JSON
            document = msgspec.json.encode(value, order="sorted")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # then every byte of it is part of the key
    digest = blake2b(url.encode(), digest_size=32)
    for part in (*(each for header in headers for each in header), document):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.digest()
