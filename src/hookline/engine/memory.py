"""Keep what the engine remembers: of its hooks which are active, which failed, what it warned of; of each session its
own hooks, and what they and its host did so far.

Hosts see an `Engine` and a `Session` without it. The engine's modules, and those that stand around it, use the
functions here.
"""

# They read what the classes of their own module hide from hosts.
# pyright: reportPrivateUsage=false
# ruff: noqa: SLF001

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.background import Inbox
from hookline.engine.lanes import HookStore, Lane, Lanes, build_lanes
from hookline.engine.prepared_hook import PreparedHook, prepare
from hookline.handlers.registry import Handler
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Halt, Message, Outcome, merged
from hookline.model.policy import BlockLimit, Policy
from hookline.model.session_info import SessionInfo

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.config.engine import Engine
    from hookline.engine.breaker import Breaker
    from hookline.engine.dispatch import LaneOutcome
    from hookline.engine.host.state import HostState
    from hookline.engine.host.tool import Approve
    from hookline.engine.run_hook import Admit
    from hookline.engine.session import Session
    from hookline.engine.translate_calls import TranslatedCall, TranslationCache


class EngineMemory:
    """The state of an engine's hooks."""

    def __init__(self, handlers: Mapping[str, Handler], events: Mapping[str, EventSpec[Any]]) -> None:
        self.store = HookStore(handlers, events)
        #: Warnings already shown; each appears once.
        self.warned: set[object] = set()
        #: Breakers of hooks that have failed, by their keys.
        self.breakers: dict[object, Breaker] = {}
        # Starts anywhere: receivers of http hooks take the same id for the same call, also from another
        # process.
        self.next_number: Callable[[], int] = itertools.count(int.from_bytes(os.urandom(7))).__next__
        #: Makes every background hook durable.
        self.all_durable = False
        #: False: pauses of guards do not apply, as in a trial of them.
        self.obeys_pauses = True


class RemembersHooks:
    """An object with the memory of an engine."""

    _memory: EngineMemory


def memory_of(engine: RemembersHooks) -> EngineMemory:
    return engine._memory


class _Count(Struct, frozen=True):
    blocks: int = 0
    turn: int = 0
    call: int = 0


class BlockCounts:
    """Consecutive blocks per policy, for one session. A new turn, or a tool call, may reset the count."""

    def __init__(self) -> None:
        #: The number of turns and tool calls so far.
        self.ticks = {"turn": 0, "call": 0}
        self._counts: dict[str, _Count] = {}

    def clear(self) -> None:
        self._counts.clear()

    def saved(self) -> tuple[dict[str, int], dict[str, tuple[int, int, int]]]:
        """Return the numbers, and the counts by policy."""
        counts = self._counts.items()
        return dict(self.ticks), {key: (each.blocks, each.turn, each.call) for key, each in counts}

    def restore(self, ticks: Mapping[str, int], counts: Mapping[str, tuple[int, int, int]]) -> None:
        """Continue with what `saved` returned."""
        self.ticks.update(ticks)
        self._counts = {key: _Count(*each) for key, each in counts.items()}

    def apply(self, lanes: Sequence["LaneOutcome"]) -> Outcome:
        """Merge the outcomes, without blocks beyond the limits.

        Several lanes of one dispatch may have the same policy; together they block once, or not at all.
        """
        outcomes = [lane.outcome for lane in lanes]
        by_policy: dict[str, list[int]] = {}
        for index, lane in enumerate(lanes):
            if lane.policy.limit is not None:
                by_policy.setdefault(f"{lane.dialect}:{lane.policy.event_name}", []).append(index)
        notes = PASS
        for key, places in by_policy.items():
            policy = lanes[places[0]].policy
            blocks = self._count(key, policy, blocked=any(outcomes[place].blocked for place in places))
            if policy.limit is not None and blocks > policy.limit.obeyed:
                for index in places:
                    outcomes[index] = _overruled(policy.limit, outcomes[index])
                notes += _note(policy, policy.limit, blocks)
        return merged([*outcomes, notes])

    def _count(self, key: str, policy: Policy, *, blocked: bool) -> int:
        """Return the blocks in a row including this one; one beyond the limit resets the count."""
        limit = policy.limit
        if limit is None:
            return 0
        blocks = self._so_far(key, limit) + 1 if blocked else 0
        if blocks <= limit.obeyed:
            self._counts[key] = _Count(blocks, self.ticks["turn"], self.ticks["call"])
        else:
            self._counts.pop(key, None)
        return blocks

    def _so_far(self, key: str, limit: BlockLimit) -> int:
        count = self._counts.get(key)
        if count is None or count.turn != self.ticks["turn"]:
            return 0
        return 0 if limit.resets == "call" and count.call != self.ticks["call"] else count.blocks


