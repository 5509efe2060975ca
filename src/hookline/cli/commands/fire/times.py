"""Run hooks round after round, and measure how long they take: `hookline fire --times N`."""

import argparse
import asyncio
import os
from collections import defaultdict
from collections.abc import Sequence
from time import perf_counter

from msgspec.structs import replace

from hookline.checks.commands.warm import can_run_warm, why_cold
from hookline.checks.context import CheckContext
from hookline.cli.commands.fire.samples import (
    HookKey,
    LeftOut,
    Plan,
    Planned,
    are_events,
    chosen_events,
    only,
    plan_one,
    plan_samples,
    sample_text,
)
from hookline.cli.commands.fire.times_report import (
    EventTimes,
    HookTiming,
    Rating,
    TimesDocument,
    hook_figures,
)
from hookline.cli.describe import redactor
from hookline.cli.engines import (
    any_error,
    chosen_dialect,
    command_handlers,
    load,
    prepare,
    report_diagnostics,
    searched_files,
    session_of,
    with_flag_hooks,
    working_directory,
)
from hookline.cli.output import ExitStatus, Progress, note, show
from hookline.cli.requests import RequestError
from hookline.cli.shown_hooks import is_held_back, report_held_back, report_store, trust_of
from hookline.cli.text import count_of, terminal_width
from hookline.cli.times import times
from hookline.config.engine import Engine, strictly
from hookline.config.load import Loaded
from hookline.handlers.process.pool import Processes
from hookline.handlers.warm.scripts import WarmScripts
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import NOTIFICATION
from hookline.model.hook import Hook
from hookline.model.payloads import Notice
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.model.wire import EventRequest
from hookline.schemas.examples import INFO
from hookline.shell import ShellReader
from hookline.trust.trust import TrustStatus

_WARM_UPS = 2
#: How long an interpreter may take to start.
_START_SECONDS = 0.3
_STARTS = 6
#: Seconds after which an event gets no further rounds; a hook that takes a minute is not run twenty times.
_ENOUGH_SECONDS, _LEAST_ROUNDS = 30.0, 3
#: How long a round waits for background hooks; those that take longer are measured up to then.
_BACKGROUND_SECONDS = 60.0


async def measure(args: argparse.Namespace) -> ExitStatus:
    """Return status 1 if a hook fails or times out, or something could not be read."""
    if args.times < 1:
        raise RequestError(f"--times {args.times}: say how many rounds, one at least")
    cwd = working_directory(args.cwd)
    warm = WarmScripts(after=1)
    engine = Engine(
        handlers=command_handlers(args.model, processes=Processes(containment="subreaper", warm=warm)),
        journal=Journal(Redactor(os.environ), memory=1, origin="fire"),
    )
    try:
        request, loaded = _loaded(engine, args, cwd)
        report_diagnostics(loaded.diagnostics)
        if not engine.hooks:
            return _nothing_configured(engine, cwd, args, found=bool(loaded.found))
        if all(hook.broken is not None for hook in engine.hooks):
            return ExitStatus.PROBLEM  # the diagnostics say why
        engine.swap(only(engine.hooks, args.only or ()))
        todo = plan_one(engine, request) if request is not None else _samples(engine, args, cwd)
        document = await _document(engine, todo, loaded.diagnostics, args, warm)
        shown = _show(document, as_json=args.json)
        planned = [hook for each in todo.planned for hook in each.hooks]
        held = report_held_back(
            (hook for hook in planned if is_held_back(engine, hook)), redactor(engine.journal)
        )
        held = report_store(engine) or held
        return ExitStatus.PROBLEM if held or any_error(loaded.diagnostics) else shown
    finally:
        await engine.close()
        warm.close()


def _loaded(engine: Engine, args: argparse.Namespace, cwd: str) -> tuple[EventRequest | None, Loaded]:
    """Load the hooks. Without a payload there is no request: each event is measured on samples."""
    sampled = args.payload is None and args.caller is None and not any("=" in word for word in args.words)
    if not sampled or not are_events(engine, args.words[1:]):
        return prepare(engine, args, cwd)
    loaded = load(engine, args, cwd)
    chosen = chosen_dialect(engine, args.dialect, args.config)
    hooks = with_flag_hooks(engine, loaded.hooks, args.hook or (), chosen)
    engine.swap(strictly(engine, hooks) if args.strict else hooks)
    return None, loaded


