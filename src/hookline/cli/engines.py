"""Build the engines of the commands, and load their hooks."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.cli.output import note
from hookline.config.engine import Engine, strictly
from hookline.config.journals import tracers, user_journal
from hookline.config.load import Found, Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.documents.document import LIMIT
from hookline.engine.session import Session
from hookline.handlers.registry import Handlers, standard_handlers
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.trust.trust import TrustOptions

if TYPE_CHECKING:
    import argparse

    from hookline.config.dormant import DormantHooks
    from hookline.config.load import Loader
    from hookline.dialects.dialect import Dialect
    from hookline.handlers.process.pool import Processes
    from hookline.model.wire import EventRequest
    from hookline.telemetry.observer import Telemetry
    from hookline.telemetry.spool import Spool


#: Seconds that the end of a command may take to send telemetry.
_FLUSH_SECONDS = 5.0
#: The program that sends what calls of agents have written.
_SENDER = "hookline.cli.telemetry_sender"
#: Characters of a diagnostic that are shown.
_LONGEST_DIAGNOSTIC = 1000


def command_engine(
    model: str | None = None,
    cwd: str | None = None,
    *,
    caller: str = "",
    origin: str = "",
    from_agent: bool = False,
    **handlers: Any,
) -> Engine:
    """Return an engine that writes the user's journal; no hook is active yet. For `caller` and `origin` see `Run`."""
    journal = command_journal(caller=caller, origin=origin)
    observer = command_observer(journal, from_agent=from_agent)
    # Its home directory is decided on already.
    return Engine(
        handlers=command_handlers(model, cwd, **handlers), journal=journal, observer=observer, env=os.environ
    )


def command_observer(
    journal: Journal, *, from_agent: bool = False, lasting: bool = False
) -> "Telemetry | Spool | None":
    """Return telemetry, if the environment asks for it.

    `from_agent`: another agent has started this process. `lasting`: it is a server.
    """
    if not _is_telemetry_asked_for(os.environ):
        return None
    from hookline.telemetry.setup import observer_from, spool_from

    if from_agent:
        # The agent waits for this process: another one sends.
        return spool_from(os.environ, lambda why: _record_failure(journal, why), _SENDER)
    return observer_from(
        os.environ,
        lambda why: note(f"hookline: {why}"),
        only_here=False,
        seconds=_FLUSH_SECONDS,
        lasting=lasting,
        machine=machine_name(os.environ),
    )


def _record_failure(journal: Journal, why: str) -> None:
    journal.record(Run(hook="telemetry", type="telemetry", status="failed", detail=why, at=time()))


def server_observer(
    env: Mapping[str, str], say: Callable[[str], None], *, only_here: bool = False, machine: str = ""
) -> "Telemetry | None":
    """Return telemetry of a process that lasts, if the environment asks for it. `machine`: its name, if known."""
    if not _is_telemetry_asked_for(env):
        return None
    from hookline.telemetry.setup import observer_from

    return observer_from(env, say, only_here=only_here, seconds=None, machine=machine or machine_name(env))


def _is_telemetry_asked_for(env: Mapping[str, str]) -> bool:
    return any(name.startswith("OTEL_") for name in env)


def machine_name(env: Mapping[str, str]) -> str:
    """Return the name of this machine in its fleet; empty if it is in none."""
    from hookline.config.bundles.settings import bundle_settings
    from hookline.team.fleet.settings import read_settings

    try:
        return read_settings(env).name
    except HooklineError:  # no server, or a mistake that others report
        settings = bundle_settings(env)
        return settings.machine if settings is not None else ""


def command_journal(*, caller: str = "", origin: str = "") -> Journal:
    """Return the user's journal."""
    return user_journal(os.environ, caller=caller, origin=origin, subscribers=tracers())


def command_handlers(model: str | None = None, cwd: str | None = None, **handlers: Any) -> Handlers:
    """Return a command's handlers. The model answers prompt hooks and runs agent hooks, which read files in `cwd`."""
    if model is not None:
        from hookline.cli.models import CommandRunner, completer_for

        handlers["completer"] = completer_for(model, os.environ)
        handlers["agent_runner"] = CommandRunner(model, os.environ, cwd or os.getcwd())
    # Our process may adopt processes that hooks leave behind, so that none outlives them.
    handlers.setdefault("processes", _adopting_processes)
    return standard_handlers(**handlers)


