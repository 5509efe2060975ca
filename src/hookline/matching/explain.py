"""Why a hook was chosen or not, in a sentence. Only asked for on demand: dispatch builds no text."""

from typing import Any, cast

from msgspec import Struct

from hookline.matching.conditions import why
from hookline.model.events import EventSpec, subject_of
from hookline.model.hook import Condition, Matcher
from hookline.model.scene import Scene


class Explanation(Struct, frozen=True):
    matched: bool
    why: str


def explain_match(
    matcher: Matcher | None, condition: Condition | None, event: EventSpec[Any], payload: Any, scene: Scene
) -> Explanation:
    """The first thing that kept the hook from being chosen, else all that let it."""
    reasons: list[str] = []
    if matcher is not None:
        subject = subject_of(event, payload)
        if subject is None:
            return Explanation(False, f'matcher "{matcher.text}" has nothing to test at {event.name}')
        reasons.append(explain_matcher(matcher, subject))
        if not matcher.matches(subject):
            return Explanation(False, reasons[0])
    if condition is not None:
        reasons.append(why(condition, event, payload, scene))
        if not condition.holds(event, payload, scene):
            return Explanation(False, reasons[-1])
    return Explanation(True, "; ".join(reasons) or "it has no matcher and no condition")


def explain_matcher(matcher: Matcher, subject: str) -> str:
    reason = cast("Any", getattr(matcher, "why", None))
    if reason is not None:
        return reason(subject)
    verdict = "matches" if matcher.matches(subject) else "does not match"
    return f'matcher "{matcher.text}" {verdict} "{subject}"'
