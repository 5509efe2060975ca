"""Report which bundles of the fleet are active here, until when, and what is wrong with them."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.checks.context import CheckContext
from hookline.config.load import Loaded
from hookline.dialects.files import fleet_files
from hookline.model.diagnostics import Diagnostic, Severity, Where

if TYPE_CHECKING:
    from hookline.config.bundles.format import Bundle
    from hookline.config.bundles.settings import BundleSettings
    from hookline.config.bundles.store import BundleStore

_DAY = 86_400.0


def bundles(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report active and refused bundles. Loading has reported those that are unverified or expired."""
    if not any(map(os.path.lexists, fleet_files(context.env))):
        return
    from hookline.config.bundles.format import BundleError  # noqa: PLC0415 few machines have bundles
    from hookline.config.bundles.settings import bundle_settings  # noqa: PLC0415 the same
    from hookline.config.bundles.store import BundleStore  # noqa: PLC0415 the same

    settings = bundle_settings(context.env)
    if settings is None:
        return
    store, now = BundleStore(settings.directory), time.time()
    with suppress(BundleError):
        names = store.names()
        for name in names:
            with suppress(BundleError):
                yield from _in_force(store.active(name, settings), store, loaded, now)
        if not names:
            message = f"no bundle is active on {settings.machine}"
            yield _said("warning", "no-bundle", message, settings.file, fix="hookline fleet pull")
    yield from _taken(store, settings, now)


def _in_force(bundle: "Bundle", store: "BundleStore", loaded: Loaded, now: float) -> Iterator[Diagnostic]:
    file, directory = store.active_file(bundle.name), store.files_of(bundle) + os.sep
    if now < bundle.expires:
        count = sum(hook.where.file.startswith(directory) for hook in loaded.hooks)
        hooks = (
            f"{count} {'hook' if count == 1 else 'hooks'} here"
            if count
            else f"no hooks here, because it is for {bundle.scope}"
        )
        key = store.envelope(bundle.name).key
        message = (
            f"the bundle {bundle.label} is active until {_time(bundle.expires)}: {hooks}, signed by {key}"
        )
        soon = bundle.expires - now < min(_DAY, (bundle.expires - bundle.issued) / 4)
        fix = "have it published again before its guards close" if soon else None
        yield _said("warning" if soon else "info", "bundle", message, file, fix)
    if now < bundle.issued:
        message = (
            f"the clock of this machine shows a time before {bundle.label} was issued, {_time(bundle.issued)}"
        )
        yield _said("warning", "clock", message, file, fix="set the clock")


def _taken(store: "BundleStore", settings: "BundleSettings", now: float) -> Iterator[Diagnostic]:
    report = store.report()
    for one in report.refused:
        label = f"the bundle {one.name} {one.revision}" if one.name else "a bundle"
        message = f"{label} was refused on {_time(one.at)}, so the previous one stays active: {one.why}"
        yield _said("warning", "bundle-not-taken", message, store.directory)
    if report.problem:
        message = f"bundles could not be asked for on {_time(report.asked)}: {report.problem}"
        yield _said("warning", "bundles-not-asked", message, settings.file)
    elif report.asked and now - report.asked > _DAY:
        message = f"bundles were last asked for on {_time(report.asked)}"
        yield _said(
            "warning", "bundles-not-asked", message, settings.file, fix="hookline fleet worker, or pull"
        )


def _said(severity: Severity, code: str, message: str, file: str, fix: str | None = None) -> Diagnostic:
    return Diagnostic(severity, code, message, Where(file), fix=fix)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
