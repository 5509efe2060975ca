"""The exit status of a process that tells it before it dies, over a socket of its own."""

import os
import socket
from collections.abc import Callable
from typing import Final

_LONGEST: Final = 1 << 16
_MOST_MESSAGES: Final = 8


class EarlyStatus:
    """What a process started ahead says of its job. A process that says nothing is waited for as any other.

    It sends, as messages: `A`, its script begins now; or `X` and why, the real interpreter takes over; or `N` and why,
    nothing was run; and in the end `S`, its exit status and what it has imported.
    """

    __slots__ = ("_socket", "began", "closed", "imported", "signal_message", "status", "why")

    def __init__(self, ours: socket.socket, signal_message: Callable[[int], bytes] | None = None) -> None:
        ours.setblocking(False)
        self._socket = ours
        #: What the shell that the process has no more would have said, had a signal ended it.
        self.signal_message = signal_message
        #: Something of the hook may have run: it must not be started once more.
        self.began = False
        self.closed = False
        #: Why the real interpreter took over, or why nothing was run.
        self.why = ""
        self.status: int | None = None
        self.imported: tuple[str, ...] = ()

    @property
    def fd(self) -> int:
        return self._socket.fileno()

    def hear(self) -> bool:
        """Take what was said. True when nothing more will come."""
        for _ in range(_MOST_MESSAGES):
            if self.closed:
                return True
            try:
                message = self._socket.recv(_LONGEST)
            except BlockingIOError:
                return False
            except ConnectionResetError:
                continue  # what was said before comes now
            except OSError:
                message = b""
            self._understand(message[:1], message[1:])
        self.closed = True  # it says more than there is to say: the script itself has found the socket
        return True

    def close(self) -> None:
        self.closed = True
        self._socket.close()

    def _understand(self, kind: bytes, rest: bytes) -> None:
        if kind == b"A":
            self.began = True
        elif kind in (b"X", b"N") and not self.began:  # a script that has begun cannot take that back
            self.began = kind == b"X"
            self.why = rest.decode("utf-8", "replace")
        elif kind == b"S" and self.began:
            number, *names = rest.split(b"\0")
            self.status = int(number) if number.isdigit() and int(number) < 256 else None
            self.imported = tuple(os.fsdecode(name) for name in names if name)
            self.closed = True
        else:
            self.closed = True