def _samples(engine: Engine, args: argparse.Namespace, cwd: str) -> Plan:
    info = replace(INFO, session_id="fire", cwd=cwd, project_dir=cwd, transcript_path="", attended=False)
    return plan_samples(engine, info, chosen_events(engine, args.words, args.dialect))


def _nothing_configured(engine: Engine, cwd: str, args: argparse.Namespace, *, found: bool) -> ExitStatus:
    if args.json:
        show(TimesDocument(args.times, args.dry_run, None, ()).as_json(), as_json=True)
    places = "" if found else f"; searched\n{searched_files(engine.loader, cwd, args.dialect)}"
    note(printable(f"hookline fire: no hooks are configured{places}"))
    return ExitStatus.PROBLEM


async def _document(
    engine: Engine,
    todo: Plan,
    diagnostics: Sequence[Diagnostic],
    args: argparse.Namespace,
    warm: WarmScripts,
) -> TimesDocument:
    keys = _HookKeys(engine)
    messages = tuple(one_line(str(one), 1000) for one in diagnostics)
    left = _left_out(todo.left_out, keys)
    if args.dry_run or not todo.planned:
        events = [_listed(each, keys) for each in todo.planned]
        return TimesDocument(args.times, True, None, (*events, *left), messages)
    _warn(todo, args.times, keys)
    with Progress(after=0.0) as progress:
        spawn_ms = await _spawn_ms(args.times)
        events = [
            await _measured(engine, each, args.times, spawn_ms, keys, progress, warm) for each in todo.planned
        ]
    return TimesDocument(args.times, False, spawn_ms, (*events, *left), messages)


def _warn(todo: Plan, rounds: int, keys: "_HookKeys") -> None:
    hooks = {id(hook) for planned in todo.planned for hook in planned.hooks if not keys.held_back(hook)}
    if not hooks:
        return
    times_each = f"up to {rounds + _WARM_UPS} times each"
    if any(keys.can_run_warm(hook) for planned in todo.planned for hook in planned.hooks):
        times_each += f", those at events with Python scripts {2 * (rounds + _WARM_UPS) + _STARTS} times"
    note(
        f"hookline fire: running {count_of(len(hooks), 'hook')} for real, {times_each} (--dry-run only lists them)"
    )


