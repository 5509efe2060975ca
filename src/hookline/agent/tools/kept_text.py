"""Output of a command as it comes, bounded: its beginning, its end, and how much is missing between them."""

import codecs
from collections import deque

from hookline.model.safetext import head_and_tail

#: Characters of a command's output that are shown.
MOST_SHOWN = 30_000


class KeptText:
    """Fed with bytes in any pieces. A character that is cut in two by a piece is put together again."""

    def __init__(self, most: int = MOST_SHOWN) -> None:
        self._half = most // 2
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._start_anew()

    def _start_anew(self) -> None:
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._missing = 0

    def feed(self, chunk: bytes) -> None:
        text = self._decoder.decode(chunk)
        if self._room:
            start, text = text[: self._room], text[self._room :]
            self._head.append(start)
            self._room -= len(start)
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
            self._trim()

    def _trim(self) -> None:
        too_much = self._tail_size - self._half
        while too_much > 0:
            first = self._tail.popleft()
            gone = min(len(first), too_much)
            if gone < len(first):
                self._tail.appendleft(first[gone:])
            too_much -= gone
            self._tail_size -= gone
            self._missing += gone

    @property
    def text(self) -> str:
        """What is kept, with a mark where something is missing, without blanks at its end."""
        mark = f"\n[... {self._missing} characters left out ...]\n" if self._missing else ""
        return "".join([*self._head, mark, *self._tail]).rstrip()

    def take(self) -> str:
        """What came since the last time."""
        text = self.text
        self._start_anew()
        return text


class Streams:
    """Both outputs of a command."""

    def __init__(self, most: int = MOST_SHOWN) -> None:
        self.stdout = KeptText(most)
        self.stderr = KeptText(most)


def both(stdout: str, stderr: str, most: int = MOST_SHOWN) -> str:
    """Both outputs as one text. Too long together, each is cut in its middle, the longer one more."""
    if len(stdout) + len(stderr) > most:
        for_out = min(len(stdout), most - min(len(stderr), most // 2))
        stdout = head_and_tail(stdout, for_out // 2)
        stderr = head_and_tail(stderr, (most - for_out) // 2)
    return "\n".join(part for part in (stdout, stderr) if part)
