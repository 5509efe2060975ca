"""Firing one event: the engine, the hooks in force, one dispatch, one report."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.cli.fire_report import account, as_json, as_text
from hookline.cli.fire_request import Request, read_request, working_directory
from hookline.cli.fire_settings import RequestError
from hookline.cli.output import show, tell
from hookline.cli.sources import chosen_dialect, command_engine, looked_for, with_flag_hooks
from hookline.config.embedding import Engine
from hookline.config.loaded import Loaded
from hookline.config.recognising import NATIVE
from hookline.engine.journal import Journal
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import HooklineError
from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.run import Run
from hookline.model.safetext import printable

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

FINE, PROBLEM, BLOCKED = 0, 1, 2


async def fire(args: argparse.Namespace) -> int:
    """The exit status: 2 when blocked, 1 when something could not be read or understood."""
    try:
        return await _fire(args)
    except (RequestError, HooklineError) as problem:
        tell(printable(f"hookline fire: {problem}"))
        return PROBLEM


async def _fire(args: argparse.Namespace) -> int:
    cwd = working_directory(args.cwd)
    engine = command_engine(args.model)
    try:
        chosen = chosen_dialect(engine, args.dialect, args.config)
        request = read_request(
            args.words, args.payload, cwd, engine.events, chosen, _others(engine, args.dialect)
        )
        named = None if args.dialect is None else [args.dialect]
        loaded = engine.load(cwd, args.config, named)
        hooks = _concerned(request, with_flag_hooks(engine, loaded.hooks, args.hook or (), chosen))
        engine.swap(_closed(hooks) if args.strict else hooks)
        _tell(loaded)
        status = await _dispatch(engine, request, loaded.diagnostics, as_document=args.json)
        return status or (PROBLEM if _nothing_configured(engine, loaded, cwd) else FINE)
    finally:
        await engine.close()


def _others(engine: Engine, named: str | None) -> "Iterator[Dialect]":
    """Who may know an event name that is not in the table; built only when it comes to that."""
    if named is None:
        yield from (engine.loader.dialect(each) for each in engine.loader.names if each != NATIVE)


def _concerned(request: Request, hooks: Sequence[Hook]) -> Sequence[Hook]:
    """Several names of a dialect may share an event; who fires one of them means that one."""
    if request.spelled is None:
        return hooks
    return [
        hook
        for hook in hooks
        if hook.event is not request.event
        or hook.dialect != request.dialect
        or hook.policy.spelled == request.spelled
    ]


async def _dispatch(
    engine: Engine, request: Request, diagnostics: Sequence[Diagnostic], *, as_document: bool
) -> int:
    session = engine.session(request.scene.session_id)
    session.scene = request.scene
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    verdicts = session.explain(request.event, request.payload)
    outcome = await session.dispatch(request.event, request.payload)
    await engine.drain()
    entries = account(verdicts, runs, request.scene.cwd, engine.journal.cleaned)
    late = session.inbox.take_all()
    named = _cleaned_names(engine.journal)
    if as_document:
        text = as_json(request.event, outcome, entries, late, diagnostics, named)
    else:
        text = as_text(request.event, outcome, entries, late, named)
    shown = show(text, as_json=as_document)
    for problem in engine.journal.problems:
        tell(printable(f"hookline: {problem}"))
    if outcome.blocked:
        return BLOCKED
    return PROBLEM if any(one.severity == "error" for one in diagnostics) else shown


def _cleaned_names(journal: Journal) -> Callable[[str], str]:
    """A hook without a name is called by its command, which may hold a secret."""
    return lambda name: journal.cleaned(Run(hook=name)).hook


def _closed(hooks: Sequence[Hook]) -> Sequence[Hook]:
    return [replace(hook, on_failure="block") if hook.event.may & May.BLOCK else hook for hook in hooks]


def _tell(loaded: Loaded) -> None:
    for diagnostic in loaded.diagnostics:
        tell(printable(str(diagnostic)))


def _nothing_configured(engine: Engine, loaded: Loaded, cwd: str) -> bool:
    """No file anywhere and no hook by flag: say where they were looked for."""
    nothing = not engine.hooks and not loaded.found
    if nothing:
        looked = looked_for(engine.loader, cwd)
        tell(printable(f"hookline: no hooks are configured; looked for\n{looked}"))
    return nothing
