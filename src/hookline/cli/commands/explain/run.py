"""Gather everything that decides whether a hook would run: files, lanes, matchers, conditions, admission."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.commands.explain.describe import condition_facts, lane_words, matcher_facts
from hookline.cli.commands.explain.report import (
    BY_HOOK,
    BY_POLICY,
    ExplainDocument,
    HookFacts,
    LaneFacts,
    LayerFacts,
    as_text,
)
from hookline.cli.describe import (
    diagnostic_documents,
    redactor,
    told_documents,
)
from hookline.cli.engines import (
    any_error,
    inspection_engine,
    nothing_configured,
    prepare,
    report_diagnostics,
    session_of,
    working_directory,
)
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import Request
from hookline.cli.shown_hooks import shown_hook
from hookline.cli.text import reason_relative_to, relative_to, terminal_width
from hookline.cli.trust_state import is_held_back, report_held_back, report_store
from hookline.config.engine import Engine
from hookline.config.load import Found, Loaded, Loader
from hookline.engine.explain import ASKED_INSTEAD, Verdict, deciding_act
from hookline.engine.judge import effective_reaction
from hookline.engine.lanes import Lane, PreparedHook, check_matcher
from hookline.engine.session import Session
from hookline.model.events import EventSpec, May, subject_of
from hookline.model.hook import Hook
from hookline.model.policy import CAUSES
from hookline.model.scene import Scene

#: Codes of diagnostics that say why none of the hooks of a file count.
_NOT_IN_FORCE = frozenset({"disabled", "not-in-force"})
#: The same for one of two dialects that read the file; the message begins with its name.
_READ_ALREADY = "read-already"


class _Question(Struct, frozen=True, eq=False):
    """What is asked about, and how it may be shown."""

    engine: Engine
    session: Session
    loader: Loader
    request: Request
    cwd: str
    redact: Callable[[str], str]
    #: Files in which the user has not trusted everything.
    untrusted: frozenset[str]


def run(args: argparse.Namespace) -> ExitStatus:
    cwd = working_directory(args.cwd)
    engine = inspection_engine()
    request, loaded = prepare(engine, args, cwd)
    report_diagnostics(loaded.diagnostics)
    document = explain_document(engine, request, loaded, cwd)
    if args.json:
        shown = show(document.as_json(), as_json=True)
    else:
        fires, width = request.event.fires, terminal_width()
        shown = show(as_text(document, dialect=request.dialect, fires=fires, cwd=cwd, width=width))
    here = (hook for hook in engine.hooks if hook.event is request.event and is_held_back(engine, hook))
    report_held_back(here, redactor(engine.journal))
    if report_store(engine) or nothing_configured(engine, loaded, cwd) or any_error(loaded.diagnostics):
        return ExitStatus.PROBLEM
    return shown


def explain_document(engine: Engine, request: Request, loaded: Loaded, cwd: str) -> ExplainDocument:
    """What decides about the hooks that are in force in the engine."""
    session = session_of(engine, request)
    redact = redactor(engine.journal)
    untrusted = frozenset(found.file for found in loaded.found if found.needs_trust)
    value = subject_of(request.event, request.payload)
    return ExplainDocument(
        event=request.event.name,
        spelled=request.event_name,
        subject=request.event.subject,
        subject_value=redact(value) if value is not None else None,
        layers=tuple(_layer(engine, loaded, found, request.event) for found in loaded.found),
        lanes=tuple(_lanes(_Question(engine, session, engine.loader, request, cwd, redact, untrusted))),
        diagnostics=diagnostic_documents(loaded.diagnostics, redact),
    )


def _layer(engine: Engine, loaded: Loaded, found: Found, event: EventSpec[Any]) -> LayerFacts:
    here = _of(found, event, loaded.hooks)
    disabled = [hook for hook in here if hook.disabled_by is not None]
    counted = len(here) - len(disabled)
    # Read on its own it has all its hooks, whatever other files say.
    alone = 0 if found.unreadable else len(_of(found, event, _alone(engine, found)))
    why = None
    if found.unreadable:
        state, why = "unreadable", "it cannot be read"
    elif not counted and (why := _why_not_in_force(loaded, found)) is not None:
        state = "not in force"
    elif disabled:
        state, why = "not in force", f"disabled: {', '.join(hook.name for hook in disabled)}"
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


def _why_not_in_force(loaded: Loaded, found: Found) -> str | None:
    """What the reader of the file reported about it as a whole."""
    for one in loaded.diagnostics:
        of_one = one.code == _READ_ALREADY and one.message.startswith(f"{found.dialect} ")
        if one.where.file == found.file and (one.code in _NOT_IN_FORCE or of_one):
            return one.message
    return None


def _replaced(loaded: Loaded, found: Found, event: EventSpec[Any]) -> str:
    """What the reader reported about the hooks that the file has for the event."""
    for one in loaded.diagnostics:
        if one.code == "replaced" and one.where.file == found.file and event.name in one.where.path:
            return one.message
    return "other settings turn it off"


def _lanes(question: _Question) -> Iterator[LaneFacts]:
    verdicts = iter(question.session.explain(question.request.event, question.request.payload))
    order = 0
    for number, lane in enumerate(question.session.lanes(question.request.event.name), 1):
        seen: dict[object, str] = {}
        hooks: list[HookFacts] = []
        for _ in lane.hooks:
            order += 1
            hooks.append(_hook(question, lane, next(verdicts), order, seen))
        yield _lane(number, lane, tuple(hooks))


def _lane(number: int, lane: Lane, hooks: tuple[HookFacts, ...]) -> LaneFacts:
    policy = lane.policy
    said: dict[str, Any] = {
        name: getattr(policy, name) for name in LaneFacts.__struct_fields__ if hasattr(policy, name)
    }
    said["block_means"] = policy.block_means if lane.guards else None
    return LaneFacts(
        **said,
        lane=number,
        dialect=lane.hooks[0].hook.dialect,
        spelled=policy.event_name,
        rewriters=policy.run == "rewriters_first" and lane.in_order,
        words=dict(lane_words(lane)),
        hooks=hooks,
    )


def _hook(
    question: _Question, lane: Lane, verdict: Verdict, order: int, seen: dict[object, str]
) -> HookFacts:
    prepared, hook, redact = verdict.prepared, verdict.prepared.hook, question.redact
    event = question.request.event
    asked = _asked(question, lane, verdict)
    # As a dispatch asks: it says whether the hook may run, and runs nothing.
    admission = question.session.engine.admit(hook, question.session.scene)
    return HookFacts(
        **shown_hook(question.engine, hook, order, question.cwd, redact),
        would_run=verdict.selected and admission.admitted and not verdict.why.startswith(ASKED_INSTEAD),
        why=reason_relative_to(question.cwd, redact(verdict.why)),
        told=told_documents(verdict.told, redact),
        matcher=matcher_facts(hook.matcher, event.subject, asked.subject, redact),
        condition=condition_facts(hook.condition, event, asked.payload, asked.scene, redact, asked.doubt),
        duplicate_of=_duplicate_of(verdict, asked.subject, seen, question.cwd, redact),
        output=hook.output,
        may=_may(prepared),
        failures={cause: effective_reaction(prepared, cause, attended=True) for cause in CAUSES},
        failures_said_by=BY_POLICY if hook.on_failure is None else BY_HOOK,
        admitted=admission.admitted,
        admission_reason=redact(admission.reason),
        needs_trust=hook.where.file in question.untrusted,
    )


def _may(prepared: PreparedHook) -> tuple[str, ...]:
    return tuple((each.name or "").lower() for each in May if each & prepared.may)


class _Asked(Struct, frozen=True):
    """What the matcher and the condition of a hook are asked about."""

    subject: str
    payload: Any
    scene: Scene
    #: Why its condition is not asked.
    doubt: str = ""


def _asked(question: _Question, lane: Lane, verdict: Verdict) -> _Asked:
    """The call as it was made, or as the hook's agent would make it."""
    told_call, payload = verdict.told, question.request.payload
    if told_call is None or not told_call.acts:
        return _Asked(lane.subject_of(payload), payload, question.session.scene)
    told, name = deciding_act(verdict.prepared.hook, told_call)
    return _Asked(name, told.payload, told.scene, told.view.act.doubt)


def _duplicate_of(
    verdict: Verdict, subject: str, seen: dict[object, str], cwd: str, redact: Callable[[str], str]
) -> str | None:
    """As in selection: of equal hooks in a lane, the first that matches runs."""
    prepared = verdict.prepared
    identity = prepared.hook.identity
    if identity is None or check_matcher(prepared, subject) is None:
        return None
    if verdict.told is not None and verdict.why.startswith("not matched"):
        return None
    if identity in seen:
        return seen[identity]
    seen[identity] = redact(relative_to(cwd, str(prepared.hook.where)) or prepared.hook.name)
    return None
