"""Read the exit status of a process that reports it before it dies, over a socket."""

import os
import socket
from collections.abc import Callable
from typing import Final

_LONGEST: Final = 1 << 16
_MOST_MESSAGES: Final = 8


class EarlyStatus:
    """The messages of a process started ahead about its job. A process that says nothing is waited for like
    any other.

    It sends messages: `A`, its script begins now; or `X` and why the real interpreter takes over; or `N` and
    why nothing was run; and in the end `S`, its exit status and its imports.
    """

    __slots__ = ("_socket", "began", "closed", "imported", "signal_message", "status", "why")

    def __init__(self, ours: socket.socket, signal_message: Callable[[int], bytes] | None = None) -> None:
        ours.setblocking(False)
        self._socket = ours
        #: The message of the shell that the process no longer has, in case a signal ends it.
        self.signal_message = signal_message
        #: A part of the hook may have run: it must not be started once more.
        self.began = False
        self.closed = False
        #: The reason why the real interpreter took over, or why nothing was run.
        self.why = ""
        self.status: int | None = None
        self.imported: tuple[str, ...] = ()

    @property
    def fd(self) -> int:
        return self._socket.fileno()

    def hear(self) -> bool:
        """Read messages; return True when nothing more will come."""
        for _ in range(_MOST_MESSAGES):
            if self.closed:
                return True
            try:
                message = self._socket.recv(_LONGEST)
            except BlockingIOError:
                return False
            except ConnectionResetError:
                continue  # earlier messages come now
            except OSError:
                message = b""
            self._understand(message[:1], message[1:])
        self.closed = True  # too many messages: the script itself has found the socket
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
