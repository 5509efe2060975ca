"""Explain why a hook runs on a payload or does not, without running anything.

After a dispatch, `accounts_of` puts these reasons and the records of the runs together.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.lanes import Lane, check_matcher
from hookline.engine.memory import followed_call, once_marks_of, translated_call
from hookline.engine.prepared_hook import PreparedHook
from hookline.matching.conditions import Explanation, explain_match, explain_matcher
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.actions.translate import TranslatedAction
    from hookline.engine.session import Session
    from hookline.engine.translate_calls import HookInput, TranslatedCall


_SAME = "the same as"
#: Begins the reason of a hook that is asked about what a call does to a file, by whatever tool.
FOLLOWS = "matched: asked because"
_ASKS = "only in doubt, in_doubt = ask"
#: Begins the reason of a hook that does not run because the user is asked instead.
ASKED_INSTEAD = f"matched: {_ASKS}"


class MatchResult(Struct, frozen=True):
    """A hook's match result: would it run on this payload, and why."""

    prepared: PreparedHook
    selected: bool
    why: str
    #: The translated call, if the hook's agent would make the call in another way; also set for a hook that
    #: would not run.
    translated: "TranslatedCall | None" = None


def explain(
    lanes: Sequence[Lane], event: EventSpec[Any], payload: Any, session: "Session"
) -> Iterator[MatchResult]:
    """Yield every hook of the event with its reason, without running or using up anything."""
    for lane in lanes:
        seen: dict[object, str] = {}
        for prepared in lane.hooks:
            yield _decision(prepared, lane, seen, event, payload, session)


def _decision(
    prepared: PreparedHook,
    lane: Lane,
    seen: dict[object, str],
    event: EventSpec[Any],
    payload: Any,
    session: "Session",
) -> MatchResult:
    hook, translated = prepared.hook, None
    if hook.calls_hookline:
        return MatchResult(prepared, False, "not run: it would call Hookline again")
    if hook.mode == "off":
        by = "mode is off" if hook.disabled_by is None else f"disabled by {hook.disabled_by}"
        return MatchResult(prepared, False, f"switched off: {by}")
    if prepared.is_unchanged(payload, session):
        selected, reason = _reason(prepared, lane, seen, event, payload, session)
    else:
        selected, reason, translated = _translated_reason(prepared, event, payload, session)
        if selected and (same := _same_as(prepared, seen)) is not None:
            selected, reason = False, same
    if selected and hook.actions == "others":
        selected, reason = False, "not asked here: its own agent asks it about this call"
    elif not selected and prepared in lane.followers and not reason.startswith(_SAME):
        followed, why = _followed(prepared, event, payload, session)
        if why:
            selected, reason, translated = True, why, followed
    marks, name = once_marks_of(session), (hook.event.name, hook.name)
    if selected and hook.once and (prepared.key in marks or name in marks):
        selected, reason = False, "ran already: once per session"
    return MatchResult(prepared, selected, reason, translated)


def _reason(
    prepared: PreparedHook,
    lane: Lane,
    seen: dict[object, str],
    event: EventSpec[Any],
    payload: Any,
    session: "Session",
) -> tuple[bool, str]:
    """Return True if a hook that sees the payload untranslated is selected, and why."""
    hook, info = prepared.hook, session.info
    subject = lane.subject_of(payload) if event.subject else None
    if hook.matcher is not None and check_matcher(prepared, subject or "") is None:
        return False, f"not matched: {explain_matcher(hook.matcher, subject or '')}"
    if (same := _same_as(prepared, seen)) is not None:
        return False, same
    found = explain_match(hook.matcher, hook.condition, subject, event, payload, info)
    selected = found.matched and not (found.in_doubt and hook.in_doubt == "pass")
    return selected, f"{'matched' if selected else 'not matched'}: {_words(hook, found)}"


