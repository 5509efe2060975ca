"""What a matcher and a condition are, and what they say of one payload."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.matching.conditions import why
from hookline.matching.explain import explain_matcher
from hookline.matching.matchers import GlobMatcher, NameList, OneName, RegexMatcher
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Matcher
from hookline.model.scene import Scene

_KINDS: Mapping[type, str] = MappingProxyType(
    {
        OneName: "exact name",
        NameList: "list of exact names",
        GlobMatcher: "name with *",
        RegexMatcher: "regular expression",
    }
)
_RULE = "rule of its agent"


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
    why: str


def matcher_facts(
    matcher: Matcher | None, field: str | None, value: str, clean: Callable[[str], str]
) -> MatcherFacts | None:
    if matcher is None:
        return None
    kind = _KINDS.get(type(_innermost(matcher)), _RULE)
    try:
        matches, reason = matcher.matches(value), explain_matcher(matcher, value)
    except Exception as problem:  # noqa: BLE001 a matcher may be anybody's code
        matches, reason = (
            True,
            f"it breaks, which is a failure of the hook: {type(problem).__name__}: {problem}",
        )
    return MatcherFacts(clean(matcher.text), kind, field, clean(value), matches, clean(reason))


def _innermost(matcher: Matcher) -> Matcher:
    """Some agents know tools under several names: what is compared with each of them stands inside."""
    inner: Matcher | None = getattr(matcher, "inner", None) or getattr(matcher, "own", None)
    return matcher if inner is None else _innermost(inner)


def condition_facts(
    condition: Condition | None,
    event: EventSpec[Any],
    payload: Any,
    scene: Scene,
    clean: Callable[[str], str],
) -> ConditionFacts | None:
    if condition is None:
        return None
    try:
        holds, reason = condition.holds(event, payload, scene), why(condition, event, payload, scene)
    except Exception as problem:  # noqa: BLE001 a condition may be anybody's code
        holds, reason = (
            True,
            f"it breaks, which is a failure of the hook: {type(problem).__name__}: {problem}",
        )
    return ConditionFacts(clean(condition.text), holds, clean(reason))
