"""Every hook in force, event by event in the order they would run."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.diagnosing import DiagnosticDocument
from hookline.cli.hook_words import Unit, Waits, runs_words, source_of, timeout_of, unit_of, waits_words
from hookline.config.loaded import Found
from hookline.engine.sessions import Session
from hookline.model.events import EventSpec
from hookline.model.hook import Hook, Scope
from hookline.model.run import Mode


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
        spelled=hook.policy.spelled,
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