def _adopting_processes() -> "Processes":
    from hookline.handlers.process.pool import Processes

    return Processes(containment="subreaper")


def inspection_engine(env: Mapping[str, str] | None = None) -> Engine:
    """Return an engine to inspect hooks: it runs none and writes no journal. `env` replaces the environment.

    Hooks that need a model, an agent or an MCP server load in it without one.
    """
    # Until they run, which they never do here, handlers only check that it exists.
    present: Any = object()
    handlers = standard_handlers(completer=present, agent_runner=present, mcp=present)
    return Engine(handlers=handlers, journal=Journal(Redactor(os.environ)), env=env)


def working_directory(cwd: str | None) -> str:
    where = os.path.abspath(cwd or os.curdir)
    if not os.path.isdir(where):
        from hookline.cli.requests import RequestError
        from hookline.model.safe_text import one_line

        raise RequestError(one_line(f"no such directory: {where}", 1000))
    return where


def prepare(engine: Engine, args: "argparse.Namespace", cwd: str) -> "tuple[EventRequest, Loaded]":
    """Read which event is meant, and load the hooks that it concerns."""
    from hookline.cli.requests import read_request

    chosen = chosen_dialect(engine, args.dialect, args.config)
    others = dialects_of(engine) if args.dialect is None else ()
    request = read_request(args.words, args.payload, cwd, engine.events, chosen, others)
    if args.caller is not None:
        request = _called_by(engine, request, args.caller)
    loaded = load(engine, args, cwd)
    found = loaded.diagnostics if args.config is not None else concerning(engine, loaded, request.event)
    loaded = replace(loaded, diagnostics=(*found, *_doubts(engine, request)))
    hooks = with_flag_hooks(engine, loaded.hooks, args.hook or (), chosen)
    hooks = [hook for hook in hooks if request.concerns(hook)]
    engine.swap(strictly(engine, hooks) if args.strict else hooks)
    return request, loaded


def _called_by(engine: Engine, request: "EventRequest", caller: str) -> "EventRequest":
    """Return the request, as one of an agent whose tools are called."""
    if request.dialect not in (None, caller):
        from hookline.cli.requests import RequestError

        raise RequestError(f"--as {caller}: the event is one of {request.dialect} already")
    return replace(request, dialect=None if caller == OWN_FORMAT else engine.loader.dialect(caller).name)


def load(engine: Engine, args: "argparse.Namespace", cwd: str) -> Loaded:
    """Load the hooks that --config, --dialect and the directory ask for, with the user's trust."""
    names = None if args.dialect is None else [args.dialect]
    if getattr(args, "ci", False) and args.config is None:
        return _graded(engine, _of_project(engine, names, cwd), cwd)
    if args.config is not None:
        require_files(engine, args.config)
        return _graded(engine, engine.load(cwd, args.config, names), cwd)
    options = TrustOptions(trusts_all=getattr(args, "trust", False), strict=getattr(args, "strict", False))
    loaded = engine.loader.directory(cwd, names, trust=engine.trust_in(cwd, options))
    engine.use(loaded)
    return _graded(engine, loaded, cwd)


def _of_project(engine: Engine, names: Sequence[str] | None, cwd: str) -> Loaded:
    """Return the hooks in files of the project alone; everything there counts as trusted."""
    loaded = engine.loader.directory(cwd, names)
    own = [found for found in loaded.found if found.scope not in ("user", "managed")]
    files = {found.file for found in own}
    loaded = replace(
        loaded,
        hooks=tuple(hook for hook in loaded.hooks if hook.where.file in files),
        diagnostics=tuple(one for one in loaded.diagnostics if one.where.file in files),
        found=tuple(own),
    )
    engine.use(loaded)
    return loaded


