"""Look at the files of each agent, at trust, and at the journal."""

import argparse
import os
from collections.abc import Mapping, Sequence

from hookline.cli.commands.hook.run import moved_program
from hookline.cli.commands.install.run import agents_named, installable, own_entries
from hookline.cli.commands.status.report import AgentStatus, SeenCall, SiteStatus, StatusDocument
from hookline.cli.commands.trust.run import look_around
from hookline.cli.engines import working_directory
from hookline.cli.output import ExitStatus, show
from hookline.cli.text import terminal_width
from hookline.config.install.plan import further, installer_of, is_there, look
from hookline.config.install.self_calls import plain_program
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import Entry, InstallScope, Site
from hookline.journal.file import journal_path
from hookline.journal.reader import scan_journal
from hookline.model.errors import HooklineError
from hookline.model.run import Run
from hookline.trust.project import project_root
from hookline.trust.review import Review
from hookline.trust.sessions import Sessions

_SCOPES: tuple[InstallScope, ...] = ("user", "project")


def run(args: argparse.Namespace) -> ExitStatus:
    cwd = working_directory(args.cwd)
    review, seen = look_around(cwd), last_calls()
    named = agents_named(args.words)
    every = [_status(each, project_root(cwd), review, seen) for each in named or installable()]
    shown = [each for each in every if named or each.found or each.installed]
    document = StatusDocument(project_root(cwd), len(review.pending), tuple(shown))
    status = show(document.as_json() if args.json else document.as_text(terminal_width()), as_json=args.json)
    wrong = any(site.wrong for each in shown for site in each.sites)
    return ExitStatus.PROBLEM if wrong or not any(each.installed for each in shown) else status


def _status(dialect: Dialect, project: str, review: Review, seen: Mapping[str, SeenCall]) -> AgentStatus:
    sites = [Site(scope, project, os.environ) for scope in _SCOPES]
    found = dict.fromkeys(sign for site in sites for sign in is_there(dialect, site))
    shown = tuple(_site(dialect, site, review) for site in sites)
    return AgentStatus(dialect.name, dialect.title, tuple(found), shown, seen.get(dialect.name))


def _site(dialect: Dialect, site: Site, review: Review) -> SiteStatus:
    installer = installer_of(dialect)
    try:
        file = installer.files(site)[0]
    except HooklineError:  # the agent has no such file
        return SiteStatus(site.scope, None)
    try:
        texts = further(installer, site, {each.file: each.text for each in look(dialect, site).values()})
        is_own = own_entries(dialect)
        own = [entry for entry in installer.entries(texts, site) if is_own(entry)]
        if not own:
            return SiteStatus(site.scope, file)
        standing, why = installer.standing(texts, own, site)
    except HooklineError as problem:
        return SiteStatus(site.scope, file, problem=str(problem))
    return SiteStatus(
        site.scope,
        file,
        own[0].line,
        tuple(dict.fromkeys(entry.event for entry in own)),
        _program_problem(dialect, own),
        standing,
        why,
        _is_trusted(own, review),
    )


def _program_problem(dialect: Dialect, own: Sequence[Entry]) -> str | None:
    programs = dict.fromkeys(plain_program(entry.command, dialect.name) for entry in own)
    return next((wrong for words in programs if words and (wrong := moved_program(words)) is not None), None)


def _is_trusted(own: Sequence[Entry], review: Review) -> bool:
    """Whether none of our entries waits for the user: those of a project and of plugins do."""
    file, paths = own[0].file, {entry.path for entry in own}
    return not any(
        entry.item.where.file == file and entry.item.where.path in paths for entry in review.pending
    )


def last_calls() -> dict[str, SeenCall]:
    """By dialect: from the journal, and from the sessions that are remembered, also those in which no hook ran."""
    found: dict[str, SeenCall] = {}
    for run_ in scan_journal(journal_path(os.environ)):
        if not isinstance(run_, Run) or run_.call.made_by or not run_.call.caller:
            continue
        known = found.get(run_.call.caller)
        if known is None or known.at < run_.at:
            found[run_.call.caller] = SeenCall(run_.at, run_.call.project, run_.spelled)
    for dialect, (at, root) in Sessions(os.environ.get("HOME", "")).last_calls().items():
        # The file of a session is written in the same moment as the record of its run.
        if dialect not in found or found[dialect].at + 1 < at:
            found[dialect] = SeenCall(at, root)
    return found
