"""Deduplicate calls: an agent that has several entries of ours runs each of them, at the same time or in order.

Hooks run in one of them, and the others give the answer of the first. If anything is uncertain, hooks run in
each.
"""

import asyncio
import os
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import field_of
from hookline.model.outcome import Outcome
from hookline.model.wire import HookReply, Parsed
from hookline.trust.digest import sha256, shake_256
from hookline.trust.sessions import SeenSession, SessionStore

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.dialects.entries import AskedHooks

#: Variables that shells set for themselves.
_OF_SHELLS = frozenset(("_", "SHLVL"))
#: An answer is in one of these slots of the session's file; longer ones are not stored.
_SLOTS, _SLOT_BYTES = 16, 1 << 16
_LENGTH_BYTES, _CHECK_BYTES = 4, 16
#: Behind the slots is a table of denied calls: the digest of a call says in which row it is, and each row has a digest
#: and bits for the hooks that denied the call.
_DENIALS_AT, _DENIALS, _DIGEST_BYTES = _SLOTS * _SLOT_BYTES, 1024, 15
_DENIED_BY: dict["AskedHooks", int] = {"own": 1, "others": 2, "all": 4}
#: `struct flock`: type, start of counting, offset, length, process.
_FLOCK = "hhqqi4x"
#: Seconds between two checks for the other process's answer.
_POLL_SECONDS = 0.01
#: Seconds after an answer in which another entry of ours, run in order, is for the same call.
_NEXT_ENTRY = 5.0
#: A process that claims to be older than this when it reads its input is not trusted.
_OLDEST = 5.0
#: A clock that all processes share and that is never set: if there is one, that of process start times.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SharedReply(Struct, frozen=True):
    """The answer of the first process."""

    reply: HookReply
    #: What hooks said; and the agent's name of the event, which has its own form of answers.
    outcome: Outcome
    event: str
    #: The time when it was ready, which is before the agent had it.
    at: float
    #: The entries that had it, the first one first; and which hooks that one asked.
    entries: list[str] = []
    hooks: str = "all"

    def is_for(self, started: float, entry: str, *, numbered: bool) -> bool:
        """Return True if it also answers a process of this entry that began then, for the same or an equal call.

        An agent that asks a second time by the same entry has had the first answer before it started the process.
        Where calls have no ids, an agent may also make two equal calls at the same time: only another entry is
        certainly about the same one.
        """
        age = now() - self.at
        new = entry not in self.entries
        same = age >= 0 and ((numbered and started <= self.at) or (new and age < _NEXT_ENTRY))
        if same and new:
            self.entries.append(entry)
        return same


class RawRequest(Struct, frozen=True):
    """The raw request of an agent."""

    raw: bytes
    files: Sequence[str] | None
    env: Mapping[str, str]
    #: Returns the start time of the process that the agent started.
    started: Callable[[], float]
    strict: bool = False
    #: The words of the entry that the agent ran, and what the agent gives this entry alone.
    entry: str = ""
    hooks: str = "all"


