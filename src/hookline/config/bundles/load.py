"""Load active bundles as managed hooks: read from disk like any file, and decided by the same functions.

A bundle that cannot be verified fails closed: nothing that it may have guarded proceeds. So do guards of an
expired one.
"""

import os
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.config.bundles.format import Bundle, BundleError, file_digests
from hookline.config.bundles.settings import BundleSettings, bundle_settings
from hookline.config.bundles.store import BundleStore
from hookline.config.load import Found, Loaded
from hookline.disk import DISK, Disk
from hookline.documents.document import format_of, read_document
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Diagnostic, Severity, Where
from hookline.model.events import Capability
from hookline.model.hook import BUNDLE_VARIABLE, Hook, HookBundle
from hookline.trust.project import project_root

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.dialects.dialect import HomeDialect
    from hookline.trust.trust import Trust

_AGAIN = "run `hookline fleet pull` to get it again"


def _advice(settings: BundleSettings) -> str:
    """Return the fix. With untrusted settings no bundle is valid, however often it is fetched."""
    return f"fix {settings.file}: {settings.problems[0].message}" if settings.problems else _AGAIN


def bundles_in_force(
    loader: "Loader", cwd: str, env: Mapping[str, str], trust: "Trust | None" = None
) -> Loaded:
    """Return the hooks of every active bundle for a directory, and the errors of bundles."""
    disk = loader.disk
    settings = bundle_settings(env, disk)
    if settings is None:
        return Loaded()
    if trust is not None and not settings.managed and trust.is_foreign(settings.file, "user"):
        message = "the project brings it, so it is not used: only you or the administrator choose a fleet"
        return Loaded(diagnostics=(_said("warning", "foreign-fleet", message, settings.file),))
    loaded = Loaded(diagnostics=settings.problems)
    store = BundleStore(settings.directory, disk)
    try:
        names = store.names()
    except BundleError as problem:
        why = f"bundles cannot be read: {problem}; {_advice(settings)}"
        return loaded + _closed(loader.home, settings.file, why)
    for name in names:
        try:
            bundle = store.active(name, settings)
        except BundleError as problem:
            why = f"the bundle {name} is not valid: {problem}; {_advice(settings)}"
            loaded += _closed(loader.home, store.active_file(name), why)
            continue
        if bundle.scope.holds_in(project_root(cwd, disk), env.get("HOME", "")):
            loaded += _hooks_of(bundle, store, loader)
    if settings.required and not names and not store.exceptions():
        why = f"this machine must have a bundle, and none is active; {_advice(settings)}"
        loaded += _closed(loader.home, settings.file, why)
    return loaded


def bundle_files(env: Mapping[str, str], disk: Disk = DISK) -> tuple[str, ...]:
    """List the files that change when other bundles are active."""
    settings = bundle_settings(env, disk)
    return () if settings is None else (settings.file, BundleStore(settings.directory, disk).in_force_file)


def _hooks_of(bundle: Bundle, store: BundleStore, loader: "Loader") -> Loaded:
    directory = store.files_of(bundle)
    file = os.path.join(directory, bundle.hooks)
    text = next(each.content for each in bundle.files if each.path == bundle.hooks)
    loaded = read_hooks(loader, text, file)
    origin = origin_of(bundle, directory, loader.disk)
    lapsed = origin.lapse(time.time(), time.monotonic())
    changed = None if lapsed else store.changed_file(bundle)
    said = list(loaded.diagnostics)
    if lapsed:
        said.append(_said("error", "bundle-expired", lapsed, file))
    if changed is not None:
        why = f"{changed} differs from what was signed in the bundle {bundle.label}; {_AGAIN}"
        said.append(_said("error", "bundle-changed", why, file))
        # Decisions that need none of its files still apply.
        broken = replace(origin, problem=why)
    else:
        broken = origin
    hooks = tuple(
        bundled(hook, broken if isinstance(hook.spec, CommandSpec) else origin, lapsed)
        for hook in loaded.hooks
    )
    return Loaded(hooks, tuple(said), (Found(file, loader.home.name, "managed"),))


def read_hooks(loader: "Loader", content: bytes, file: str) -> Loaded:
    """Read the hooks of a bundle's hooks file, from the signed bytes."""
    form = format_of(file)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return Loaded(diagnostics=(_said("error", "not-text", "it is not UTF-8 text", file),))
    if form is None:
        message = "the name ends in none of .toml, .yaml, .yml, .json"
        return Loaded(diagnostics=(_said("error", "unknown-format", message, file),))
    return loader.document(read_document(text, form, file), "managed")


def origin_of(bundle: Bundle, directory: str, disk: Disk = DISK) -> HookBundle:
    """Return a bundle's facts for its hooks. A clock from before it was issued is wrong: its validity starts
    then."""
    left = bundle.expires - max(time.time(), float(bundle.issued))
    return HookBundle(
        label=bundle.label,
        directory=disk.realpath(directory),
        expires=float(bundle.expires),
        closes=time.monotonic() + left,
        files=file_digests(bundle),
    )


def bundled(hook: Hook, origin: HookBundle, lapsed: str = "") -> Hook:
    """Make a hook one of a bundle: its command finds the files of the bundle by a variable."""
    spec = hook.spec
    if isinstance(spec, CommandSpec):
        spec = replace(spec, env={**spec.env, BUNDLE_VARIABLE: origin.directory})
    return replace(
        hook,
        spec=spec,
        scope="managed",
        bundle=origin,
        broken=hook.broken or lapsed or origin.problem or None,
    )


def _closed(home: "HomeDialect", file: str, why: str) -> Loaded:
    """Make a hook at each event that can be guarded, which stops every action there."""
    hooks = tuple(_closed_hooks(home, file, why))
    return Loaded(hooks, (_said("error", "bundle-refused", why, file),), (Found(file, home.name, "managed"),))


def _closed_hooks(home: "HomeDialect", file: str, why: str) -> Iterator[Hook]:
    origin = HookBundle(label="", problem=why)
    for own_event in home.events.values():
        if own_event.event.guard and own_event.policy.may & Capability.BLOCK:
            yield Hook(
                name="bundle",
                event=own_event.event,
                policy=own_event.policy,
                wire=home.wire,
                kind="command",
                scope="managed",
                where=Where(file),
                broken=why,
                bundle=origin,
            )


def _said(severity: Severity, code: str, message: str, file: str) -> Diagnostic:
    return Diagnostic(severity, code, message, Where(file))
