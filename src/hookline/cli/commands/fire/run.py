"""Fire one event: an engine, the hooks in force, one dispatch, one report."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from hookline.cli.commands.fire.report import NOT_TRUSTED, WOULD_RUN, Entry, Firing, name_redactor
from hookline.cli.describe import ToldDocument, told_documents
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
from hookline.cli.requests import Request
from hookline.cli.text import reason_relative_to, relative_to
from hookline.cli.trust_state import is_held_back, report_held_back, report_store, trust_of
from hookline.config.engine import Engine
from hookline.engine.explain import Verdict, accounts_of, skipped_run
from hookline.engine.session import Session
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import event_label
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON
from hookline.model.run import Run
from hookline.model.safe_text import printable

#: Seconds for which a queue of durable hooks that cannot be used is tried again.
_PATIENCE = 1.0


async def run(args: argparse.Namespace) -> ExitStatus:
    cwd = working_directory(args.cwd)
    engine = inspection_engine() if args.dry_run else command_engine(args.model, cwd, made_by="fire")
    try:
        request, loaded = prepare(engine, args, cwd)
        report_diagnostics(loaded.diagnostics)
        engine.journal.caller = request.dialect or ""
        session = session_of(engine, request)
        verdicts = session.explain(request.event, request.payload)
        firing = await _dispatch(engine, session, request, verdicts, loaded.diagnostics, dry=args.dry_run)
        shown = show(firing.as_json() if args.json else firing.as_text(columns()), as_json=args.json)
        for problem in (*engine.journal.problems, *_queue_problems(engine, verdicts)):
            note(printable(f"hookline: {problem}"))
        held = report_held_back(_held_back(engine, verdicts, firing), firing.redact)
        held = report_store(engine) or held
        if firing.outcome.blocked:
            return ExitStatus.BLOCKED
        if held or shown or any_error(loaded.diagnostics) or nothing_configured(engine, loaded, cwd):
            return ExitStatus.PROBLEM
        return ExitStatus.OK
    finally:
        await engine.close()


def _has_durable(verdicts: Sequence[Verdict]) -> bool:
    return any(one.prepared.hook.durable for one in verdicts)


def _queue_problems(engine: Engine, verdicts: Sequence[Verdict]) -> Sequence[str]:
    return engine.jobs.problems if _has_durable(verdicts) else ()


def _held_back(engine: Engine, verdicts: Sequence[Verdict], firing: Firing) -> Iterator[Hook]:
    """The hooks that would have run, had they been trusted."""
    entries = (entry.run for entry in firing.entries if not entry.again)
    for verdict, entry in zip(verdicts, entries, strict=True):
        hook = verdict.prepared.hook
        if entry.status == "untrusted" or (firing.dry and verdict.selected and is_held_back(engine, hook)):
            yield hook


async def _dispatch(
    engine: Engine,
    session: Session,
    request: Request,
    verdicts: Sequence[Verdict],
    diagnostics: Sequence[Diagnostic],
    *,
    dry: bool,
) -> Firing:
    runs: list[Run] = []
    # What is said of the queue of durable hooks is no run of one.
    engine.journal.subscribe(lambda run: runs.append(run) if run.type != "durable" else None)
    redact = engine.journal.cleaned
    # Before they run: a hook may change the files of another.
    trust = [trust_of(engine, one.prepared.hook) for one in verdicts]
    if dry:
        outcome, entries = (
            GO_ON,
            _before_dispatch(verdicts, request.scene.cwd, redact, partial(is_held_back, engine)),
        )
    else:
        outcome = await session.dispatch(request.event, request.payload)
        if _has_durable(verdicts):
            engine.jobs.patience = _PATIENCE
        await engine.drain()
        entries = _after_dispatch(verdicts, runs, request.scene.cwd, redact)
    hooks = [entry.run for entry in entries if not entry.again]
    return Firing(
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
    )


def _under(request: Request) -> str:
    """The event by the agent's own name, or by the table's with the agent that calls."""
    if request.event_name:
        return f"{event_label(request.event_name, request.event.name)} of {request.dialect}"
    return f"{request.event.name} (as {request.dialect})" if request.dialect else request.event.name


# What became of each hook


def _after_dispatch(
    verdicts: Sequence[Verdict], runs: Sequence[Run], cwd: str, redact: Callable[[Run], Run]
) -> list[Entry]:
    """The hooks in config order, run or not, then the rechecks; files relative to `cwd`.

    A hook has one entry, or one for each act of the call that it was asked about.
    """
    accounts, again = accounts_of(verdicts, runs, redact)
    entries: list[Entry] = []
    for account in accounts:
        told = _told(account.verdict, redact)
        if account.ran and not account.verdict.selected:
            told = ()
        entries += _entries(account.runs, told)
    entries += [Entry(run, again=True) for run in again]
    return _relative_to(cwd, entries)


def _entries(runs: Sequence[Run], told: Sequence[ToldDocument]) -> Iterator[Entry]:
    for number, run in enumerate(runs):
        one = told[number] if number < len(told) else None
        yield Entry(replace(run, told_as=one.tool_name) if one is not None else run, one, again=number > 0)


def _told(verdict: Verdict, redact: Callable[[Run], Run]) -> Sequence[ToldDocument]:
    if verdict.told is None:
        return ()
    return told_documents(verdict.told, lambda text: redact(Run(hook="", detail=text)).detail)


def _before_dispatch(
    verdicts: Sequence[Verdict], cwd: str, redact: Callable[[Run], Run], held_back: Callable[[Hook], bool]
) -> list[Entry]:
    """The same for a dry run: which hooks would run, and why the others would not."""
    entries: list[Entry] = []
    for one in verdicts:
        run = redact(skipped_run(one.prepared, _plan(one, held_back)))
        told = _told(one, redact)
        entries += _entries([run] * (max(len(told), 1) if one.selected else 1), told)
    return _relative_to(cwd, entries)


def _plan(verdict: Verdict, held_back: Callable[[Hook], bool]) -> str:
    if not verdict.selected:
        return verdict.why
    if held_back(verdict.prepared.hook):
        return f"{NOT_TRUSTED}{verdict.why}"
    broken = verdict.prepared.hook.broken
    return f"{WOULD_RUN}{f', and fail: {broken}' if broken else ''}; {verdict.why}"


def _relative_to(cwd: str, entries: Sequence[Entry]) -> list[Entry]:
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