def _note(policy: Policy, limit: BlockLimit, blocks: int) -> Outcome:
    text = f"{policy.event_name} blocked {blocks} times in a row"
    if limit.then == "end_turn":
        return Outcome(halts=(Halt(text),), messages=(Message(f"{text}: the turn ends"),), limit_reached=True)
    return Outcome(messages=(Message(f"{text}: not obeyed this time"),), limit_reached=True)


def _overruled(limit: BlockLimit, outcome: Outcome) -> Outcome:
    """Remove blocks that are not obeyed from the outcome; where the turn ends instead, they stay."""
    if limit.then == "end_turn":
        return outcome
    blockers = {vote.by for vote in outcome.votes if vote.kind == "block"}
    texts = outcome.context_items
    return replace(
        outcome,
        votes=tuple(vote for vote in outcome.votes if vote.kind != "block"),
        context_items=texts if limit.keeps_text else tuple(t for t in texts if t.hook not in blockers),
    )


class HookedSession:
    """A session as the engine sees it."""

    def __init__(
        self, engine: "Engine", info: SessionInfo, parent: "Session | None", approve: "Approve | None"
    ) -> None:
        self.engine = engine
        self.parent = parent
        self.info = info
        self.inbox = Inbox()
        #: Admits hooks instead of the engine's `admit`.
        self.admit: Admit | None = parent.admit if parent is not None else None
        #: The tools of the agent whose calls are dispatched here; None means those of the engine's program.
        self.tools: ToolTable | None = parent.tools if parent is not None else None
        self._approve = approve
        self._host: HostState | None = None
        self._counts = BlockCounts()
        self._once_marks: set[object] = set()
        self._last_call: TranslationCache | None = None
        self._hooks: dict[str, Hook] = {}
        #: True if it has or had hooks beside the engine's: then its lanes are merged.
        self._merges = parent is not None
        self._version = 0
        self._store = memory_of(engine).store
        self._merged_lanes: dict[str, Lanes] = {}
        self._merged_from: tuple[int, ...] = ()

    def add_hook(self, hook: Hook) -> str:
        """Add a hook of `engine.make_hook` for this session. Returns the id to remove it by."""
        hook_id = str(memory_of(self.engine).next_number())
        self._hooks[hook_id] = hook
        self._merges = True
        self._version += 1
        return hook_id

    def remove(self, hook_id: str) -> bool:
        """Remove a hook of this session; False if there is none with that id."""
        found = self._hooks.pop(hook_id, None) is not None
        self._version += found
        return found

    def clear(self) -> None:
        """Forget the session's own hooks, once marks and counts: it ended, or starts again."""
        self._hooks.clear()
        self._version += 1
        self._once_marks.clear()
        self._counts.clear()

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks added to this session, its parents' first."""
        inherited = self.parent.hooks if self.parent is not None else ()
        return (*inherited, *self._hooks.values())

    def _merged(self) -> dict[str, Lanes]:
        versions = self._versions()
        if versions != self._merged_from:
            merged = dict(self._store.lanes)
            for name, own in build_lanes(prepare(self.hooks, self.engine.handlers)).items():
                merged[name] = (*merged.get(name, ()), *own)
            self._merged_lanes, self._merged_from = merged, versions
        return self._merged_lanes

    def _versions(self) -> tuple[int, ...]:
        """Return the versions of all hook sets that this session's lanes are merged from."""
        above = self.parent._versions() if self.parent is not None else (self._store.version,)
        return (*above, self._version)


def lanes_of(session: HookedSession, event_name: str) -> Lanes:
    """Return the active lanes of a session: the engine's, then those of its own hooks."""
    if session._merges:
        return session._merged().get(event_name, ())
    return session._store.lanes.get(event_name, ())


def counts_of(session: HookedSession) -> BlockCounts:
    """Return how often in a row hooks have blocked."""
    return session._counts


def once_marks_of(session: HookedSession) -> set[object]:
    """Return the marks of hooks that run once and have run."""
    return session._once_marks