def _followed(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> tuple["TranslatedCall | None", str]:
    """Return the actions that a hook is asked about although it does not match the call, and why; "" if none."""
    try:
        followed = followed_call(session, prepared, event, payload)
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return None, _failed(problem)
    if followed is None:
        return None, ""
    hook = prepared.hook
    first = followed.actions[0]
    because = first.view.action.because or f"the call is {first.view.action.tool_name} of such a file"
    more = len(followed.actions) - 1
    others = f", and {more} more" if more else ""
    reason = f"{FOLLOWS} {because}{others}"
    return followed, f"{reason} ({_ASKS})" if first.doubt and hook.asks_in_doubt else reason


def _failed(problem: Exception) -> str:
    return f"matched: its matcher or condition failed: {type(problem).__name__}: {problem}"


def _words(hook: Hook, found: Explanation) -> str:
    """Return the reason; a match in doubt says how `in_doubt` handles it, unless it counts like any other."""
    if found.in_doubt and hook.asks_in_doubt:
        return f"{_ASKS}, the user is asked in its place: {found.why}"
    if found.in_doubt and hook.in_doubt == "pass":
        return f"only in doubt, in_doubt = pass: {found.why}"
    return found.why


def _same_as(prepared: PreparedHook, seen: dict[object, str]) -> str | None:
    """Return the reason to skip a hook that equals an earlier one: of equal hooks that match, the first one runs."""
    identity = prepared.hook.identity
    if identity is None:
        return None
    if identity in seen:
        return f"{_SAME} {seen[identity]}, which runs once"
    seen[identity] = prepared.source or prepared.hook.name
    return None


def _translated_reason(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> tuple[bool, str, "TranslatedCall | None"]:
    """Return True if a call matches a hook, why, and the translated call.

    The call is None for a hook that sees calls as they are made, or whose matcher or condition fails.
    """
    from hookline.engine.translate_calls import preferred_actions  # noqa: PLC0415 most calls need no translation

    hook = prepared.hook
    try:
        translated = translated_call(session, prepared, event, payload)
        concerned = bool(translated.actions)
        if not concerned:
            translated = replace(translated, actions=preferred_actions(hook, translated, session.info))
        reason = _action_reason(hook, event, translated)
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return True, _failed(problem), None
    decision = "matched" if concerned else "not matched"
    return concerned, f"{decision}: {reason}", None if hook.as_called else translated


def _action_reason(hook: Hook, event: EventSpec[Any], translated_call: "TranslatedCall") -> str:
    if not translated_call.actions:
        return "its agent has no tool that does this"
    translated, name = deciding_action(hook, translated_call)
    doubt = translated.view.action.doubt
    condition = None if doubt else hook.condition
    found = explain_match(hook.matcher, condition, name, event, translated.payload, translated.info)
    words = _words(hook, found)
    return f"{words}; {doubt}, so it may be anything" if doubt and found.matched else words


def deciding_action(hook: Hook, translated_call: "TranslatedCall") -> "tuple[HookInput, str]":
    """Return the first action that the hook's matcher means, else the first one; and the name that is
    compared with it."""
    named = [(translated, _meant(hook, translated.view)) for translated in translated_call.actions]
    translated, name = next((each for each in named if each[1] is not None), named[0])
    return translated, name or translated.view.tool_name


def _meant(hook: Hook, view: "TranslatedAction") -> str | None:
    """Return the name of an action that a matcher means."""
    names = (view.tool_name, *view.also)
    return next((name for name in names if hook.matcher is None or hook.matcher.matches(name)), None)


# The result of each hook, once the event was dispatched


class HookAccount(Struct, frozen=True):
    """The result of one hook of an event."""

    decision: MatchResult
    #: Its run, or one for each action of the call; if it did not run, one that says why.
    runs: tuple[Run, ...]
    ran: bool = True


def accounts_of(
    decisions: Sequence[MatchResult], runs: Sequence[Run], redact: Callable[[Run], Run]
) -> tuple[list[HookAccount], list[Run]]:
    """Return the hooks in config order, run or not; and the runs of hooks that ran again after a rewrite.

    `redact` is what the journal did to the runs: a hook is found by its redacted name.
    """
    left = _settled(runs)
    accounts: list[HookAccount] = []
    for decision in decisions:
        skipped = redact(skipped_run(decision.prepared, decision.why))
        actions = len(decision.translated.actions) if decision.translated is not None else 0
        found = _taken(left, skipped, max(actions, 1))
        if found:
            why = skipped.why if decision.selected else "matched: on what another hook rewrote"
            accounts.append(HookAccount(decision, tuple(replace(run, why=why) for run in found)))
            continue
        if decision.selected:
            skipped = replace(skipped, why="not reached: an earlier hook of its lane ended it")
        accounts.append(HookAccount(decision, (skipped,), ran=False))
    why = "asked again: another hook rewrote what it had seen"
    return accounts, [replace(run, why=why) for run in left]


def skipped_run(prepared: PreparedHook, why: str) -> Run:
    """Make the record of a hook that did not run."""
    hook = prepared.hook
    return Run(
        hook=hook.name, source=prepared.source, dialect=hook.dialect, type=hook.kind, mode=hook.mode,
        status="skipped", why=why, event=hook.event.name, dialect_event=hook.policy.event_name,
    )  # fmt: skip


def _taken(left: list[Run], same: Run, most: int) -> list[Run]:
    """Take the runs of a hook out of the list, in the order of the actions they are about."""
    mine = [run for run in left if (run.hook, run.source) == (same.hook, same.source) and not run.recheck]
    # Ids end with a number that counts runs, so those of actions are in their order; records may not be.
    mine = sorted(mine[:most], key=lambda run: (len(run.run_id), run.run_id))
    for run in mine:
        left.remove(run)
    return mine


def _settled(runs: Sequence[Run]) -> list[Run]:
    """Keep one record per run: a background hook has two with one id, and the later one knows how it ended."""
    in_background = {run.run_id for run in runs if run.status == "background"}
    ends = {run.run_id: run for run in runs if run.status != "background"}
    return [
        run if run.run_id not in in_background else _ended(run, ends.get(run.run_id))
        for run in runs
        if run.status == "background" or run.run_id not in in_background
    ]


def _ended(start: Run, end: Run | None) -> Run:
    if end is None:
        return start
    return replace(end, status="background") if end.status in ("ok", "blocked") else end
