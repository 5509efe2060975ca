"""Prompts that wait for their turn, for a front that shows them and lets its user take them back."""

from collections import deque
from collections.abc import Callable


class PromptQueue(deque[str]):
    """In the order they were typed. Any thread may add one or take one back.

    `changed` is called after each change, by the thread that made it; `taken` with a prompt whose turn has come.
    """

    def __init__(self, changed: Callable[[], None], taken: Callable[[str], None]) -> None:
        super().__init__()
        self._changed = changed
        self._taken = taken

    def append(self, text: str, /) -> None:
        super().append(text)
        self._changed()

    def popleft(self) -> str:
        text = super().popleft()
        self._taken(text)
        self._changed()
        return text

    def take_back(self) -> str | None:
        """The last one, for the user to edit."""
        try:
            text = self.pop()
        except IndexError:  # its turn came in this moment
            return None
        self._changed()
        return text

    def clear(self) -> None:
        super().clear()
        self._changed()
