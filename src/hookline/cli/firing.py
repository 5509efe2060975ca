"""Firing one event: the engine, the hooks in force, one dispatch, one report."""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.cli.fire_report import account, as_json, as_text
from hookline.cli.fire_request import Request, read_request, working_directory
from hookline.cli.fire_settings import RequestError
from hookline.cli.output import show, tell
from hookline.config.embedding import Engine, tracers
from hookline.config.loaded import Loaded
from hookline.config.recognising import NATIVE
from hookline.engine.journal import Journal
from hookline.engine.journal_file import JournalFile, journal_path
from hookline.engine.redaction import Redactor
from hookline.handlers.process import Processes
from hookline.handlers.registry import standard_handlers
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import HooklineError
from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.run import Run
from hookline.model.safetext import printable

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.handlers.prompt import Completer

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
    engine = _engine(args.model)
    try:
        chosen = _chosen(engine, args.dialect, args.config)
        request = read_request(
            args.words, args.payload, cwd, engine.events, chosen, _others(engine, args.dialect)
        )
        named = None if args.dialect is None else [args.dialect]
        loaded = engine.load(cwd, args.config, named)
        hooks = _concerned(request, _with_flag_hooks(engine, loaded.hooks, args.hook or (), chosen))
        engine.swap(_closed(hooks) if args.strict else hooks)
        _tell(loaded)
        status = await _dispatch(engine, request, loaded.diagnostics, as_document=args.json)
        return status or (PROBLEM if _nothing_configured(engine, loaded, cwd) else FINE)
    finally:
        await engine.close()


def _chosen(engine: Engine, named: str | None, files: Sequence[str] | None) -> "Dialect | None":
    """The agent whose event names and payloads count: the one that was named, or whose file was given."""
    whose = named or (engine.loader.whose(files[0]) if files else NATIVE)
    return None if whose == NATIVE else engine.loader.dialect(whose)


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


def _engine(model: str | None) -> Engine:
    journal = Journal(Redactor(os.environ), file=JournalFile(journal_path(os.environ)), subscribers=tracers())
    completer = _completer(model) if model is not None else None
    # A process of our own may adopt what hooks leave behind, so that nothing outlives them.
    processes = Processes(containment="subreaper")
    return Engine(handlers=standard_handlers(completer=completer, processes=processes), journal=journal)


def _completer(model: str) -> "Completer":
    from hookline.cli.scripted import scripted_completer

    return scripted_completer(model)


def _closed(hooks: Sequence[Hook]) -> Sequence[Hook]:
    return [replace(hook, on_failure="block") if hook.event.may & May.BLOCK else hook for hook in hooks]


def _with_flag_hooks(
    engine: Engine, hooks: Sequence[Hook], flags: Sequence[str], foreign: "Dialect | None"
) -> Sequence[Hook]:
    """`--hook EVENT=COMMAND` comes after what the files of its dialect say."""
    wanted: list[Hook] = []
    for flag in flags:
        name, found, command = flag.partition("=")
        event = engine.events.get(name)
        known = foreign is not None and name in foreign.spellings
        if not found or not command.strip() or (event is None and not known):
            raise RequestError(f"--hook {flag!r} is not EVENT=COMMAND with an event that exists")
        if foreign is not None and known:
            wanted += [foreign.flag_hook(moment, command) for moment in foreign.moments(name)]
        elif event is not None:
            wanted.append(engine.make_hook(event, command, name=command, scope="flag"))
    whose = foreign.name if foreign is not None else NATIVE
    last = max((place for place, hook in enumerate(hooks, 1) if hook.dialect == whose), default=len(hooks))
    return [*hooks[:last], *wanted, *hooks[last:]]


def _gathered(files: Sequence[str]) -> list[str]:
    """Files that differ only in how they end, on one line."""
    stems: dict[str, list[str]] = {}
    for file in files:
        stem, _, suffix = file.rpartition(".")
        stems.setdefault(stem, []).append(suffix)
    return [
        f"{stem}.{ends[0]}" if len(ends) == 1 else f"{stem}.{{{','.join(ends)}}}"
        for stem, ends in stems.items()
    ]


def _tell(loaded: Loaded) -> None:
    for diagnostic in loaded.diagnostics:
        tell(printable(str(diagnostic)))


def _nothing_configured(engine: Engine, loaded: Loaded, cwd: str) -> bool:
    """No file anywhere and no hook by flag: say where they were looked for."""
    nothing = not engine.hooks and not loaded.found
    if nothing:
        looked = "\n  ".join(_gathered(engine.loader.places(cwd)))
        tell(printable(f"hookline: no hooks are configured; looked for\n  {looked}"))
    return nothing
