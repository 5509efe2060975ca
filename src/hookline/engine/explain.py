"""Why a hook of an event runs on a payload, or does not: for people, and without running anything.

After a dispatch, `accounts_of` puts these reasons and the records of what ran together.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.lanes import Lane, PreparedHook, check_matcher
from hookline.matching.conditions import Explanation, explain_match, explain_matcher
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.engine.session import Session
    from hookline.engine.told_calls import ToldAct, ToldCall
    from hookline.tools.tell import View


_ASKS = "only in doubt, in_doubt = ask"
#: How the reason of a hook begins that does not run, because the user is asked in its place.
ASKED_INSTEAD = f"matched: {_ASKS}"


class Verdict(Struct, frozen=True):
    """Whether a hook would run on a payload, and why."""

    prepared: PreparedHook
    selected: bool
    why: str
    #: What it is told of a tool call, if its agent would make that call in another way. A hook that would not run has
    #: what it would be told.
    told: "ToldCall | None" = None


def explain(
    lanes: Sequence[Lane], event: EventSpec[Any], payload: Any, session: "Session"
) -> Iterator[Verdict]:
    """Every hook of the event with its reason, without running or using up anything."""
    for lane in lanes:
        seen: dict[object, str] = {}
        for prepared in lane.hooks:
            yield _verdict(prepared, lane, seen, event, payload, session)


def _verdict(
    prepared: PreparedHook,
    lane: Lane,
    seen: dict[object, str],
    event: EventSpec[Any],
    payload: Any,
    session: "Session",
) -> Verdict:
    hook, told = prepared.hook, None
    if hook.mode == "off":
        by = "mode is off" if hook.disabled_by is None else f"disabled by {hook.disabled_by}"
        return Verdict(prepared, False, f"switched off: {by}")
    if prepared.is_told_as_called(payload, session):
        selected, reason = _reason(prepared, lane, seen, event, payload, session)
    else:
        selected, reason, told = _told_reason(prepared, event, payload, session)
        if selected and (same := _same_as(prepared, seen)) is not None:
            selected, reason = False, same
    if selected and hook.once and prepared.key in session.once_marks:
        selected, reason = False, "ran already: once per session"
    return Verdict(prepared, selected, reason, told)


def _reason(
    prepared: PreparedHook,
    lane: Lane,
    seen: dict[object, str],
    event: EventSpec[Any],
    payload: Any,
    session: "Session",
) -> tuple[bool, str]:
    """Whether a hook is selected for a payload that it is told as it is, and why."""
    hook, scene = prepared.hook, session.scene
    subject = lane.subject_of(payload) if event.subject else None
    if hook.matcher is not None and check_matcher(prepared, subject or "") is None:
        return False, f"not matched: {explain_matcher(hook.matcher, subject or '')}"
    if (same := _same_as(prepared, seen)) is not None:
        return False, same
    found = explain_match(hook.matcher, hook.condition, subject, event, payload, scene)
    selected = found.matched and not (found.in_doubt and hook.in_doubt == "pass")
    return selected, f"{'matched' if selected else 'not matched'}: {_words(hook, found)}"


def _words(hook: Hook, found: Explanation) -> str:
    """With what becomes of a match that is only in doubt, unless it counts as any other."""
    if found.in_doubt and hook.asks_in_doubt:
        return f"{_ASKS}, the user is asked in its place: {found.why}"
    if found.in_doubt and hook.in_doubt == "pass":
        return f"only in doubt, in_doubt = pass: {found.why}"
    return found.why


def _same_as(prepared: PreparedHook, seen: dict[object, str]) -> str | None:
    """Of equal hooks that match, the first one runs."""
    identity = prepared.hook.identity
    if identity is None:
        return None
    if identity in seen:
        return f"the same as {seen[identity]}, which runs once"
    seen[identity] = prepared.source or prepared.hook.name
    return None


def _told_reason(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> tuple[bool, str, "ToldCall | None"]:
    """Whether a call concerns a hook, why, and what it is told; a hook that it does not concern: would be told.

    None for a hook that is told calls as they are made, or whose matcher or condition fails.
    """
    from hookline.engine.told_calls import preferred_acts  # noqa: PLC0415 most calls are told as they are

    hook = prepared.hook
    try:
        told_call = session.told_call(prepared, event, payload)
        concerned = bool(told_call.acts)
        if not concerned:
            told_call = replace(told_call, acts=preferred_acts(hook, told_call, session.scene))
        reason = _act_reason(hook, event, told_call)
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return True, f"matched: its matcher or condition failed: {type(problem).__name__}: {problem}", None
    verdict = "matched" if concerned else "not matched"
    return concerned, f"{verdict}: {reason}", None if hook.as_called else told_call


def _act_reason(hook: Hook, event: EventSpec[Any], told_call: "ToldCall") -> str:
    if not told_call.acts:
        return "its agent has no tool that does this"
    told, name = deciding_act(hook, told_call)
    doubt = told.view.act.doubt
    condition = None if doubt else hook.condition
    found = explain_match(hook.matcher, condition, name, event, told.payload, told.scene)
    words = _words(hook, found)
    return f"{words}; {doubt}, so it may be anything" if doubt and found.matched else words


def deciding_act(hook: Hook, told_call: "ToldCall") -> "tuple[ToldAct, str]":
    """The first act that the hook's matcher means, else the first one; and the name that is compared with it."""
    named = [(told, _meant(hook, told.view)) for told in told_call.acts]
    told, name = next((each for each in named if each[1] is not None), named[0])
    return told, name or told.view.tool_name


