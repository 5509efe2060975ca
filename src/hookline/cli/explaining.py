"""Why each hook of an event would run on a payload or would not, and what rules it: facts, no words for people yet."""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from hookline.cli.diagnosing import DiagnosticDocument
from hookline.cli.fire_request import Request
from hookline.cli.hook_words import (
    Unit,
    Waits,
    runs_words,
    source_of,
    timeout_of,
    unit_of,
    waits_words,
    why_seen_from,
)
from hookline.cli.layering import LayerFacts
from hookline.cli.matcher_words import ConditionFacts, MatcherFacts, condition_facts, matcher_facts
from hookline.cli.policy_words import lane_words
from hookline.engine.judging import effective_reaction
from hookline.engine.lanes import Armed, Lane, matched
from hookline.engine.selection import Verdict
from hookline.engine.sessions import Session
from hookline.model.events import May
from hookline.model.hook import Scope
from hookline.model.policy import CAUSES, Cause, Limit, Reaction
from hookline.model.run import Mode


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
        spelled=policy.spelled,
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
    armed, hook, clean = verdict.armed, verdict.armed.hook, asked.clean
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
        duplicate_of=_duplicate_of(armed, subject, seen, asked.cwd, clean),
        mode=hook.mode,
        waits=waits_words(hook),
        timeout=timeout_of(hook),
        timeout_unit=unit_of(hook),
        rewrites=hook.rewrites,
        required=hook.required,
        may=_may(armed),
        failures={cause: effective_reaction(armed, cause, attended=True) for cause in CAUSES},
        failures_said_by="its policy" if hook.on_failure is None else "on_failure of the hook",
        broken=clean(hook.broken) if hook.broken is not None else None,
        admitted=admission.admitted,
        admission_reason=clean(admission.reason),
        needs_trust=hook.where.file in asked.untrusted,
    )


def _may(armed: Armed) -> tuple[str, ...]:
    return tuple((each.name or "").lower() for each in May if each & armed.may)


def _duplicate_of(
    armed: Armed, subject: str, seen: dict[object, str], cwd: str, clean: Callable[[str], str]
) -> str | None:
    """As selection does: the first of a lane that matches runs for all that equal it."""
    identity = armed.hook.identity
    if identity is None or matched(armed, subject) is None:
        return None
    if identity in seen:
        return seen[identity]
    seen[identity] = clean(source_of(armed.hook, cwd) or armed.hook.name)
    return None
