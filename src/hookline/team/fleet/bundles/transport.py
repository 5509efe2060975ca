"""Carry signed bundles to machines, and their reports back: by a server of the fleet, or a directory.

A transport is not trusted: it can hold back, repeat and change what it carries, but it cannot activate
anything that is not signed. Both kinds have a value for each revision of each bundle, and one for each
machine.
"""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Protocol

import msgspec
from msgspec import Struct

from hookline.config.bundles.format import LARGEST, Bundle
from hookline.team.fleet.audit.ship import gaps
from hookline.team.fleet.connection import BUNDLES, MACHINES, Fleet, FleetError
from hookline.team.fleet.machine import KEY, Presence
from hookline.team.fleet.settings import machine_and_user
from hookline.trust.store import replace_file

#: The subject on which publishers say that there is something new.
_HINT = "hl.bundle"
_ENDS = ".bundle"
#: Prefix of the keys of reports.
REPORTS = "report."
FOR_ALL = "root."


class Offered(Struct, frozen=True):
    """The unchecked bytes of a bundle, and the number of the write of its key."""

    key: str
    raw: bytes
    write: int = 0


class WorkerSeen(Struct, frozen=True):
    """Last status of a machine's worker, and when it was sent, by the server's clock."""

    presence: Presence
    at: float


class SeenFleet(Struct, frozen=True):
    """The reports of workers, and the workers, by their names; and the reports of root's parts, by machine."""

    reports: Mapping[str, bytes] = {}
    workers: Mapping[str, WorkerSeen] = {}
    for_all: Mapping[str, bytes] = {}


class Transport(Protocol):
    async def version(self) -> str:
        """Return a text that changes when a bundle is published, issued again or removed. Raises FleetError."""
        ...

    async def names(self) -> list[str]:
        """List the keys of published revisions, `NAME.REVISION`, without their bytes. Some may be removed."""
        ...

    async def fetch(self, names: Sequence[str]) -> list[Offered]:
        """Return these revisions, as far as they are there."""
        ...

    def changes(self) -> AbstractAsyncContextManager[asyncio.Event]:
        """Return an event that is set when something may have changed; hints get lost."""
        ...

    async def remove(self, key: str) -> None:
        """Remove a published revision. Machines that have it keep it."""
        ...

    async def forget(self, machine: str) -> bool:
        """Remove everything known about a machine, or one user of it. Returns False if nothing is."""
        ...

    async def forget_runs(self, machine: str) -> int:
        """Delete the runs of a machine, or of one user of it, from the audit; return how many messages that were."""
        ...

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        """Publish a bundle; `after` is the write that it replaces, 0 for a new one. Raises FleetError."""
        ...

    async def report(self, machine: str, raw: bytes, *, for_all: bool = False) -> None:
        """Keep the report of a machine. `for_all`: that of the process which takes bundles for all of its users."""
        ...

    async def machines(self) -> SeenFleet:
        """Return the reports, and the current and past workers."""
        ...

    async def gaps(self) -> Mapping[str, int]:
        """Count the runs missing in the audit, by machine, by reading all of it."""
        ...


async def published(transport: Transport) -> list[Offered]:
    """Return every published revision. Raises FleetError."""
    return await transport.fetch(await transport.names())


def key_of(bundle: Bundle) -> str:
    return f"{bundle.name}.{bundle.revision}"


