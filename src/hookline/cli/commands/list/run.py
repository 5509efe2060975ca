"""List every active hook, event by event in the order they would run; as a table or as JSON."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from hookline.cli.describe import (
    DiagnosticDocument,
    diagnostic_documents,
    redactor,
    with_tilde,
)
from hookline.cli.engines import (
    any_error,
    dialects_of,
    dormant_hooks,
    inspection_engine,
    load,
    nothing_configured,
    report_diagnostics,
    working_directory,
)
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import events_named
from hookline.cli.shown_hooks import (
    USUAL,
    NamedHook,
    ShownHook,
    is_held_back,
    named_hook,
    report_held_back,
    report_store,
    shown_hook,
    some_of,
)
from hookline.cli.text import count_of, fits, json_lines, paragraph, tables, terminal_width
from hookline.config.dormant import Dormant
from hookline.config.engine import Engine
from hookline.config.load import Found
from hookline.dialects.labels import INSTALLED_HERE
from hookline.engine.memory import lanes_of
from hookline.engine.session import Session
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line, printable
from hookline.trust.trust import TrustStatus

#: The table only identifies a hook; --json has the whole of it.
_LONGEST_NAME, _LONGEST_RUNS = 30, 48
_HEAD = ("", "HOOK", "MATCHER", "RUNS", "MODE", "TIMEOUT", "SOURCE")


class ListedHook(ShownHook, frozen=True, kw_only=True):
    """One hook at one event."""

    event: str
    dialect: str
    #: The dialect's own name for the event.
    dialect_event: str
    matcher: str | None
    condition: str | None


class DormantHook(NamedHook, frozen=True, kw_only=True):
    """A hook that is configured and not active."""

    event: str
    dialect: str
    dialect_event: str
    matcher: str | None
    condition: str | None
    #: When it is active, or why it is not.
    when: str


class ListDocument(Struct, frozen=True, kw_only=True):
    """The active hooks for a directory, and the files they come from."""

    hooks: tuple[ListedHook, ...]
    #: Of skills, commands and agents that are not in use, and of plugins that are off.
    dormant: tuple[DormantHook, ...]
    files: tuple[Found, ...]
    diagnostics: tuple[DiagnosticDocument, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        return "\n".join([*_lines(self.hooks, width), *_dormant_lines(self.dormant, width)]).lstrip("\n")


#: Hooks by event, dialect and the dialect's name for the event.
_Groups = Sequence[tuple[tuple[str, str, str], Sequence[ListedHook]]]


def run(args: argparse.Namespace) -> ExitStatus:
    cwd = working_directory(args.cwd)
    engine = inspection_engine()
    wanted = _wanted(engine, args)
    loaded = load(engine, args, cwd)
    dormant = dormant_hooks(engine, args, cwd)
    diagnostics = (*loaded.diagnostics, *dormant.diagnostics)
    report_diagnostics(diagnostics)
    redact = redactor(engine.journal)
    document = ListDocument(
        hooks=tuple(_listed_hooks(engine, cwd, redact, wanted)),
        dormant=tuple(_dormant_hooks(engine, dormant.files, cwd, redact, wanted)),
        files=loaded.found,
        diagnostics=diagnostic_documents(diagnostics, redact),
    )
    report_held_back((hook for hook in engine.hooks if wanted(hook) and is_held_back(engine, hook)), redact)
    shown = _show(document, args)
    nothing = not dormant.files and nothing_configured(engine, loaded, cwd, args.dialect)
    return ExitStatus.PROBLEM if report_store(engine) or nothing or any_error(diagnostics) else shown


def _wanted(engine: Engine, args: argparse.Namespace) -> Callable[[Hook], bool]:
    """Return a test for hooks of one event, by the table's name for it or by an agent's."""
    name = args.event
    if name is None:
        return lambda _hook: True
    if name not in engine.events:
        dialects = dialects_of(engine, None if args.dialect is None else [args.dialect])
        events_named(name, engine.events, dialects)  # raises if no agent has it
    return lambda hook: name in (hook.event.name, hook.policy.event_name)


def _show(document: ListDocument, args: argparse.Namespace) -> ExitStatus:
    if args.json:
        return show(document.as_json(), as_json=True)
    if document.hooks or document.dormant:
        return show(document.as_text(terminal_width()))
    if not document.files:
        return ExitStatus.OK
    if args.event:
        return show(f"no hook is configured for {printable(args.event)}")
    return show("no hook is configured in these files")


def _listed_hooks(
    engine: Engine, cwd: str, redact: Callable[[str], str], wanted: Callable[[Hook], bool]
) -> Iterator[ListedHook]:
    session = engine.session("list")
    for event in engine.events.values():
        for order, hook in enumerate(_in_order(session, event), 1):
            if wanted(hook):
                yield ListedHook(**shown_hook(engine, hook, order, cwd, redact), **_own_facts(hook, redact))


def _in_order(session: Session, event: EventSpec[Any]) -> Iterator[Hook]:
    """Yield hooks in the order in which they run: hooks that rewrite may run before hooks above them in the file."""
    for lane in lanes_of(session, event.name):
        yield from (prepared.hook for prepared in lane.hooks)


def _own_facts(hook: Hook, redact: Callable[[str], str]) -> dict[str, Any]:
    return {
        "event": hook.event.name,
        "dialect": hook.dialect,
        "dialect_event": hook.policy.event_name,
        "matcher": redact(hook.matcher.text) if hook.matcher is not None else None,
        "condition": redact(hook.condition.text) if hook.condition is not None else None,
    }


def _dormant_hooks(
    engine: Engine,
    files: Sequence[Dormant],
    cwd: str,
    redact: Callable[[str], str],
    wanted: Callable[[Hook], bool],
) -> Iterator[DormantHook]:
    for file in files:
        for hook in filter(wanted, file.hooks):
            facts = named_hook(engine, hook, cwd, redact) | _own_facts(hook, redact)
            yield DormantHook(**facts, when=file.when)


def _dormant_lines(hooks: Sequence[DormantHook], width: int) -> Iterator[str]:
    if not hooks:
        return
    yield f"\n{count_of(len(hooks), 'hook')} not active now"
    for hook in hooks:
        what = one_line(f"{hook.type}: {hook.runs}", _LONGEST_RUNS)
        matcher = f"  matcher {_matcher(hook)}" if hook.matcher or hook.condition else ""
        source = f"{with_tilde(hook.source)}  {hook.dialect} {hook.dialect_event}"
        yield paragraph(f"{source}{matcher}  {what}", width, "  ")
        yield paragraph(printable(with_tilde(hook.when)), width, "    ")


def _lines(hooks: Sequence[ListedHook], width: int) -> Iterator[str]:
    """Format a table for each event and agent, all with the same columns."""
    if not hooks:
        return
    groups = [
        (where, list(some))
        for where, some in groupby(hooks, key=lambda hook: (hook.event, hook.dialect, hook.dialect_event))
    ]
    rows = [[_HEAD], *([_row(hook) for hook in some] for _, some in groups)]
    yield from _wide(groups, rows, width) if fits(rows, width) else _narrow(groups, width)
    events = len({hook.event for hook in hooks})
    yield f"\n{count_of(len(hooks), 'hook')} on {count_of(events, 'event')}"
    disabled = {hook.hook: hook.disabled_by for hook in hooks if hook.disabled_by is not None}
    for name, by in disabled.items():
        yield paragraph(
            printable(f"{one_line(name, _LONGEST_NAME)} is off: disabled by {with_tilde(by)}"), width
        )
    unusual: dict[TrustStatus, list[str]] = {}
    for hook in hooks:
        if hook.trust.state in ("untrusted", "modified"):
            unusual.setdefault(hook.trust, []).append(hook.hook)
    for trust, names in unusual.items():
        yield paragraph(f"{trust.state}: {some_of(list(dict.fromkeys(names)))}: {trust.why}", width)


def _wide(groups: _Groups, rows: Sequence[Sequence[Sequence[str]]], width: int) -> Iterator[str]:
    drawn = tables(rows, width)
    yield drawn[0]
    for (where, _), lines in zip(groups, drawn[1:], strict=True):
        yield f"\n{_title(*where)}"
        yield lines


def _narrow(groups: _Groups, width: int) -> Iterator[str]:
    """Format a few lines for each hook, where seven columns do not fit."""
    for number, (where, some) in enumerate(groups):
        yield ("\n" if number else "") + _title(*where)
        for order, name, matcher, runs, modes, timeout, source in map(_row, some):
            yield paragraph(f"{order}  {name}", width)
            for line in (f"matcher {matcher}", one_line(runs, width - 3), f"{modes}, {timeout}", source):
                yield paragraph(line, width, "   ")


def _title(event: str, dialect: str, event_name: str) -> str:
    return f"{event}  {dialect}" + (f" ({event_name})" if event_name != event else "")


def _row(hook: ListedHook) -> tuple[str, ...]:
    return (
        str(hook.order),
        one_line(hook.hook, _LONGEST_NAME),
        _matcher(hook),
        one_line(f"{hook.type}: {hook.runs}", _LONGEST_RUNS),
        ", ".join(_modes(hook)),
        f"{hook.timeout:.10g} {hook.timeout_unit}",
        with_tilde(hook.source),
    )


def _matcher(hook: ListedHook | DormantHook) -> str:
    matcher = hook.matcher or "*"
    return f"{matcher} if {hook.condition}" if hook.condition else matcher


def _modes(hook: ListedHook) -> Iterator[str]:
    # Hookline does not run its own entries, so their mode is `off`; their agent does.
    yield "run by the agent" if hook.hook == INSTALLED_HERE else hook.mode
    if hook.waits != "sync":
        yield hook.waits
    if hook.trust.state not in USUAL:
        yield hook.trust.state
    yield from (word for word in ("once", "rewrites", "required") if getattr(hook, word))
    if hook.in_doubt != "match":
        yield f"in doubt {hook.in_doubt}"
    if hook.broken:
        yield f"cannot run: {hook.broken}"
