"""How signed bundles reach machines, and what those report: a server of the fleet, or a folder.

A transport is not believed: it can hold back, repeat and change what it carries, and none of that puts anything in
force that is not signed. Both have a value for each revision of each bundle, and one for each machine.
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
from hookline.fleet.audit.ship import gaps
from hookline.fleet.connection import BUNDLES, MACHINES, Fleet, FleetError
from hookline.fleet.machine import KEY, Presence
from hookline.trust.store import replace_file

#: Seconds between two looks into a folder.
_LOOKS = 2.0
_ENDS = ".bundle"
#: Keys of reports among what else there is about machines.
REPORTS = "report."


class Offered(Struct, frozen=True):
    """The bytes of a bundle, not checked, and which write of its key they are."""

    key: str
    raw: bytes
    write: int = 0


class Seen(Struct, frozen=True):
    """What the worker of a machine said last, and when, by the server's clock."""

    presence: Presence
    at: float


class Transport(Protocol):
    async def bundles(self) -> list[Offered]:
        """Every revision that is there. Raises FleetError."""
        ...

    def changes(self) -> AsyncIterator[Offered]:
        """What is there, then what comes. Ends with a FleetError."""
        ...

    async def put(self, bundle: Bundle, raw: bytes, after: int) -> None:
        """Add a bundle; `after` is the write it takes the place of, 0 for a new one. Raises FleetError."""
        ...

    async def report(self, machine: str, raw: bytes) -> None: ...

    async def reports(self) -> dict[str, bytes]:
        """By machine."""
        ...

    async def workers(self) -> Mapping[str, Seen]:
        """The workers that are or were there, by machine."""
        ...

    async def gaps(self) -> Mapping[str, int]:
        """Runs that are missing in the audit, by machine."""
        ...


def key_of(bundle: Bundle) -> str:
    return f"{bundle.name}.{bundle.revision}"


class ServerTransport:
    """The buckets of the fleet's server."""

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

    async def workers(self) -> Mapping[str, Seen]:
        workers: dict[str, Seen] = {}
        for each in await self.fleet.keys(MACHINES):
            if each.key.startswith(KEY):
                with suppress(msgspec.MsgspecError):  # of another version
                    presence = msgspec.json.decode(each.value, type=Presence)
                    workers[each.key.removeprefix(KEY)] = Seen(presence, each.written)
        return workers

    async def gaps(self) -> Mapping[str, int]:
        return await gaps(self.fleet)


class FolderTransport:
    """A folder that machines can read: a share, a repository, a stick."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._bundles = os.path.join(folder, "bundles")
        self._machines = os.path.join(folder, "machines")

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

    async def workers(self) -> Mapping[str, Seen]:
        return {}

    async def gaps(self) -> Mapping[str, int]:
        return {}


def _taken(bundle: Bundle) -> FleetError:
    return FleetError(f"{bundle.label} was published by someone else meanwhile: look at it and publish again")


def _require_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        raise FleetError(f"{folder} is not there")


def _write(file: str, raw: bytes, new: FleetError | None = None) -> None:
    """`new`: what is raised if it is there already."""
    if new is not None and os.path.lexists(file):
        raise new
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        replace_file(file, raw)
        os.chmod(file, 0o644)  # signed, and for all machines
    except OSError as problem:
        raise FleetError(f"{file} cannot be written: {problem.strerror or problem}") from None


def _files(folder: str, ends: str, most: int) -> Iterator[tuple[str, bytes]]:
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise FleetError(f"{folder} cannot be read: {problem.strerror}") from None
    for name in names:
        if name.endswith(ends):
            with suppress(FileNotFoundError):  # removed meanwhile
                yield name, _content(os.path.join(folder, name), most)


def _content(file: str, most: int) -> bytes:
    """Nothing for what cannot be read: it is then refused by its name, and does not pass for something not there.

    Others can write there: a pipe in place of a file would be waited for without end.
    """
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            return stream.read(most) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else b""
    except FileNotFoundError:
        raise
    except OSError:
        return b""