class SharedCall:
    """One call, as the first or second process for it."""

    def __init__(self, key: bytes, descriptor: int, request: RawRequest, *, numbered: bool) -> None:
        self._key = key
        self._request = request
        self._numbered = numbered
        #: True from the lock to the answer.
        self._owned = False
        self._descriptor = descriptor
        self._started = request.started()
        self._number = int.from_bytes(sha256(b"number" + key).digest()[:7]) + _SLOTS * _SLOT_BYTES
        self._offset = self._number % _SLOTS * _SLOT_BYTES

    async def shared_reply(self) -> SharedReply | None:
        """Wait for the answer of the other process; None if the hooks must run here.

        Then the call belongs to this process, until it shares its answer or ends.
        """
        try:
            while not self._locked():  # noqa: ASYNC110 another process cannot set an event
                await asyncio.sleep(_POLL_SECONDS)
            found = self._read()
        except (OSError, msgspec.DecodeError):  # a file system without locks, or a file of another version
            return None
        if found is None or not found.is_for(self._started, self._request.entry, numbered=self._numbered):
            return None
        self._leave(found)
        return found

    def share(self, reply: HookReply, outcome: Outcome, event: str) -> None:
        """Leave the answer for the other process, before the agent has it; not where it was the other's."""
        if self._owned:
            self._leave(SharedReply(reply, outcome, event, now(), [self._request.entry], self._request.hooks))

    def remember(self, call: str, hooks: "AskedHooks", *, denied: bool) -> bool:
        """Remember if these hooks denied a tool call, by its id: their last answer counts. Return False if that cannot
        be written."""
        digest, offset = _denial(call)
        try:
            before = self._denied_by(digest, offset)
            bit = _DENIED_BY[hooks]
            after = before | bit if denied else 0 if hooks == "all" else before & ~bit
            if after != before:
                os.pwrite(self._descriptor, digest + bytes((after,)), offset)
        except OSError:
            return False
        return True

    def was_denied(self, call: str) -> bool:
        """Return True if that is remembered; a later denial may have taken its place."""
        try:
            return bool(self._denied_by(*_denial(call)))
        except OSError:
            return False

    def _denied_by(self, digest: bytes, offset: int) -> int:
        content = os.pread(self._descriptor, len(digest) + 1, offset)
        return content[-1] if content[:-1] == digest else 0

    def _leave(self, shared: SharedReply) -> None:
        try:
            said = msgspec.json.encode(shared)
            if len(said) <= _SLOT_BYTES - _LENGTH_BYTES - _CHECK_BYTES:
                hidden = self._masked(sha256(said).digest()[:_CHECK_BYTES] + said)
                os.pwrite(self._descriptor, len(hidden).to_bytes(_LENGTH_BYTES) + hidden, self._offset)
        # No space, or a value that JSON does not have: the other process runs the hooks itself.
        except (OSError, TypeError, ValueError):
            pass
        finally:
            self._unlock()

    def _locked(self) -> bool:
        """Return True if this call owns the answer. A process that ends loses it."""
        import fcntl

        try:
            self._lock(fcntl.F_WRLCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        self._owned = True
        return True

    def _unlock(self) -> None:
        """Let the other process continue."""
        import fcntl

        self._owned = False
        with suppress(OSError):
            self._lock(fcntl.F_UNLCK, fcntl.LOCK_UN)

    def _lock(self, kind: int, elsewhere: int) -> None:
        """Change the lock of the open file: a lock of the process would not keep apart two calls in the daemon."""
        import fcntl

        if hasattr(fcntl, "F_OFD_SETLK"):
            wanted = struct.pack(_FLOCK, kind, os.SEEK_SET, self._number, 1, 0)
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, wanted)
        else:
            fcntl.lockf(self._descriptor, elsewhere, 1, self._number)

    def close(self) -> None:
        """Close the file; that unlocks it, too."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _read(self) -> SharedReply | None:
        content = os.pread(self._descriptor, _SLOT_BYTES, self._offset)
        length = int.from_bytes(content[:_LENGTH_BYTES])
        plain = self._masked(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
        check, said = plain[:_CHECK_BYTES], plain[_CHECK_BYTES:]
        if sha256(said).digest()[:_CHECK_BYTES] != check:
            return None
        return msgspec.json.decode(said, type=SharedReply)

    def _masked(self, text: bytes) -> bytes:
        """Encrypt an answer so that only a process with the same payload can read or write it: answers may
        hold secrets."""
        mask = shake_256(b"answer" + self._key).digest(len(text))
        return (int.from_bytes(text) ^ int.from_bytes(mask)).to_bytes(len(text))


def _denial(call: str) -> tuple[bytes, int]:
    """Return the digest of a call, and the position of its row in the file."""
    digest = sha256(call.encode("utf-8", "surrogatepass")).digest()
    row = int.from_bytes(digest[-2:]) % _DENIALS
    return digest[:_DIGEST_BYTES], _DENIALS_AT + row * (_DIGEST_BYTES + 1)


def _key(dialect: "Dialect", parsed: Parsed, request: RawRequest) -> bytes:
    """Return the key that duplicate calls share."""
    apart = _OF_SHELLS.union(dialect.own_variables)
    around = sorted([f"{name}={value}" for name, value in request.env.items() if name not in apart])
    digest = sha256(_meaning(parsed, request.raw)).hexdigest()
    facts = (dialect.name, parsed.event.name, request.files, request.strict, os.getuid(), around, digest)
    return sha256(repr(facts).encode("utf-8", "surrogatepass")).digest()


def _meaning(parsed: Parsed, raw: bytes) -> bytes:
    """Return what a call is about: agents give each of their entries another time, or another spelling of names."""
    tool: Any = field_of(parsed.payload, "tool_name")
    payload = replace(parsed.payload, tool_name=tool.casefold()) if isinstance(tool, str) else parsed.payload
    try:
        return msgspec.json.encode((payload, parsed.info.agent_id, parsed.info.cwd), order="sorted")
    except (TypeError, ValueError, msgspec.MsgspecError):  # values that JSON does not have
        return raw


def shared_call(dialect: "Dialect", parsed: Parsed, request: RawRequest) -> SharedCall | None:
    """Return the call; None where duplicates are not certain, or nothing can be remembered."""
    session = parsed.info.session_id
    if not session:
        return None
    record = SeenSession(dialect=dialect.name, session=session, files=tuple(request.files or ()))
    descriptor = SessionStore(request.env.get("HOME", "")).open_calls(record)
    if descriptor is None:
        return None
    numbered = parsed.event.subject != "tool_name" or bool(field_of(parsed.payload, "tool_use_id"))
    return SharedCall(_key(dialect, parsed, request), descriptor, request, numbered=numbered)


def now() -> float:
    return time.clock_gettime(_CLOCK)


def process_started(pid: int | str = "self") -> float:
    """Return when a process began, or slightly later; it runs only for as long as one call takes."""
    recorded = now()
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stream:
        ticks = int(stream.read().rpartition(b")")[2].split()[19])
        began = (ticks + 1) / os.sysconf("SC_CLK_TCK")
        return began if recorded - _OLDEST < began <= recorded else recorded
    return recorded