def share_memory(session: HookedSession, counts: BlockCounts, once_marks: set[object]) -> None:
    """Let a session continue with what another one has counted and marked."""
    session._counts, session._once_marks = counts, once_marks


def host_of(session: HookedSession) -> "HostState":
    """Return the state that `prompt`, `model`, `tool` and `end` keep between two calls."""
    if session._host is None:
        from hookline.engine.host.state import HostState  # noqa: PLC0415 hosts that only dispatch do without

        session._host = HostState()
    return session._host


def restore_host(session: HookedSession, state: "HostState") -> None:
    session._host = state


def root_of(session: HookedSession) -> HookedSession:
    """Return the session of the conversation that a subagent belongs to."""
    return session if session.parent is None else root_of(session.parent)


def approver_of(session: HookedSession) -> "Approve | None":
    """Return the function that answers questions: the session's, its parents', or the engine's."""
    if session._approve is not None:
        return session._approve
    return approver_of(session.parent) if session.parent is not None else session.engine.approve


def tool_table_of(session: HookedSession) -> "ToolTable":
    """Return the meaning of the tools that a session calls."""
    return session.tools if session.tools is not None else session.engine.tool_table


def translated_call(
    session: HookedSession, prepared: PreparedHook, event: EventSpec[Any], payload: Any
) -> "TranslatedCall":
    """Return a tool call translated for a hook whose agent would make it in another way."""
    last, hook = _read(session, payload), prepared.hook
    # Hooks of one agent that match any call share one translation.
    for_any = hook.matcher is None and hook.condition is None
    key = (id(hook.wire), event.name) if for_any else prepared
    known = last.translated.get(key)
    if known is None:
        from hookline.engine.translate_calls import translate_call  # noqa: PLC0415 most calls need no translation

        known = last.translated[key] = translate_call(prepared, event, payload, last)
    return known


def followed_call(
    session: HookedSession, prepared: PreparedHook, event: EventSpec[Any], payload: Any
) -> "TranslatedCall | None":
    """Return the actions of a call on files that a hook matches, while it does not match the call."""
    from hookline.engine.follow_actions import followed_call  # noqa: PLC0415 only for hooks about files

    return followed_call(prepared, event, payload, _read(session, payload), session.engine)


def touches_files(session: HookedSession, event: EventSpec[Any], payload: Any) -> bool:
    """Return False if no hook can be asked about what a call does to files: it does nothing to any."""
    if (known := _read(session, payload).followed) is not None:
        return bool(known)
    from hookline.engine.follow_actions import followed_actions  # noqa: PLC0415 only for hooks about files

    return bool(followed_actions(_read(session, payload), event, session.engine))


def may_run_more_lines(session: HookedSession, payload: Any) -> bool:
    """Return False if a call certainly runs no line of a shell beside the one that its tool says."""
    tool = tool_table_of(session).tool(payload.tool_name)
    if tool is not None and tool.direct and tool.kind != "shell_input":
        return False  # most calls: they need not be read for this
    from hookline.guards.file_actions import typed_lines  # noqa: PLC0415 only for hooks about files

    call = _read(session, payload).call
    return call.is_undeclared or bool(typed_lines(call.actions))


def runs_lines(session: HookedSession, event: EventSpec[Any], payload: Any) -> bool:
    """Return True if a call runs a line of a shell beside what its tool says: by typing it, or by an argument."""
    from hookline.engine.follow_actions import followed_actions  # noqa: PLC0415 only for hooks about files

    actions = followed_actions(_read(session, payload), event, session.engine)
    return any(action.kind is not None and action.kind.name == "shell" for action in actions)


def possible_hooks(
    session: HookedSession, lane: Lane, event: EventSpec[Any], payload: Any
) -> Sequence[PreparedHook]:
    """Return the hooks of a lane that a call may match; the others certainly do not match."""
    if lane.index is None:
        return lane.hooks
    from hookline.engine.translate_calls import possible_hooks  # noqa: PLC0415 as above

    return possible_hooks(lane, lane.index, event, _read(session, payload))


def _read(session: HookedSession, payload: Any) -> "TranslationCache":
    last = session._last_call
    if last is None or last.payload is not payload or last.info is not session.info:
        from hookline.engine.translate_calls import TranslationCache, call_of  # noqa: PLC0415 as above

        last = session._last_call = TranslationCache(payload, session.info, call_of(payload, session), {}, {})
    return last
