"""Load the configuration, run every check on it, and report."""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.agent.project_items import project_items
from hookline.checks.commands.programs import containment_tier
from hookline.checks.context import CheckContext
from hookline.checks.coverage import GuardCoverage, coverage, guards, uncovered
from hookline.checks.files import about_dormant, store_problems, untrusted_item
from hookline.checks.journal import recent, writable
from hookline.checks.registry import CHECKS, Check, ranked
from hookline.cli.commands.doctor.accept import accepted_findings, finding_id, split_accepted, without_known
from hookline.cli.commands.doctor.calls import about_daemon, asking_agents, calls
from hookline.cli.commands.doctor.fix import fix, undo
from hookline.cli.commands.doctor.installation import InstallationStatus, installation
from hookline.cli.commands.doctor.report import Findings
from hookline.cli.commands.trust.run import look_around
from hookline.cli.engines import dormant_hooks, inspection_engine, load, searched_files, working_directory
from hookline.cli.output import ExitStatus, Progress, show
from hookline.cli.shown_hooks import trust_of
from hookline.cli.text import terminal_width
from hookline.config.commands import COMMANDS
from hookline.config.dormant import Dormant, DormantHooks
from hookline.config.engine import Engine
from hookline.config.install.self_calls import hookline_arguments, is_own_call
from hookline.config.load import Loaded
from hookline.engine.session import Session
from hookline.execguard.probe import capabilities
from hookline.journal.file import journal_path
from hookline.journal.redaction import Redactor
from hookline.model.diagnostics import Diagnostic
from hookline.model.safe_text import printable
from hookline.shell import ShellReader
from hookline.trust.items import TrustItem
from hookline.trust.review import Review, review

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable


def run(args: argparse.Namespace) -> ExitStatus:
    if args.undo:
        return undo()
    findings = examine(args)
    if args.fix:
        return fix(findings, terminal_width(), yes=args.yes)
    shown = show(_shown(findings, args), as_json=args.json)
    return shown or _status(findings, args)


def _shown(findings: Findings, args: argparse.Namespace) -> str:
    if args.json:
        return findings.as_json()
    if args.format == "text":
        return findings.as_text(terminal_width())
    from hookline.cli.commands.doctor.formats import FORMATS

    return FORMATS[args.format](findings, strict=args.strict_warnings)


def examine(args: argparse.Namespace) -> Findings:
    cwd = working_directory(args.cwd)
    # Without an environment there is neither a home nor a program: only the files of the project.
    env: dict[str, str] = {} if args.ci else dict(os.environ)
    engine = inspection_engine(env if args.ci else None)
    with Progress() as progress:
        progress.say("reading configurations")
        loaded = load(engine, args, cwd)
        dormant = dormant_hooks(engine, args, cwd)
        found = [*loaded.diagnostics, *dormant.diagnostics]
        found += [about_dormant(file, engine.loader) for file in dormant.files if file.off or not file.used]
        # Hooks that become active on their own are checked like the others, but not against them.
        coming = Loaded(tuple(hook for file in dormant.files if not file.off for hook in file.hooks))
        context = CheckContext(cwd, env, ShellReader(), engine.loader, engine.trust, files_only=args.ci)
        own_checks = (
            Check("calls of hookline", calls(tuple(COMMANDS))),
            Check("the daemon", about_daemon, of_given_files=False, of_machine=True),
        )
        # Entries that call Hookline are ours: nobody is to change them as if they were hooks of the user.
        users = replace(loaded, hooks=tuple(hook for hook in loaded.hooks if not is_own_call(hook)))
        for check in (*CHECKS, *own_checks):
            if args.ci and check.of_machine:
                continue
            progress.say(f"looking at {check.about}")
            if args.config is None or check.of_given_files:
                found += check.find(loaded if check in own_checks else users, context)
            if check.of_given_files:
                found += check.find(coming, context)
        items: Sequence[TrustItem] = ()
        if engine.trust is not None:
            items = project_items(cwd, os.environ, engine.trust)
            for item in items:
                found += untrusted_item(item, engine.trust)
            found += store_problems(engine.trust)
        progress.say("checking what guards cover")
        covered = _covered(engine, loaded, context)
        found += (each for one in covered for each in uncovered(one))
        progress.say("reading the journal")
        found += _journal(args, loaded, context)
        progress.say("looking at where Hookline is installed")
        installed = _installation(
            engine, args, cwd, lambda: _review(engine, args, cwd, loaded, dormant, items)
        )
        if installed is not None:
            found += installed.findings()
            found += installed.unasked(covered)
        accepted, wrong = accepted_findings(engine, args, loaded, cwd)
        problems = ranked(loaded + coming, [*found, *wrong], context)
    # In CI nothing is known of the environment, but nothing of it must be shown.
    redact = (Redactor(os.environ) if args.ci else context.redactor).redact
    finding = partial(finding_id, cwd=cwd, clean=lambda text: printable(redact(text)))
    left, settled = split_accepted(problems, accepted, loaded, finding)
    known = 0
    if args.baseline is not None:
        left, known = without_known(left, args.baseline, cwd, finding)
    everywhere = args.config is None and args.dialect is None
    searched: Sequence[str] = ()
    if not loaded.found:
        searched = searched_files(engine.loader, cwd).splitlines() if everywhere else loaded.searched
    return Findings(
        cwd=cwd,
        installation=installed,
        loaded=loaded,
        trust=partial(trust_of, engine),
        dormant=dormant.files,
        problems=left,
        accepted=settled,
        elsewhere=_elsewhere(args, loaded, dormant.files),
        finding=finding,
        searched=tuple(searched),
        coverage=covered,
        containment=containment_tier(),
        exec_guard=capabilities(),
        known=known,
        files_only=args.ci,
        redact=redact,
        title=context.title,
    )


