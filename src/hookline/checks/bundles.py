"""Which bundles of the fleet are in force here, until when, and what is wrong with them."""

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
    from hookline.config.bundles.place import BundlePlace
    from hookline.config.bundles.settings import BundleSettings

_DAY = 86_400.0


def bundles(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """What cannot be verified and what has expired was reported when it was loaded."""
    if not any(map(os.path.lexists, fleet_files(context.env))):
        return
    from hookline.config.bundles.format import BundleError  # noqa: PLC0415 few machines have bundles
    from hookline.config.bundles.place import BundlePlace  # noqa: PLC0415 the same
    from hookline.config.bundles.settings import bundle_settings  # noqa: PLC0415 the same

    settings = bundle_settings(context.env)
    if settings is None:
        return
    place, now = BundlePlace(settings.place), time.time()
    with suppress(BundleError):
        names = place.names()
        for name in names:
            with suppress(BundleError):
                yield from _in_force(place.active(name, settings), place, loaded, now)
        if not names:
            message = f"no bundle is in force on {settings.machine}"
            yield _said("warning", "no-bundle", message, settings.file, fix="hookline fleet pull")
    yield from _taken(place, settings, now)


def _in_force(bundle: "Bundle", place: "BundlePlace", loaded: Loaded, now: float) -> Iterator[Diagnostic]:
    file, folder = place.active_file(bundle.name), place.files_of(bundle) + os.sep
    if now < bundle.expires:
        count = sum(hook.where.file.startswith(folder) for hook in loaded.hooks)
        hooks = (
            f"{count} {'hook' if count == 1 else 'hooks'} here"
            if count
            else f"none here, as it is for {bundle.scope}"
        )
        key = place.envelope(bundle.name).key
        message = (
            f"the bundle {bundle.label} is in force until {_time(bundle.expires)}: {hooks}, signed by {key}"
        )
        soon = bundle.expires - now < min(_DAY, (bundle.expires - bundle.issued) / 4)
        fix = "have it published again before its guards close" if soon else None
        yield _said("warning" if soon else "info", "bundle", message, file, fix)
    if now < bundle.issued:
        message = (
            f"the clock of this machine shows a time before {bundle.label} was issued, {_time(bundle.issued)}"
        )
        yield _said("warning", "clock", message, file, fix="set the clock")


def _taken(place: "BundlePlace", settings: "BundleSettings", now: float) -> Iterator[Diagnostic]:
    report = place.report()
    for one in report.refused:
        label = f"the bundle {one.name} {one.revision}" if one.name else "a bundle"
        message = f"{label} was refused on {_time(one.at)}, and what was in force stays: {one.why}"
        yield _said("warning", "bundle-not-taken", message, place.folder)
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
