"""Load what is configured, run every check on it, report."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hookline.agent.project_items import project_items
from hookline.checks.context import CheckContext
from hookline.checks.coverage import Coverage, coverage, guards, uncovered
from hookline.checks.files import about_dormant, store_problems, untrusted_item
from hookline.checks.journal import recent, writable
from hookline.checks.programs import containment_tier
from hookline.checks.registry import CHECKS, Check, ranked
from hookline.cli.commands.doctor.accept import accepted_findings, finding_id, split_accepted
from hookline.cli.commands.doctor.calls import asking_agents, calls
from hookline.cli.commands.doctor.report import Findings
from hookline.cli.commands.doctor.resident import about_resident
from hookline.cli.engines import dormant_hooks, inspection_engine, load, searched_places, working_directory
from hookline.cli.output import ExitStatus, Progress, show
from hookline.cli.text import terminal_width
from hookline.cli.trust_state import trust_of
from hookline.config.commands import COMMANDS
from hookline.config.dormant import Dormant
from hookline.config.engine import Engine
from hookline.config.install.self_calls import hookline_arguments
from hookline.config.load import Loaded
from hookline.engine.session import Session
from hookline.journal.file import journal_path
from hookline.journal.redaction import Redactor
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic
from hookline.model.safe_text import printable

if TYPE_CHECKING:
    from hookline.tools.table import ToolTable


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
        own_checks = (
            Check("calls of hookline", calls(tuple(COMMANDS))),
            Check("the resident", about_resident, of_given_files=False),
        )
        for check in (*CHECKS, *own_checks):
            progress.say(f"looking at {check.about}")
            if args.config is None or check.of_given_files:
                found += check.find(loaded, context)
            if check.of_given_files:
                found += check.find(coming, context)
        if engine.trust is not None:
            for item in project_items(cwd, os.environ, engine.trust):
                found += untrusted_item(item, engine.trust)
            found += store_problems(engine.trust)
        progress.say("looking at what guards cover")
        covered = _covered(engine, loaded, context)
        found += (each for one in covered for each in uncovered(one))
        progress.say("reading the journal")
        found += _journal(args, loaded, context)
        accepted, wrong = accepted_findings(engine, args, loaded, cwd)
        problems = ranked(loaded + coming, [*found, *wrong], context)
    redact = Redactor(os.environ).redact
    finding = partial(finding_id, cwd=cwd, clean=lambda text: printable(redact(text)))
    left, settled = split_accepted(problems, accepted, loaded, finding)
    everywhere = args.config is None and args.dialect is None
    places = searched_places(engine.loader, cwd).splitlines() if everywhere else loaded.looked_for
    return Findings(
        cwd=cwd,
        loaded=loaded,
        trust=partial(trust_of, engine),
        dormant=dormant.files,
        problems=left,
        accepted=settled,
        elsewhere=_elsewhere(args, loaded, dormant.files),
        finding=finding,
        looked_for=tuple(places),
        coverage=covered,
        containment=containment_tier(),
        redact=redact,
        title=context.title,
    )


def _covered(engine: Engine, loaded: Loaded, context: CheckContext) -> tuple[Coverage, ...]:
    """What each guard is asked about, and by whom."""

    def session(tools: "ToolTable | None") -> Session:
        made = engine.session("doctor", cwd=context.cwd, project_dir=context.cwd)
        made.tools = tools
        return made

    found = list(guards(loaded, context, lambda hook: bool(hookline_arguments(hook, context.shell))))
    askers = asking_agents(loaded, context, session) if found else ()
    return tuple(coverage(hook, askers) for hook in found)


def _elsewhere(args: argparse.Namespace, loaded: Loaded, dormant: Sequence[Dormant]) -> frozenset[str]:
    """Files that were not asked about: of the user where a directory was named, and of plugins that are off."""
    off = {each.file for each in dormant if each.off}
    if args.config is not None or args.cwd is None:
        return frozenset(off)
    return frozenset(off | {each.file for each in loaded.found if each.scope in ("user", "managed")})


def _journal(args: argparse.Namespace, loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Not with --config: that asks about the named files only."""
    path = journal_path(os.environ)
    if args.config is None:
        yield from writable(path)
        if os.path.exists(path):
            yield from recent(path, time.time(), loaded, context)


def _status(findings: Findings, *, strict: bool) -> ExitStatus:
    grave = {"error", "warning"} if strict else {"error"}
    wrong = any(one.severity in grave and findings.is_asked_about(one) for one in findings.problems)
    return ExitStatus.PROBLEM if wrong or not findings.files else ExitStatus.OK