def _installation(
    engine: Engine, args: argparse.Namespace, cwd: str, reviewed: Callable[[], Review]
) -> InstallationStatus | None:
    """Return the installation; not with --config and --ci, which are for files only, nor for a format without
    an agent.
    """
    only = None if args.dialect is None else engine.loader.dialect(args.dialect)
    if args.ci or args.config is not None or (only is not None and only.installer is None):
        return None
    return installation(cwd, only, reviewed())


def _review(
    engine: Engine,
    args: argparse.Namespace,
    cwd: str,
    loaded: Loaded,
    dormant: DormantHooks,
    items: Sequence[TrustItem],
) -> Review:
    """Return all that needs trust here: of what was read already, if that is all, and no variable trusts any of it."""
    if engine.trust is None or engine.trust.hashes or args.dialect is not None:
        return look_around(cwd, report=False)
    return review(engine.trust, loaded.hooks, dormant.awaited, (*loaded.loosening, *items))


def _covered(engine: Engine, loaded: Loaded, context: CheckContext) -> tuple[GuardCoverage, ...]:
    """Return the coverage of each guard by agent."""

    def session(tools: "ToolTable | None") -> Session:
        made = engine.session("doctor", cwd=context.cwd, project_dir=context.cwd)
        made.tools = tools
        return made

    found = list(guards(loaded, context, lambda hook: bool(hookline_arguments(hook, context.shell))))
    askers = asking_agents(loaded, context, session) if found else ()
    return tuple(coverage(hook, askers) for hook in found)


def _elsewhere(args: argparse.Namespace, loaded: Loaded, dormant: Sequence[Dormant]) -> frozenset[str]:
    """Return files outside the request: of the user where a directory was named, and of plugins that are off."""
    off = {each.file for each in dormant if each.off}
    if args.config is not None or args.cwd is None:
        return frozenset(off)
    return frozenset(off | {each.file for each in loaded.found if each.scope in ("user", "managed")})


def _journal(args: argparse.Namespace, loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Check the journal; not with --config, which is for the named files only, nor with --ci."""
    path = journal_path(os.environ)
    if args.config is None and not args.ci:
        yield from writable(path)
        if os.path.exists(path):
            yield from recent(path, time.time(), loaded, context)


def _status(findings: Findings, args: argparse.Namespace) -> ExitStatus:
    grave = {"error", "warning"} if args.strict_warnings else {"error"}
    wrong = any(one.severity in grave and findings.is_asked_about(one) for one in findings.problems)
    return ExitStatus.PROBLEM if wrong or not (findings.files or args.ci) else ExitStatus.OK
