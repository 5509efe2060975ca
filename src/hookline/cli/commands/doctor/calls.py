"""Check the entries by which agents call Hookline: which agents call, errors in their entries, and the daemon.

A wrong entry judges nothing, or refuses everything. A call is fast by the relay, to a daemon it can reach.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from hookline import __version__
from hookline.checks.context import CheckContext, CheckFunction, entries
from hookline.checks.coverage import GUARDED, CallingAgent
from hookline.cli.commands.daemon.run import other_home, running
from hookline.cli.commands.hook.entries import GONE, faster, moved_program, moved_text, pinned_program
from hookline.config.commands import HookArguments, read_hook_words
from hookline.config.install.self_calls import hookline_arguments, moved_entry, plain_program
from hookline.config.load import Loaded
from hookline.dialects.dialect import Dialect, DialectEvent
from hookline.dialects.installer import Installer
from hookline.dialects.registry import OWN_FORMAT
from hookline.dialects.report import about
from hookline.hook.call.payload import CallError, event_named
from hookline.hook.daemon.directory import DirectoryError, default_directory, open_directory
from hookline.hook.daemon.start import SWITCH
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Repair, Where
from hookline.model.errors import UnknownDialectError
from hookline.model.events import STOP, TURN_END
from hookline.model.hook import Hook
from hookline.shell import HOLE

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.engine.session import Session
    from hookline.hook.daemon.server import DaemonStatus

CODE: Final = "wrong-call"
#: The name of Hookline's own agent for people.
OWN_AGENT: Final = "hookline agent"
_RELAY: Final = "hookline-relay"


def calls(commands: Sequence[str]) -> CheckFunction:
    """Return a check of every entry that runs `hookline`, and of the hooks that answer there."""

    def check(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
        asking: dict[str, dict[str, list[Hook]]] = {}
        yield from _moved(loaded, context)
        for hook in entries(loaded):
            for words in hookline_arguments(hook, context.shell):
                problem = _wrong(words, hook, commands, context)
                if problem is not None:
                    fix = f"hookline hook --dialect {hook.dialect} {hook.policy.event_name}"
                    yield about(hook, "error", CODE, problem, "command", fix=fix)
                elif "hook" in words:
                    events = asking.setdefault(hook.dialect, {})
                    events.setdefault(hook.policy.event_name, []).append(hook)
        for dialect, events in asking.items():
            agent = context.loader.dialect(dialect)
            yield from _asked_twice(agent, events, context)
            yield from _never_asked(loaded, context, agent, events)

    return check


def asking_agents(
    loaded: Loaded, context: CheckContext, session: "Callable[[ToolTable | None], Session]"
) -> list[CallingAgent]:
    """Return the agents whose calls the guards here judge: those with their own hooks, those that call, and
    our own.
    """
    events: dict[str, tuple[set[str], set[str]]] = {}
    for hook in entries(loaded):
        dialect = context.dialect(hook)
        if dialect.has_agent:
            asked, of_others = events.setdefault(dialect.name, (set(), set()))
            for words in hookline_arguments(hook, context.shell):
                names = [each.event.name for each in dialect.recorded_events(hook.policy.event_name)]
                asked.update(names if "hook" in words else ())
                of_others.update(names if "hook" in words and not _asks_own_alone(words) else ())
    found: list[CallingAgent] = []
    for name, both in events.items():
        dialect = context.loader.dialect(name)
        tools = dialect.own_tools
        found.append(CallingAgent(dialect.title, name, tools, session(tools), *map(frozenset, both)))
    every = frozenset(event.name for event in GUARDED)
    return [*found, CallingAgent(OWN_AGENT, "", None, session(None), every, every)]


def _asks_own_alone(words: Sequence[str]) -> bool:
    """Return True if an entry asks Hookline's own hooks, and none that were written for other agents."""
    call = read_hook_words(words[1:]) if words[:1] == ("hook",) else ""
    return not isinstance(call, str) and call.hooks == "own"


