"""Gather everything that decides if a hook would run: files, policies, matchers, conditions, admission."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from hookline.cli.agents_asking import agents_asking
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
    translated_documents,
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
from hookline.cli.shown_hooks import is_held_back, report_held_back, report_store, shown_hook
from hookline.cli.text import reason_relative_to, relative_to, terminal_width
from hookline.config.engine import Engine
from hookline.config.load import Found, Loaded, Loader
from hookline.engine.explain import ASKED_INSTEAD, MatchResult, deciding_action
from hookline.engine.judge import effective_reaction
from hookline.engine.lanes import Lane, check_matcher
from hookline.engine.memory import lanes_of
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.session import Session
from hookline.model.events import Capability, EventSpec, subject_of
from hookline.model.hook import Hook
from hookline.model.policy import CAUSES
from hookline.model.session_info import SessionInfo
from hookline.model.wire import EventRequest

#: Codes of diagnostics that say why none of the hooks of a file count.
_NOT_IN_FORCE = frozenset({"disabled", "not-in-force"})
#: The same for one of two dialects that read the file; the message begins with its name.
_READ_ALREADY = "read-already"


class _Question(Struct, frozen=True, eq=False):
    """The event to explain, and how it may be shown."""

    engine: Engine
    session: Session
    loader: Loader
    request: EventRequest
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
    if args.config is None:
        decisions = list(session_of(engine, request).explain(request.event, request.payload))
        document = replace(
            document, agents=agents_asking(request.event, decisions, cwd, redactor(engine.journal))
        )
    if args.json:
        shown = show(document.as_json(), as_json=True)
    else:
        fires, width = request.event.fires, terminal_width()
        shown = show(as_text(document, dialect=request.dialect, fires=fires, cwd=cwd, width=width))
    here = (hook for hook in engine.hooks if hook.event is request.event and is_held_back(engine, hook))
    report_held_back(here, redactor(engine.journal))
    if (
        report_store(engine)
        or nothing_configured(engine, loaded, cwd, args.dialect)
        or any_error(loaded.diagnostics)
    ):
        return ExitStatus.PROBLEM
    return shown


def explain_document(engine: Engine, request: EventRequest, loaded: Loaded, cwd: str) -> ExplainDocument:
    """Explain the hooks that are active in the engine."""
    session = session_of(engine, request)
    redact = redactor(engine.journal)
    untrusted = frozenset(found.file for found in loaded.found if found.needs_trust)
    value = subject_of(request.event, request.payload)
    return ExplainDocument(
        event=request.event.name,
        dialect_event=request.event_name,
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
        state = "inactive"
    elif disabled:
        state, why = "inactive", f"disabled: {', '.join(hook.name for hook in disabled)}"
    elif counted < alone:
        state, why = "inactive", _replaced(loaded, found, event)
    else:
        state = "active" if counted else "nothing here"
    return LayerFacts(
        **asdict(found),
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
    """Return what the reader of the file reported about it as a whole."""
    for one in loaded.diagnostics:
        of_one = one.code == _READ_ALREADY and one.message.startswith(f"{found.dialect} ")
        if one.where.file == found.file and (one.code in _NOT_IN_FORCE or of_one):
            return one.message
    return None


def _replaced(loaded: Loaded, found: Found, event: EventSpec[Any]) -> str:
    """Return what the reader reported about the file's hooks for the event."""
    for one in loaded.diagnostics:
        if one.code == "replaced" and one.where.file == found.file and event.name in one.where.path:
            return one.message
    return "other settings turn it off"


def _lanes(question: _Question) -> Iterator[LaneFacts]:
    decisions = iter(question.session.explain(question.request.event, question.request.payload))
    order = 0
    for number, lane in enumerate(lanes_of(question.session, question.request.event.name), 1):
        seen: dict[object, str] = {}
        hooks: list[HookFacts] = []
        for _ in lane.hooks:
            order += 1
            hooks.append(_hook(question, lane, next(decisions), order, seen))
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
        dialect_event=policy.event_name,
        rewriters=policy.run == "rewriters_first" and lane.in_order,
        words=dict(lane_words(lane)),
        hooks=hooks,
    )


def _hook(
    question: _Question, lane: Lane, decision: MatchResult, order: int, seen: dict[object, str]
) -> HookFacts:
    prepared, hook, redact = decision.prepared, decision.prepared.hook, question.redact
    event = question.request.event
    asked = _asked(question, lane, decision)
    # As a dispatch asks: it says whether the hook may run, and runs nothing.
    admission = question.session.engine.admit(hook, question.session.info)
    return HookFacts(
        **shown_hook(question.engine, hook, order, question.cwd, redact),
        would_run=decision.selected and admission.admitted and not decision.why.startswith(ASKED_INSTEAD),
        why=reason_relative_to(question.cwd, redact(decision.why)),
        translated=translated_documents(decision.translated, redact),
        matcher=matcher_facts(hook.matcher, event.subject, asked.subject, redact),
        condition=condition_facts(hook.condition, event, asked.payload, asked.info, redact, asked.doubt),
        duplicate_of=_duplicate_of(decision, asked.subject, seen, question.cwd, redact),
        output=hook.output,
        may=_may(prepared),
        failures={cause: effective_reaction(prepared, cause, attended=True) for cause in CAUSES},
        failures_said_by=BY_POLICY if hook.on_failure is None else BY_HOOK,
        admitted=admission.admitted,
        admission_reason=redact(admission.reason),
        needs_trust=hook.where.file in question.untrusted,
    )


def _may(prepared: PreparedHook) -> tuple[str, ...]:
    return tuple((each.name or "").lower() for each in Capability if each & prepared.may)


class _Asked(Struct, frozen=True):
    """Input of a hook's matcher and condition."""

    subject: str
    payload: Any
    info: SessionInfo
    #: Why its condition is not asked.
    doubt: str = ""


def _asked(question: _Question, lane: Lane, decision: MatchResult) -> _Asked:
    """Return the call as it was made, or as the hook's agent would make it."""
    translated_call, payload = decision.translated, question.request.payload
    if translated_call is None or not translated_call.actions:
        return _Asked(lane.subject_of(payload), payload, question.session.info)
    translated, name = deciding_action(decision.prepared.hook, translated_call)
    return _Asked(name, translated.payload, translated.info, translated.view.action.doubt)


def _duplicate_of(
    decision: MatchResult, subject: str, seen: dict[object, str], cwd: str, redact: Callable[[str], str]
) -> str | None:
    """Return the duplicate, as selection does: of equal hooks under one policy, the first that matches runs."""
    prepared = decision.prepared
    identity = prepared.hook.identity
    if identity is None or check_matcher(prepared, subject) is None:
        return None
    if decision.translated is not None and decision.why.startswith("not matched"):
        return None
    if identity in seen:
        return seen[identity]
    seen[identity] = redact(relative_to(cwd, str(prepared.hook.where)) or prepared.hook.name)
    return None
