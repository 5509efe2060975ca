"""Fire one event: an engine, the hooks in force, one dispatch, one report."""

import argparse
from collections.abc import Sequence

from hookline.cli.commands.fire.report import Firing, after_dispatch, before_dispatch, name_redactor
from hookline.cli.engines import (
    any_error,
    command_engine,
    inspection_engine,
    nothing_configured,
    prepare,
    report_diagnostics,
)
from hookline.cli.output import ExitStatus, columns, note, show
from hookline.cli.requests import Request, working_directory
from hookline.config.engine import Engine
from hookline.model.diagnostics import Diagnostic
from hookline.model.outcome import GO_ON
from hookline.model.run import Run
from hookline.model.safe_text import printable


async def run(args: argparse.Namespace) -> ExitStatus:
    cwd = working_directory(args.cwd)
    engine = inspection_engine() if args.dry_run else command_engine(args.model, cwd)
    try:
        request, loaded = prepare(engine, args, cwd)
        report_diagnostics(loaded.diagnostics)
        firing = await _dispatch(engine, request, loaded.diagnostics, dry=args.dry_run)
        shown = show(firing.as_json() if args.json else firing.as_text(columns()), as_json=args.json)
        for problem in engine.journal.problems:
            note(printable(f"hookline: {problem}"))
        if firing.outcome.blocked:
            return ExitStatus.BLOCKED
        if shown or any_error(loaded.diagnostics) or nothing_configured(engine, loaded, cwd):
            return ExitStatus.PROBLEM
        return ExitStatus.OK
    finally:
        await engine.close()


async def _dispatch(
    engine: Engine, request: Request, diagnostics: Sequence[Diagnostic], *, dry: bool
) -> Firing:
    session = engine.session(request.scene.session_id)
    session.scene = request.scene
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    verdicts = session.explain(request.event, request.payload)
    redact = engine.journal.cleaned
    if dry:
        outcome, entries = GO_ON, before_dispatch(verdicts, request.scene.cwd, redact)
    else:
        outcome = await session.dispatch(request.event, request.payload)
        await engine.drain()
        entries = after_dispatch(verdicts, runs, request.scene.cwd, redact)
    return Firing(
        event=request.event,
        under=f"{request.event_name}, {request.dialect}" if request.event_name else "",
        outcome=outcome,
        entries=entries,
        late=session.inbox.take_all(),
        block_means=engine.home.policy(request.event).block_means,
        redact=name_redactor(engine.journal),
        diagnostics=diagnostics,
        dry=dry,
    )
