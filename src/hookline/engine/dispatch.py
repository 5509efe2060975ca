"""Dispatch an event: the main path, from an event to one outcome.

`dispatch` shows the whole path in one function. `run_lane` runs the hooks of one lane, `DispatchState`
collects their answers, `recheck` runs guards again when a rewrite came after they answered.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.lanes import Lane
from hookline.engine.memory import EngineMemory, counts_of, lanes_of, memory_of
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.run_hook import BLOCKS_LOOP, HookAnswer
from hookline.engine.run_lane import run_all_at_once, run_lane
from hookline.engine.select_hooks import check_again, select
from hookline.model.events import Capability, EventSpec, field_of
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Answer, ContextItem, Message, Outcome, Rewrite, Vote, edited, merged
from hookline.model.policy import Policy
from hookline.model.read_only import own_copy, read_only_record

if TYPE_CHECKING:
    from hookline.engine.session import Session

P = TypeVar("P")

#: Mistakes in hooks that an engine remembers having reported.
_MOST_WARNINGS = 1000


async def dispatch(session: "Session", event: EventSpec[P], payload: P) -> Outcome:
    """Run the hooks that concern this event and merge their answers, in config order.

    Only cancellation is raised: every failure of a hook is judged by its policy and recorded. Hooks change
    nothing themselves; the outcome says what they want, and the host applies it.
    """
    if event.ticks is not None:
        counts_of(session).ticks[event.ticks] += 1
    lanes = lanes_of(session, event.name)
    if not lanes:
        return PASS

    state = DispatchState(session, memory_of(session.engine), event, payload, len(lanes) == 1)
    for lane in lanes:  # later lanes still run, so audit hooks see blocked calls
        selected = select(lane, event, state.payload, session)  # matcher, condition, once
        answers = run_lane(lane, state, selected) if selected else []  # run, decode, judge
        if not isinstance(answers, list):  # functions that wait for nothing are done already
            answers = await answers
        state.add_lane(lane, answers)  # merge; the next lane sees what this one rewrote
    if state.outcome.edits:
        await recheck(state)  # a guard must have judged the final value
    # Blocks beyond a policy's limit are not obeyed.
    return state.within_limits() if state.limited else state.outcome


class LaneOutcome(Struct, frozen=True):
    """The merged answers of one lane in a dispatch."""

    dialect: str
    policy: Policy
    outcome: Outcome


class LaneResult(Struct, frozen=True):
    """The answers of one lane, and the payload as the lane left it."""

    lane: Lane
    answers: Sequence[HookAnswer]
    payload: Any
    outcome: Outcome = PASS


class DispatchState(Struct, eq=False):
    """One running dispatch: the payload as the hooks so far left it, and the outcome so far."""

    session: "Session"
    memory: EngineMemory
    event: EventSpec[Any]
    payload: Any
    #: True if there is one lane, so no other lane can rewrite what it judged.
    one_lane: bool = False
    outcome: Outcome = PASS
    results: tuple[LaneResult, ...] = ()
    #: Outcomes that no lane produced: votes of guards that ran again, and rewrites that failed.
    unlaned: tuple[LaneOutcome, ...] = ()
    #: True if a policy limits how often its hooks may block.
    limited: bool = False
    #: A payload, and the read-only copy of it for hooks in this process.
    shown_for: Any = None
    shown: Any = None
    #: Identifies this event for durable hooks.
    event_id: str = ""

    def show(self, payload: Any) -> Any:
        """Return the payload in a form that a hook cannot change."""
        if self.shown_for is payload:
            return self.shown
        shown = read_only_record(payload)
        if shown is None:
            return own_copy(payload)
        self.shown_for, self.shown = payload, shown
        return shown

    def add_lane(self, lane: Lane, answers: Sequence[HookAnswer]) -> None:
        """Merge a lane's answers by its policy, and advance the payload for the lanes after it."""
        outcome = answers[0].outcome if answers else PASS
        if len(answers) > 1 or (outcome is not PASS and not lane.keeps_all):
            outcomes = [answer.outcome for answer in answers]
            outcome = merged(outcomes) if lane.keeps_all else fold(lane.policy, outcomes)
        if outcome is not PASS:
            if outcome.edits:
                outcome = with_whole_values(outcome, field_of(self.payload, self.event.rewrites or ""))
                outcome += self.undeclared_rewrites(lane, answers)
            if outcome.edits or outcome.context_items:
                self.payload = self.advance(lane.hooks[0].hook, self.payload, outcome)
            self.outcome = outcome if self.outcome is PASS else self.outcome + outcome
        if answers and lane.policy.limit is not None:
            self.limited = True
        elif self.one_lane and not outcome.edits:
            return  # no later step needs it
        self.results += (LaneResult(lane, answers, self.payload, outcome),)

    def undeclared_rewrites(self, lane: Lane, answers: Sequence[HookAnswer]) -> Outcome:
        """Report hooks made in code that rewrite beside hooks that judge, where rewriters must run first."""
        if lane.in_order or lane.policy.run != "rewriters_first":
            return PASS
        field, notices = self.event.rewrites, PASS
        for answer in answers:
            hook = answer.prepared.hook
            if answer.outcome.edits and not hook.where.file:
                text = f"hook {hook.name} rewrites {field} and is not marked rewrites=True: "
                notices += self.notice(hook, "rewrites", f"{text}hooks beside it judge the old {field}")
        return notices

    def blocked_loop(self, prepared: PreparedHook, seconds: float) -> Outcome:
        """Report a function that blocked the event loop."""
        hook = prepared.hook
        if not prepared.in_process or seconds <= BLOCKS_LOOP:
            return PASS
        if getattr(hook.spec, "quick", False):
            text = f"hook {hook.name} is not quick: it blocked the event loop for {seconds:.2f} s"
            return self.notice(hook, "blocks", f"{text}; without quick=True it runs in a thread")
        text = f"hook {hook.name} is async and blocked the event loop for {seconds:.2f} s: await what it"
        text += " waits for, or make it a plain function, which runs in a thread"
        return self.notice(hook, "blocks", text)

    def had_no_effect(self, prepared: PreparedHook, dropped: Sequence[str]) -> Outcome:
        """Report what a function wanted and its event cannot do."""
        if not prepared.in_process:
            return PASS
        text = f"hook {prepared.hook.name} wants what {self.event.name} cannot do: {', '.join(dropped)}"
        return self.notice(prepared.hook, "dropped", text)

    def notice(self, hook: Hook, about: str, text: str) -> Outcome:
        """Report a mistake in a hook, once."""
        warned, key = self.memory.warned, (about, hook.event.name, hook.name, hook.where)
        if key in warned:
            return PASS
        if len(warned) >= _MOST_WARNINGS:
            warned.clear()
        warned.add(key)
        return Outcome(messages=(Message(text, hook.name),))

    def advance(self, hook: Hook, payload: Any, outcome: Outcome) -> Any:
        """Return the payload as the next hook sees it. A rewrite is applied whole or not at all."""
        try:
            return hook.wire.advance(self.event, payload, outcome)
        except Exception as problem:  # noqa: BLE001 wires and payloads may come from the host
            text = f"the rewrite by {hook.name} cannot be applied: {type(problem).__name__}: {problem}"
            text = self.session.engine.journal.without_secrets(text)
            votes = (Vote("block", text, by=hook.name),) if self.event.may & Capability.BLOCK else ()
            self.add_unlaned(hook, Outcome(votes=votes, messages=(Message(text, hook.name),)))
            return payload

    def add_unlaned(self, hook: Hook, outcome: Outcome) -> None:
        self.unlaned += (LaneOutcome(hook.dialect, hook.policy, outcome),)
        self.outcome += outcome

    def within_limits(self) -> Outcome:
        """Return the outcome after the block limits of this session."""
        lanes = [
            LaneOutcome(result.lane.hooks[0].hook.dialect, result.lane.policy, result.outcome)
            for result in self.results
            if result.answers
        ]
        return counts_of(self.session).apply([*lanes, *self.unlaned])


