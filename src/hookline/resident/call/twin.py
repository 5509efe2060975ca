"""The same call in two processes: an agent that has our entry in two spellings runs both, at the same time.

Hooks run in one of them, and the other gives the answer of the first. Whatever is not certain makes both ask the hooks.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from hookline.model.events import field_of
from hookline.model.outcome import GO_ON, Outcome, Permission, Vote
from hookline.model.wire import HookReply, Parsed
from hookline.trust.digest import sha256, shake_256
from hookline.trust.sessions import SessionRecord, Sessions

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

#: Variables that shells set for themselves.
_OF_SHELLS = frozenset(("_", "SHLVL"))
#: An answer is in one of these places of the session's file; longer ones are not kept.
_PLACES, _PLACE_BYTES = 16, 1 << 16
_LENGTH_BYTES, _CHECK_BYTES = 4, 16
#: Seconds between two looks at whether the other process has answered.
_PAUSE = 0.01
#: A process that claims to be older than this when it reads its input is not believed.
_OLDEST = 5.0
#: A clock that all processes share and that is never set: if there is one, that of the start of processes.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Given(Struct, frozen=True):
    """What the first process answered."""

    reply: HookReply
    #: What it decided, if the call is not simply to go on.
    permission: Permission | None
    #: When it was ready, which is before the agent had it.
    at: float

    @property
    def outcome(self) -> Outcome:
        """As much of it as counts if the answer cannot be written."""
        if self.permission is None:
            return GO_ON
        kind = "block" if self.permission == "deny" else self.permission
        return Outcome(votes=(Vote(kind, self.reply.stderr),))


class Asked(Struct, frozen=True):
    """What an agent asked, as it came."""

    raw: bytes
    files: Sequence[str] | None
    env: Mapping[str, str]
    #: When the process began that the agent has started.
    started: float
    strict: bool = False


class Twin(Protocol):
    """One call, as the first or second of two that are made about the same."""

    async def given(self) -> Given | None:
        """The answer to the other one, waited for; None: the hooks are to be asked here."""
        ...

    def share(self, reply: HookReply, permission: Permission | None) -> None:
        """Leave the answer for the other one, before the agent has it."""
        ...

    def close(self) -> None:
        """Let the other one go on."""
        ...


class TwinCall:
    """One call, as the first or second process that is asked about it."""

    def __init__(self, key: bytes, descriptor: int, started: float) -> None:
        self._key = key
        self._descriptor = descriptor
        self._started = started
        self._number = int.from_bytes(sha256(b"number" + key).digest()[:7]) + _PLACES * _PLACE_BYTES

    async def given(self) -> Given | None:
        """The answer of the other process, waited for; None: the hooks are to be asked here.

        Then the call is this process's own, until it shares its answer or ends.
        """
        try:
            while not self._locked():  # noqa: ASYNC110 another process cannot set an event
                await asyncio.sleep(_PAUSE)
            found = self._read()
        except (OSError, msgspec.DecodeError):  # a file system without locks, or a file of another version
            return None
        # An agent that asks a second time has had the first answer before it started this process.
        if found is None or not self._started <= found.at <= now():
            return None
        self.close()
        return found

    def share(self, reply: HookReply, permission: Permission | None) -> None:
        """Leave the answer for the other process, before the agent has it."""
        try:
            said = msgspec.json.encode(Given(reply, permission, now()))
            if len(said) <= _PLACE_BYTES - _LENGTH_BYTES - _CHECK_BYTES:
                hidden = self._masked(sha256(said).digest()[:_CHECK_BYTES] + said)
                os.pwrite(self._descriptor, len(hidden).to_bytes(_LENGTH_BYTES) + hidden, self._place)
        except (OSError, ValueError):  # no room, or half a character: the other process asks the hooks itself
            pass
        finally:
            self.close()

    def _locked(self) -> bool:
        """Whether this process has the call for itself. A process that ends loses it."""
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._number)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def close(self) -> None:
        """Lets the other process go on."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    @property
    def _place(self) -> int:
        return self._number % _PLACES * _PLACE_BYTES

    def _read(self) -> Given | None:
        content = os.pread(self._descriptor, _PLACE_BYTES, self._place)
        length = int.from_bytes(content[:_LENGTH_BYTES])
        plain = self._masked(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
        check, said = plain[:_CHECK_BYTES], plain[_CHECK_BYTES:]
        if sha256(said).digest()[:_CHECK_BYTES] != check:
            return None
        return msgspec.json.decode(said, type=Given)

    def _masked(self, text: bytes) -> bytes:
        """Only a process with the same payload can read or write it: answers may hold what should not stay on disk."""
        mask = shake_256(b"answer" + self._key).digest(len(text))
        return (int.from_bytes(text) ^ int.from_bytes(mask)).to_bytes(len(text))


def call_key(dialect: "Dialect", parsed: Parsed, asked: Asked) -> bytes | None:
    """What two calls have in common that are the same one; None where that is not certain."""
    about_tool = parsed.event.subject == "tool_name"
    if not parsed.scene.session_id or (about_tool and not field_of(parsed.payload, "tool_use_id")):
        return None
    apart = _OF_SHELLS.union(dialect.own_variables)
    around = sorted(f"{name}={value}" for name, value in asked.env.items() if name not in apart)
    digest = sha256(asked.raw).hexdigest()
    facts = (dialect.name, parsed.event.name, asked.files, asked.strict, os.getuid(), around, digest)
    return sha256(repr(facts).encode("utf-8", "surrogatepass")).digest()


def twin_call(dialect: "Dialect", parsed: Parsed, asked: Asked) -> TwinCall | None:
    """None where it is not certain that two such calls are the same one, or nothing can be remembered."""
    key = call_key(dialect, parsed, asked)
    if key is None:
        return None
    session = parsed.scene.session_id
    record = SessionRecord(dialect=dialect.name, session=session, files=tuple(asked.files or ()))
    descriptor = Sessions(asked.env.get("HOME", "")).open_calls(record)
    return None if descriptor is None else TwinCall(key, descriptor, asked.started)


def now() -> float:
    return time.clock_gettime(_CLOCK)


def process_started(pid: int | str = "self") -> float:
    """When a process began, or a moment later; it runs only for as long as one call takes."""
    moment = now()
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stream:
        ticks = int(stream.read().rpartition(b")")[2].split()[19])
        began = (ticks + 1) / os.sysconf("SC_CLK_TCK")
        return began if moment - _OLDEST < began <= moment else moment
    return moment
