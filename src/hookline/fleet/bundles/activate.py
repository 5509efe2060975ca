"""From the bytes of a bundle to hooks in force: verified, judged, loaded, then activated by one rename.

What does not pass changes nothing: the bundle that was in force stays in force, and the reason is kept for the report.
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
from hookline.config.bundles.place import REPORT, BundlePlace, InForce, Known, Refusal
from hookline.config.bundles.settings import BundleSettings
from hookline.config.install.files import sync_folder
from hookline.config.load import Loader
from hookline.fleet.access import FleetError

#: What became of a bundle. `waiting`: it is for other machines, or for this one in a later stage.
What = Literal["activated", "renewed", "unchanged", "waiting", "refused"]
_MOST_REFUSED = 50
#: Folders of earlier revisions that stay, for sessions that still use them.
_KEPT_FOLDERS = 2
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Result(Struct, frozen=True):
    """What became of one bundle that was offered."""

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
    """Takes bundles for one machine. `clock` is the time in seconds since the epoch."""

    def __init__(
        self, settings: BundleSettings, loader: Loader, clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = settings
        self.place = BundlePlace(settings.place)
        self.loader = loader
        self._clock = clock

    def offer(self, raw: bytes, key: str | None = None) -> Result:
        """Activate a bundle if it counts. `key` is what it was offered as, `NAME.REVISION`.

        Raises FleetError only if the place cannot be used at all.
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
                    return Result("waiting", bundle.name, bundle.revision, waits)
                self._judge(bundle)
                what = self._compared(bundle)
                if what != "unchanged":
                    self._check_loads(bundle)
                    self._activate(bundle, raw)
                    self._forget_refusals(bundle)
            except BundleError as problem:
                return self._refused(problem, bundle, key)
            except OSError as problem:
                why = f"{problem.filename or self.place.folder} cannot be written: {problem.strerror or problem}"
                return self._refused(BundleError("disk", why), bundle, key)
            return Result(what, bundle.name, bundle.revision)

    def repair(self) -> Iterator[str]:
        """Write again what was changed on disk of bundles in force; what cannot be told must be pulled again."""
        with self._locked():
            for name in self.place.names_there():
                try:
                    bundle = self.place.active(name, self.settings)
                    changed = self.place.changed_file(bundle)
                    if changed is not None:
                        self._unpack(bundle)
                        yield f"{changed} was changed, and is as signed again"
                except BundleError as problem:
                    yield f"the bundle {name} does not count: {problem}"

    def asked(self, problem: str = "") -> None:
        """Note that bundles were asked for, and what went wrong.

        What is still published and has no name was refused again since the last time; the rest of it is gone.
        """
        with self._locked():
            report = self.place.report()
            kept = tuple(each for each in report.refused if problem or each.name or each.at >= report.asked)
            report = replace(report, asked=self._clock(), problem=problem, refused=kept)
            self._write(os.path.join(self.place.folder, REPORT), msgspec.json.encode(report))

    # -- judging

    def _waits(self, bundle: Bundle) -> str:
        if not bundle.scope.includes(self.settings.machine, self.settings.groups):
            return f"it is for {bundle.scope}"
        if not bundle.in_stage(self.settings.machine):
            return f"its stage of {bundle.stage / 100:g} % does not include this machine"
        return ""

    def _judge(self, bundle: Bundle) -> None:
        now = self._clock()
        if bundle.issued > now + CLOCKS_DIFFER:
            ahead = (bundle.issued - now) / 60
            raise BundleError(
                "future",
                f"it was issued {ahead:.0f} minutes in the future: this machine's clock or its publisher's is wrong",
            )
        if bundle.expires <= now:
            raise BundleError("expired", f"it expired {_ago(now - bundle.expires)} ago: publish it again")

    def _compared(self, bundle: Bundle) -> What:
        """With what is in force, or was: none lower is taken, and a revision never changes what it does."""
        known = self._in_force().bundles.get(bundle.name)
        if known is None:
            return "activated"
        if bundle.revision < known.revision:
            raise BundleError(
                "revision", f"revision {known.revision} is or was in force, and this one is lower"
            )
        if bundle.revision > known.revision:
            return "activated"
        if bundle.digest != known.digest:
            raise BundleError(
                "revision", "another content with this revision is in force: publish a higher one"
            )
        if bundle.issued < known.issued:
            raise BundleError("revision", "it was issued before the same revision that is in force")
        if bundle.issued > known.issued:
            return "renewed"
        try:
            self.place.active(bundle.name, self.settings)
        except BundleError:
            return "renewed"  # it was lost or changed on disk, and this is it again
        return "unchanged" if self.place.changed_file(bundle) is None else "renewed"

    def _in_force(self) -> InForce:
        """What was in force last; if that record is damaged, what the files say that were."""
        with suppress(BundleError):
            return self.place.in_force()
        found: dict[str, Known] = {}
        for name in self.place.names_there():
            with suppress(BundleError):
                kept = self.place.kept(name, self.settings)
                found[name] = Known(kept.revision, kept.issued, kept.digest)
        return InForce(found)

    def _check_loads(self, bundle: Bundle) -> None:
        text = next(each.content for each in bundle.files if each.path == bundle.hooks)
        errors = [str(each) for each in read_hooks(self.loader, text, bundle.hooks).errors]
        if errors:
            raise BundleError("loads", f"this Hookline cannot load it: {'; '.join(errors[:3])}")

    # -- writing

    @property
    def _mode(self) -> int:
        """Where root takes bundles for all users, those must read them."""
        return 0o755 if self.settings.managed and os.geteuid() == 0 else 0o700

    def _activate(self, bundle: Bundle, raw: bytes) -> None:
        self._unpack(bundle)
        self._write(self.place.active_file(bundle.name), raw)
        before = self._in_force()
        known = Known(bundle.revision, bundle.issued, bundle.digest, self._clock())
        after = InForce({**before.bundles, bundle.name: known})
        self._write(self.place.in_force_file, msgspec.json.encode(after))
        self._sweep(bundle)

    def _unpack(self, bundle: Bundle) -> None:
        """Into a new folder, which then takes its place: nothing that was there before is followed or kept."""
        folder = self.place.files_of(bundle)
        draft = f"{folder}.{os.getpid()}.new"
        parent = os.path.dirname(folder)
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
            _put_in_place(draft, folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    def _sweep(self, bundle: Bundle) -> None:
        """Remove folders of revisions that no session should still use."""
        parent = os.path.join(self.place.folder, bundle.name)
        found = [each for each in os.scandir(parent) if each.name.split("-")[0].isdecimal()]
        others = sorted(
            (each for each in found if each.name != bundle.folder),
            key=lambda each: int(each.name.split("-")[0]),
            reverse=True,
        )
        for each in others[_KEPT_FOLDERS:]:
            if each.is_dir(follow_symlinks=False):
                shutil.rmtree(each.path, ignore_errors=True)

    def _write(self, file: str, content: bytes) -> None:
        """As a whole or not at all, also over a power failure."""
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
            sync_folder(os.path.dirname(file))
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise

    # -- what was refused

    def _refused(self, problem: BundleError, bundle: Bundle | None, key: str | None) -> Result:
        name, revision = (bundle.name, bundle.revision) if bundle is not None else ("", 0)
        # What is not signed has no name of its own, but whoever removes it must find it.
        why = str(problem) if bundle is not None or key is None else f"published as {key[:80]}: {problem}"
        refusal = Refusal(problem.code, why, self._clock(), name, revision)
        report = self.place.report()
        others = [each for each in report.refused if not _is_same(each, refusal)]
        kept = replace(report, refused=(*others, refusal)[-_MOST_REFUSED:])
        with suppress(OSError):
            self._write(os.path.join(self.place.folder, REPORT), msgspec.json.encode(kept))
        return Result("refused", name, revision, why, problem.code)

    def _forget_refusals(self, bundle: Bundle) -> None:
        """Of this bundle and earlier ones: they are of no interest any more."""
        report = self.place.report()
        kept = tuple(
            each for each in report.refused if each.name != bundle.name or each.revision > bundle.revision
        )
        if kept != report.refused:
            self._write(
                os.path.join(self.place.folder, REPORT), msgspec.json.encode(replace(report, refused=kept))
            )

    @contextmanager
    def _locked(self) -> Generator[None]:
        """One process at a time: two would compare with what the other is about to replace."""
        import fcntl  # noqa: PLC0415 not on every system

        file = os.path.join(self.place.folder, "lock")
        try:
            _make_folders(self.place.folder, self._mode)
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise FleetError(
                f"{file} cannot be written: {problem.strerror}; run it as the user who keeps bundles there"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        except OSError as problem:
            what = problem.filename or self.place.folder
            raise FleetError(f"{what} cannot be written: {problem.strerror or problem}") from None
        finally:
            os.close(descriptor)


def _check_key(bundle: Bundle, key: str | None) -> None:
    """An older one under the key of a newer one would hide that."""
    if key is not None and key != f"{bundle.name}.{bundle.revision}":
        raise BundleError("name", f"it was offered as {key[:80]!r}, and is {bundle.label}")


def _is_same(one: Refusal, other: Refusal) -> bool:
    return (one.code, one.name, one.revision) == (other.code, other.name, other.revision)


def _make_folders(folder: str, mode: int) -> None:
    """Those that are missing, with these rights whatever the umask is."""
    if not os.path.isdir(folder):
        _make_folders(os.path.dirname(folder), mode)
        os.mkdir(folder, mode)
        os.chmod(folder, mode)


def _above(path: str) -> Iterator[str]:
    """The folders that a path is in."""
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _put_in_place(draft: str, folder: str) -> None:
    """A folder cannot be renamed over another one that has files."""
    old = f"{draft}.old"
    with suppress(FileNotFoundError):
        os.rename(folder, old)
    os.rename(draft, folder)
    sync_folder(os.path.dirname(folder))
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
