"""Build a bundle from a directory of hooks: collect files, check that they load, and list the changes."""

import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.checks.context import CheckContext
from hookline.checks.registry import CHECKS, ranked
from hookline.config.bundles.format import (
    LARGEST,
    WHOLE,
    Bundle,
    BundleError,
    BundleFile,
    BundleScope,
    check_files,
    digest_of,
    path_problem,
    read_body,
    split,
    verify,
)
from hookline.config.bundles.load import bundled, origin_of, read_hooks
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import SUFFIXES
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.hook import BUNDLE_VARIABLE, Hook
from hookline.model.session_info import SessionInfo
from hookline.shell import ShellReader
from hookline.team.fleet.bundles.keys import SigningKey
from hookline.team.fleet.bundles.report import MachineReport
from hookline.team.fleet.bundles.transport import Offered
from hookline.trust.sessions import guard_identity
from hookline.trust.trust import Trust

_NAMED = re.compile(rf"\$(?:\{{{BUNDLE_VARIABLE}\}}|{BUNDLE_VARIABLE})/([^\s\"';&|<>()]+)")


class PublishError(HooklineError):
    """An error that prevents publishing; the message says why, and what to do."""


class BundleSource(Struct, frozen=True):
    """Files to publish."""

    directory: str
    #: The hooks file, below the directory.
    hooks: str
    files: tuple[BundleFile, ...]

    @property
    def digest(self) -> str:
        return digest_of(self.hooks, self.files)


class PublishOptions(Struct, frozen=True):
    """Options of publishing."""

    name: str = "guards"
    scope: BundleScope = BundleScope()
    stage: int = WHOLE
    seconds: float = 30 * 86_400.0
    #: None: the next one, or that of the same content.
    revision: int | None = None


class KnownFleet(Struct, frozen=True):
    """Reports of machines so far, for checks before something is published."""

    machines: tuple[MachineReport, ...] = ()

    def highest(self, name: str) -> int:
        """Return the highest revision of a bundle that a machine has; none takes a lower one."""
        return max(
            (each.revision for machine in self.machines for each in machine.bundles if each.name == name),
            default=0,
        )

    def meant(self, bundle: Bundle) -> list[str] | None:
        """Return the machines that this stage reaches; None if none has reported yet."""
        now = time.time()
        found = [each.machine for each in self.machines if bundle.is_for(each.machine, each.groups, now)]
        return found if self.machines else None

    def objections(self, bundle: Bundle, key: str) -> Iterator[str]:
        """Yield what would make publishing useless or dangerous."""
        # A machine of an earlier version does not say which keys it trusts.
        saying = [each for each in self.machines if each.keys]
        if saying and not any(key in each.keys for each in saying):
            yield (
                f"none of the {len(saying)} machines that have reported trusts the key {key}: add its public half to "
                "[bundles] keys of fleet.toml there"
            )
        if self.machines and not any(
            bundle.scope.includes(each.machine, each.groups) for each in self.machines
        ):
            yield f"{bundle.scope} is none of the {len(self.machines)} machines that have reported"
        highest = self.highest(bundle.name)
        if bundle.revision < highest:
            yield (
                f"machines have revision {highest} of {bundle.name} and refuse a lower one than that: "
                f"hookline fleet publish … --revision {highest + 1}"
            )


class PublishPlan(Struct, frozen=True):
    """A bundle to be signed, beside the one that is published now."""

    bundle: Bundle
    before: Bundle | None
    #: The write of its key that it replaces; 0 for a new revision.
    after: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed_files: tuple[str, ...] = ()

    @property
    def again(self) -> bool:
        """True if the same revision is issued again."""
        return self.before is not None and self.before.revision == self.bundle.revision

    def lines(self) -> Iterator[str]:
        """Yield the changes, one line each."""
        new, old = self.bundle, self.before
        yield f"{new.label}, {_share(new.stage)} of {new.scope}, until {_day(new.expires)}"
        if old is None:
            yield "the first bundle of this name"
        elif self.again:
            yield f"the same hooks as published: revision {new.revision} again"
        else:
            yield f"replaces revision {old.revision}"
        if old is not None:
            yield from _differences(old, new)
        yield from (f"+ {each}" for each in self.added)
        yield from (f"- {each}" for each in self.removed)
        yield from (f"~ {each}" for each in self.changed_files)


def _differences(old: Bundle, new: Bundle) -> Iterator[str]:
    if old.stage != new.stage:
        yield f"stage: {_share(old.stage)} -> {_share(new.stage)}"
    if old.scope != new.scope:
        yield f"scope: {old.scope} -> {new.scope}"
        yield "a machine that leaves the scope keeps its bundle until that expires, and then fails closed"
    if old.expires > new.expires:
        yield f"it expires sooner: {_day(old.expires)} -> {_day(new.expires)}"