def _meant(hook: Hook, view: "View") -> str | None:
    """The name of an act that a matcher means."""
    names = (view.tool_name, *view.also)
    return next((name for name in names if hook.matcher is None or hook.matcher.matches(name)), None)


# What became of each hook, once the event was dispatched


class HookAccount(Struct, frozen=True):
    """What became of one hook of an event."""

    verdict: Verdict
    #: Its run, or one for each act of the call that it was asked about; if it did not run, one that says why.
    runs: tuple[Run, ...]
    ran: bool = True


def accounts_of(
    verdicts: Sequence[Verdict], runs: Sequence[Run], redact: Callable[[Run], Run]
) -> tuple[list[HookAccount], list[Run]]:
    """The hooks in config order, run or not; and the runs of those that were asked again after a rewrite.

    `redact` is what the journal did to the runs: a hook is found by its redacted name.
    """
    left = _settled(runs)
    accounts: list[HookAccount] = []
    for verdict in verdicts:
        skipped = redact(skipped_run(verdict.prepared, verdict.why))
        acts = len(verdict.told.acts) if verdict.told is not None else 0
        found = _taken(left, skipped, max(acts, 1))
        if found:
            why = skipped.why if verdict.selected else "matched: on what another hook rewrote"
            accounts.append(HookAccount(verdict, tuple(replace(run, why=why) for run in found)))
            continue
        if verdict.selected:
            skipped = replace(skipped, why="not reached: an earlier hook of its lane ended it")
        accounts.append(HookAccount(verdict, (skipped,), ran=False))
    why = "asked again: another hook rewrote what it had seen"
    return accounts, [replace(run, why=why) for run in left]


def skipped_run(prepared: PreparedHook, why: str) -> Run:
    """The record of a hook that did not run."""
    hook = prepared.hook
    return Run(
        hook=hook.name, source=prepared.source, dialect=hook.dialect, type=hook.kind, mode=hook.mode,
        status="skipped", why=why, event=hook.event.name, spelled=hook.policy.event_name,
    )  # fmt: skip


def _taken(left: list[Run], same: Run, most: int) -> list[Run]:
    """The runs of a hook, taken out of the list; in the order of the acts that they are about."""
    mine = [run for run in left if (run.hook, run.source) == (same.hook, same.source) and not run.recheck]
    # Ids end with a number that counts runs, so those of acts are in their order; records may not be.
    mine = sorted(mine[:most], key=lambda run: (len(run.run_id), run.run_id))
    for run in mine:
        left.remove(run)
    return mine


def _settled(runs: Sequence[Run]) -> list[Run]:
    """One record per run: a detached hook has two with one id, and the later one knows how it ended."""
    detached = {run.run_id for run in runs if run.status == "detached"}
    ends = {run.run_id: run for run in runs if run.status != "detached"}
    return [
        run if run.run_id not in detached else _ended(run, ends.get(run.run_id))
        for run in runs
        if run.status == "detached" or run.run_id not in detached
    ]


def _ended(start: Run, end: Run | None) -> Run:
    if end is None:
        return start
    return replace(end, status="detached") if end.status in ("ok", "blocked") else end