def _graded(engine: Engine, loaded: Loaded, cwd: str) -> Loaded:
    """Return findings with the severities that every command shows."""
    if not loaded.diagnostics:
        return loaded
    from hookline.checks.context import CheckContext
    from hookline.checks.severity import graded
    from hookline.shell import ShellReader

    context = CheckContext(cwd, dict(os.environ), ShellReader(), engine.loader, engine.trust)
    return replace(loaded, diagnostics=tuple(graded(loaded.diagnostics, loaded, context)))


def dormant_hooks(engine: Engine, args: "argparse.Namespace", cwd: str) -> "DormantHooks":
    """Return configured hooks that are not active; with --config only those files count."""
    from hookline.config.dormant import DormantHooks

    if args.config is not None:
        return DormantHooks()
    found = engine.loader.dormant(cwd, None if args.dialect is None else [args.dialect], engine.trust)
    hooks = tuple(hook for file in found.files for hook in file.hooks)
    files = tuple(Found(file.file, file.dialect, "session") for file in found.files)
    graded = _graded(engine, Loaded(hooks, found.diagnostics, files), cwd)
    return replace(found, diagnostics=graded.diagnostics)


def chosen_dialect(engine: Engine, name: str | None, files: Sequence[str] | None) -> "Dialect | None":
    """Return the agent whose event names and payloads count: the named one, or the one whose file was given."""
    require_files(engine, files or ())
    chosen = name or (engine.loader.whose(files[0]) if files else OWN_FORMAT)
    return None if chosen == OWN_FORMAT else engine.loader.dialect(chosen)


def require_files(engine: Engine, files: Sequence[str]) -> None:
    """Raise RequestError for a named file that does not exist, with the one that was probably meant."""
    missing = next((file for file in files if not os.path.exists(file)), None)
    if missing is None:
        return
    # Only for this mistake: `hookline hook` starts faster without them.
    from hookline.cli.requests import RequestError
    from hookline.cli.text import relative_to
    from hookline.matching.nearest import nearest

    directory, name = os.path.split(missing)
    beside: list[str] = []
    known: list[str] = []
    with suppress(OSError):  # the directory, or the working directory, is not there either
        here = os.getcwd()
        known = [
            relative_to(here, place) for place in engine.loader.config_files(here) if os.path.exists(place)
        ]
        beside = [os.path.join(directory, each) for each in os.listdir(directory or ".")]
    for files_there in (beside, known):
        names = {os.path.basename(each): each for each in files_there if os.path.isfile(each)}
        close = nearest(name, names)
        if close is not None:
            raise RequestError(f"no such file: {missing}; did you mean {names[close]}?")
    raise RequestError(f"no such file: {missing}")


def dialects_of(engine: Engine, names: Sequence[str] | None = None) -> "Iterator[Dialect]":
    """Yield the dialects of other agents, each built when it is reached."""
    for each in engine.loader.names if names is None else names:
        if each != OWN_FORMAT:
            yield engine.loader.dialect(each)


def with_flag_hooks(
    engine: Engine, hooks: Sequence[Hook], flags: Sequence[str], foreign: "Dialect | None"
) -> Sequence[Hook]:
    """Return the hooks with those of `--hook EVENT=COMMAND`, which come after the files of their dialect."""
    added: list[Hook] = []
    for flag in flags:
        name, found, command = flag.partition("=")
        event = engine.events.get(name)
        known = foreign is not None and name in foreign.events
        if not found or not command.strip() or (event is None and not known):
            from hookline.cli.requests import RequestError

            raise RequestError(f"--hook {flag!r} is not EVENT=COMMAND with an event that exists")
        if foreign is not None and known:
            added += [foreign.flag_hook(recorded, command) for recorded in foreign.recorded_events(name)]
        elif event is not None:
            added.append(engine.make_hook(event, command, name=command, scope="flag"))
    whose = foreign.name if foreign is not None else OWN_FORMAT
    last = max((index for index, hook in enumerate(hooks, 1) if hook.dialect == whose), default=len(hooks))
    return [*hooks[:last], *added, *hooks[last:]]


