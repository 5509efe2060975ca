"""Which files were read, which of them have hooks at an event, and which do not count because another decides."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct

from hookline.cli.commands.explain.describe import (
    ConditionFacts,
    MatcherFacts,
    condition_facts,
    failure_words,
    lane_words,
    matcher_facts,
)
from hookline.cli.commands.fire.run import nothing_configured, prepare
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
    why_seen_from,
)
from hookline.cli.engines import looking_engine
from hookline.cli.output import show
from hookline.cli.problems import DiagnosticDocument, any_error, diagnostic_documents, tell_diagnostics
from hookline.cli.requests import Request, working_directory
from hookline.cli.text import json_lines, paragraph, table, terminal_width
from hookline.config.engine import Engine
from hookline.config.files import read_file
from hookline.config.load import Found, Loaded
from hookline.engine.lanes import Lane, PreparedHook, Verdict, check_matcher
from hookline.engine.run_hook import effective_reaction
from hookline.engine.session import Session
from hookline.model.events import EventSpec, May, subject_of
from hookline.model.hook import Hook, Scope
from hookline.model.policy import CAUSES, Cause, Limit, Reaction
from hookline.model.run import Mode
from hookline.model.safe_text import one_line, printable

#: Diagnostics that say why the hooks of a whole file do not count.
_SAID = frozenset({"disabled", "not-in-force"})
#: The same for one dialect of the two that read it, which the message begins with.
_SAID_OF_ONE = "read-already"


class LayerFacts(Struct, frozen=True, kw_only=True):
    """One file that is there."""

    file: str
    dialect: str
    scope: Scope
    #: Its own agent runs its hooks only once the user has trusted them.
    needs_trust: bool
    #: Hooks at this event that count, of those that stand in the file.
    hooks: int
    stands: int
    state: Literal["in force", "nothing here", "not in force", "unreadable"]
    why: str | None


def layers(engine: Engine, loaded: Loaded, event: EventSpec[Any]) -> tuple[LayerFacts, ...]:
    return tuple(_layer(engine, loaded, found, event) for found in loaded.found)


def _layer(engine: Engine, loaded: Loaded, found: Found, event: EventSpec[Any]) -> LayerFacts:
    counted = len(_of(found, event, loaded.hooks))
    # Read on its own it has all its hooks, whatever the files beside it say.
    alone = 0 if found.unreadable else len(_of(found, event, _alone(engine, found)))
    why = None
    if found.unreadable:
        state, why = "unreadable", "it cannot be read, so nobody knows what it wanted"
    elif not counted and (why := _said(loaded, found)) is not None:
        state = "not in force"
    elif counted < alone:
        state, why = "not in force", _replaced(loaded, found, event)
    else:
        state = "in force" if counted else "nothing here"
    return LayerFacts(
        file=found.file,
        dialect=found.dialect,
        scope=found.scope,
        needs_trust=found.needs_trust,
        hooks=counted,
        stands=max(alone, counted),
        state=state,
        why=why,
    )


def _alone(engine: Engine, found: Found) -> Sequence[Hook]:
    return engine.loader.files([found.file], found.dialect).hooks


def _of(found: Found, event: EventSpec[Any], hooks: Sequence[Hook]) -> list[Hook]:
    return [
        hook
        for hook in hooks
        if hook.event is event and hook.where.file == found.file and hook.dialect == found.dialect
    ]


def _said(loaded: Loaded, found: Found) -> str | None:
    """What the reader of the file said about it as a whole."""
    for one in loaded.diagnostics:
        of_one = one.code == _SAID_OF_ONE and one.message.startswith(f"{found.dialect} ")
        if one.where.file == found.file and (one.code in _SAID or of_one):
            return one.message
    return None


def _replaced(loaded: Loaded, found: Found, event: EventSpec[Any]) -> str:
    deciders = [
        other.file
        for other in loaded.found
        if other.dialect == found.dialect and other is not found and _names(other.file, event.name)
    ]
    return (
        f"replaced: {', '.join(deciders)} decides {event.name}" if deciders else "other settings turn it off"
    )


def _names(file: str, event: str) -> bool:
    """Whether a file has a list for the event, be it an empty one: that alone replaces what others say."""
    value: Any = read_file(file).value
    hooks: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
    return isinstance(hooks, Mapping) and event in hooks


class HookFacts(Struct, frozen=True, kw_only=True):
    """One hook: whether it would run, and everything that decides about it."""

    #: Its place among all hooks of the event, counted from 1.
    order: int
    hook: str
    source: str
    scope: Scope
    type: str
    runs: str
    would_run: bool
    why: str
    matcher: MatcherFacts | None
    condition: ConditionFacts | None
    once: bool
    #: The hook of the same lane that it repeats; equal ones run once.
    duplicate_of: str | None
    mode: Mode
    waits: Waits
    timeout: float
    timeout_unit: Unit
    rewrites: bool
    required: bool
    #: What of its answer counts here.
    may: tuple[str, ...]
    #: What a failure of each cause does, where somebody can be asked.
    failures: Mapping[Cause, Reaction]
    #: Whether the hook says so itself, or its policy does.
    failures_said_by: str
    broken: str | None
    admitted: bool
    admission_reason: str
    #: Its agent runs it only once the user has trusted its file.
    needs_trust: bool


class LaneFacts(Struct, frozen=True, kw_only=True):
    """Neighbouring hooks under one policy."""

    lane: int
    dialect: str
    spelled: str
    #: Only those that rewrite: they come before the hooks that judge.
    rewriters: bool
    run: str
    sees: str
    stop_on: str
    keep: str
    settle: str
    reasons: str
    waits: bool
    block_means: str | None
    limit: Limit | None
    budget: float | None
    placement: str
    lives: str
    on_clipped: str
    late: str
    #: The same in words, by what it is about.
    words: Mapping[str, str]
    hooks: tuple[HookFacts, ...]


class ExplainDocument(Struct, frozen=True, kw_only=True):
    """The reasoning about one event: the files, the lanes, and each hook."""

    event: str
    #: How a dialect calls it, where it was asked for under that name.
    spelled: str | None
    #: What matchers are compared with: the field of the payload, and its value here.
    subject: str | None
    subject_value: str | None
    layers: tuple[LayerFacts, ...]
    lanes: tuple[LaneFacts, ...]
    diagnostics: tuple[DiagnosticDocument, ...]


class Asked(Struct, frozen=True, eq=False):
    """What is asked about, and how it may be told."""

    session: Session
    request: Request
    cwd: str
    clean: Callable[[str], str]
    #: Files whose agent wants the user's trust first.
    untrusted: frozenset[str]


def lanes(asked: Asked) -> Iterator[LaneFacts]:
    verdicts = iter(asked.session.explain(asked.request.event, asked.request.payload))
    order = 0
    for number, lane in enumerate(asked.session.lanes(asked.request.event.name), 1):
        seen: dict[object, str] = {}
        hooks: list[HookFacts] = []
        for _ in lane.hooks:
            order += 1
            hooks.append(_hook(asked, lane, next(verdicts), order, seen))
        yield _lane(number, lane, tuple(hooks))


def _lane(number: int, lane: Lane, hooks: tuple[HookFacts, ...]) -> LaneFacts:
    policy = lane.policy
    return LaneFacts(
        lane=number,
        dialect=lane.hooks[0].hook.dialect,
        spelled=policy.event_name,
        rewriters=policy.run == "rewriters_first" and lane.in_order,
        run=policy.run,
        sees=policy.sees,
        stop_on=policy.stop_on,
        keep=policy.keep,
        settle=policy.settle,
        reasons=policy.reasons,
        waits=policy.waits,
        block_means=policy.block_means if lane.guards else None,
        limit=policy.limit,
        budget=policy.budget,
        placement=policy.placement,
        lives=policy.lives,
        on_clipped=policy.on_clipped,
        late=policy.late,
        words=dict(lane_words(lane)),
        hooks=hooks,
    )


def _hook(asked: Asked, lane: Lane, verdict: Verdict, order: int, seen: dict[object, str]) -> HookFacts:
    prepared, hook, clean = verdict.prepared, verdict.prepared.hook, asked.clean
    event, payload = asked.request.event, asked.request.payload
    subject = lane.subject_of(payload)
    # Asked as a dispatch would ask: it says whether the hook may run, and runs nothing.
    admission = asked.session.engine.admit(hook)
    return HookFacts(
        order=order,
        hook=clean(hook.name),
        source=source_of(hook, asked.cwd),
        scope=hook.scope,
        type=hook.kind,
        runs=clean(runs_words(hook)),
        would_run=verdict.selected and admission.admitted,
        why=why_seen_from(asked.cwd, clean(verdict.why)),
        matcher=matcher_facts(hook.matcher, event.subject, subject, clean),
        condition=condition_facts(hook.condition, event, payload, asked.session.scene, clean),
        once=hook.once,
        duplicate_of=_duplicate_of(prepared, subject, seen, asked.cwd, clean),
        mode=hook.mode,
        waits=waits_words(hook),
        timeout=timeout_of(hook),
        timeout_unit=unit_of(hook),
        rewrites=hook.rewrites,
        required=hook.required,
        may=_may(prepared),
        failures={cause: effective_reaction(prepared, cause, attended=True) for cause in CAUSES},
        failures_said_by="its policy" if hook.on_failure is None else "on_failure of the hook",
        broken=clean(hook.broken) if hook.broken is not None else None,
        admitted=admission.admitted,
        admission_reason=clean(admission.reason),
        needs_trust=hook.where.file in asked.untrusted,
    )


def _may(prepared: PreparedHook) -> tuple[str, ...]:
    return tuple((each.name or "").lower() for each in May if each & prepared.may)


def _duplicate_of(
    prepared: PreparedHook, subject: str, seen: dict[object, str], cwd: str, clean: Callable[[str], str]
) -> str | None:
    """As selection does: the first of a lane that matches runs for all that equal it."""
    identity = prepared.hook.identity
    if identity is None or check_matcher(prepared, subject) is None:
        return None
    if identity in seen:
        return seen[identity]
    seen[identity] = clean(source_of(prepared.hook, cwd) or prepared.hook.name)
    return None


FINE, PROBLEM = 0, 1
_LONGEST_NAME = 50
#: Kinds of matchers whose reason names the kind.
_SAID_BY_WHY = frozenset({"list of exact names", "name with *", "regular expression"})
#: Reasons that the lines about its matcher and its condition give, in full.
_TOLD_BELOW = ("matched:", "not matched:")


def explain(args: argparse.Namespace) -> int:
    cwd = working_directory(args.cwd)
    engine = looking_engine()
    request, loaded = prepare(engine, args, cwd)
    tell_diagnostics(loaded.diagnostics)
    document = _document(engine, request, loaded, cwd)
    if args.json:
        shown = show(json_lines(document), as_json=True)
    else:
        shown = show("\n".join(_lines(document, request, cwd, terminal_width())))
    if nothing_configured(engine, loaded, cwd) or any_error(loaded.diagnostics):
        return PROBLEM
    return shown


def _document(engine: Engine, request: Request, loaded: Loaded, cwd: str) -> ExplainDocument:
    session = engine.session(request.scene.session_id)
    session.scene = request.scene
    clean = cleaner(engine.journal)
    untrusted = frozenset(found.file for found in loaded.found if found.needs_trust)
    value = subject_of(request.event, request.payload)
    return ExplainDocument(
        event=request.event.name,
        spelled=request.event_name,
        subject=request.event.subject,
        subject_value=clean(value) if value is not None else None,
        layers=layers(engine, loaded, request.event),
        lanes=tuple(lanes(Asked(session, request, cwd, clean, untrusted))),
        diagnostics=diagnostic_documents(loaded.diagnostics, clean),
    )


def _lines(document: ExplainDocument, request: Request, cwd: str, width: int) -> Iterator[str]:
    under = f" ({request.event_name}, {request.dialect})" if request.event_name else ""
    yield printable(f"{document.event}{under}")
    yield paragraph(f"fires {request.event.fires}", width, "  ")
    if document.subject is not None:
        yield paragraph(
            f'matchers are compared with {document.subject}: "{document.subject_value or ""}"', width, "  "
        )
    else:
        yield "  there is nothing for a matcher to be compared with"
    if document.layers:
        yield "\nFiles, in the order they are read"
        yield _indented(
            table([_layer_explain_text(layer, document.event, cwd) for layer in document.layers], width - 2),
            2,
        )
    for lane in document.lanes:
        yield ""
        yield from _lane_explain_text(lane, width)
    if not document.lanes:
        yield f"\nNo hook is configured for {document.event}."


def _layer_explain_text(layer: LayerFacts, event: str, cwd: str) -> list[str]:
    below = cwd.rstrip("/") + "/"
    file = homely(layer.file.removeprefix(below))
    told = {
        "in force": f"{layer.hooks} at {event}",
        "nothing here": f"none at {event}",
        "not in force": f"{layer.hooks} of {layer.stands} at {event}; {(layer.why or '').replace(below, '')}",
        "unreadable": layer.why or "",
    }[layer.state]
    trust = "; its agent wants your trust first" if layer.needs_trust and layer.stands else ""
    return [layer.dialect, layer.scope, file, told + trust]


def _lane_explain_text(lane: LaneFacts, width: int) -> Iterator[str]:
    spelled = f" {lane.spelled}" if lane.spelled else ""
    which = ", the hooks that rewrite" if lane.rewriters else ""
    yield printable(f"Lane {lane.lane}: {lane.dialect}{spelled}{which}")
    yield _indented(table([[name, told] for name, told in lane.words.items()], width - 2), 2)
    for hook in lane.hooks:
        verdict = "would run" if hook.would_run else "would not run"
        yield printable(
            f"\n{hook.order:3} {one_line(hook.hook, _LONGEST_NAME)}: {verdict}  {homely(hook.source)}"
        )
        yield _indented(table([[name, told] for name, told in _facts(hook)], width - 6), 6)


def _facts(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if not hook.why.startswith(_TOLD_BELOW):
        yield "why", hook.why
    yield "runs", one_line(f"{hook.type}: {hook.runs}", 200)
    if hook.broken:
        yield "cannot run", hook.broken
    if hook.matcher is not None:
        said = hook.matcher.kind in _SAID_BY_WHY
        yield "matcher", hook.matcher.why + ("" if said else f" ({hook.matcher.kind})")
    else:
        yield "matcher", "none: it concerns all of them"
    if hook.condition is not None:
        yield "condition", hook.condition.why
    yield from _ways(hook)
    yield "may", ", ".join(hook.may) or "watch only"
    yield "a failure", f"{failure_words(hook.failures)} (says {hook.failures_said_by})"
    if not hook.admitted:
        yield "trust", f"refused: {hook.admission_reason}"
    elif hook.needs_trust:
        yield "trust", "its agent runs it only once you trust its file; Hookline runs it"


def _ways(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if hook.mode != "enforce":
        yield "mode", "shadow: it runs, and what it says does not count" if hook.mode == "shadow" else "off"
    if hook.waits != "sync":
        wakes = "; if it blocks, the agent is woken" if hook.waits == "rewake" else ""
        yield "waits", f"nobody waits for it{wakes}"
    if hook.once:
        yield "once", "at most once in a session; this asks about a new one"
    if hook.required:
        yield "required", "where it may not run, the event is blocked"
    yield "timeout", f"{hook.timeout:.10g} {hook.timeout_unit}"


def _indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.split("\n"))
