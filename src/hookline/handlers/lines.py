"""Output line by line while it comes, and the one line that means something to the runner itself."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

#: A line is cut there; the rest of it is not passed on.
LONGEST_LINE: Final = 1 << 16
#: Longer first lines are never a request.
LONGEST_REQUEST: Final = 4096


class Lines:
    """Passes complete lines on, without their newline. A listener that raises is not called again."""

    __slots__ = ("_begun", "_listener")

    def __init__(self, listener: Callable[[bytes], None]) -> None:
        self._listener: Callable[[bytes], None] | None = listener
        self._begun = bytearray()

    def feed(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._grow(line)
            self._pass_on()
        self._grow(rest)

    def end(self) -> None:
        """The last line may lack its newline."""
        if self._begun:
            self._pass_on()

    def _grow(self, part: bytes) -> None:
        self._begun += part[: max(LONGEST_LINE - len(self._begun), 0)]

    def _pass_on(self) -> None:
        line, self._begun = bytes(self._begun), bytearray()
        if self._listener is None:
            return
        try:
            self._listener(line)
        except Exception:  # noqa: BLE001 - somebody else's mistake must not end the hook
            self._listener = None


def asks_to_detach(output: bytes) -> bool | None:
    """Whether the first line is `{"async": true, ...}`; None while that cannot be known yet."""
    line, newline, _ = output.partition(b"\n")
    line = line.strip()
    if len(line) > LONGEST_REQUEST or line[:1] not in (b"", b"{"):
        return False
    if newline or line.endswith(b"}"):
        if _is_request(line):
            return True
        return False if newline else None
    return None


def _is_request(line: bytes) -> bool:
    try:
        value: Any = msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return value.get("async") is True