# Merging the answers of one lane


def fold(policy: Policy, outcomes: Sequence[Outcome]) -> Outcome:
    """Merge the outcomes of one lane in config order: what the policy keeps, with the reason it gives."""
    if policy.keep == "block_only":
        first = next((outcome for outcome in outcomes if outcome.blocked), None)
        if first is not None:
            return Outcome(votes=first.votes, messages=first.messages, halts=first.halts)
    total = merged(outcomes)
    if policy.keep == "decision_only" and total.blocked:
        total = Outcome(votes=total.votes, messages=total.messages, halts=total.halts)
    elif policy.most_context is not None and total.context_items:
        total = replace(total, context_items=_truncated(total.context_items, policy.most_context))
    if policy.answers == "united" and len(total.answers) > 1:
        total = replace(total, answers=(_united(total.answers),))
    joins = policy.reasons == "joined" or (policy.reasons == "blocks_joined" and total.blocked)
    return _with_joined_reasons(total) if joins else total


def _truncated(items: Sequence[ContextItem], most: int) -> tuple[ContextItem, ...]:
    """Return the first `most` characters of all texts, counted as if they were joined by newlines."""
    kept: list[ContextItem] = []
    room = most
    for item in items:
        if len(item.text) > room:
            kept.append(replace(item, text=f"{item.text[: max(room, 0)]}…[truncated]"))
            break
        kept.append(item)
        room -= len(item.text) + 1
    return tuple(kept)


