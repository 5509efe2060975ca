"""Read the transcripts, let the hooks judge, and print what they would have done."""

import argparse
import os
import time
from collections.abc import Sequence

from hookline.cli.commands.backtest.report import BacktestDocument, backtest_document
from hookline.cli.engines import any_error, inspection_engine, report_diagnostics, require_files
from hookline.cli.history import nothing_found, read_history, readable_dialects, since_of, sources_of
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import terminal_width
from hookline.config.rules import parse_rule, rule_hooks
from hookline.history.backtest import BacktestTotals
from hookline.history.engines import Configuration
from hookline.history.workers import ReplayTask
from hookline.model.safe_text import one_line

_INSTEAD = (
    "Until there is one, `hookline guard test LINE` asks the guards here about a shell line, and "
    "`hookline fire` runs hooks on one event."
)


async def run(args: argparse.Namespace) -> ExitStatus:
    configuration, before = _configurations(args)
    dialects, now = readable_dialects(), time.time()
    since = since_of(args, now)
    sources = sources_of(args, dialects, since)
    reason = "" if sources.found else nothing_found(sources, args, dialects)
    job = ReplayTask(sources=sources.found, configuration=configuration, before=before, since=since)
    started = time.monotonic()
    totals: BacktestTotals = await read_history(job, dialects)
    document = backtest_document(totals, dialects, time.monotonic() - started, compared=before is not None)
    if not reason:
        _warn_of_unknown(args.run or (), document)
        _keep(document, now)
    if args.html is not None:
        _write_page(args.html, document, now)
    text = f"{reason}\n{_INSTEAD}" if reason else document.as_text(terminal_width())
    return show(document.as_json() if args.json else text, as_json=args.json)


def _configurations(args: argparse.Namespace) -> tuple[Configuration, Configuration | None]:
    """Return the configuration to try, and the one to compare it with."""
    rules: dict[str, str] = {f"rule {number}": text for number, text in enumerate(args.rule or (), 1)}
    _check(args, rules)
    declared, keep = tuple(args.run or ()), not args.fresh
    files = None if args.config is None else tuple(os.path.abspath(file) for file in args.config)
    trial = Configuration(
        files=files,
        dialect=args.dialect,
        rules=tuple(rules.items()),
        declared=declared,
        trust=args.trust,
        keep=keep,
    )
    if args.diff is None:
        return trial, None
    if not args.diff and not rules and files is None:
        raise RequestError("--diff needs --config or --rule, to compare with the active hooks")
    old = (os.path.abspath(args.diff),) if args.diff else None
    before = Configuration(files=old, dialect=args.dialect, declared=declared, trust=args.trust, keep=keep)
    return trial, before


def _check(args: argparse.Namespace, rules: dict[str, str]) -> None:
    """Report mistakes in files and rules before gigabytes are read."""
    engine = inspection_engine()
    files: Sequence[str] = [*(args.config or ()), *([args.diff] if args.diff else ())]
    require_files(engine, files)
    if args.dialect is not None:
        engine.loader.dialect(args.dialect)
    for file in files:
        diagnostics = engine.loader.files([file], args.dialect).diagnostics
        report_diagnostics([one for one in diagnostics if one.severity != "info"])
        if any_error(diagnostics):
            raise RequestError(f"{file} has mistakes: its hooks cannot be judged by it")
    if rules:
        rule_hooks(engine.loader, {name: parse_rule(text) for name, text in rules.items()})


def _warn_of_unknown(names: Sequence[str], document: BacktestDocument) -> None:
    known = {hook.hook for hook in document.hooks}
    for name in names:
        if name not in known:
            note(one_line(f"hookline backtest: --run {name}: no hook of this name was concerned", 500))


def _keep(document: BacktestDocument, now: float) -> None:
    """Keep the report for the console. If that fails, it is still shown."""
    from hookline.history.reports import keep_report

    try:
        keep_report(os.environ, document.as_json().encode(), now)
    except OSError as problem:
        note(one_line(f"hookline backtest: the report is not kept for the console: {problem}", 500))


def _write_page(path: str, document: BacktestDocument, now: float) -> None:
    from hookline.history.html_report import page

    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page(document.facts(), now))
    except OSError as problem:
        raise RequestError(f"cannot write {path}: {problem.strerror}") from None
    note(one_line(f"hookline backtest: wrote {path}", 500))
