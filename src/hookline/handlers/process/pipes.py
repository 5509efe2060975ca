"""Handle our ends of a hook's pipes: a reader that keeps a bounded amount, and a writer that never blocks and
never raises."""

import os
import signal
from collections.abc import Callable
from typing import Any, Final

import msgspec

#: Bytes taken per call, so that one loud hook cannot hold up the loop.
CHUNK: Final = 1 << 16


class Output:
    """The output of one pipe: the first `cap` bytes are kept, the rest is read and discarded.

    A listener gets all of it as it arrives; it must not raise.
    """

    __slots__ = ("_buffer", "_cap", "_listener", "ended", "fd", "size", "total")

    def __init__(self, fd: int, cap: int, listener: Callable[[bytes], None] | None = None) -> None:
        self.fd = fd
        self._cap = cap
        self._listener = listener
        self._buffer = bytearray()
        #: Bytes kept, and bytes received in all.
        self.size = 0
        self.total = 0
        self.ended = False

    @property
    def truncated(self) -> bool:
        return self.total > self.size

    def kept(self, most: int | None = None) -> bytes:
        return bytes(memoryview(self._buffer)[: self.size if most is None else min(self.size, most)])

    def take(self) -> bytes | None:
        """Return the kept part of one read, or None when nothing is there now."""
        try:
            chunk = os.read(self.fd, CHUNK)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            chunk = b""
        if not chunk:
            self.ended = True
            return chunk
        self.total += len(chunk)
        if self._listener is not None:
            self._listener(chunk)
        return self._keep(chunk)

    def _keep(self, chunk: bytes) -> bytes:
        size = min(self.size + len(chunk), self._cap)
        if size - self.size < len(chunk):
            chunk = chunk[: size - self.size]
        if size > CHUNK and len(self._buffer) < self._cap:
            # Allocated at once: a buffer that grows step by step fragments the memory of the host.
            small, self._buffer = self._buffer, bytearray(self._cap)
            self._buffer[: self.size] = small
        self._buffer[self.size : size] = chunk
        self.size = size
        return chunk


class Input:
    """The rest of the input for one pipe."""

    __slots__ = ("_rest", "fd")

    def __init__(self, fd: int, document: bytes) -> None:
        self.fd = fd
        self._rest = memoryview(document)

    def push(self) -> bool:
        """Write as much as fits; return True when done, because all is written or the reader is gone."""
        while self._rest:
            try:
                written = write_some(self.fd, self._rest[: CHUNK * 16])
            except BlockingIOError:
                return False
            if written is None:
                break
            self._rest = self._rest[written:]
        self.close()
        return True

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            self._rest = self._rest[:0]


def write_some(fd: int, view: memoryview | bytes) -> int | None:
    """Call `os.write`; return None when the other end is gone. Only BlockingIOError is raised."""
    # Python ignores SIGPIPE, but many command line tools restore its default: then a plain write would kill
    # us.
    deadly = signal.getsignal(signal.SIGPIPE) == signal.SIG_DFL
    try:
        return _write_shielded(fd, view) if deadly else os.write(fd, view)
    except BlockingIOError:
        raise
    except OSError:
        return None


def _write_shielded(fd: int, view: memoryview | bytes) -> int:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        return os.write(fd, view)
    except BrokenPipeError:
        # The signal is pending in this thread: it has to be consumed before the mask is restored.
        signal.sigtimedwait({signal.SIGPIPE}, 0)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


#: Longer lines are truncated.
LONGEST_LINE: Final = 1 << 16
#: Longer first lines are never a request.
LONGEST_REQUEST: Final = 4096


class LineSplitter:
    """Complete lines, passed on without their newline. A listener that raises is not called again."""

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
        """Pass on the last line, which may lack its newline."""
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
        except Exception:  # noqa: BLE001 - a listener's exception must not end the hook
            self._listener = None


def asks_for_background(output: bytes) -> bool | None:
    """Return True if the first line is `{"async": true, ...}`; None while that cannot be known yet."""
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
