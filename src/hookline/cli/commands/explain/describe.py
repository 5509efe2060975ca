"""Describe matchers, conditions and policies in words: what they are, and what they mean for one payload."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.engine.lanes import Lane
from hookline.matching.conditions import explain_matcher, why
from hookline.matching.matchers import GlobMatcher, NameList, OneName, RegexMatcher
from hookline.model.events import Capability, EventSpec
from hookline.model.hook import Condition, Doubt, Matcher
from hookline.model.policy import CAUSES, Cause, Reaction
from hookline.model.session_info import SessionInfo
from hookline.schemas.event_facts import BLOCK_WORDS, limit_words, placement_words

_KINDS: Mapping[type, str] = MappingProxyType(
    {
        OneName: "exact name",
        NameList: "list of exact names",
        GlobMatcher: "name with *",
        RegexMatcher: "regular expression",
    }
)
_RULE = "rule of its agent"

_STOP_ON: Mapping[str, str] = MappingProxyType(
    {
        "never": "the other hooks still run",
        "block": "the hooks after it do not run",
        "closed": "if it fails closed, the hooks after it do not run",
    }
)
_KEEP: Mapping[str, str] = MappingProxyType(
    {
        "all": "",
        "block_only": "and only the first block counts",
        "decision_only": "and rewrites and text for the model are dropped",
    }
)
_REACTIONS: Mapping[Reaction, str] = MappingProxyType(
    {
        "pass": "continue",
        "warn": "warn and continue",
        "ask": "ask the user",
        "block": "block",
    }
)


class MatcherFacts(Struct, frozen=True):
    text: str
    #: exact name, list of exact names, name with *, regular expression, rule of its agent
    kind: str
    #: The field of the payload it is compared with, and the value there.
    field: str | None
    value: str
    matches: bool
    why: str


class ConditionFacts(Struct, frozen=True):
    text: str
    holds: bool
    #: Why it is uncertain, if it holds only in doubt.
    doubt: str | None
    why: str


def matcher_facts(
    matcher: Matcher | None, field: str | None, value: str, redact: Callable[[str], str]
) -> MatcherFacts | None:
    if matcher is None:
        return None
    kind = _KINDS.get(type(_innermost(matcher)), _RULE)
    try:
        matches, reason = matcher.matches(value), explain_matcher(matcher, value)
    except Exception as problem:  # noqa: BLE001 a matcher may be a host's code
        matches, reason = True, _broke(problem)
    return MatcherFacts(redact(matcher.text), kind, field, redact(value), matches, redact(reason))


def _innermost(matcher: Matcher) -> Matcher:
    """Return the plain matcher inside; some dialects wrap it to compare each name that a tool has there."""
    inner: Matcher | None = getattr(matcher, "inner", None) or getattr(matcher, "own", None)
    return matcher if inner is None else _innermost(inner)


def condition_facts(
    condition: Condition | None,
    event: EventSpec[Any],
    payload: Any,
    info: SessionInfo,
    redact: Callable[[str], str],
    doubt: str = "",
) -> ConditionFacts | None:
    """Describe a condition. With a doubt about what a call does, it is not evaluated: the call may do anything."""
    if condition is None:
        return None
    if doubt:
        return ConditionFacts(redact(condition.text), True, None, redact(f"not evaluated: {doubt}"))
    try:
        answer, reason = condition.holds(event, payload, info), why(condition, event, payload, info)
    except Exception as problem:  # noqa: BLE001 a condition may be a host's code
        answer, reason = True, _broke(problem)
    unsure = redact(answer.text) if isinstance(answer, Doubt) else None
    return ConditionFacts(redact(condition.text), bool(answer), unsure, redact(reason))


def _broke(problem: Exception) -> str:
    return f"it raises, which is a failure of the hook: {type(problem).__name__}: {problem}"


def lane_words(lane: Lane) -> Iterator[tuple[str, str]]:
    """Describe how hooks of one policy run, a row each."""
    policy = lane.policy
    yield "run", _run(lane)
    before = "the previous hook" if lane.sees_current and lane.in_order else "the hooks before them"
    yield "see", f"the payload as {before} left it"
    if lane.guards:
        ends = ", ".join(part for part in (_STOP_ON[policy.stop_on], _KEEP[policy.keep]) if part)
        yield "a block", f"{BLOCK_WORDS.get(policy.block_means, policy.block_means)}; {ends}"
    if (limit := limit_words(policy.limit)) is not None:
        yield "limit", limit
    if policy.budget is not None:
        yield "budget", f"{policy.budget:g} seconds for all of them together"
    if policy.may & Capability.CONTEXT:
        yield "text", f"for the model goes {placement_words(policy.placement, policy.lifetime)}"
    if lane.rechecks_own:
        yield "asked again", "guards that saw an older value, when another hook rewrote it"


def _run(lane: Lane) -> str:
    policy = lane.policy
    if not policy.waits:
        return "in the background: the agent does not wait for them"
    if lane.in_order:
        return "one after another"
    if policy.settle == "first_answer":
        return "all at once; the first one to decide decides alone"
    if policy.run == "serial_if_asked":
        return "all at once, or one after another where one of them asks for it"
    return "all at once"


def failure_words(reactions: Mapping[Cause, Reaction]) -> str:
    """Describe the reaction to most causes, then the exceptions: `warn and continue (cancelled: block)`."""
    causes: dict[Reaction, list[str]] = {}
    for cause in CAUSES:
        causes.setdefault(reactions[cause], []).append(cause)
    usual = max(causes, key=lambda reaction: len(causes[reaction]))
    others = [f"{', '.join(some)}: {_REACTIONS[each]}" for each, some in causes.items() if each != usual]
    return _REACTIONS[usual] + (f" ({'; '.join(others)})" if others else "")
