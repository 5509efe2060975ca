"""What the commands that look at hooks have in common: where to look, and an engine to look with."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.cli.problems import tell_problem
from hookline.cli.requests import RequestError
from hookline.config.engine import Engine, tracers
from hookline.dialects.registry import OWN_FORMAT
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import Handler, standard_handlers
from hookline.journal.file import JournalFile, journal_path
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.dialects.dialect import Dialect


def command_engine(model: str | None = None, cwd: str | None = None, **handlers: Any) -> Engine:
    """An engine that writes the user's journal; no hook is in force yet."""
    journal = Journal(Redactor(os.environ), file=JournalFile(journal_path(os.environ)), subscribers=tracers())
    return Engine(handlers=command_handlers(model, cwd, **handlers), journal=journal)


def command_handlers(
    model: str | None = None, cwd: str | None = None, **handlers: Any
) -> Mapping[str, Handler]:
    """How a command runs hooks. The model answers prompt hooks; agent hooks look around in `cwd` with it."""
    if model is not None:
        from hookline.cli.models import CommandRunner, completer_for

        handlers["completer"] = completer_for(model, os.environ)
        handlers["agent_runner"] = CommandRunner(model, os.environ, cwd or os.getcwd())
    # A process of our own may adopt what hooks leave behind, so that nothing outlives them.
    handlers.setdefault("processes", Processes(containment="subreaper"))
    return standard_handlers(**handlers)


def chosen_dialect(engine: Engine, named: str | None, files: Sequence[str] | None) -> "Dialect | None":
    """The agent whose event names and payloads count: the one that was named, or whose file was given."""
    whose = named or (engine.loader.whose(files[0]) if files else OWN_FORMAT)
    return None if whose == OWN_FORMAT else engine.loader.dialect(whose)


def with_flag_hooks(
    engine: Engine, hooks: Sequence[Hook], flags: Sequence[str], foreign: "Dialect | None"
) -> Sequence[Hook]:
    """`--hook EVENT=COMMAND` comes after what the files of its dialect say."""
    wanted: list[Hook] = []
    for flag in flags:
        name, found, command = flag.partition("=")
        event = engine.events.get(name)
        known = foreign is not None and name in foreign.events
        if not found or not command.strip() or (event is None and not known):
            raise RequestError(f"--hook {flag!r} is not EVENT=COMMAND with an event that exists")
        if foreign is not None and known:
            wanted += [foreign.flag_hook(moment, command) for moment in foreign.moments(name)]
        elif event is not None:
            wanted.append(engine.make_hook(event, command, name=command, scope="flag"))
    whose = foreign.name if foreign is not None else OWN_FORMAT
    last = max((place for place, hook in enumerate(hooks, 1) if hook.dialect == whose), default=len(hooks))
    return [*hooks[:last], *wanted, *hooks[last:]]


def looked_for(loader: "Loader", cwd: str) -> str:
    """Every place that could hold hooks, a line each; files that differ only in how they end on one."""
    stems: dict[str, list[str]] = {}
    for file in loader.places(cwd):
        stem, _, suffix = file.rpartition(".")
        stems.setdefault(stem, []).append(suffix)
    return "\n".join(
        f"  {stem}.{ends[0]}" if len(ends) == 1 else f"  {stem}.{{{','.join(ends)}}}"
        for stem, ends in stems.items()
    )


def looking_engine() -> Engine:
    """Hooks that need a model, an agent or an MCP server load in it: whether there is one is their agent's affair."""
    # Handlers only ask whether it is there until they run, which they never do here.
    there: Any = object()
    handlers = standard_handlers(completer=there, agent_runner=there, mcp=there)
    return Engine(handlers=handlers, journal=Journal(Redactor(os.environ)))


def looked(command: str, look: Callable[[], int]) -> int:
    """The exit status; what was asked for wrongly is one clear line."""
    try:
        return look()
    except (RequestError, HooklineError) as problem:
        return tell_problem(command, problem)
