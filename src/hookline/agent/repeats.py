"""Calls that make no sense twice: one that comes again and again, and ids that stand twice."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from hookline.agent.messages import ToolUse

_LONGEST_SHOWN = 200


class Repeats:
    """Sees when a model asks for the same calls response after response."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last = b""
        self._times = 0

    def count(self, uses: Sequence[ToolUse]) -> str | None:
        """What is being repeated, once it is too often."""
        made = msgspec.json.encode([(use.name, use.input) for use in uses])
        self._times = self._times + 1 if made == self._last else 1
        self._last = made
        if self._times <= self._most:
            return None
        return made.decode()[:_LONGEST_SHOWN]

    def answered(self) -> None:
        """A response without calls: what comes after it is no repetition, even if a hook sent the model back."""
        self._last, self._times = b"", 0


def with_own_ids(uses: Sequence[ToolUse]) -> tuple[tuple[ToolUse, ...], str]:
    """The calls with an id each, and the id that stood twice, if one did."""
    seen: set[str] = set()
    doubled = ""
    own: list[ToolUse] = []
    for place, use in enumerate(uses, 1):
        if use.id in seen:
            doubled = use.id
            use = replace(use, id=f"{use.id}_{place}")  # noqa: PLW2901 the one with an id of its own is meant from here
        seen.add(use.id)
        own.append(use)
    return tuple(own), doubled
