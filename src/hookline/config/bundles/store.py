"""Store bundles: the active one of each name, its files, and the one that was active last.

::

    PLACE/in-force.json             the active revision of each name: no lower one is accepted again
    PLACE/report.json               refused bundles and why, for `fleet status` and the doctor
    PLACE/NAME/active.bundle        the signed file; activating a bundle is renaming this one
    PLACE/NAME/12-0a1b2c3d4e5f/     the files of that bundle, for the commands of its hooks
"""

import os
import stat
import time
from contextlib import suppress
from typing import TypeVar

import msgspec
from msgspec import Struct

from hookline.config.bundles.format import LARGEST, Bundle, BundleError, Envelope, read_body, split, verify
from hookline.config.bundles.settings import BundleSettings
from hookline.disk import DISK, Disk, ancestors
from hookline.trust.digest import sha256

ACTIVE = "active.bundle"
IN_FORCE = "in-force.json"
REPORT = "report.json"
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


class ActiveBundle(Struct, frozen=True):
    """The bundle of a name that was activated last."""

    revision: int
    issued: int
    digest: str
    #: Activation time, by the clock of this machine.
    at: float = 0.0
    #: Why this machine does without it, if a signed bundle said so; and until when, in seconds since the epoch, if
    #: only for a while.
    released: str = ""
    until: float = 0.0


class InForce(Struct, frozen=True):
    bundles: dict[str, ActiveBundle] = {}


class RejectedBundle(Struct, frozen=True):
    """A bundle that this machine refused, and why."""

    code: str
    why: str
    at: float
    name: str = ""
    revision: int = 0


class StoreReport(Struct, frozen=True):
    """The machine's report about bundles."""

    refused: tuple[RejectedBundle, ...] = ()
    #: The time bundles were last requested; `problem` is why that failed, or empty.
    asked: float = 0.0
    #: The time everything on offer was last looked at.
    looked: float = 0.0
    problem: str = ""


_R = TypeVar("_R", InForce, StoreReport)


class BundleStore:
    """A reader of the store; `hookline.team.fleet.bundles.activate` writes it."""

    def __init__(self, directory: str, disk: Disk = DISK) -> None:
        self.directory = directory
        self._disk = disk

    @property
    def in_force_file(self) -> str:
        return os.path.join(self.directory, IN_FORCE)

    def active_file(self, name: str) -> str:
        return os.path.join(self.directory, name, ACTIVE)

    def files_of(self, bundle: Bundle) -> str:
        return os.path.join(self.directory, bundle.name, bundle.directory)

    def in_force(self) -> InForce:
        """Return the active bundles. Raises BundleError if they cannot be determined with certainty."""
        return self._record(IN_FORCE, InForce)

    def report(self) -> StoreReport:
        with suppress(BundleError):
            return self._record(REPORT, StoreReport)
        return StoreReport()

    def names(self, now: float | None = None) -> list[str]:
        """List every bundle that must be active here. Raises BundleError."""
        now = time.time() if now is None else now
        needed = [name for name, each in self.in_force().bundles.items() if not _is_released(each, now)]
        return sorted({*self.names_there(), *needed})

    def exceptions(self, now: float | None = None) -> dict[str, ActiveBundle]:
        """Return the bundles that this machine does without for a while. Raises BundleError."""
        now = time.time() if now is None else now
        found = self.in_force().bundles
        return {name: each for name, each in found.items() if each.until and _is_released(each, now)}

    def names_there(self) -> list[str]:
        """List bundles that have an active file. Raises BundleError."""
        try:
            names = self._disk.listdir(self.directory)
            names = [name for name in names if self._disk.isdir(f"{self.directory}/{name}")]
            return [name for name in names if self._disk.is_there(self.active_file(name))]
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise _unreadable(self.directory, problem) from None

    def envelope(self, name: str) -> Envelope:
        """Return the active file of a name, not yet verified. Raises BundleError."""
        file = self.active_file(name)
        try:
            raw = read_owned(file, LARGEST + 1, self._disk)
        except FileNotFoundError:
            known = self.in_force().bundles.get(name)
            if known is not None and known.released:
                raise BundleError(
                    "exception",
                    f"this machine did without it for a while ({known.released}), and that is over",
                ) from None
            raise BundleError("missing", f"{file} is gone") from None
        except OSError as problem:
            raise _unreadable(file, problem) from None
        return split(raw)

    def active(self, name: str, settings: BundleSettings) -> Bundle:
        """Return the active bundle of a name. Raises BundleError: it was changed or replaced."""
        bundle = self.kept(name, settings)
        known = self.in_force().bundles.get(name)
        if known is not None and (bundle.revision, bundle.issued) < (known.revision, known.issued):
            raise BundleError(
                "revision",
                f"{self.active_file(name)} has revision {bundle.revision}, and {known.revision} was active",
            )
        return bundle

    def kept(self, name: str, settings: BundleSettings) -> Bundle:
        """Return the bundle of an active file, which may be older than the one that was active last. Raises
        BundleError."""
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
        """Return a file of a bundle that differs on disk from what was signed."""
        directory = self.files_of(bundle)
        for each in bundle.files:
            path = os.path.join(directory, each.path)
            try:
                content = read_owned(path, len(each.content) + 1, self._disk)
            except OSError:
                return path
            if sha256(content).digest() != sha256(each.content).digest():
                return path
        return None

    def _is_sealed_off(self, name: str) -> bool:
        """Return True if only root can write the active file, and this user is not root: then root has
        checked it."""
        if os.geteuid() == 0:
            return False
        path = self.active_file(name)
        for each in ancestors(path):
            try:
                found = self._disk.lstat(each)
            except OSError:
                return False
            if found.st_uid != 0 or stat.S_ISLNK(found.st_mode) or found.st_mode & 0o022:
                return False
        return True

    def _record(self, name: str, kind: type[_R]) -> _R:
        file = os.path.join(self.directory, name)
        try:
            return msgspec.json.decode(read_owned(file, LARGEST, self._disk), type=kind)
        except FileNotFoundError:
            return kind()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise _unreadable(file, problem) from None


def _is_released(bundle: ActiveBundle, now: float) -> bool:
    return bool(bundle.released) and (not bundle.until or now < bundle.until)


def read_owned(file: str, most: int, disk: Disk = DISK) -> bytes:
    """Read a regular file that belongs to this user or to root and that no others can write. Raises OSError."""
    descriptor = disk.open(file, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is not a file")
        if found.st_uid not in (0, os.geteuid()):
            raise OSError(0, f"it belongs to another user (uid {found.st_uid})")
        if found.st_mode & 0o022:
            raise OSError(0, "other users can write it")
        return stream.read(most)


def _unreadable(file: str, problem: Exception) -> BundleError:
    why = problem.strerror or str(problem) if isinstance(problem, OSError) else "it is damaged"
    return BundleError("unreadable", f"{file} cannot be used: {why}")
