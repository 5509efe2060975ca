"""Fire one event: an engine, the active hooks, one dispatch, one report."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from hookline.cli.agents_asking import AskingAgent, agents_asking
from hookline.cli.commands.fire.report import NOT_TRUSTED, WOULD_RUN, FiredHook, FireReport, name_redactor
from hookline.cli.describe import TranslatedDocument, translated_documents
from hookline.cli.engines import (
    any_error,
    command_engine,
    inspection_engine,
    nothing_configured,
    prepare,
    report_diagnostics,
    session_of,
    working_directory,
)
from hookline.cli.output import ExitStatus, columns, note, show
from hookline.cli.shown_hooks import is_held_back, report_held_back, report_store, trust_of
from hookline.cli.text import reason_relative_to, relative_to
from hookline.config.engine import Engine
from hookline.engine.explain import MatchResult, accounts_of, skipped_run
from hookline.engine.session import Session
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import event_label
from hookline.model.hook import Hook
from hookline.model.outcome import PASS
from hookline.model.run import Run
from hookline.model.safe_text import printable
from hookline.model.wire import EventRequest

#: Seconds for which a queue of durable hooks that cannot be used is tried again.
_PATIENCE = 1.0


async def run(args: argparse.Namespace) -> ExitStatus:
    if args.times is not None:
        from hookline.cli.commands.fire.times import measure

        return await measure(args)
    cwd = working_directory(args.cwd)
    engine = inspection_engine() if args.dry_run else command_engine(args.model, cwd, origin="fire")
    try:
        request, loaded = prepare(engine, args, cwd)
        report_diagnostics(loaded.diagnostics)
        if args.only:
            from hookline.cli.commands.fire.samples import only

            engine.swap(only(engine.hooks, args.only))
        engine.journal.caller = request.dialect or ""
        session = session_of(engine, request)
        decisions = session.explain(request.event, request.payload)
        agents = (
            agents_asking(request.event, decisions, cwd, name_redactor(engine.journal))
            if args.config is None
            else ()
        )
        firing = await _dispatch(
            engine, session, request, decisions, loaded.diagnostics, agents, dry=args.dry_run
        )
        shown = show(firing.as_json() if args.json else firing.as_text(columns()), as_json=args.json)
        for problem in (*engine.journal.problems, *(engine.jobs.problems if _has_durable(decisions) else ())):
            note(printable(f"hookline: {problem}"))
        held = report_held_back(_held_back(engine, decisions, firing), firing.redact)
        held = report_store(engine) or held
        if firing.outcome.blocked:
            return ExitStatus.BLOCKED
        if (
            held
            or shown
            or any_error(loaded.diagnostics)
            or nothing_configured(engine, loaded, cwd, args.dialect)
        ):
            return ExitStatus.PROBLEM
        return ExitStatus.OK
    finally:
        await engine.close()


def _has_durable(decisions: Sequence[MatchResult]) -> bool:
    return any(one.prepared.hook.durable for one in decisions)


def _held_back(engine: Engine, decisions: Sequence[MatchResult], firing: FireReport) -> Iterator[Hook]:
    """Yield the hooks that would have run, had they been trusted."""
    entries = (entry.run for entry in firing.entries if not entry.again)
    for decision, entry in zip(decisions, entries, strict=True):
        hook = decision.prepared.hook
        if entry.status == "untrusted" or (firing.dry and decision.selected and is_held_back(engine, hook)):
            yield hook


async def _dispatch(
    engine: Engine,
    session: Session,
    request: EventRequest,
    decisions: Sequence[MatchResult],
    diagnostics: Sequence[Diagnostic],
    agents: Sequence[AskingAgent],
    *,
    dry: bool,
) -> FireReport:
    runs: list[Run] = []
    # Records about the queue of durable hooks are not runs.
    engine.journal.subscribe(lambda run: runs.append(run) if run.type != "durable" else None)
    redact = engine.journal.cleaned
    # Before they run: a hook may change the files of another.
    trust = [trust_of(engine, one.prepared.hook) for one in decisions]
    if dry:
        outcome, entries = (
            PASS,
            _before_dispatch(decisions, request.info.cwd, redact, partial(is_held_back, engine)),
        )
    else:
        outcome = await session.dispatch(request.event, request.payload)
        if _has_durable(decisions):
            engine.jobs.patience = _PATIENCE
        await engine.drain()
        entries = _after_dispatch(decisions, runs, request.info.cwd, redact)
    hooks = [entry.run for entry in entries if not entry.again]
    return FireReport(
        event=request.event,
        under=_under(request),
        outcome=engine.journal.without_secrets(outcome),
        entries=entries,
        late=engine.journal.without_secrets(session.inbox.take_all()),
        block_means=engine.home.policy(request.event).block_means,
        redact=name_redactor(engine.journal),
        trust={(run.hook, run.source): each for run, each in zip(hooks, trust, strict=True)},
        diagnostics=diagnostics,
        dry=dry,
        tool=getattr(request.payload, "tool_name", ""),
        agents=agents,
    )


def _under(request: EventRequest) -> str:
    """Return the event by the agent's own name, or by the table's with the calling agent."""
    if request.event_name:
        return f"{event_label(request.event_name, request.event.name)} of {request.dialect}"
    return f"{request.event.name} (as {request.dialect})" if request.dialect else request.event.name


# Entries of each hook


def _after_dispatch(
    decisions: Sequence[MatchResult], runs: Sequence[Run], cwd: str, redact: Callable[[Run], Run]
) -> list[FiredHook]:
    """Return the hooks in config order, run or not, then the rechecks; files relative to `cwd`.

    A hook has one entry, or one for each action of the call that it ran on.
    """
    accounts, again = accounts_of(decisions, runs, redact)
    entries: list[FiredHook] = []
    for account in accounts:
        translated = _translated(account.decision, redact)
        if account.ran and not account.decision.selected:
            translated = ()
        entries += _entries(account.runs, translated)
    entries += [FiredHook(run, again=True) for run in again]
    return _relative_to(cwd, entries)


def _entries(runs: Sequence[Run], translated: Sequence[TranslatedDocument]) -> Iterator[FiredHook]:
    for number, run in enumerate(runs):
        one = translated[number] if number < len(translated) else None
        yield FiredHook(
            replace(run, translated_tool=one.tool_name) if one is not None else run, one, again=number > 0
        )


def _translated(decision: MatchResult, redact: Callable[[Run], Run]) -> Sequence[TranslatedDocument]:
    if decision.translated is None:
        return ()
    return translated_documents(decision.translated, lambda text: redact(Run(hook="", detail=text)).detail)


def _before_dispatch(
    decisions: Sequence[MatchResult],
    cwd: str,
    redact: Callable[[Run], Run],
    held_back: Callable[[Hook], bool],
) -> list[FiredHook]:
    """Return the entries of a dry run: which hooks would run, and why the others would not."""
    entries: list[FiredHook] = []
    for one in decisions:
        run = redact(skipped_run(one.prepared, _plan(one, held_back)))
        translated = _translated(one, redact)
        entries += _entries([run] * (max(len(translated), 1) if one.selected else 1), translated)
    return _relative_to(cwd, entries)


def _plan(decision: MatchResult, held_back: Callable[[Hook], bool]) -> str:
    if not decision.selected:
        return decision.why
    if held_back(decision.prepared.hook):
        return f"{NOT_TRUSTED}{decision.why}"
    broken = decision.prepared.hook.broken
    return f"{WOULD_RUN}{f', and fail: {broken}' if broken else ''}; {decision.why}"


def _relative_to(cwd: str, entries: Sequence[FiredHook]) -> list[FiredHook]:
    return [
        replace(
            entry,
            run=replace(
                entry.run,
                source=relative_to(cwd, entry.run.source),
                why=reason_relative_to(cwd, entry.run.why),
            ),
        )
        for entry in entries
    ]
