"""Firing one event: the engine, the hooks in force, one dispatch, one report."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.cli.commands.fire.report import Firing, account, planned
from hookline.cli.engines import chosen_dialect, command_engine, looked_for, with_flag_hooks
from hookline.cli.output import show, tell
from hookline.cli.problems import any_error, tell_diagnostics, tell_problem
from hookline.cli.requests import Request, RequestError, read_request, working_directory
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.journal.journal import Journal
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import HooklineError
from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON
from hookline.model.run import Run
from hookline.model.safe_text import printable

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

FINE, PROBLEM, BLOCKED = 0, 1, 2


async def fire(args: argparse.Namespace) -> int:
    """The exit status: 2 when blocked, 1 when something could not be read or understood."""
    try:
        return await _fire(args)
    except (RequestError, HooklineError) as problem:
        return tell_problem("fire", problem)


async def _fire(args: argparse.Namespace) -> int:
    cwd = working_directory(args.cwd)
    engine = _dry_engine() if args.dry_run else command_engine(args.model, cwd)
    try:
        request, loaded = prepare(engine, args, cwd)
        tell_diagnostics(loaded.diagnostics)
        status = await _dispatch(engine, request, loaded.diagnostics, args)
        return status or (PROBLEM if nothing_configured(engine, loaded, cwd) else FINE)
    finally:
        await engine.close()


def _dry_engine() -> Engine:
    from hookline.cli.engines import looking_engine

    return looking_engine()


def prepare(engine: Engine, args: argparse.Namespace, cwd: str) -> tuple[Request, Loaded]:
    """Read what is to be fired, and put the hooks it concerns in force."""
    chosen = chosen_dialect(engine, args.dialect, args.config)
    others = dialects_of(engine) if args.dialect is None else ()
    request = read_request(args.words, args.payload, cwd, engine.events, chosen, others)
    named = None if args.dialect is None else [args.dialect]
    loaded = engine.load(cwd, args.config, named)
    hooks = _concerned(request, with_flag_hooks(engine, loaded.hooks, args.hook or (), chosen))
    engine.swap(_closed(hooks) if args.strict else hooks)
    return request, loaded


def dialects_of(engine: Engine, names: Sequence[str] | None = None) -> "Iterator[Dialect]":
    """Who may know an event name that is not in the table; built only when it comes to that."""
    for each in engine.loader.names if names is None else names:
        if each != OWN_FORMAT:
            yield engine.loader.dialect(each)


def _concerned(request: Request, hooks: Sequence[Hook]) -> Sequence[Hook]:
    """Several names of a dialect may share an event; who fires one of them means that one."""
    if request.event_name is None:
        return hooks
    return [
        hook
        for hook in hooks
        if hook.event is not request.event
        or hook.dialect != request.dialect
        or hook.policy.event_name == request.event_name
    ]


async def _dispatch(
    engine: Engine, request: Request, diagnostics: Sequence[Diagnostic], args: argparse.Namespace
) -> int:
    session = engine.session(request.scene.session_id)
    session.scene = request.scene
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    verdicts = session.explain(request.event, request.payload)
    cleaned = engine.journal.cleaned
    if args.dry_run:
        outcome, entries = GO_ON, planned(verdicts, request.scene.cwd, cleaned)
    else:
        outcome = await session.dispatch(request.event, request.payload)
        await engine.drain()
        entries = account(verdicts, runs, request.scene.cwd, cleaned)
    firing = Firing(
        event=request.event,
        under=f"{request.event_name}, {request.dialect}" if request.event_name else "",
        outcome=outcome,
        entries=entries,
        late=session.inbox.take_all(),
        block_means=engine.home.policy(request.event).block_means,
        named=cleaned_names(engine.journal),
        dry=args.dry_run,
    )
    shown = _show(firing, diagnostics, as_document=args.json)
    for problem in engine.journal.problems:
        tell(printable(f"hookline: {problem}"))
    if outcome.blocked:
        return BLOCKED
    return PROBLEM if any_error(diagnostics) else shown


def _show(firing: Firing, diagnostics: Sequence[Diagnostic], *, as_document: bool) -> int:
    # One of the two is needed, and each has records and words to load.
    if as_document:
        from hookline.cli.commands.fire.report import as_json

        return show(as_json(firing, diagnostics), as_json=True)
    from hookline.cli.commands.fire.text import as_text

    return show(as_text(firing))


def cleaned_names(journal: Journal) -> Callable[[str], str]:
    """A hook without a name is called by its command, which may hold a secret."""
    return lambda name: journal.cleaned(Run(hook=name)).hook


def _closed(hooks: Sequence[Hook]) -> Sequence[Hook]:
    return [replace(hook, on_failure="block") if hook.event.may & May.BLOCK else hook for hook in hooks]


def nothing_configured(engine: Engine, loaded: Loaded, cwd: str) -> bool:
    """No file anywhere and no hook by flag: say where they were looked for."""
    nothing = not engine.hooks and not loaded.found
    if nothing:
        looked = looked_for(engine.loader, cwd)
        tell(printable(f"hookline: no hooks are configured; looked for\n{looked}"))
    return nothing
