"""From a position in a text to its line."""

import re
from bisect import bisect_left


class Newlines:
    def __init__(self, text: str) -> None:
        self._at = [match.start() for match in re.finditer("\n", text)]

    def line(self, position: int) -> int:
        return bisect_left(self._at, position) + 1
