"""The examination: load what is configured, put it through every check, report."""

import argparse
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookline.checks.containment import containment_tier
from hookline.checks.context import CheckContext
from hookline.checks.journal import recent, writable
from hookline.checks.registry import CHECKS, Check, ranked
from hookline.cli.commands.doctor.calls import calls
from hookline.cli.commands.doctor.report import Findings, as_document, as_text
from hookline.cli.engines import looked_for, looking_engine
from hookline.cli.main import COMMANDS
from hookline.cli.output import FINE, PROBLEM, show, tell
from hookline.cli.requests import RequestError, working_directory
from hookline.cli.terminal import Progress
from hookline.cli.text import json_lines, terminal_width
from hookline.journal.file import journal_path
from hookline.journal.redaction import Redactor
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import HooklineError
from hookline.model.safe_text import printable

if TYPE_CHECKING:
    pass


def doctor(args: argparse.Namespace) -> int:
    try:
        findings = examine(args)
    except (RequestError, HooklineError) as problem:
        tell(printable(f"hookline doctor: {problem}"))
        return PROBLEM
    if args.json:
        shown = show(json_lines(as_document(findings)), as_json=True)
    else:
        shown = show(as_text(findings, terminal_width()))
    return shown or _status(findings, strict=args.strict_warnings)


def examine(args: argparse.Namespace) -> Findings:
    cwd = working_directory(args.cwd)
    named = None if args.dialect is None else [args.dialect]
    engine = looking_engine()
    with Progress() as progress:
        progress.say("reading configurations")
        loaded = engine.load(cwd, args.config, named)
        found = list(loaded.diagnostics)
        context = CheckContext(cwd, dict(os.environ), ShellReader(), engine.loader)
        for check in (*CHECKS, Check("calls of hookline", calls(tuple(COMMANDS)))):
            progress.say(f"looking at {check.about}")
            if args.config is None or check.of_given_files:
                found += check.find(loaded, context)
        progress.say("reading the journal")
        found += _journal(args, context)
        problems = ranked(loaded, found, context)
    everywhere = args.config is None and named is None
    places = looked_for(engine.loader, cwd).splitlines() if everywhere else loaded.looked_for
    return Findings(
        cwd, loaded, problems, tuple(places), containment_tier(), Redactor(os.environ).redact, context.title
    )


def _journal(args: argparse.Namespace, context: CheckContext) -> Iterator[Diagnostic]:
    """Only for a look at everything: who names files asks about those."""
    path = journal_path(os.environ)
    if args.config is None:
        yield from writable(path)
        if os.path.exists(path):
            yield from recent(path, time.time(), context.title)


def _status(findings: Findings, *, strict: bool) -> int:
    grave = {"error", "warning"} if strict else {"error"}
    wrong = any(one.severity in grave for one in findings.problems)
    return PROBLEM if wrong or not findings.loaded.found else FINE