def _united(answers: Sequence[Answer]) -> Answer:
    if not all(isinstance(answer.value, list) for answer in answers):
        return answers[0]
    lists = cast("list[list[Any]]", [answer.value for answer in answers])
    every = list(dict.fromkeys(item for items in lists for item in items)) if all(lists) else []
    return Answer(every, by=", ".join(dict.fromkeys(answer.by for answer in answers)))


def _with_joined_reasons(outcome: Outcome) -> Outcome:
    top = outcome.deciding_vote
    if top is None or len(outcome.votes) < 2:
        return outcome
    reasons = [vote.reason for vote in outcome.votes if vote.kind == top.kind and vote.reason]
    if len(reasons) < 2:
        return outcome
    joined = replace(top, reason="\n".join(reasons), rank=top.rank + 1)
    return replace(outcome, votes=(joined, *outcome.votes))


def with_whole_values(outcome: Outcome, before: Any) -> Outcome:
    """Add the whole new value to each edit: a patch alone does not show what the value became."""
    edits: list[Rewrite] = []
    value = before
    for edit in outcome.edits:
        value = edited(value, edit)
        edits.append(replace(edit, whole=value))
    return replace(outcome, edits=tuple(edits))


# Running guards again after a rewrite


async def recheck(state: DispatchState) -> None:
    """Run the guards that judged an older value again, on the final payload. Only their votes are used."""
    field = state.event.rewrites
    if field is None or not state.event.may & Capability.BLOCK:
        return
    stale = _stale_guards(state, field)
    if stale:
        answers = run_all_at_once(state, stale, recheck=True)
        for answer in answers if isinstance(answers, list) else await answers:
            state.add_unlaned(answer.prepared.hook, Outcome(votes=answer.outcome.votes))


def _stale_guards(state: DispatchState, field: str) -> list[PreparedHook]:
    final = field_of(state.payload, field)
    last_editor = next(
        (
            answer.prepared
            for result in reversed(state.results)
            for answer in reversed(result.answers)
            if answer.outcome.edits
        ),
        None,
    )
    stale: list[PreparedHook] = []
    for result in state.results:
        changed_later = field_of(result.payload, field) != final
        if not (result.lane.guards and (changed_later or result.lane.rechecks_own)):
            continue
        fresh = {
            answer.prepared.key
            for answer in result.answers
            if field_of(answer.payload, field) == final
            or (not changed_later and answer.prepared is last_editor)
        }
        stale.extend(guard for guard in _guards_concerned(state, result) if guard.key not in fresh)
    return stale


def _guards_concerned(state: DispatchState, result: LaneResult) -> list[PreparedHook]:
    """Return the guards of a lane that match the final payload, including those that did not match the first."""
    event, payload, session = state.event, state.payload, state.session
    before = [answer.prepared for answer in result.answers]
    known = {prepared.key for prepared in before}
    again = [check_again(prepared, event, payload, session) for prepared in before]
    newly = [
        prepared for prepared in select(result.lane, event, payload, session) if prepared.key not in known
    ]
    return [
        prepared
        for prepared in (*again, *newly)
        if prepared is not None and prepared.may & Capability.BLOCK and prepared.hook.waiting == "wait"
    ]
