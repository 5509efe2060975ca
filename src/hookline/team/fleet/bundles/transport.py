"""Carry signed bundles to machines, and their reports back: by a server of the fleet, or a directory.

A transport is not trusted: it can hold back, repeat and change what it carries, but it cannot activate
anything that is not signed. Both kinds have a value for each revision of each bundle, and one for each
machine.
"""

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from typing import Protocol

import msgspec
from msgspec import Struct

from hookline.config.bundles.format import LARGEST, Bundle
from hookline.team.fleet.audit.ship import gaps
from hookline.team.fleet.connection import BUNDLES, MACHINES, Fleet, FleetError
from hookline.team.fleet.machine import KEY, Presence
from hookline.trust.store import replace_file

#: Poll interval of a directory, in seconds.
_LOOKS = 2.0
_ENDS = ".bundle"
#: Prefix of the keys of reports.
REPORTS = "report."


class Offered(Struct, frozen=True):
    """The unchecked bytes of a bundle, and the number of the write of its key."""

    key: str
    raw: bytes
    write: int = 0


class WorkerSeen(Struct, frozen=True):
    """Last status of a machine's worker, and when it was sent, by the server's clock."""

    presence: Presence
    at: float


class Transport(Protocol):
    async def bundles(self) -> list[Offered]:
        """Return every published revision. Raises FleetError."""
        ...

    def changes(self) -> AsyncIterator[Offered]:
        """Yield existing bundles, then new ones. Ends with a FleetError."""
        ...

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        """Publish a bundle; `after` is the write that it replaces, 0 for a new one. Raises FleetError."""
        ...

    async def report(self, machine: str, raw: bytes) -> None: ...

    async def reports(self) -> dict[str, bytes]:
        """Return the reports by machine."""
        ...

    async def workers(self) -> Mapping[str, WorkerSeen]:
        """Return current and past workers, by machine."""
        ...

    async def gaps(self) -> Mapping[str, int]:
        """Count the runs missing in the audit, by machine."""
        ...


def key_of(bundle: Bundle) -> str:
    return f"{bundle.name}.{bundle.revision}"


class ServerTransport:
    """Transport by the buckets of the fleet's server."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet

    async def bundles(self) -> list[Offered]:
        return [Offered(each.key, each.value, each.revision) for each in await self.fleet.keys(BUNDLES)]

    async def changes(self) -> AsyncIterator[Offered]:
        async for each in self.fleet.watch(BUNDLES):
            yield Offered(each.key, each.value, each.revision)

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        if len(raw) > min(LARGEST, self.fleet.most_bytes):
            raise FleetError(
                f"the bundle has {len(raw):,} bytes, and the server takes {self.fleet.most_bytes:,}"
            )
        if await self.fleet.put(BUNDLES, key_of(bundle), raw, after) is None:
            raise _taken(bundle)

    async def report(self, machine: str, raw: bytes) -> None:
        await self.fleet.put(MACHINES, f"{REPORTS}{machine}", raw)

    async def reports(self) -> dict[str, bytes]:
        found = await self.fleet.keys(MACHINES)
        return {each.key.removeprefix(REPORTS): each.value for each in found if each.key.startswith(REPORTS)}

    async def workers(self) -> Mapping[str, WorkerSeen]:
        workers: dict[str, WorkerSeen] = {}
        for each in await self.fleet.keys(MACHINES):
            if each.key.startswith(KEY):
                with suppress(msgspec.MsgspecError):  # of another version
                    presence = msgspec.json.decode(each.value, type=Presence)
                    workers[each.key.removeprefix(KEY)] = WorkerSeen(presence, each.written)
        return workers

    async def gaps(self) -> Mapping[str, int]:
        return await gaps(self.fleet)


class DirectoryTransport:
    """Transport by a directory that machines can read: a share, a repository, a USB stick."""

    def __init__(self, directory: str) -> None:
        self._folder = directory
        self._bundles = os.path.join(directory, "bundles")
        self._machines = os.path.join(directory, "machines")

    async def bundles(self) -> list[Offered]:
        _require_folder(self._folder)
        found = [
            Offered(name.removesuffix(_ENDS), raw, 1)
            for name, raw in _files(self._bundles, _ENDS, LARGEST + 1)
        ]
        return sorted(found, key=lambda each: each.key)

    async def changes(self) -> AsyncIterator[Offered]:
        seen: dict[str, bytes] = {}
        while True:
            for each in await self.bundles():
                if seen.get(each.key) != each.raw:
                    seen[each.key] = each.raw
                    yield each
            await asyncio.sleep(_LOOKS)

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        file = os.path.join(self._bundles, f"{key_of(bundle)}{_ENDS}")
        _write(file, raw, new=None if after else _taken(bundle))

    async def report(self, machine: str, raw: bytes) -> None:
        _write(os.path.join(self._machines, f"{machine}.json"), raw)

    async def reports(self) -> dict[str, bytes]:
        return {name.removesuffix(".json"): raw for name, raw in _files(self._machines, ".json", LARGEST)}

    async def workers(self) -> Mapping[str, WorkerSeen]:
        return {}

    async def gaps(self) -> Mapping[str, int]:
        return {}


def _taken(bundle: Bundle) -> FleetError:
    return FleetError(f"{bundle.label} was published by someone else meanwhile: check it and publish again")


def _require_folder(directory: str) -> None:
    if not os.path.isdir(directory):
        raise FleetError(f"{directory} does not exist")


def _write(file: str, raw: bytes, new: FleetError | None = None) -> None:
    """Write a file for all machines. `new`: raised if the file exists already."""
    if new is not None and os.path.lexists(file):
        raise new
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        replace_file(file, raw)
        os.chmod(file, 0o644)  # signed, and for all machines
    except OSError as problem:
        raise FleetError(f"{file} cannot be written: {problem.strerror or problem}") from None


def _files(directory: str, ends: str, most: int) -> Iterator[tuple[str, bytes]]:
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise FleetError(f"{directory} cannot be read: {problem.strerror}") from None
    for name in names:
        if name.endswith(ends):
            with suppress(FileNotFoundError):  # removed meanwhile
                yield name, _content(os.path.join(directory, name), most)


def _content(file: str, most: int) -> bytes:
    """Read a file; return nothing if it is unreadable, so that it is refused by name and not taken for
    missing.

    Others can write there: reading a pipe would block without end.
    """
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            return stream.read(most) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else b""
    except FileNotFoundError:
        raise
    except OSError:
        return b""
