"""Every hook in force, event by event in the order they would run."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from hookline.cli.commands.fire.run import dialects_of, nothing_configured
from hookline.cli.describe import (
    Unit,
    Waits,
    cleaner,
    homely,
    runs_words,
    source_of,
    timeout_of,
    unit_of,
    waits_words,
)
from hookline.cli.engines import looking_engine
from hookline.cli.output import show
from hookline.cli.problems import DiagnosticDocument, any_error, diagnostic_documents, tell_diagnostics
from hookline.cli.requests import meant, working_directory
from hookline.cli.text import json_lines, paragraph, tables, terminal_width
from hookline.config.engine import Engine
from hookline.config.load import Found
from hookline.engine.session import Session
from hookline.model.events import EventSpec
from hookline.model.hook import Hook, Scope
from hookline.model.run import Mode
from hookline.model.safe_text import one_line, printable


class ListedHook(Struct, frozen=True, kw_only=True):
    """One hook at one event."""

    event: str
    #: Its place among all hooks of the event, counted from 1.
    order: int
    hook: str
    dialect: str
    #: How the dialect calls the event.
    spelled: str
    matcher: str | None
    condition: str | None
    type: str
    runs: str
    mode: Mode
    waits: Waits
    #: As its file counts it.
    timeout: float
    timeout_unit: Unit
    once: bool
    rewrites: bool
    required: bool
    #: Why it cannot run; it fails whenever it is asked.
    broken: str | None
    scope: Scope
    source: str


class FoundFile(Struct, frozen=True):
    file: str
    dialect: str
    scope: Scope
    needs_trust: bool
    unreadable: bool


class ListDocument(Struct, frozen=True, kw_only=True):
    """The hooks in force for a directory, and the files they come from."""

    hooks: tuple[ListedHook, ...]
    files: tuple[FoundFile, ...]
    diagnostics: tuple[DiagnosticDocument, ...]


def found_files(found: Sequence[Found]) -> tuple[FoundFile, ...]:
    return tuple(
        FoundFile(one.file, one.dialect, one.scope, one.needs_trust, one.unreadable) for one in found
    )


def hooks_in_order(session: Session, event: EventSpec[Any]) -> Iterator[Hook]:
    """As the lanes have them: hooks that rewrite may come before what stands above them in the file."""
    for lane in session.lanes(event.name):
        yield from (armed.hook for armed in lane.hooks)


def listed(
    session: Session, cwd: str, clean: Callable[[str], str], wanted: Callable[[Hook], bool]
) -> Iterator[ListedHook]:
    for event in session.engine.events.values():
        for order, hook in enumerate(hooks_in_order(session, event), 1):
            if wanted(hook):
                yield _listed(hook, order, cwd, clean)


def _listed(hook: Hook, order: int, cwd: str, clean: Callable[[str], str]) -> ListedHook:
    return ListedHook(
        event=hook.event.name,
        order=order,
        hook=clean(hook.name),
        dialect=hook.dialect,
        spelled=hook.policy.event_name,
        matcher=clean(hook.matcher.text) if hook.matcher is not None else None,
        condition=clean(hook.condition.text) if hook.condition is not None else None,
        type=hook.kind,
        runs=clean(runs_words(hook)),
        mode=hook.mode,
        waits=waits_words(hook),
        timeout=timeout_of(hook),
        timeout_unit=unit_of(hook),
        once=hook.once,
        rewrites=hook.rewrites,
        required=hook.required,
        broken=clean(hook.broken) if hook.broken is not None else None,
        scope=hook.scope,
        source=source_of(hook, cwd),
    )


FINE, PROBLEM = 0, 1
#: A table shows which hook it is; --json has the whole of it.
_LONGEST_NAME, _LONGEST_RUNS = 30, 48
_HEAD = ("", "HOOK", "MATCHER", "RUNS", "MODE", "TIMEOUT", "SOURCE")
#: Below this the columns would be too thin to read.
_NARROW = 80
_SOURCE = _HEAD.index("SOURCE")

#: Hooks by event, dialect and what that calls the event.
_Groups = Sequence[tuple[tuple[str, str, str], Sequence[ListedHook]]]


def list_hooks(args: argparse.Namespace) -> int:
    cwd = working_directory(args.cwd)
    engine = looking_engine()
    wanted = _wanted(engine, args)
    loaded = engine.load(cwd, args.config, None if args.dialect is None else [args.dialect])
    tell_diagnostics(loaded.diagnostics)
    clean = cleaner(engine.journal)
    hooks = tuple(listed(engine.session("list"), cwd, clean, wanted))
    if args.json:
        files, wrong = found_files(loaded.found), diagnostic_documents(loaded.diagnostics, clean)
        shown = show(json_lines(ListDocument(hooks=hooks, files=files, diagnostics=wrong)), as_json=True)
    elif hooks:
        shown = show("\n".join(_lines(hooks, terminal_width())))
    else:
        shown = FINE if not loaded.found else show(_none(args.event))
    if nothing_configured(engine, loaded, cwd) or any_error(loaded.diagnostics):
        return PROBLEM
    return shown


def _wanted(engine: Engine, args: argparse.Namespace) -> Callable[[Hook], bool]:
    """Those of one event, under the table's name for it or under an agent's."""
    name = args.event
    if name is None:
        return lambda _hook: True
    if name not in engine.events:
        meant(name, engine.events, dialects_of(engine, None if args.dialect is None else [args.dialect]))
    return lambda hook: name in (hook.event.name, hook.policy.event_name)


def _none(event: str | None) -> str:
    return (
        f"no hook is configured for {printable(event)}" if event else "no hook is configured in these files"
    )


def _lines(hooks: Sequence[ListedHook], width: int) -> Iterator[str]:
    """A table for each event and agent, all with the same columns."""
    groups = [
        (where, list(some))
        for where, some in groupby(hooks, key=lambda hook: (hook.event, hook.dialect, hook.spelled))
    ]
    yield from _narrow(groups, width) if width < _NARROW else _wide(groups, width)
    events = len({hook.event for hook in hooks})
    yield f"\n{_counted(len(hooks), 'hook')} on {_counted(events, 'event')}"


def _wide(groups: _Groups, width: int) -> Iterator[str]:
    drawn = tables([[_HEAD], *([_row(hook) for hook in some] for _, some in groups)], width, whole=(_SOURCE,))
    yield drawn[0]
    for (where, _), lines in zip(groups, drawn[1:], strict=True):
        yield f"\n{_title(*where)}"
        yield lines


def _narrow(groups: _Groups, width: int) -> Iterator[str]:
    """Seven columns do not fit: a few lines for each hook."""
    for number, (where, some) in enumerate(groups):
        yield ("\n" if number else "") + _title(*where)
        for order, name, matcher, runs, modes, timeout, source in map(_row, some):
            yield paragraph(f"{order}  {name}", width)
            for line in (f"matcher {matcher}", runs, f"{modes}, {timeout}", source):
                yield paragraph(line, width, "   ")


def _title(event: str, dialect: str, event_name: str) -> str:
    return f"{event}  {dialect}" + (f" ({event_name})" if event_name != event else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _row(hook: ListedHook) -> tuple[str, ...]:
    return (
        str(hook.order),
        one_line(hook.hook, _LONGEST_NAME),
        _matcher(hook),
        one_line(f"{hook.type}: {hook.runs}", _LONGEST_RUNS),
        ", ".join(_modes(hook)),
        f"{hook.timeout:.10g} {hook.timeout_unit}",
        homely(hook.source),
    )


def _matcher(hook: ListedHook) -> str:
    matcher = hook.matcher or "*"
    return f"{matcher} if {hook.condition}" if hook.condition else matcher


def _modes(hook: ListedHook) -> Iterator[str]:
    yield hook.mode
    if hook.waits != "sync":
        yield hook.waits
    yield from (word for word in ("once", "rewrites", "required") if getattr(hook, word))
    if hook.broken:
        yield f"cannot run: {hook.broken}"
