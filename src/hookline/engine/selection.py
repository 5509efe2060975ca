"""Which hooks of a lane concern this payload; and, when somebody asks, why or why not."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.engine.lanes import Armed, Lane, matched
from hookline.model.events import EventSpec

if TYPE_CHECKING:
    from hookline.engine.sessions import Session


def select(lane: Lane, event: EventSpec[Any], payload: Any, session: "Session") -> Sequence[Armed]:
    """The hooks to run now, in config order. A `once` hook is used up by being selected."""
    matching = lane.matching(payload)
    if matching.plain:
        return matching.hooks
    chosen: list[Armed] = []
    for armed in matching.hooks:
        holding = held(armed, event, payload, session)
        if holding is None:
            continue
        if armed.hook.once:
            if armed.key in session.once_marks:
                continue
            session.once_marks.add(armed.key)
        chosen.append(holding)
    return chosen


def held(armed: Armed, event: EventSpec[Any], payload: Any, session: "Session") -> Armed | None:
    """The hook when its condition holds; a condition that breaks is a failure of the hook, never a no."""
    condition = armed.hook.condition
    if condition is None:
        return armed
    try:
        return armed if condition.holds(event, payload, session.scene) else None
    except Exception as problem:  # noqa: BLE001 a condition may be anybody's code
        return armed.broken(f"its condition {condition.text!r} failed: {type(problem).__name__}: {problem}")


class Verdict(Struct, frozen=True):
    """Whether a hook would run on a payload, and the reason in words."""

    armed: Armed
    selected: bool
    why: str


def explain(
    lanes: Sequence[Lane], event: EventSpec[Any], payload: Any, session: "Session"
) -> Iterator[Verdict]:
    """Every hook of the event with its reason, without running or using up anything."""
    for lane in lanes:
        seen: dict[object, str] = {}
        for armed in lane.hooks:
            selected, reason = _reason(armed, lane, seen, event, payload, session)
            yield Verdict(armed, selected, reason)


def _reason(
    armed: Armed,
    lane: Lane,
    seen: dict[object, str],
    event: EventSpec[Any],
    payload: Any,
    session: "Session",
) -> tuple[bool, str]:
    # Only for who asks: a dispatch never needs the words.
    from hookline.matching.conditions import why  # noqa: PLC0415 see above
    from hookline.matching.explain import explain_match, explain_matcher  # noqa: PLC0415 see above

    hook = armed.hook
    if hook.mode == "off":
        return False, "switched off: mode is off"
    if hook.matcher is not None and matched(armed, lane.subject_of(payload)) is None:
        return False, f"not matched: {explain_matcher(hook.matcher, lane.subject_of(payload))}"
    if hook.identity is not None:
        if hook.identity in seen:
            return False, f"the same as {seen[hook.identity]}, which runs once"
        seen[hook.identity] = armed.source or hook.name
    if hook.condition is not None and held(armed, event, payload, session) is None:
        return False, f"not matched: {why(hook.condition, event, payload, session.scene)}"
    if hook.once and armed.key in session.once_marks:
        return False, "ran already: once per session"
    return True, f"matched: {explain_match(hook.matcher, hook.condition, event, payload, session.scene).why}"
