"""Prompts that wait for their turn: typed while the agent works, or before it has begun."""

from collections import deque
from collections.abc import Callable


def _nothing() -> None: ...


class PromptQueue:
    """In the order they were typed. Any thread may add one or take one back.

    `changed` is called after each change, by the thread that made it.
    """

    def __init__(self, changed: Callable[[], None] = _nothing) -> None:
        self._texts: deque[str] = deque()
        self._changed = changed
        #: Nothing is taken from it until `release`: the user stopped what was being done.
        self.on_hold = False

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self._texts)

    def append(self, text: str) -> None:
        self._texts.append(text)
        self._changed()

    def next(self) -> str | None:
        """The prompt whose turn it is; None if there is none, or all of them are on hold."""
        if self.on_hold:
            return None
        try:
            text = self._texts.popleft()
        except IndexError:
            return None
        self._changed()
        return text

    def take_back(self) -> str | None:
        """The last one, for the user to edit."""
        try:
            text = self._texts.pop()
        except IndexError:
            return None
        self.on_hold = self.on_hold and bool(self._texts)
        self._changed()
        return text

    def hold(self) -> None:
        self.on_hold = bool(self._texts)
        self._changed()

    def release(self) -> None:
        self.on_hold = False
        self._changed()

    def clear(self) -> None:
        self._texts.clear()
        self.release()
