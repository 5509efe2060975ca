"""Activate a bundle: verify it, judge it, load it, then switch to it by one rename.

A bundle that fails changes nothing: the previous one stays active, and the reason is kept for the report.
"""

import os
import shutil
import stat
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.config.bundles.format import (
    CLOCKS_DIFFER,
    Bundle,
    BundleError,
    read_body,
    split,
    verify,
)
from hookline.config.bundles.load import read_hooks
from hookline.config.bundles.settings import BundleSettings
from hookline.config.bundles.store import REPORT, ActiveBundle, BundleStore, InForce, RejectedBundle
from hookline.config.install.files import sync_directory
from hookline.config.load import Loader
from hookline.team.fleet.access import FleetError

#: The result of an offer. `waiting`: it is for other machines, or for this one in a later stage. `released`: this
#: machine does without a bundle of that name now.
What = Literal["activated", "renewed", "unchanged", "released", "waiting", "refused"]
_MOST_REFUSED = 50
#: Directories of earlier revisions that stay, for sessions that still use them.
_KEPT_FOLDERS = 2
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class UnwritableStoreError(FleetError):
    """An error of the directory of bundles: this user may not write there, or the disk refuses."""


class ActivationResult(Struct, frozen=True):
    """Result of one offered bundle."""

    what: What
    name: str = ""
    revision: int = 0
    why: str = ""
    code: str = ""

    @property
    def line(self) -> str:
        label = f"{self.name} {self.revision}" if self.name else "a bundle"
        return f"{label}: {self.what}{f': {self.why}' if self.why else ''}"