def read_source(path: str) -> BundleSource:
    """Read a directory completely, or a hooks file with the files that its commands name. Raises PublishError."""
    path = os.path.abspath(path)
    if os.path.isdir(path):
        directory, hooks = path, _hooks_file(path)
        names: Iterable[str] | None = None
    else:
        directory, hooks = os.path.split(path)
        text = _content(path).decode("utf-8", "replace")
        names = {hooks, *(match[1] for match in _NAMED.finditer(text))}
    files = tuple(
        _file(directory, each) for each in (sorted(names) if names is not None else _walk(directory))
    )
    try:
        check_files(hooks, files)
    except BundleError as problem:
        raise PublishError(f"{directory}: {problem}") from None
    size = sum(len(each.content) for each in files)
    if size * 4 // 3 > LARGEST:
        raise PublishError(f"{directory} has {size:,} bytes; a bundle has at most {LARGEST * 3 // 4:,}")
    return BundleSource(directory, hooks, files)


def _hooks_file(directory: str) -> str:
    found = [
        name for suffix in SUFFIXES if os.path.lexists(os.path.join(directory, name := f"hooks.{suffix}"))
    ]
    if len(found) != 1:
        what = f"{' and '.join(found)}: keep one of them" if found else "no hooks.toml (or .yaml, .json)"
        raise PublishError(f"{directory} has {what}")
    return found[0]


def _walk(root: str) -> Iterator[str]:
    """Yield every file below a directory but hidden ones. Links are refused: their targets may change unseen."""
    for directory, below, names in os.walk(root):
        below[:] = sorted(each for each in below if each[0] != ".")
        for name in [*below, *names]:
            if os.path.islink(os.path.join(directory, name)):
                raise PublishError(
                    f"{os.path.join(directory, name)} is a link: replace it by the file itself"
                )
        for name in sorted(names):
            if name[0] != ".":
                yield os.path.relpath(os.path.join(directory, name), root)


def _file(directory: str, path: str) -> BundleFile:
    whole = os.path.join(directory, path)
    why = path_problem(path)
    if why is not None:
        raise PublishError(f"{whole} cannot be in a bundle: {why}")
    if os.path.realpath(whole) != os.path.join(os.path.realpath(directory), path):
        raise PublishError(f"{whole} is a link, or below one: replace it by the file itself")
    content = _content(whole)
    return BundleFile(path, content, bool(os.stat(whole).st_mode & 0o111))


def _content(file: str) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise PublishError(f"{file} is not a file")
            return stream.read(LARGEST + 1)
    except OSError as problem:
        raise PublishError(f"{file} cannot be read: {problem.strerror}") from None


# Checks


def check(
    source: BundleSource, loader: Loader, env: Mapping[str, str]
) -> tuple[Loaded, tuple[Diagnostic, ...]]:
    """Return the hooks as machines will have them, and all findings of doctor about them, errors first."""
    file = os.path.join(source.directory, source.hooks)
    loaded = read_hooks(
        loader, next(each.content for each in source.files if each.path == source.hooks), file
    )
    origin = origin_of(_draft(source), source.directory)
    hooks = tuple(bundled(hook, origin) for hook in loaded.hooks)
    loaded = Loaded(hooks, loaded.diagnostics)
    found = [*loaded.diagnostics, *_own_names(source, hooks)]
    # Outside the directory: machines have other projects.
    with tempfile.TemporaryDirectory() as elsewhere:
        context = CheckContext(elsewhere, env, ShellReader(), loader)
        for one in CHECKS:
            if one.of_given_files:
                found += one.find(loaded, context)
        found += _unsealed(hooks, Trust(elsewhere, env))
        said = ranked(loaded, found, context)
    if not hooks and not any(one.severity == "error" for one in said):
        said = (
            Diagnostic(
                "warning", "no-hooks", "it has no hooks: machines that take it have none", Where(file)
            ),
            *said,
        )
    return loaded, said


def require(said: Sequence[Diagnostic]) -> None:
    """Raise ConfigError if the findings include an error."""
    errors = [one for one in said if one.severity == "error"]
    if errors:
        raise ConfigError(errors)


