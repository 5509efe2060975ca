"""`hookline list` as tables, or as JSON."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from hookline.cli.diagnosing import any_error, diagnostic_documents, tell_diagnostics
from hookline.cli.event_names import meant
from hookline.cli.fire_request import working_directory
from hookline.cli.firing import dialects_of, nothing_configured
from hookline.cli.hook_words import cleaner, homely
from hookline.cli.listing import ListDocument, ListedHook, found_files, listed
from hookline.cli.looking import looking_engine
from hookline.cli.output import show
from hookline.cli.text import json_lines, paragraph, tables, terminal_width
from hookline.config.embedding import Engine
from hookline.model.hook import Hook
from hookline.model.safetext import one_line, printable

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
    return lambda hook: name in (hook.event.name, hook.policy.spelled)


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


def _title(event: str, dialect: str, spelled: str) -> str:
    return f"{event}  {dialect}" + (f" ({spelled})" if spelled != event else "")


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