def _moved(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find entries that name a Hookline that is gone, or another one than this."""
    if context.files_only:
        return
    for hook in entries(loaded):
        words = plain_program(getattr(hook.spec, "command", ""), hook.dialect)
        problem = None if words is None else moved_program(words, context.env)
        if words is None or problem is None:
            continue
        gone = problem.endswith(GONE)
        if gone or os.path.isabs(words[0]):
            fix, repair = (
                f"hookline install {hook.dialect}",
                _this_one(hook, words, context) if gone else None,
            )
            severity = "error" if gone else "warning"
            ours = replace(hook, name="hookline")  # not what its shell line begins with
            yield about(ours, severity, "moved", moved_text(problem), "command", fix=fix, repair=repair)


def _this_one(hook: Hook, words: Sequence[str], context: CheckContext) -> Repair | None:
    """Return the entry with this Hookline in place of the one that is gone.

    None for an agent that trusts entries as they are: only an installation renews that.
    """
    installer = context.dialect(hook).installer
    if installer is None or type(installer).trusted is not Installer.trusted:
        return None
    command = moved_entry(getattr(hook.spec, "command", ""), words, faster(pinned_program()))
    if command is None:
        return None
    return Repair("set", context.dialect(hook).field_path(hook.where.path, "command"), command)


def _asked_twice(
    dialect: Dialect, asking: Mapping[str, Sequence[Hook]], context: CheckContext
) -> Iterator[Diagnostic]:
    """Find entries of one event that an agent takes for two hooks: it starts both, and hooks run once.

    Where it starts equal ones too, nothing tells two calls of the same words from two calls of the agent.
    """
    found: dict[tuple[str, str, bool], list[tuple[Hook, Hook]]] = {}
    for first, *others in asking.values():
        for other in others:
            words = [hookline_arguments(each, context.shell) for each in (first, other)]
            repeated = dialect.repeats_entries and words[0] == words[1]
            if repeated or other.spec != first.spec:
                found.setdefault((first.where.file, other.where.file, repeated), []).append((first, other))
    for (*_, repeated), ((first, other), *rest) in found.items():
        at = f"{first.policy.event_name}{f' and {len(rest)} more events' if rest else ''}"
        if repeated:
            message = f"{first.where} has the same entry at {at}: {dialect.title} runs both, and hooks twice"
            of_project = "project" in (first.scope, other.scope)
            again = f"hookline install {dialect.name}{' --project' if of_project else ''}"
            yield about(other, "warning", "asked-twice", message, fix=f"{again}, or remove one of them")
        else:
            message = (
                f"{first.where} asks Hookline at {at} too: each call starts it twice, and hooks run once"
            )
            yield about(other, "info", "asked-twice", message, fix="remove one of them")


def _never_asked(
    loaded: Loaded, context: CheckContext, dialect: Dialect, asking: Mapping[str, Sequence[Hook]]
) -> Iterator[Diagnostic]:
    """Find hooks at events at which an agent that calls Hookline does not call it."""
    recorded_events = {
        name: {each.event for each in dialect.recorded_events(name)} for name in dialect.events
    }
    fires = {event for events in recorded_events.values() for event in events}
    asks = {event for name in asking for event in recorded_events[name]}
    if TURN_END not in fires and STOP in asks:
        asks.add(TURN_END)
    entry = next(iter(asking.values()))[0]
    calls = [
        words
        for hooks in asking.values()
        for each in hooks
        for words in hookline_arguments(each, context.shell)
    ]
    own_alone = all(map(_asks_own_alone, calls))
    for hook in entries(loaded):
        if own_alone and hook.dialect != OWN_FORMAT:
            continue
        if hook.event in asks or hook.dialect == dialect.name or hookline_arguments(hook, context.shell):
            continue
        event = STOP if hook.event is TURN_END and TURN_END not in fires else hook.event
        own = next(
            (name for name in (*dialect.call_events, *recorded_events) if event in recorded_events[name]),
            None,
        )
        why = f"has no event like {event.name}" if own is None else f"does not at {own}"
        fix = None if own is None else f"hookline hook --print-config {dialect.name} {own}"
        message = f"{dialect.title} asks Hookline too ({entry.where}), but {why}: there it never runs"
        yield about(hook, "info", "never-asked", message, fix=fix)


def _wrong(words: Sequence[str], hook: Hook, commands: Sequence[str], context: CheckContext) -> str | None:
    """Return the error in the arguments of `hookline`; None if there is none, or a variable hides it."""
    if not words or any(HOLE in word or "$" in word for word in words) or words[0].startswith("-"):
        return None
    if words[0] not in commands:
        close = nearest(words[0][:100], commands)
        meant = f"; did you mean {close!r}?" if close else ""
        return (
            f"this entry always fails and judges nothing: hookline has no command {words[0][:100]!r}{meant}"
        )
    wrong = _misunderstood(read_hook_words(words[1:]), hook, context) if words[0] == "hook" else None
    return None if wrong is None else f"this entry always fails, so every call is denied: {wrong}"


def _misunderstood(call: HookArguments | str, hook: Hook, context: CheckContext) -> str | None:
    if isinstance(call, str):
        return call
    if call.dialect is None:
        return "it does not say which agent calls"
    try:
        named = context.loader.dialect(call.dialect)
        if call.source is not None:
            context.loader.dialect(call.source)
        event = event_named(named, call.events[0]) if call.events else None
    except (UnknownDialectError, CallError) as problem:
        return str(problem)
    return _of_another(call, named, hook, context.dialect(hook), event)


def _of_another(
    call: HookArguments, named: Dialect, hook: Hook, caller: Dialect, event: DialectEvent | None
) -> str | None:
    """Return an error for arguments that would be right in another entry."""
    # Some agents can be set to use another's format, and every host may use Hookline's own.
    if caller.has_agent and named.name not in (caller.name, *caller.speaks):
        return f"{caller.title} calls, and it says {named.name}"
    if event is None:
        return None if named.names_event else f"{named.title} does not tell its hooks which event it is"
    if len(call.events) > 1 or event.name != hook.policy.event_name:
        return f"it is at {hook.policy.event_name} and says {' '.join(call.events)[:100]}"
    return None


def about_daemon(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Yield one note for each file whose entries start Hookline anew, and problems of the daemon."""
    relays = False
    said: set[str] = set()
    for hook in entries(loaded):
        words = plain_program(getattr(hook.spec, "command", ""), hook.dialect)
        if words is None:
            continue
        if os.path.basename(words[0]) == _RELAY:
            relays = True
        elif hook.where.file not in said and faster(words[0], context.env) != words[0]:
            said.add(hook.where.file)
            message = "each call starts Hookline anew; the relay beside it answers in milliseconds"
            yield about(hook, "info", "slow-call", message, "command", fix=f"hookline install {hook.dialect}")
    status = running(None)
    # Where it is switched off, one that runs for another home is of no concern.
    other = None
    if status is not None and context.env.get(SWITCH) != "off":
        other = other_home(status, context.env.get("HOME", ""))
    if other is not None:
        fix = "hookline daemon stop; the next call of an agent starts one that serves it"
        yield Diagnostic("warning", "other-home", other, Where(default_directory()), fix=fix)
    elif relays:
        yield from _reached(context, status)
    elif any(hook.durable for hook in loaded.hooks) and status is None:
        message = (
            "no daemon is running, and nothing here starts one: what durable hooks leave behind when their agent "
            "ends waits for the next Hookline process"
        )
        fix = "hookline install, hookline daemon start, or hookline jobs run"
        yield Diagnostic("info", "no-daemon", message, Where(default_directory()), fix=fix)


def _reached(context: CheckContext, status: "DaemonStatus | None") -> Iterator[Diagnostic]:
    place = Where(default_directory())
    try:
        open_directory().close()
    except DirectoryError as problem:
        if os.path.lexists(place.file):
            message = f"relays cannot reach a daemon: {problem}; each call starts Hookline anew"
            yield Diagnostic("warning", "no-daemon", message, place, fix="remove it, or chmod 700 it")
            return
    off = context.env.get(SWITCH) == "off"
    if off or status is None:
        message = "no daemon is running; the next call of an agent starts one"
        if off:
            message = f"{SWITCH}=off keeps calls from using a daemon: they are slow"
        yield Diagnostic("info", "no-daemon", message, place, fix="hookline daemon start")
    elif status.version != __version__:
        message = f"the daemon is of version {status.version}, and this is {__version__}"
        yield Diagnostic("info", "old-daemon", message, place, fix="hookline daemon stop")
