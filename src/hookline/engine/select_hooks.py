"""Select the hooks of a lane that match a payload: by matcher, condition and `once`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hookline.engine.lanes import Lane, MatchedHooks, check_matcher, each_once
from hookline.engine.memory import (
    followed_call,
    lanes_of,
    may_run_more_lines,
    once_marks_of,
    possible_hooks,
    runs_lines,
    touches_files,
    translated_call,
)
from hookline.engine.prepared_hook import PreparedHook
from hookline.model.events import EventSpec
from hookline.model.hook import Doubt

if TYPE_CHECKING:
    from hookline.engine.session import Session


def select(lane: Lane, event: EventSpec[Any], payload: Any, session: "Session") -> Sequence[PreparedHook]:
    """Return the hooks to run now, in config order. A `once` hook is used up by being selected."""
    if lane.any_call or lane.hooks[0].is_unchanged(payload, session):
        matching = lane.matching(payload)
        # Most calls end here, however many hooks there are.
        if matching.complete or (matching.by_name and not _may_follow(lane, event, payload, session)):
            return matching.hooks
        selected = matching.hooks if matching.final else _select_checked(matching, event, payload, session)
    else:
        selected = _select_translated(lane, event, payload, session)
    return _with_followers(lane, selected, event, payload, session) if lane.followers else selected


def _select_checked(
    matching: MatchedHooks, event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    possible = matching.possible(payload)
    checked = (check_condition(prepared, event, payload, session) for prepared in possible)
    return [found for found in checked if found is not None and _is_due(found, session)]


def _select_translated(
    lane: Lane, event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    """Return the hooks that match a call, translated for their own agent."""
    possible = possible_hooks(session, lane, event, payload)
    checked = (check_shown(prepared, event, payload, session) for prepared in possible)
    return [found for found in each_once(checked) if _is_due(found, session)]


def _with_followers(
    lane: Lane, selected: Sequence[PreparedHook], event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    """Add the hooks that match no tool of the call, and a file that the call touches."""
    asked_elsewhere = lane.asked_elsewhere and any(each.hook.actions == "others" for each in selected)
    if not (asked_elsewhere or lane.file_followers or may_run_more_lines(session, payload)):
        return selected  # to find out what a call does to files takes longer
    names = {prepared.key: prepared for prepared in selected}
    if not asked_elsewhere:
        left = any(prepared.key not in names for prepared in lane.followers)
        if not left or not touches_files(session, event, payload):
            return selected
    others = [prepared for prepared in lane.followers if prepared.key not in names]
    if others and not runs_lines(session, event, payload):
        # What a call does beside what it says, it mostly does to files.
        others = [prepared for prepared in lane.file_followers if prepared.key not in names]
    asked = [follow(prepared, event, payload, session) for prepared in others]
    added = {
        prepared.key: prepared for prepared in asked if prepared is not None and _is_due(prepared, session)
    }
    if not added and not asked_elsewhere:
        return selected
    # The agent of the others asks them itself about calls that they match.
    both = {key: each for key, each in names.items() if each.hook.actions != "others"} | added
    in_order = (both.get(prepared.key) for prepared in lane.hooks)
    return list(each_once(in_order))


def _may_follow(lane: Lane, event: EventSpec[Any], payload: Any, session: "Session") -> bool:
    """Return False if no further hook can be about what a call does beside what it says."""
    if not lane.file_followers and not may_run_more_lines(session, payload):
        return False  # to find out what it does to files takes longer
    return touches_files(session, event, payload)


def follow(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """Return the hook with the actions of a call that it is to be asked about; None if there are none."""
    try:
        followed = followed_call(session, prepared, event, payload)
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return prepared.marked_broken(f"its matcher or condition failed: {type(problem).__name__}: {problem}")
    return prepared.asked_about(followed) if followed is not None else None


def _is_due(prepared: PreparedHook, session: "Session") -> bool:
    """Return True if it may run again. A `once` hook may not from now on."""
    if prepared.hook.once:
        # Marks of a state that was saved have the hook's name.
        marks, name = once_marks_of(session), (prepared.hook.event.name, prepared.hook.name)
        if prepared.key in marks or name in marks:
            return False
        once_marks_of(session).add(prepared.key)
    return True


def check_again(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """Return a selected hook if it matches another payload as well."""
    found = None
    if prepared.followed is None and prepared.hook.actions != "others":
        check = check_condition if prepared.is_unchanged(payload, session) else check_shown
        found = check(prepared, event, payload, session)
    if found is None and prepared.hook.actions != "named":
        found = follow(prepared, event, payload, session)
    return found


def check_shown(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """Return the hook if it matches the translated call; a check that raises is a failed hook."""
    if prepared.hook.mode == "off":
        return None
    try:
        actions = translated_call(session, prepared, event, payload).actions
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return prepared.marked_broken(f"its matcher or condition failed: {type(problem).__name__}: {problem}")
    if prepared.hook.as_called and actions and all(action.doubt for action in actions):
        return prepared.marked_in_doubt(actions[0].doubt)  # the hook gets the whole call at once
    return prepared if actions else None


def may_concern(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session", subject: str
) -> bool:
    """Return True if a hook may be about a call whose arguments cannot be read."""
    if prepared.is_unchanged(payload, session):
        return check_matcher(prepared, subject) is not None
    return check_shown(prepared, event, payload, session) is not None


def check_condition(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """Return the hook if its condition holds; a condition that raises is a failed hook, not a non-match."""
    condition = prepared.hook.condition
    if condition is None:
        return prepared
    try:
        answer = condition.holds(event, payload, session.info)
    except Exception as problem:  # noqa: BLE001 a condition may come from the host
        return prepared.marked_broken(
            f"its condition {condition.text!r} failed: {type(problem).__name__}: {problem}"
        )
    if isinstance(answer, Doubt):
        return prepared.marked_in_doubt(answer.text)
    return prepared if answer else None


def any_may_concern(session: "Session", event: EventSpec[Any], payload: Any) -> bool:
    """Return True if any hook may match a tool call whose arguments cannot be read."""
    return any(
        may_concern(prepared, event, payload, session, lane.subject_of(payload))
        for lane in lanes_of(session, event.name)
        for prepared in lane.hooks
    )
