"""Plan the changes of removing Hookline from the agents' files, show them, ask, and write."""

import argparse
import os
from functools import partial

from msgspec.structs import replace

from hookline.cli.commands.install.report import WHERE
from hookline.cli.commands.install.run import (
    agents_named,
    installable,
    own_entries,
    planned,
    problem_of,
    settle,
    site_of,
)
from hookline.cli.output import ExitStatus, show
from hookline.config.install.plan import installer_of, look, plan_uninstall
from hookline.config.install.records import InstallRecords
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import InstallError, Site

_NAME = b"hookline"


def run(args: argparse.Namespace) -> ExitStatus:
    site, records = site_of(args), InstallRecords(os.environ.get("HOME", ""))
    records.recover()
    named = agents_named(args.words)
    # Who uninstalls for the user means the plugin as well.
    sites = [site, *([replace(site, scope="plugin")] if site.scope == "user" else [])]
    wanted = {each.name for each in named}
    found = [
        planned(each, where, partial(plan_uninstall, each, where, own_entries(each), records))
        for where in sites
        for each in installable()
        if (each.name in wanted and where is site)
        or ((not wanted or each.name in wanted) and _is_installed(each, where, records))
    ]
    if not found and not args.json:
        return show(f"nothing of Hookline is installed {WHERE[site.scope]}")
    status = settle(found, args, records, "uninstall")
    if site.scope == "user" and not any(_is_installed(each, site, records) for each in installable()):
        _end_daemon(said=not args.json)
    return status


def _end_daemon(*, said: bool) -> None:
    """Stop the daemon of this home: no agent of its user calls it any more. A call of a project starts it again."""
    from hookline.cli.commands.daemon.run import other_home, running, stop

    status = running(None)
    if status is not None and other_home(status, os.environ.get("HOME", "")) is None and stop(None) and said:
        show("the daemon ends: no agent of yours calls it any more")


def _is_installed(dialect: Dialect, site: Site, records: InstallRecords) -> bool:
    """Return True if its files have something of ours, or cannot be read and might."""
    try:
        names = installer_of(dialect).files(site)
    except InstallError:  # it has no files
        return False
    try:
        files = look(dialect, site)
    except InstallError:
        return any(records.read(file) is not None for file in names)
    if any(records.read(file) is not None for file in files):
        return True
    return any(_NAME in (each.content or b"") for each in files.values()) and problem_of(dialect, site)
