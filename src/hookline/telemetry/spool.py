"""Write what a call of an agent would send into a file, so that the call neither loads OpenTelemetry nor waits.

A process of its own sends it, for all calls with the same variables. It ends when
nothing has come for some seconds; the next call starts another one.
"""

import fcntl
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct

from hookline.handlers.http.handler import TRACE_PARENT
from hookline.journal.file import state_dir
from hookline.journal.observer import Ended
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.telemetry import vocabulary as words
from hookline.telemetry.facts import Facts
from hookline.telemetry.variables import spawn_detached, taken_over

#: Bytes that may wait to be sent; beyond them calls write nothing, and the sender says so.
MOST_BYTES: Final = 4 << 20
_SAMPLED: Final = "01"


class SpanRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished span of a dispatch or of a run, with what the metrics count."""

    kind: str
    name: str
    #: The span itself, and the one that it is under, as W3C `traceparent`; the parent is empty for none.
    own: str
    parent: str = ""
    #: Nanoseconds since the epoch.
    start: int
    end: int
    #: Seconds that the metrics count, without waiting.
    seconds: float
    failed: bool = False
    attributes: dict[str, Any]


class SpoolFile:
    """The file of unsent spans for one set of variables, and the lock of the process that sends them."""

    def __init__(self, env: Mapping[str, str], home: str) -> None:
        self.env = taken_over(env, home)
        # Two calls with other addresses or headers have other files: what one sends is not for the other's collector.
        names = sorted(name for name in self.env if name.startswith("OTEL_"))
        text = "\0".join(f"{name}={self.env[name]}" for name in names)
        self.directory = os.path.join(state_dir(env), "telemetry")
        self.path = os.path.join(
            self.directory, sha256(text.encode(errors="surrogateescape")).hexdigest()[:24]
        )

    def append(self, lines: bytes) -> None:
        """Add lines by one write. Raises OSError."""
        os.makedirs(self.directory, 0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(f"{self.path}.jsonl", flags, 0o600)
        try:
            if os.fstat(descriptor).st_size < MOST_BYTES:
                os.write(descriptor, lines)
        finally:
            os.close(descriptor)

    def lock(self) -> int | None:
        """Take the lock of the sender; None if there is one already. Raises OSError."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(f"{self.path}.lock", flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def send(self, module: str) -> None:
        """Start a sender, unless there is one. One that is ending looks again after it has left. Raises OSError.

        It inherits the lock, so that the next call does not start another one.
        """
        lock = self.lock()
        if lock is not None:
            try:
                os.set_inheritable(lock, True)
                spawn_detached([sys.executable, "-I", "-m", module, str(lock)], self.env)
            finally:
                os.close(lock)

    def is_there(self) -> bool:
        """Return True if something waits to be sent."""
        return os.path.exists(f"{self.path}.jsonl")

    def take(self, seconds: float) -> bytes:
        """Return what was written, and remove it. Calls that have the file open get this time to write."""
        try:
            with open(f"{self.path}.jsonl", "rb") as stream:
                os.unlink(stream.name)
                time.sleep(seconds)
                return stream.read(2 * MOST_BYTES)
        except FileNotFoundError:
            return b""

    def release(self, lock: int) -> None:
        """Give up the lock, and leave no file of it: every other set of variables has one."""
        with suppress(FileNotFoundError):
            os.unlink(f"{self.path}.lock")
        os.close(lock)


class Spool:
    """An observer of a process that ends with its call: it writes the spans of the call when its engine closes.

    `module` is the program that sends them.
    """

    def __init__(
        self, env: Mapping[str, str], module: str, say: Callable[[str], None], *, content: bool
    ) -> None:
        self._facts = Facts(env, content=content)
        self._file = SpoolFile(env, env.get("HOME", ""))
        self._module = module
        self._say = say
        self._parent = env.get("TRACEPARENT", "")
        self._records: list[SpanRecord] = []

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Ended:
        found = self._facts.at_beginning(session, event, payload)
        start, clock = time.time_ns(), time.perf_counter()
        own, parent = self._ids()
        token = TRACE_PARENT.set(own)

        def ended(outcome: Outcome | None) -> None:
            seconds = time.perf_counter() - clock
            TRACE_PARENT.reset(token)
            found.update({words.ERROR: "cancelled"} if outcome is None else self._facts.at_end(outcome))
            self._records.append(
                SpanRecord(
                    kind="dispatch", name=words.DISPATCH_SPAN.format(event=event.name), own=own, parent=parent,
                    start=start, end=start + int(seconds * 1e9), seconds=seconds, failed=outcome is None,
                    attributes=found,
                )
            )  # fmt: skip

        return ended

    def ran(self, run: Run) -> None:
        found = self._facts.of_run(run)
        if found is None:
            return
        end = time.time_ns()
        own, parent = self._ids()
        self._records.append(
            SpanRecord(
                kind="run", name=words.HOOK_SPAN.format(hook=run.hook), own=own, parent=parent,
                start=end - int((run.duration_ms + run.queue_ms) * 1e6), end=end, seconds=run.duration_ms / 1e3,
                failed=run.cause is not None, attributes=found,
            )
        )  # fmt: skip

    def closed(self) -> None:
        """Write what there is, and make sure that a process sends it."""
        if not self._records:
            return
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in self._records)
        self._records.clear()
        try:
            self._file.append(lines)
            self._file.send(self._module)
        except OSError as problem:
            self._say(f"telemetry is not sent: {problem}; hooks are not affected")

    def _ids(self) -> tuple[str, str]:
        """Return a new span and the one that it is under: the dispatch, or that of the agent."""
        parent = TRACE_PARENT.get() or self._parent
        parts = parent.split("-")
        if len(parts) != 4 or [len(each) for each in parts] != [2, 32, 16, 2]:
            parent, parts = "", ["00", f"{random.getrandbits(128):032x}", "", _SAMPLED]
        return f"00-{parts[1]}-{random.getrandbits(64):016x}-{parts[3]}", parent