class _HookKeys:
    """Hooks by the name they have in their runs, from which the journal has redacted secrets."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._journal = engine.journal

    def of(self, hook: Hook) -> HookKey:
        run = self._journal.cleaned(Run(hook=hook.name, source=str(hook.where)))
        return run.hook, run.source

    def trust(self, hook: Hook) -> TrustStatus:
        return trust_of(self._engine, hook)

    def can_run_warm(self, hook: Hook) -> bool:
        return can_run_warm(hook, _context(self._engine, os.getcwd()))

    def held_back(self, hook: Hook) -> bool:
        return is_held_back(self._engine, hook)


async def _measured(
    engine: Engine,
    planned: Planned,
    rounds: int,
    spawn_ms: float,
    keys: _HookKeys,
    progress: Progress,
    scripts: WarmScripts,
) -> EventTimes:
    walls: list[float] = []
    runs: defaultdict[HookKey, list[Run]] = defaultdict(list)
    warm_runs: defaultdict[HookKey, list[Run]] = defaultdict(list)
    any_warm = await _get_ready(engine, planned, scripts)
    began = perf_counter()
    for number in range(-_WARM_UPS, rounds):
        if number >= _LEAST_ROUNDS and perf_counter() - began > _ENOUGH_SECONDS:
            break
        progress.say(f"{planned.request.event.name}: {max(number, 0)} of {rounds} rounds")
        scripts.paused = True
        wall, ran = await _round(engine, planned.request)
        scripts.paused = False
        warm = (await _round(engine, planned.request))[1] if any_warm else []
        if number >= 0:
            walls.append(wall)
            for run in ran:
                runs[run.hook, run.source].append(run)
            for run in warm:
                warm_runs[run.hook, run.source].append(run)
    context = _context(engine, planned.request.info.cwd)
    hooks = [
        hook_figures(
            hook, *keys.of(hook), runs.get(keys.of(hook), ()), spawn_ms, keys.trust(hook),
            warm_runs.get(keys.of(hook), ()), why_cold(hook, context),
        )
        for hook in planned.hooks
    ]  # fmt: skip
    event, payload = planned.request.event, planned.request.payload
    return EventTimes(event.name, sample_text(event, payload), tuple(hooks), times(walls))


async def _get_ready(engine: Engine, planned: Planned, scripts: WarmScripts) -> bool:
    """Start interpreters ahead; False if no hook of this event can use them."""
    context = _context(engine, planned.request.info.cwd)
    if not any(can_run_warm(hook, context) for hook in planned.hooks):
        return False
    for _ in range(_STARTS):
        _, ran = await _round(engine, planned.request)
        if any(run.warm is True for run in ran):
            return True
        scripts.tend()
        await asyncio.sleep(_START_SECONDS)
    return False


def _context(engine: Engine, cwd: str) -> CheckContext:
    return CheckContext(cwd, os.environ, ShellReader(), engine.loader)


async def _round(engine: Engine, request: EventRequest) -> tuple[float, list[Run]]:
    """Dispatch in a new session, so that `once` and block limits start afresh."""
    session = session_of(engine, request)
    runs: list[Run] = []
    stop = engine.journal.subscribe(runs.append)
    try:
        began = perf_counter()
        await session.dispatch(request.event, request.payload)
        wall = (perf_counter() - began) * 1e3
        await engine.drain(_BACKGROUND_SECONDS)
    finally:
        stop()
    return wall, runs


async def _spawn_ms(rounds: int) -> float:
    """Measure how long it takes to start a shell that does nothing, as every command hook is started."""
    async with Engine(handlers=command_handlers(None)) as engine:
        engine.add(NOTIFICATION, ":")
        session = engine.session("fire")
        for _ in range(_WARM_UPS + min(rounds, 20)):
            await session.dispatch(NOTIFICATION, Notice(message=""))
        took = times([run.duration_ms for run in engine.journal.recent()[_WARM_UPS:]])
    return took.p50_ms if took is not None else 0.0


def _listed(planned: Planned, keys: _HookKeys) -> EventTimes:
    hooks = [
        _unrun(hook, keys, "untrusted", keys.trust(hook).why)
        if keys.held_back(hook)
        else _unrun(hook, keys, "would run", "")
        for hook in planned.hooks
    ]
    event, payload = planned.request.event, planned.request.payload
    return EventTimes(event.name, sample_text(event, payload), tuple(hooks))


def _left_out(left: Sequence[LeftOut], keys: _HookKeys) -> list[EventTimes]:
    by_event: defaultdict[str, list[HookTiming]] = defaultdict(list)
    for each in left:
        by_event[each.hook.event.name].append(_unrun(each.hook, keys, "not run", each.why))
    return [EventTimes(event, None, tuple(hooks)) for event, hooks in by_event.items()]


def _unrun(hook: Hook, keys: _HookKeys, rating: Rating, why: str) -> HookTiming:
    name, source = keys.of(hook)
    return HookTiming(
        hook=name, source=source, dialect=hook.dialect, type=hook.kind, timeout_s=hook.timeout, statuses={},
        trust=keys.trust(hook), rating=rating, why=why,
    )  # fmt: skip


def _show(document: TimesDocument, *, as_json: bool) -> ExitStatus:
    shown = show(document.as_json() if as_json else document.as_text(terminal_width()), as_json=as_json)
    bad = any(hook.rating in ("failing", "too slow") for event in document.events for hook in event.hooks)
    return ExitStatus.PROBLEM if bad else shown