class ServerTransport:
    """Transport by the buckets of the fleet's server."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet

    async def version(self) -> str:
        return await self.fleet.version(BUNDLES)

    async def names(self) -> list[str]:
        return await self.fleet.names(BUNDLES)

    async def fetch(self, names: Sequence[str]) -> list[Offered]:
        found = await self.fleet.values(BUNDLES, names)
        return [Offered(each.key, each.value, each.revision) for each in found]

    @asynccontextmanager
    async def changes(self) -> AsyncGenerator[asyncio.Event]:
        changed = asyncio.Event()
        async with self.fleet.listening(_HINT, lambda _data: changed.set()):
            yield changed

    async def remove(self, key: str) -> None:
        await self.fleet.purge(BUNDLES, key)
        await self.fleet.say(_HINT, key.encode())

    async def forget(self, machine: str) -> bool:
        names = [name for name in await self.fleet.names(MACHINES) if machine in _about(name)]
        there = [each.key for each in await self.fleet.values(MACHINES, sorted(names))]
        for each in there:
            await self.fleet.purge(MACHINES, each)
        return bool(there)

    async def forget_runs(self, machine: str) -> int:
        return await self.fleet.delete_runs(lambda worker: machine in (worker, machine_and_user(worker)[0]))

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        if len(raw) > min(LARGEST, self.fleet.most_bytes):
            raise FleetError(
                f"the bundle has {len(raw):,} bytes, and the server takes {self.fleet.most_bytes:,}"
            )
        if await self.fleet.put(BUNDLES, key_of(bundle), raw, after) is None:
            raise _taken(bundle)
        await self.fleet.say(_HINT, key_of(bundle).encode())

    async def report(self, machine: str, raw: bytes, *, for_all: bool = False) -> None:
        own = self.fleet.settings
        key = f"{FOR_ALL}{machine}" if for_all else f"{REPORTS}{own.worker if own.shared else machine}"
        await self.fleet.put(MACHINES, key, raw)

    async def machines(self) -> SeenFleet:
        reports: dict[str, bytes] = {}
        for_all: dict[str, bytes] = {}
        workers: dict[str, WorkerSeen] = {}
        for each in await self.fleet.keys(MACHINES):
            if each.key.startswith(FOR_ALL):
                for_all[each.key.removeprefix(FOR_ALL)] = each.value
            elif each.key.startswith(REPORTS):
                reports[each.key.removeprefix(REPORTS)] = each.value
            elif each.key.startswith(KEY):
                with suppress(msgspec.MsgspecError):  # of another version
                    presence = msgspec.json.decode(each.value, type=Presence)
                    workers[each.key.removeprefix(KEY)] = WorkerSeen(presence, each.written)
        return SeenFleet(reports, workers, for_all)

    async def gaps(self) -> Mapping[str, int]:
        return await gaps(self.fleet)


class DirectoryTransport:
    """Transport by a directory that machines can read: a share, a repository, a USB stick."""

    def __init__(self, directory: str) -> None:
        self._folder = directory
        self._bundles = os.path.join(directory, "bundles")
        self._machines = os.path.join(directory, "machines")

    async def version(self) -> str:
        _require_folder(self._folder)
        found: list[str] = []
        for name in _names(self._bundles, _ENDS):
            with suppress(FileNotFoundError):  # removed meanwhile
                each = os.lstat(os.path.join(self._bundles, name))
                found.append(f"{name} {each.st_mtime_ns} {each.st_size} {each.st_ino}")
        return " ".join(found)

    async def names(self) -> list[str]:
        _require_folder(self._folder)
        return [name.removesuffix(_ENDS) for name in _names(self._bundles, _ENDS)]

    async def fetch(self, names: Sequence[str]) -> list[Offered]:
        found = _files(self._bundles, [f"{each}{_ENDS}" for each in names], LARGEST + 1)
        return [Offered(name.removesuffix(_ENDS), raw, 1) for name, raw in found]

    @asynccontextmanager
    async def changes(self) -> AsyncGenerator[asyncio.Event]:
        yield asyncio.Event()  # nobody says that a file was written there

    async def remove(self, key: str) -> None:
        _remove(os.path.join(self._bundles, f"{key}{_ENDS}"))

    async def forget(self, machine: str) -> bool:
        return _remove(os.path.join(self._machines, f"{machine}.json"))

    async def forget_runs(self, machine: str) -> int:
        del machine
        return 0  # a directory has no audit

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        file = os.path.join(self._bundles, f"{key_of(bundle)}{_ENDS}")
        _write(file, raw, new=None if after else _taken(bundle))

    async def report(self, machine: str, raw: bytes, *, for_all: bool = False) -> None:
        del for_all  # `pull` reports for itself
        _write(os.path.join(self._machines, f"{machine}.json"), raw)

    async def machines(self) -> SeenFleet:
        names = _names(self._machines, ".json")
        return SeenFleet(
            {each.removesuffix(".json"): raw for each, raw in _files(self._machines, names, LARGEST)}
        )

    async def gaps(self) -> Mapping[str, int]:
        return {}


def _about(key: str) -> tuple[str, ...]:
    """Return the machine that a key is about, and its worker."""
    worker = next((key.removeprefix(each) for each in (REPORTS, FOR_ALL, KEY) if key.startswith(each)), "")
    return (worker, machine_and_user(worker)[0]) if worker else ()


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


def _remove(file: str) -> bool:
    try:
        os.unlink(file)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise FleetError(f"{file} cannot be removed: {problem.strerror}") from None
    return True


def _names(directory: str, ends: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if name.endswith(ends))
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise FleetError(f"{directory} cannot be read: {problem.strerror}") from None


def _files(directory: str, names: Sequence[str], most: int) -> Iterator[tuple[str, bytes]]:
    for name in names:
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
