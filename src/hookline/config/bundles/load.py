"""Bundles in force as hooks of the administrator: read from disk like any file, and decided by the same functions.

What cannot be verified closes: nothing that such a bundle may have guarded goes ahead. So do guards of an expired one.
"""

import os
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.config.bundles.format import Bundle, BundleError, file_digests
from hookline.config.bundles.place import BundlePlace
from hookline.config.bundles.settings import BundleSettings, bundle_settings
from hookline.config.load import Found, Loaded
from hookline.documents.document import format_of, read_document
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Diagnostic, Severity, Where
from hookline.model.events import May
from hookline.model.hook import BUNDLE_VARIABLE, Hook, HookBundle
from hookline.trust.project import project_root

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.dialects.dialect import HomeDialect
    from hookline.trust.trust import Trust

_AGAIN = "run `hookline fleet pull` to get it again"


def _advice(settings: BundleSettings) -> str:
    """What helps. No bundle counts with settings that cannot be believed, however often it is fetched."""
    return f"fix {settings.file}: {settings.problems[0].message}" if settings.problems else _AGAIN


def bundles_in_force(
    loader: "Loader", cwd: str, env: Mapping[str, str], trust: "Trust | None" = None
) -> Loaded:
    """The hooks of every bundle in force for a directory, and what is wrong with bundles."""
    settings = bundle_settings(env)
    if settings is None:
        return Loaded()
    if trust is not None and not settings.managed and trust.is_foreign(settings.file, "user"):
        message = "the project brings it, so it is not used: only you or the administrator choose a fleet"
        return Loaded(diagnostics=(_said("warning", "foreign-fleet", message, settings.file),))
    loaded = Loaded(diagnostics=settings.problems)
    place = BundlePlace(settings.place)
    try:
        names = place.names()
    except BundleError as problem:
        why = f"bundles cannot be read: {problem}; {_advice(settings)}"
        return loaded + _closed(loader.home, settings.file, why)
    for name in names:
        try:
            bundle = place.active(name, settings)
        except BundleError as problem:
            why = f"the bundle {name} does not count: {problem}; {_advice(settings)}"
            loaded += _closed(loader.home, place.active_file(name), why)
            continue
        if bundle.scope.holds_in(project_root(cwd), env.get("HOME", "")):
            loaded += _hooks_of(bundle, place, loader)
    if settings.required and not names:
        why = f"this machine must have a bundle, and none is in force; {_advice(settings)}"
        loaded += _closed(loader.home, settings.file, why)
    return loaded


def bundle_files(env: Mapping[str, str]) -> tuple[str, ...]:
    """The files that change when other bundles count."""
    settings = bundle_settings(env)
    return () if settings is None else (settings.file, BundlePlace(settings.place).in_force_file)


def _hooks_of(bundle: Bundle, place: BundlePlace, loader: "Loader") -> Loaded:
    folder = place.files_of(bundle)
    file = os.path.join(folder, bundle.hooks)
    text = next(each.content for each in bundle.files if each.path == bundle.hooks)
    loaded = read_hooks(loader, text, file)
    origin = origin_of(bundle, folder)
    lapsed = origin.lapse(time.time(), time.monotonic())
    changed = None if lapsed else place.changed_file(bundle)
    said = list(loaded.diagnostics)
    if lapsed:
        said.append(_said("error", "bundle-expired", lapsed, file))
    if changed is not None:
        why = f"{changed} is not as it was signed in the bundle {bundle.label}; {_AGAIN}"
        said.append(_said("error", "bundle-changed", why, file))
        # What is decided without its files still is.
        broken = replace(origin, problem=why)
    else:
        broken = origin
    hooks = tuple(
        bundled(hook, broken if isinstance(hook.spec, CommandSpec) else origin, lapsed)
        for hook in loaded.hooks
    )
    return Loaded(hooks, tuple(said), (Found(file, loader.home.name, "managed"),))


def read_hooks(loader: "Loader", content: bytes, file: str) -> Loaded:
    """The hooks of a bundle's hooks file, from the bytes that were signed."""
    form = format_of(file)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return Loaded(diagnostics=(_said("error", "not-text", "it is not UTF-8 text", file),))
    if form is None:
        message = "the name ends in none of .toml, .yaml, .yml, .json"
        return Loaded(diagnostics=(_said("error", "unknown-format", message, file),))
    return loader.document(read_document(text, form, file), "managed")


def origin_of(bundle: Bundle, folder: str) -> HookBundle:
    """What hooks of a bundle need to know of it. A clock from before it was issued is wrong: it counts from then on."""
    left = bundle.expires - max(time.time(), float(bundle.issued))
    return HookBundle(
        label=bundle.label,
        folder=os.path.realpath(folder),
        expires=float(bundle.expires),
        closes=time.monotonic() + left,
        files=file_digests(bundle),
    )


def bundled(hook: Hook, origin: HookBundle, lapsed: str = "") -> Hook:
    """A hook as one of a bundle: its command finds the files of the bundle by a variable."""
    spec = hook.spec
    if isinstance(spec, CommandSpec):
        spec = replace(spec, env={**spec.env, BUNDLE_VARIABLE: origin.folder})
    return replace(
        hook,
        spec=spec,
        scope="managed",
        bundle=origin,
        broken=hook.broken or lapsed or origin.problem or None,
    )


def _closed(home: "HomeDialect", file: str, why: str) -> Loaded:
    """A hook at each event that can be guarded, which stops what it is asked about."""
    hooks = tuple(_closed_hooks(home, file, why))
    return Loaded(hooks, (_said("error", "bundle-refused", why, file),), (Found(file, home.name, "managed"),))


def _closed_hooks(home: "HomeDialect", file: str, why: str) -> Iterator[Hook]:
    origin = HookBundle(label="", problem=why)
    for own_event in home.events.values():
        if own_event.event.guard and own_event.policy.may & May.BLOCK:
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
