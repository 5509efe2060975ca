"""Deduplicate calls: an agent that has several entries of ours runs each of them, at the same time or in order.

Hooks run in one of them, and the others give the answer of the first. If anything is uncertain, hooks run in
each.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from hookline.model.events import field_of
from hookline.model.outcome import PASS, Outcome, Permission, Vote
from hookline.model.wire import HookReply, Parsed
from hookline.trust.digest import sha256, shake_256
from hookline.trust.sessions import SeenSession, SessionStore

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

#: Variables that shells set for themselves.
_OF_SHELLS = frozenset(("_", "SHLVL"))
#: An answer is in one of these slots of the session's file; longer ones are not stored.
_PLACES, _PLACE_BYTES = 16, 1 << 16
_LENGTH_BYTES, _CHECK_BYTES = 4, 16
#: Seconds between two checks for the other process's answer.
_PAUSE = 0.01
#: Seconds after an answer in which another entry of ours, run in order, is for the same call.
_NEXT_ENTRY = 5.0
#: A process that claims to be older than this when it reads its input is not trusted.
_OLDEST = 5.0
#: A clock that all processes share and that is never set: if there is one, that of process start times.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SharedReply(Struct, frozen=True):
    """The answer of the first process."""

    reply: HookReply
    #: Its decision, if the call does not simply proceed.
    permission: Permission | None
    #: The time when it was ready, which is before the agent had it.
    at: float
    #: The entries that had it, the first one first; and which hooks that one asked.
    entries: list[str] = []
    hooks: str = "all"

    def is_for(self, started: float, entry: str) -> bool:
        """Return True if it also answers a process of this entry that began then.

        An agent that asks a second time by the same entry has had the first answer before it started the process.
        """
        age = now() - self.at
        same = age >= 0 and (started <= self.at or (entry not in self.entries and age < _NEXT_ENTRY))
        if same and entry not in self.entries:
            self.entries.append(entry)
        return same

    @property
    def outcome(self) -> Outcome:
        """The part of it that applies if the answer cannot be written."""
        if self.permission is None:
            return PASS
        kind = "block" if self.permission == "deny" else self.permission
        return Outcome(votes=(Vote(kind, self.reply.stderr),))


class RawRequest(Struct, frozen=True):
    """The raw request of an agent."""

    raw: bytes
    files: Sequence[str] | None
    env: Mapping[str, str]
    #: Returns the start time of the process that the agent started.
    started: Callable[[], float]
    strict: bool = False
    #: The words of the entry that the agent ran.
    entry: str = ""
    hooks: str = "all"


class DuplicateCall(Protocol):
    """One call, as the first or second of two duplicates."""

    async def given(self) -> SharedReply | None:
        """Wait for the answer to the other one; None if the hooks must run here."""
        ...

    def share(self, reply: HookReply, permission: Permission | None) -> None:
        """Leave the answer for the other one, before the agent has it."""
        ...

    def close(self) -> None:
        """Let the other one continue."""
        ...


class SharedCall:
    """One call, as the first or second process for it."""

    def __init__(self, key: bytes, descriptor: int, asked: RawRequest) -> None:
        self._key = key
        self._asked = asked
        self._descriptor = descriptor
        self._started = asked.started()
        self._number = int.from_bytes(sha256(b"number" + key).digest()[:7]) + _PLACES * _PLACE_BYTES

    async def given(self) -> SharedReply | None:
        """Wait for the answer of the other process; None if the hooks must run here.

        Then the call belongs to this process, until it shares its answer or ends.
        """
        try:
            while not self._locked():  # noqa: ASYNC110 another process cannot set an event
                await asyncio.sleep(_PAUSE)
            found = self._read()
        except (OSError, msgspec.DecodeError):  # a file system without locks, or a file of another version
            return None
        if found is None or not found.is_for(self._started, self._asked.entry):
            return None
        self._leave(found)
        return found

    def share(self, reply: HookReply, permission: Permission | None) -> None:
        """Leave the answer for the other process, before the agent has it."""
        self._leave(shared_reply(reply, permission, self._asked))

    def _leave(self, shared: SharedReply) -> None:
        try:
            said = msgspec.json.encode(shared)
            if len(said) <= _PLACE_BYTES - _LENGTH_BYTES - _CHECK_BYTES:
                hidden = self._masked(sha256(said).digest()[:_CHECK_BYTES] + said)
                os.pwrite(self._descriptor, len(hidden).to_bytes(_LENGTH_BYTES) + hidden, self._place)
        # No space, or half a character: the other process runs the hooks itself.
        except (OSError, ValueError):
            pass
        finally:
            self.close()

    def _locked(self) -> bool:
        """Return True if this process owns the call. A process that ends loses it."""
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._number)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def close(self) -> None:
        """Let the other process continue."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    @property
    def _place(self) -> int:
        return self._number % _PLACES * _PLACE_BYTES

    def _read(self) -> SharedReply | None:
        content = os.pread(self._descriptor, _PLACE_BYTES, self._place)
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


def shared_reply(reply: HookReply, permission: Permission | None, asked: RawRequest) -> SharedReply:
    return SharedReply(reply, permission, now(), [asked.entry], asked.hooks)


def call_key(dialect: "Dialect", parsed: Parsed, asked: RawRequest) -> bytes | None:
    """Return the key that duplicate calls share; None where duplicates are not certain."""
    about_tool = parsed.event.subject == "tool_name"
    if not parsed.info.session_id or (about_tool and not field_of(parsed.payload, "tool_use_id")):
        return None
    apart = _OF_SHELLS.union(dialect.own_variables)
    around = sorted([f"{name}={value}" for name, value in asked.env.items() if name not in apart])
    digest = sha256(_meaning(parsed, asked.raw)).hexdigest()
    facts = (dialect.name, parsed.event.name, asked.files, asked.strict, os.getuid(), around, digest)
    return sha256(repr(facts).encode("utf-8", "surrogatepass")).digest()


def _meaning(parsed: Parsed, raw: bytes) -> bytes:
    """Return what a call is about: agents give each of their entries another time, or another spelling of keys."""
    try:
        return msgspec.json.encode((parsed.payload, parsed.info.agent_id, parsed.info.cwd), order="sorted")
    except (TypeError, ValueError, msgspec.MsgspecError):  # values that JSON does not have
        return raw


def twin_call(dialect: "Dialect", parsed: Parsed, asked: RawRequest) -> SharedCall | None:
    """Return the call; None where duplicates are not certain, or nothing can be remembered."""
    key = call_key(dialect, parsed, asked)
    if key is None:
        return None
    session = parsed.info.session_id
    record = SeenSession(dialect=dialect.name, session=session, files=tuple(asked.files or ()))
    descriptor = SessionStore(asked.env.get("HOME", "")).open_calls(record)
    return None if descriptor is None else SharedCall(key, descriptor, asked)


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
