"""Load what is configured, run every check on it, report."""

import argparse
import os
import time
from collections.abc import Iterator
from functools import partial

from hookline.agent.project_items import project_items
from hookline.checks.context import CheckContext
from hookline.checks.files import about_dormant, store_problems, untrusted_item
from hookline.checks.journal import recent, writable
from hookline.checks.programs import containment_tier
from hookline.checks.registry import CHECKS, Check, ranked
from hookline.cli.commands.doctor.calls import calls
from hookline.cli.commands.doctor.report import Findings
from hookline.cli.engines import dormant_hooks, inspection_engine, load, searched_places
from hookline.cli.main import COMMANDS
from hookline.cli.output import ExitStatus, Progress, show
from hookline.cli.requests import working_directory
from hookline.cli.text import terminal_width
from hookline.cli.trust_state import trust_of
from hookline.config.load import Loaded
from hookline.journal.file import journal_path
from hookline.journal.redaction import Redactor
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic


def run(args: argparse.Namespace) -> ExitStatus:
    findings = examine(args)
    shown = show(findings.as_json() if args.json else findings.as_text(terminal_width()), as_json=args.json)
    return shown or _status(findings, strict=args.strict_warnings)


def examine(args: argparse.Namespace) -> Findings:
    cwd = working_directory(args.cwd)
    engine = inspection_engine()
    with Progress() as progress:
        progress.say("reading configurations")
        loaded = load(engine, args, cwd)
        dormant = dormant_hooks(engine, args, cwd)
        found = [*loaded.diagnostics, *dormant.diagnostics]
        found += [about_dormant(file, engine.loader) for file in dormant.files if file.off or not file.used]
        # Hooks that come into force by themselves are checked like the others, but not against them.
        coming = Loaded(tuple(hook for file in dormant.files if not file.off for hook in file.hooks))
        context = CheckContext(cwd, dict(os.environ), ShellReader(), engine.loader, engine.trust)
        for check in (*CHECKS, Check("calls of hookline", calls(tuple(COMMANDS)))):
            progress.say(f"looking at {check.about}")
            if args.config is None or check.of_given_files:
                found += check.find(loaded, context)
            if check.of_given_files:
                found += check.find(coming, context)
        if engine.trust is not None:
            for item in project_items(cwd, os.environ, engine.trust):
                found += untrusted_item(item, engine.trust)
            found += store_problems(engine.trust)
        progress.say("reading the journal")
        found += _journal(args, context)
        problems = ranked(loaded + coming, found, context)
    everywhere = args.config is None and args.dialect is None
    places = searched_places(engine.loader, cwd).splitlines() if everywhere else loaded.looked_for
    return Findings(
        cwd,
        loaded,
        partial(trust_of, engine),
        dormant.files,
        problems,
        tuple(places),
        containment_tier(),
        Redactor(os.environ).redact,
        context.title,
    )


def _journal(args: argparse.Namespace, context: CheckContext) -> Iterator[Diagnostic]:
    """Not with --config: that asks about the named files only."""
    path = journal_path(os.environ)
    if args.config is None:
        yield from writable(path)
        if os.path.exists(path):
            yield from recent(path, time.time(), context.title)


def _status(findings: Findings, *, strict: bool) -> ExitStatus:
    grave = {"error", "warning"} if strict else {"error"}
    wrong = any(one.severity in grave for one in findings.problems)
    return ExitStatus.PROBLEM if wrong or not findings.files else ExitStatus.OK