def _own_names(source: BundleSource, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
    """Report files of the bundle that a command names without its directory: in a project, the project's file
    would run.
    """
    for hook in hooks:
        spec = hook.spec
        if not isinstance(spec, CommandSpec):
            continue
        words = re.split(r"[\s\"';&|<>()=]+", " ".join((spec.command, *(spec.args or ()))))
        for each in source.files:
            if any(word in (each.path, f"./{each.path}") for word in words):
                message = f"its command names {each.path}, which would be a file of the project it runs in"
                fix = f'"${BUNDLE_VARIABLE}/{each.path}"'
                yield Diagnostic("error", "not-of-bundle", message, hook.where, hook.name, fix)


def _unsealed(hooks: Sequence[Hook], trust: Trust) -> Iterator[Diagnostic]:
    """Report commands that would not start on a machine, because their files cannot be sealed."""
    for hook in hooks:
        if hook.broken is None:
            admission = trust.admit(hook, SessionInfo())
            if not admission.admitted:
                yield Diagnostic(
                    "error", "not-sealed", admission.reason.split("; run `")[0], hook.where, hook.name
                )


# Published bundles


def verified(offers: Iterable[Offered], key: SigningKey) -> dict[tuple[str, int], tuple[Bundle, int]]:
    """Return the bundles that this key has published, by name and revision. Others' bundles are ignored."""
    found: dict[tuple[str, int], tuple[Bundle, int]] = {}
    for each in offers:
        try:
            envelope = split(each.raw)
            verify(envelope, {key.id: key.public}, "your key")
            bundle = read_body(envelope.body)
        except BundleError:
            continue
        found[bundle.name, bundle.revision] = (bundle, each.write)
    return found


def plan(
    source: BundleSource,
    wanted: PublishOptions,
    published: Mapping[tuple[str, int], tuple[Bundle, int]],
    loader: Loader,
    taken: Iterable[str] = (),
    now: float | None = None,
    highest: int = 0,
) -> PublishPlan:
    """Return the bundle to sign. `taken` are keys in use by anyone, `highest` the highest revision that a machine has.

    Raises PublishError.
    """
    now = time.time() if now is None else now
    own = {revision: each for (name, revision), each in published.items() if name == wanted.name}
    newest = max(own, default=0)
    others = [
        int(each.rpartition(".")[2]) for each in taken if re.fullmatch(rf"{wanted.name}\.\d{{1,15}}", each)
    ]
    before, write = own[newest] if newest else (None, 0)
    same = before is not None and before.digest == source.digest
    revision = wanted.revision or (
        newest if same and newest >= highest else max([newest, highest, *others]) + 1
    )
    if revision < newest:
        raise PublishError(
            f"revision {newest} is published, and machines refuse a lower one: leave out --revision"
        )
    if before is not None and revision == newest and not same:
        raise PublishError(f"revision {newest} is published with other hooks: leave out --revision")
    if before is not None and revision == newest and wanted.stage < before.stage:
        raise PublishError(
            f"revision {newest} is on its way to {_share(before.stage)}, and no machine goes back; "
            "publish other hooks as a new revision"
        )
    issued = int(now)
    if before is not None and revision == newest:
        issued = max(issued, before.issued + 1)
    bundle = _bundle(source, wanted, revision, issued, int(now + wanted.seconds))
    return PublishPlan(
        bundle, before, write if revision == newest else 0, *_hook_changes(before, bundle, source, loader)
    )


def _bundle(source: BundleSource, wanted: PublishOptions, revision: int, issued: int, expires: int) -> Bundle:
    return Bundle(
        name=wanted.name,
        revision=revision,
        issued=issued,
        expires=max(expires, issued + 1),
        scope=wanted.scope,
        stage=wanted.stage,
        hooks=source.hooks,
        files=source.files,
        digest=source.digest,
    )


def _draft(source: BundleSource) -> Bundle:
    return _bundle(source, PublishOptions(), 1, int(time.time()), int(time.time()) + 86_400)


def _hook_changes(
    before: Bundle | None, after: Bundle, source: BundleSource, loader: Loader
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    new = _hooks_by_identity(after, source.directory, loader)
    old = {} if before is None else _hooks_by_identity(before, source.directory, loader)
    files = {} if before is None else {each.path: each for each in before.files}
    changed = [
        each.path
        for each in after.files
        if each.path != after.hooks and each.path in files and files[each.path] != each
    ]
    return (
        tuple(label for identity, label in new.items() if identity not in old),
        tuple(label for identity, label in old.items() if identity not in new),
        tuple(changed),
    )


def _hooks_by_identity(bundle: Bundle, directory: str, loader: Loader) -> dict[str, str]:
    text = next(each.content for each in bundle.files if each.path == bundle.hooks)
    hooks = read_hooks(loader, text, os.path.join(directory, bundle.hooks)).hooks
    return {
        f"{guard_identity(hook, {})} {hook.mode} {hook.name}": f"{hook.policy.event_name} {hook.name}"
        + (f" ({hook.mode})" if hook.mode != "enforce" else "")
        for hook in hooks
    }


def _share(stage: int) -> str:
    return f"{stage * 100 / WHOLE:g} %"


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