def report_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Print one line each, on stderr."""
    for line in diagnostic_lines(diagnostics):
        note(line)


def diagnostic_lines(diagnostics: Iterable[Diagnostic]) -> list[str]:
    return [one_line(str(diagnostic), _LONGEST_DIAGNOSTIC) for diagnostic in diagnostics]


def any_error(diagnostics: Sequence[Diagnostic]) -> bool:
    return any(one.severity == "error" for one in diagnostics)


def concerning(engine: Engine, loaded: Loaded, event: EventSpec[Any]) -> tuple[Diagnostic, ...]:
    """Return the findings as far as one event is concerned; errors that do not concern it are only counted.

    A file concerns the event if it has hooks for it, or mentions it: an entry with a mistake gives no hook,
    and a file that cannot be read gives none at all.
    """
    with_hooks = {hook.where.file for hook in loaded.hooks if hook.event is event}
    whose = {found.file: found.dialect for found in reversed(loaded.found)}
    others = [
        one
        for one in loaded.diagnostics
        if one.severity == "error"
        and one.where.file in whose
        and one.where.file not in with_hooks
        and not _speaks_of(event, engine.loader.dialect(whose[one.where.file]), one)
    ]
    left = [one for one in loaded.diagnostics if one not in others]
    if others:
        several = len(others) > 1
        counted = f"this error and {len(others) - 1} more have" if several else "this error has"
        message = f"{counted} nothing to do with {event.name}: {others[0].message}"
        fix = "`hookline doctor` shows all of it"
        left.append(Diagnostic("info", "other-errors", message, others[0].where, fix=fix))
    return tuple(left)


#: Calls as people type them most: nothing has to be loaded to see that these are fine.
_USUAL_CALLS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"command"}),
    "Read": frozenset({"file_path"}),
    "Write": frozenset({"file_path", "content"}),
}


def _doubts(engine: Engine, request: "EventRequest") -> tuple[Diagnostic, ...]:
    """Warn of a tool that no agent has, and of arguments that it does not take."""
    given: Any = getattr(request.payload, "tool_input", None)
    usual = _USUAL_CALLS.get(getattr(request.payload, "tool_name", "")) if request.dialect is None else None
    if not hasattr(request.event.payload, "tool_name") or (usual and given and usual.issuperset(given)):
        return ()
    from hookline.cli.validate_call import doubts

    return tuple(doubts(engine, request))


def _speaks_of(event: EventSpec[Any], dialect: "Dialect", one: Diagnostic) -> bool:
    # A file that could not be read may be a pipe, which would never end.
    if not os.path.isfile(one.where.file):
        return True
    try:
        with open(one.where.file, encoding="utf-8", errors="replace") as file:
            text = file.read(LIMIT)
    except OSError:
        return True
    return any(name in text or name in str(one) for name, own in dialect.events.items() if own.event is event)


def nothing_configured(engine: Engine, loaded: Loaded, cwd: str, dialect: str | None) -> bool:
    """Return True if there is no file and no hook by flag; if so, print where files were searched."""
    nothing = not engine.hooks and not loaded.found
    if nothing:
        searched = searched_files(engine.loader, cwd, dialect)
        note(printable(f"hookline: no hooks are configured; searched\n{searched}"))
    return nothing


def searched_files(loader: "Loader", cwd: str, dialect: str | None = None) -> str:
    """List every file that could hold hooks of an agent, or of any, a line each; suffixes are
    joined."""
    stems: dict[str, list[str]] = {}
    for file in loader.config_files(cwd, None if dialect is None else [dialect]):
        stem, _, suffix = file.rpartition(".")
        stems.setdefault(stem, []).append(suffix)
    return "\n".join(
        f"  {stem}.{ends[0]}" if len(ends) == 1 else f"  {stem}.{{{','.join(ends)}}}"
        for stem, ends in stems.items()
    )


def session_of(engine: Engine, request: "EventRequest") -> Session:
    """Return a session in which the event is fired as the agent of its dialect would: with that agent's tools."""
    session = engine.session(request.info.session_id)
    session.info = request.info
    if request.dialect is not None:
        session.tools = engine.loader.dialect(request.dialect).own_tools
    return session