class Activator:
    """Activation of bundles on one machine, for one user or for all. `clock` is the time in seconds since the epoch."""

    def __init__(
        self, settings: BundleSettings, loader: Loader, clock: Callable[[], float] = time.time, *,
        for_all: bool = False,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.store = BundleStore(settings.directory)
        self.loader = loader
        self._clock = clock
        self._for_all = for_all or (settings.managed and os.geteuid() == 0)

    def offer(self, raw: bytes, key: str | None = None) -> ActivationResult:
        """Activate a bundle if it is valid here. `key` is the name it was offered under, `NAME.REVISION`.

        Raises UnwritableStoreError only if the directory cannot be used at all.
        """
        with self._locked():
            bundle: Bundle | None = None
            try:
                envelope = split(raw)
                verify(envelope, self.settings.keys, self.settings.file)
                bundle = read_body(envelope.body)
                _check_key(bundle, key)
                waits = self._waits(bundle)
                if waits:
                    return ActivationResult("waiting", bundle.name, bundle.revision, waits)
                self._judge(bundle)
                released, until = self._released(bundle)
                what = self._compared(bundle, released)
                if released:
                    if what != "unchanged":
                        self._release(bundle, released, until)
                        self._forget_refusals(bundle)
                        what = "released"
                    return ActivationResult(what, bundle.name, bundle.revision, released)
                if what != "unchanged":
                    self._check_loads(bundle)
                    self._activate(bundle, raw)
                    self._forget_refusals(bundle)
            except BundleError as problem:
                return self._refused(problem, bundle, key)
            except OSError as problem:
                why = f"{problem.filename or self.store.directory} cannot be written: {problem.strerror or problem}"
                return self._refused(BundleError("disk", why), bundle, key)
            return ActivationResult(what, bundle.name, bundle.revision)

    def repair(self) -> Iterator[str]:
        """Restore files of active bundles that were changed on disk; report bundles that must be pulled again."""
        with self._locked():
            for name in self.store.names_there():
                try:
                    bundle = self.store.active(name, self.settings)
                    changed = self.store.changed_file(bundle)
                    if changed is not None:
                        self._unpack(bundle)
                        yield f"{changed} was changed, and was restored as signed"
                except BundleError as problem:
                    yield f"the bundle {name} is not active: {problem}"

    def asked(self, problem: str = "", *, looked: bool = True) -> None:
        """Record that bundles were requested, and any problem. `looked`: everything on offer was offered.

        Nameless bundles that are still published were refused again since the last look; records of others
        are dropped.
        """
        with self._locked():
            report = self.store.report()
            kept = tuple(
                each for each in report.refused if not looked or each.name or each.at >= report.looked
            )
            looked_at = self._clock() if looked else report.looked
            report = replace(report, asked=self._clock(), looked=looked_at, problem=problem, refused=kept)
            self._write(os.path.join(self.store.directory, REPORT), msgspec.json.encode(report))

    # -- judging

    def _waits(self, bundle: Bundle) -> str:
        if not bundle.scope.names(self.settings.machine, self.settings.groups):
            return f"it is for {bundle.scope}"
        if not bundle.in_stage(self.settings.machine) and not self._released(bundle)[0]:
            return f"its stage of {bundle.stage / 100:g} % does not include this machine"
        return ""

    def _released(self, bundle: Bundle) -> tuple[str, float]:
        """Return why this machine shall do without the bundle, and until when; an empty reason if it shall not."""
        machine = self.settings.machine
        if bundle.removed:
            return "it was removed", 0.0
        if bundle.scope.excludes(machine):
            return f"it is for {bundle.scope}", 0.0
        exception = bundle.scope.exception_of(machine, self._clock())
        return (
            (f"an exception: {exception.reason}", float(exception.until))
            if exception is not None
            else ("", 0.0)
        )

    def _judge(self, bundle: Bundle) -> None:
        now = self._clock()
        if bundle.issued > now + CLOCKS_DIFFER:
            ahead = (bundle.issued - now) / 60
            raise BundleError(
                "future",
                f"it was issued {ahead:.0f} minutes in the future: this machine's clock or its publisher's is wrong",
            )
        if bundle.expires <= now and not bundle.removed:
            raise BundleError("expired", f"it expired {_ago(now - bundle.expires)} ago: publish it again")

    def _compared(self, bundle: Bundle, released: str) -> What:
        """Compare a bundle with the active or last one: a lower revision is refused, and so is a changed content."""
        known = self._in_force().bundles.get(bundle.name)
        if known is None:
            return "activated"
        if bundle.revision < known.revision:
            raise BundleError(
                "revision", f"revision {known.revision} is or was active, and this one is lower"
            )
        if bundle.revision > known.revision:
            return "activated"
        if bundle.digest != known.digest:
            raise BundleError("revision", "other content with this revision is active: publish a higher one")
        if bundle.issued < known.issued:
            raise BundleError("revision", "it was issued before the active bundle of the same revision")
        if bundle.issued > known.issued or known.released != released:
            return "renewed"
        if released:
            return "unchanged" if not os.path.lexists(self.store.active_file(bundle.name)) else "renewed"
        try:
            self.store.active(bundle.name, self.settings)
        except BundleError:
            return "renewed"  # it was lost or changed on disk, and this is it again
        return "unchanged" if self.store.changed_file(bundle) is None else "renewed"

    def _in_force(self) -> InForce:
        """Return the record of active bundles; if it is damaged, rebuild it from the files."""
        with suppress(BundleError):
            return self.store.in_force()
        found: dict[str, ActiveBundle] = {}
        for name in self.store.names_there():
            with suppress(BundleError):
                kept = self.store.kept(name, self.settings)
                found[name] = ActiveBundle(kept.revision, kept.issued, kept.digest)
        return InForce(found)

    def _check_loads(self, bundle: Bundle) -> None:
        text = next(each.content for each in bundle.files if each.path == bundle.hooks)
        errors = [str(each) for each in read_hooks(self.loader, text, bundle.hooks).errors]
        if errors:
            raise BundleError("loads", f"this Hookline cannot load it: {'; '.join(errors[:3])}")

    # -- writing

    @property
    def _mode(self) -> int:
        """The mode of new directories: where root takes bundles for all users, they must be able to read them."""
        return 0o755 if self._for_all else 0o700

    def _activate(self, bundle: Bundle, raw: bytes) -> None:
        self._unpack(bundle)
        self._write(self.store.active_file(bundle.name), raw)
        before = self._in_force()
        known = ActiveBundle(bundle.revision, bundle.issued, bundle.digest, self._clock())
        after = InForce({**before.bundles, bundle.name: known})
        self._write(self.store.in_force_file, msgspec.json.encode(after))
        self._sweep(bundle)

    def _release(self, bundle: Bundle, why: str, until: float) -> None:
        """Do without a bundle, and remember that: a lower revision is refused as before."""
        before = self._in_force()
        known = ActiveBundle(bundle.revision, bundle.issued, bundle.digest, self._clock(), why, until)
        after = InForce({**before.bundles, bundle.name: known})
        self._write(self.store.in_force_file, msgspec.json.encode(after))
        with suppress(FileNotFoundError):
            os.unlink(self.store.active_file(bundle.name))

    def _unpack(self, bundle: Bundle) -> None:
        """Unpack into a new directory, then swap it in: nothing that was there before is followed or kept."""
        directory = self.store.files_of(bundle)
        draft = f"{directory}.{os.getpid()}.new"
        parent = os.path.dirname(directory)
        os.makedirs(parent, self._mode, exist_ok=True)
        if stat.S_ISLNK(os.lstat(parent).st_mode):
            raise BundleError("disk", f"{parent} is a link: remove it")
        os.chmod(parent, self._mode)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            for below in sorted({"", *(above for each in bundle.files for above in _above(each.path))}):
                os.mkdir(os.path.join(draft, below), self._mode)
                os.chmod(os.path.join(draft, below), self._mode)  # whatever the umask is
            for each in bundle.files:
                rights = (0o555 if each.executable else 0o444) & self._mode
                descriptor = os.open(os.path.join(draft, each.path), _NEW, rights)
                with os.fdopen(descriptor, "wb") as stream:
                    os.fchmod(descriptor, rights)
                    stream.write(each.content)
                    stream.flush()
                    os.fsync(descriptor)
            _put_in_place(draft, directory)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    def _sweep(self, bundle: Bundle) -> None:
        """Remove directories of revisions that no session should still use."""
        parent = os.path.join(self.store.directory, bundle.name)
        found = [each for each in os.scandir(parent) if each.name.split("-")[0].isdecimal()]
        others = sorted(
            (each for each in found if each.name != bundle.directory),
            key=lambda each: int(each.name.split("-")[0]),
            reverse=True,
        )
        for each in others[_KEPT_FOLDERS:]:
            if each.is_dir(follow_symlinks=False):
                shutil.rmtree(each.path, ignore_errors=True)

    def _write(self, file: str, content: bytes) -> None:
        """Write a file completely or not at all, even across a power failure."""
        draft = f"{file}.{os.getpid()}.{time.time_ns()}.new"
        try:
            rights = 0o644 & self._mode
            descriptor = os.open(draft, _NEW, rights)
            with os.fdopen(descriptor, "wb") as stream:
                os.fchmod(descriptor, rights)
                stream.write(content)
                stream.flush()
                os.fsync(descriptor)
            os.replace(draft, file)
            sync_directory(os.path.dirname(file))
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise

    # -- refusals

    def _refused(self, problem: BundleError, bundle: Bundle | None, key: str | None) -> ActivationResult:
        name, revision = (bundle.name, bundle.revision) if bundle is not None else ("", 0)
        # An unsigned bundle has no name, but the person who removes it must find it.
        why = str(problem) if bundle is not None or key is None else f"published as {key[:80]}: {problem}"
        refusal = RejectedBundle(problem.code, why, self._clock(), name, revision)
        report = self.store.report()
        others = [
            each
            for each in report.refused
            if (each.code, each.name, each.revision) != (refusal.code, refusal.name, refusal.revision)
        ]
        kept = replace(report, refused=(*others, refusal)[-_MOST_REFUSED:])
        with suppress(OSError):
            self._write(os.path.join(self.store.directory, REPORT), msgspec.json.encode(kept))
        return ActivationResult("refused", name, revision, why, problem.code)

    def _forget_refusals(self, bundle: Bundle) -> None:
        """Drop refusals of this bundle and earlier ones: they no longer matter."""
        report = self.store.report()
        kept = tuple(
            each for each in report.refused if each.name != bundle.name or each.revision > bundle.revision
        )
        if kept != report.refused:
            self._write(
                os.path.join(self.store.directory, REPORT), msgspec.json.encode(replace(report, refused=kept))
            )

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock: two processes would each compare with a state that the other is replacing."""
        import fcntl  # noqa: PLC0415 not on every system

        file = os.path.join(self.store.directory, "lock")
        try:
            _make_directories(self.store.directory, self._mode)
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise UnwritableStoreError(
                f"{file} cannot be written: {problem.strerror}; run this as the user who owns that directory"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        except OSError as problem:
            what = problem.filename or self.store.directory
            raise UnwritableStoreError(f"{what} cannot be written: {problem.strerror or problem}") from None
        finally:
            os.close(descriptor)


def _check_key(bundle: Bundle, key: str | None) -> None:
    """Check the key of an offer: an older bundle under a newer key would hide the newer one."""
    if key is not None and key != f"{bundle.name}.{bundle.revision}":
        raise BundleError("name", f"it was offered as {key[:80]!r}, and is {bundle.label}")


def _make_directories(directory: str, mode: int) -> None:
    """Create missing directories, with these rights whatever the umask is."""
    if not os.path.isdir(directory):
        _make_directories(os.path.dirname(directory), mode)
        os.mkdir(directory, mode)
        os.chmod(directory, mode)


def _above(path: str) -> Iterator[str]:
    """Yield the directories above a path."""
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _put_in_place(draft: str, directory: str) -> None:
    """Replace a directory, which cannot be renamed over another one that has files."""
    old = f"{draft}.old"
    with suppress(FileNotFoundError):
        os.rename(directory, old)
    os.rename(draft, directory)
    sync_directory(os.path.dirname(directory))
    with suppress(OSError):
        if os.path.islink(old) or not os.path.isdir(old):
            os.unlink(old)
        else:
            shutil.rmtree(old, ignore_errors=True)


def _ago(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
