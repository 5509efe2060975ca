"""Hold one agent conversation: its hooks, counters, inbox and session info."""

import os
from collections.abc import Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.background import Inbox
from hookline.engine.dispatch import LaneOutcome, dispatch
from hookline.engine.host.calls import HostCalls
from hookline.engine.lanes import Lane, Lanes, build_lanes
from hookline.engine.prepared_hook import PreparedHook, prepare
from hookline.engine.select_hooks import may_concern
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Halt, Message, Outcome, merged
from hookline.model.policy import BlockLimit, Policy
from hookline.model.session_info import SessionChanges, SessionInfo

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.config.engine import Engine
    from hookline.engine.explain import MatchResult
    from hookline.engine.host.make_hook import Action, HookOptions
    from hookline.engine.host.state import HostState
    from hookline.engine.host.tool import Approve
    from hookline.engine.run_hook import Admit
    from hookline.engine.translate_calls import TranslatedCall, TranslationCache
    from hookline.journal.observer import Observer

P = TypeVar("P")


class Session(HostCalls):
    """One agent conversation: the state its hooks share, and the calls that a host makes.

    A subagent's session inherits hooks, not counters. ::

        async with engine.session("conversation 1", cwd=cwd) as session:
            prompt = await session.prompt("list the files")
            done = await session.tool("Bash", {"command": "ls"}, run=run_shell)
            end = await session.end("There are two.")
    """

    def __init__(
        self,
        engine: "Engine",
        info: SessionInfo,
        parent: "Session | None" = None,
        approve: "Approve | None" = None,
    ) -> None:
        self.engine = engine
        self.parent = parent
        self._approve = approve
        self._host: HostState | None = None
        self.info = info
        self.inbox = Inbox()
        self.counts = BlockCounts()
        self.once_marks: set[object] = set()
        #: Admits hooks instead of the engine's `admit`.
        self.admit: Admit | None = parent.admit if parent is not None else None
        #: The tools of the agent whose calls are dispatched here; None means those of the engine's program.
        self.tools: ToolTable | None = parent.tools if parent is not None else None
        self._last_call: TranslationCache | None = None
        self._hooks: dict[str, Hook] = {}
        self._version = 0
        self._closed = False
        self._store = engine.store
        self._merged_lanes: dict[str, Lanes] = {}
        self._merged_from: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """The id of the conversation."""
        return self.info.session_id

    @property
    def tool_table(self) -> "ToolTable":
        """The meaning of the tools that this session calls."""
        return self.tools if self.tools is not None else self.engine.tool_table

    async def close(self, reason: str = "other") -> None:
        """End the session: SessionEnd, if it had begun. From now on it refuses tools, prompts and requests."""
        if self._closed:
            return
        self._closed = True
        from hookline.engine.host import conversation  # noqa: PLC0415 hosts that only dispatch do without

        await conversation.close(self, reason)

    @property
    def closed(self) -> bool:
        """True once the session, a parent or the engine was closed: it refuses tools, prompts and requests.

        Its own hooks stay, for calls that had begun.
        """
        return self._closed or self.engine.closed or (self.parent is not None and self.parent.closed)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and self.host.is_open and not self.closed:
            await self.failed(error)
        await self.close()

    @property
    def host(self) -> "HostState":
        """The state that `prompt`, `model`, `tool` and `end` keep between two calls."""
        if self._host is None:
            from hookline.engine.host.state import HostState  # noqa: PLC0415 as above

            self._host = HostState()
        return self._host

    @host.setter
    def host(self, state: "HostState") -> None:
        self._host = state

    @property
    def root(self) -> "Session":
        """The session of the conversation that a subagent belongs to."""
        return self if self.parent is None else self.parent.root

    @property
    def approver(self) -> "Approve | None":
        """The function that answers questions: the session's, its parents', or the engine's."""
        if self._approve is not None:
            return self._approve
        return self.parent.approver if self.parent is not None else self.engine.approve

    def translated_call(
        self, prepared: PreparedHook, event: EventSpec[Any], payload: Any
    ) -> "TranslatedCall":
        """Return a tool call translated for a hook whose agent would make it in another way."""
        last, hook = self._read(payload), prepared.hook
        # Hooks of one agent that match any call share one translation.
        for_any = hook.matcher is None and hook.condition is None
        key = (id(hook.wire), event.name) if for_any else prepared
        known = last.translated.get(key)
        if known is None:
            from hookline.engine.translate_calls import translate_call  # noqa: PLC0415 most calls need no translation

            known = last.translated[key] = translate_call(prepared, event, payload, last)
        return known

    def followed_call(
        self, prepared: PreparedHook, event: EventSpec[Any], payload: Any
    ) -> "TranslatedCall | None":
        """Return the actions of a call on files that a hook matches, while it does not match the call."""
        from hookline.engine.follow_actions import followed_call  # noqa: PLC0415 only for hooks about files

        return followed_call(prepared, event, payload, self._read(payload), self.engine)

    def touches_files(self, event: EventSpec[Any], payload: Any) -> bool:
        """Return False if no hook can be asked about what a call does to files: it does nothing to any."""
        from hookline.engine.follow_actions import followed_actions  # noqa: PLC0415 only for hooks about files

        return bool(followed_actions(self._read(payload), event, self.engine))

    def possible_hooks(self, lane: Lane, payload: Any) -> Sequence[PreparedHook]:
        """Return the hooks of a lane that a call may match; the others certainly do not match."""
        if lane.index is None:
            return lane.hooks
        from hookline.engine.translate_calls import possible_hooks  # noqa: PLC0415 as above

        return possible_hooks(lane, lane.index, payload, self._read(payload).call)

    def _read(self, payload: Any) -> "TranslationCache":
        last = self._last_call
        if last is None or last.payload is not payload or last.info is not self.info:
            from hookline.engine.translate_calls import TranslationCache, call_of  # noqa: PLC0415 as above

            last = self._last_call = TranslationCache(payload, self.info, call_of(payload, self), {}, {})
        return last

    def dispatch(self, event: EventSpec[P], payload: P) -> Coroutine[Any, Any, Outcome]:
        """Run the hooks that concern this event; the outcome says what they want.

        ::

            outcome = await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command":
            "ls"}))
        """
        try:
            if type(payload) is not event.payload:
                self._check_payload(event, payload)
        except AttributeError:
            raise self._not_an_event(event, "dispatch({}, payload)") from None
        observer = self.engine.observer
        return (
            dispatch(self, event, payload) if observer is None else self._observed(observer, event, payload)
        )

    async def _observed(self, observer: "Observer", event: EventSpec[P], payload: P) -> Outcome:
        """Dispatch, then notify the observer."""
        if not self.lanes(event.name):
            return await dispatch(self, event, payload)
        watched, outcome = self.engine.journal.watched, None
        ended = watched(observer.began, self, event, payload)
        try:
            outcome = await dispatch(self, event, payload)
            return outcome
        finally:
            if ended is not None:
                watched(ended, outcome)

    def _check_payload(self, event: EventSpec[Any], payload: Any) -> None:
        try:
            fits = isinstance(payload, event.payload)
        except TypeError:  # a type of the host's that cannot be asked
            return
        if not fits:
            from hookline.engine.host.misuse import wrong_payload  # noqa: PLC0415 only for a mistake

            raise wrong_payload(event, payload)

    def _not_an_event(self, given: object, where: str) -> TypeError:
        from hookline.engine.host.misuse import not_an_event  # noqa: PLC0415 only for a mistake

        return not_an_event(given, self.engine.events, f"session.{where}")

    def has(self, event: EventSpec[Any]) -> bool:
        """Return True if any hook is configured for the event: cheap enough to check before building a
        payload.

        ::

            if session.has(PRE_MODEL_CALL):
                request = await session.model(messages)

        In a closed session it is True: whatever follows is refused.
        """
        try:
            if event.name in self._store.lanes:
                return True
        except AttributeError:
            raise self._not_an_event(event, "has({})") from None
        # A host that asks first must still call, to be refused.
        if self._hooks or self.parent is not None:
            return event.name in self._merged() or self.closed
        return self._closed or self.engine.closed

    def update(self, **changes: "Unpack[SessionChanges]") -> None:
        """Change the session info that hooks get from now on: the options of `engine.session`, and
        `session_id`.

        ::

            session.update(cwd="/src/app", permission_mode="plan")
        """
        self.info = replace(self.info, **info_fields("session.update", changes))

    def add(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        **options: "Unpack[HookOptions]",
    ) -> str:
        """Add a hook for this session: a function, a shell command or a guard. Returns the id to remove it
        by.

        The options are those of `engine.on`. ::

            hook_id = session.add(PRE_TOOL_USE, guard("force-push"))
            session.remove(hook_id)
        """
        from hookline.engine.host.make_hook import check_hook, make_hook  # noqa: PLC0415 only for hooks made in code

        check_hook("session.add", event, matcher, options, self.engine.events)
        hook = make_hook(self.engine.home, event, action, matcher, scope="session", **options)
        return self.add_hook(hook)

    def add_hook(self, hook: Hook) -> str:
        """Add a hook of `engine.make_hook` for this session. Returns the id to remove it by."""
        hook_id = self.engine.next_run_id()
        self._hooks[hook_id] = hook
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
        self.once_marks.clear()
        self.counts.clear()

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks added to this session, its parents' first."""
        inherited = self.parent.hooks if self.parent is not None else ()
        return (*inherited, *self._hooks.values())

    def explain(self, event: EventSpec[P], payload: P) -> "list[MatchResult]":
        """Return every hook of the event, with True if it would run on this payload, and why."""
        from hookline.engine.explain import explain  # noqa: PLC0415 a dispatch never needs it

        return list(explain(self.lanes(event.name), event, payload, self))

    def may_concern(self, event: EventSpec[P], payload: P) -> bool:
        """Return True if any hook may match a tool call whose arguments cannot be read."""
        return any(
            may_concern(prepared, event, payload, self, lane.subject_of(payload))
            for lane in self.lanes(event.name)
            for prepared in lane.hooks
        )

    def lanes(self, event_name: str) -> Lanes:
        """Return the active lanes of this session: the engine's, then those of its own hooks."""
        if self._hooks or self.parent is not None:
            return self._merged().get(event_name, ())
        return self._store.lanes.get(event_name, ())

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
        above = self.parent._versions() if self.parent is not None else (self._store.version,)  # noqa: SLF001 - its own class
        return (*above, self._version)


# How often in a row hooks may block an agent before it continues without them


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

    def apply(self, lanes: Sequence[LaneOutcome]) -> Outcome:
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


_PATHS = frozenset({"cwd", "project_dir", "transcript_path"})


def info_fields(where: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return session fields in their stored form, paths as text. Raises TypeError for an unknown option."""
    fields = dict(options)
    for name, value in options.items():
        if name in _PATHS:
            if value is not None and type(value) is not str:
                fields[name] = os.fspath(value)
        elif name not in SessionInfo.__struct_fields__:
            from hookline.engine.host.misuse import unknown_option  # noqa: PLC0415 only for a mistake

            raise unknown_option(where, options, SessionInfo.__struct_fields__)
    return fields
