"""The examination: load what is configured, put it through every check, report."""

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hookline.checks.agents import elsewhere
from hookline.checks.answers import answers
from hookline.checks.containment import containment_tier
from hookline.checks.context import Check, Here
from hookline.checks.event_names import Names, with_names
from hookline.checks.files import misspelled, trust, unread_files
from hookline.checks.journal import recent, writable
from hookline.checks.matchers import impossible
from hookline.checks.programs import startable
from hookline.checks.registry import ranked
from hookline.checks.settings import fails_open, needs, powers, secrets, twice, units
from hookline.cli.commands.doctor.calls import calls
from hookline.cli.commands.doctor.report import Findings, as_document, as_text
from hookline.cli.commands.hook.caller import caller_of
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
    from hookline.config.engine import Engine


def checks(engine: "Engine") -> Mapping[str, Check]:
    """Every check, by what somebody who waits is told; a new one is one line here."""
    return {
        "programs": startable,
        "conditions": impossible,
        "timeouts": units,
        "copies": twice,
        "files nobody reads": unread_files,
        "misspelled keys": misspelled,
        "answers": answers,
        "failing guards": fails_open,
        "powers": powers,
        "secrets": secrets,
        "what hooks need": needs,
        "agents": elsewhere,
        "calls of hookline": calls(tuple(COMMANDS), lambda name: caller_of(engine.loader, name)),
        "trust": trust,
    }


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
        here = Here(cwd, dict(os.environ), ShellReader())
        for name, check in checks(engine).items():
            progress.say(f"looking at {name}")
            if args.config is None or check is not unread_files:
                found += check(loaded, here)
        progress.say("reading the journal")
        found += _journal(args)
        problems = ranked(loaded, with_names(found, loaded, lambda: _names(engine)))
    everywhere = args.config is None and named is None
    places = looked_for(engine.loader, cwd).splitlines() if everywhere else loaded.looked_for
    return Findings(cwd, loaded, problems, tuple(places), containment_tier(), Redactor(os.environ).redact)


def _journal(args: argparse.Namespace) -> Iterator[Diagnostic]:
    """Only for a look at everything: who names files asks about those."""
    path = journal_path(os.environ)
    if args.config is None:
        yield from writable(path)
        if os.path.exists(path):
            yield from recent(path, time.time())


def _names(engine: "Engine") -> Mapping[str, Names]:
    """The event names of every agent, worked out only when one is unknown."""
    loader = engine.loader
    return {
        name: {event_name: each.event for event_name, each in loader.dialect(name).events.items()}
        for name in loader.names
    }


def _status(findings: Findings, *, strict: bool) -> int:
    grave = {"error", "warning"} if strict else {"error"}
    wrong = any(one.severity in grave for one in findings.problems)
    return PROBLEM if wrong or not findings.loaded.found else FINE
