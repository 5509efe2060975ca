"""Where a machine keeps bundles: the one in force of each name, its files, and what was in force last.

::

    PLACE/in-force.json             the revision in force of each name: none lower is taken again
    PLACE/report.json               what was refused and why, for `fleet status` and the doctor
    PLACE/NAME/active.bundle        the signed file; activating a bundle is renaming this one
    PLACE/NAME/12-0a1b2c3d4e5f/     the files of that bundle, for the commands of its hooks
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import msgspec
from msgspec import Struct

from hookline.config.bundles.format import LARGEST, Bundle, BundleError, Envelope, read_body, split, verify
from hookline.config.bundles.settings import BundleSettings
from hookline.dialects.dialect import is_there
from hookline.trust.digest import sha256

ACTIVE = "active.bundle"
IN_FORCE = "in-force.json"
REPORT = "report.json"
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


class Known(Struct, frozen=True):
    """The bundle of a name that was activated last."""

    revision: int
    issued: int
    digest: str
    #: When it was activated, by the clock of this machine.
    at: float = 0.0


class InForce(Struct, frozen=True):
    bundles: dict[str, Known] = {}


class Refusal(Struct, frozen=True):
    """A bundle that this machine did not take, and why."""

    code: str
    why: str
    at: float
    name: str = ""
    revision: int = 0


class PlaceReport(Struct, frozen=True):
    """What the machine has to say about bundles."""

    refused: tuple[Refusal, ...] = ()
    #: When bundles were last asked for, and why that failed; empty if it did not.
    asked: float = 0.0
    problem: str = ""


_R = TypeVar("_R", InForce, PlaceReport)


class BundlePlace:
    """Reads the place; `hookline.fleet.bundles.activate` writes it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def in_force_file(self) -> str:
        return os.path.join(self.folder, IN_FORCE)

    def active_file(self, name: str) -> str:
        return os.path.join(self.folder, name, ACTIVE)

    def files_of(self, bundle: Bundle) -> str:
        return os.path.join(self.folder, bundle.name, bundle.folder)

    def in_force(self) -> InForce:
        """Raises BundleError if that cannot be told with certainty."""
        return self._record(IN_FORCE, InForce)

    def report(self) -> PlaceReport:
        with suppress(BundleError):
            return self._record(REPORT, PlaceReport)
        return PlaceReport()

    def names(self) -> list[str]:
        """Of every bundle that is or was in force here. Raises BundleError."""
        return sorted({*self.names_there(), *self.in_force().bundles})

    def names_there(self) -> list[str]:
        """Of bundles that have an active file. Raises BundleError."""
        try:
            names = [name for name in os.listdir(self.folder) if os.path.isdir(f"{self.folder}/{name}")]
            return [name for name in names if is_there(self.active_file(name))]
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise _unreadable(self.folder, problem) from None

    def envelope(self, name: str) -> Envelope:
        """The active file of a name, not yet verified. Raises BundleError."""
        file = self.active_file(name)
        try:
            raw = read_owned(file, LARGEST + 1)
        except FileNotFoundError:
            raise BundleError("missing", f"{file} is gone") from None
        except OSError as problem:
            raise _unreadable(file, problem) from None
        return split(raw)

    def active(self, name: str, settings: BundleSettings) -> Bundle:
        """The bundle in force of a name. Raises BundleError: it was changed, or another one is in its place."""
        bundle = self.kept(name, settings)
        known = self.in_force().bundles.get(name)
        if known is not None and (bundle.revision, bundle.issued) < (known.revision, known.issued):
            raise BundleError(
                "revision",
                f"{self.active_file(name)} has revision {bundle.revision}, and {known.revision} was in force",
            )
        return bundle

    def kept(self, name: str, settings: BundleSettings) -> Bundle:
        """The bundle of an active file, which may be an older one than was in force last. Raises BundleError."""
        envelope = self.envelope(name)
        if not self._is_sealed_off(name):
            verify(envelope, settings.keys, settings.file)
        bundle = read_body(envelope.body)
        if bundle.name != name:
            raise BundleError("name", f"{self.active_file(name)} is the bundle {bundle.name}")
        if not bundle.scope.includes(settings.machine, settings.groups):
            groups = ", ".join(settings.groups) or "none"
            raise BundleError(
                "scope",
                f"it is for {bundle.scope}, and this machine is {settings.machine} (groups: {groups})",
            )
        return bundle

    def changed_file(self, bundle: Bundle) -> str | None:
        """A file of a bundle that is not on disk as it was signed."""
        folder = self.files_of(bundle)
        for each in bundle.files:
            path = os.path.join(folder, each.path)
            try:
                content = read_owned(path, len(each.content) + 1)
            except OSError:
                return path
            if sha256(content).digest() != sha256(each.content).digest():
                return path
        return None

    def _is_sealed_off(self, name: str) -> bool:
        """Whether root alone can write the active file, and this user is not root: then root has checked it."""
        if os.geteuid() == 0:
            return False
        path = self.active_file(name)
        for each in _upward(path):
            try:
                found = os.lstat(each)
            except OSError:
                return False
            if found.st_uid != 0 or stat.S_ISLNK(found.st_mode) or found.st_mode & 0o022:
                return False
        return True

    def _record(self, name: str, kind: type[_R]) -> _R:
        file = os.path.join(self.folder, name)
        try:
            return msgspec.json.decode(read_owned(file, LARGEST), type=kind)
        except FileNotFoundError:
            return kind()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise _unreadable(file, problem) from None


def read_owned(file: str, most: int) -> bytes:
    """A regular file that belongs to this user or to root and that no others can write. Raises OSError."""
    descriptor = os.open(file, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is not a file")
        if found.st_uid not in (0, os.geteuid()):
            raise OSError(0, f"it belongs to another user (uid {found.st_uid})")
        if found.st_mode & 0o022:
            raise OSError(0, "other users can write it")
        return stream.read(most)


def _upward(path: str) -> Iterator[str]:
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def _unreadable(file: str, problem: Exception) -> BundleError:
    why = problem.strerror or str(problem) if isinstance(problem, OSError) else "it is damaged"
    return BundleError("unreadable", f"{file} cannot be used: {why}")
