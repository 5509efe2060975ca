"""One agent conversation: its hooks, counters, inbox and scene."""

from collections.abc import Coroutine, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.background import Inbox
from hookline.engine.dispatch import LaneOutcome, dispatch
from hookline.engine.lanes import Lane, Lanes, PreparedHook, build_lanes, may_concern, prepare
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Halt, Message, Outcome, merged
from hookline.model.payloads import ToolCall
from hookline.model.policy import Limit, Policy
from hookline.model.scene import Scene, SceneChanges, scene_fields

if TYPE_CHECKING:
    from hookline.engine.engine import Engine
    from hookline.engine.explain import Verdict
    from hookline.engine.host.moments import (
        AnswerResult,
        EndResult,
        HostState,
        ModelRequestResult,
        PromptResult,
        Start,
    )
    from hookline.engine.host.tool import Approve, CheckArguments, HostCall, RunTool
    from hookline.engine.make_hook import Action, HookOptions
    from hookline.engine.run_hook import Admit
    from hookline.engine.told_calls import LastCall, ToldCall
    from hookline.engine.tool_call import CallResult
    from hookline.journal.observer import Observer
    from hookline.tools.table import ToolTable

P = TypeVar("P")


class Session:
    """One agent conversation: what its hooks share, and the calls that a host makes at its moments.

    A sub-agent's session inherits hooks, not counters. ::

        async with engine.session("conversation 1", cwd=cwd) as session:
            prompt = await session.prompt("list the files")
            done = await session.tool("Bash", {"command": "ls"}, run=run_shell)
            end = await session.end("There are two.")
    """

    def __init__(
        self,
        engine: "Engine",
        scene: Scene,
        parent: "Session | None" = None,
        approve: "Approve | None" = None,
    ) -> None:
        self.engine = engine
        self.parent = parent
        self._approve = approve
        self._host: HostState | None = None
        self.scene = scene
        self.inbox = Inbox()
        self.counts = BlockCounts()
        self.once_marks: set[object] = set()
        #: Admits hooks in place of the engine's `admit`.
        self.admit: Admit | None = parent.admit if parent is not None else None
        #: The tools of the agent whose calls are dispatched here; None: those of the program that has the engine.
        self.tools: ToolTable | None = parent.tools if parent is not None else None
        self._last_call: LastCall | None = None
        self._hooks: dict[str, Hook] = {}
        self._version = 0
        self._closed = False
        self._store = engine.store
        self._merged_lanes: dict[str, Lanes] = {}
        self._merged_from: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """The id of the conversation."""
        return self.scene.session_id

    @property
    def tool_table(self) -> "ToolTable":
        """What the tools mean that are called in this session."""
        return self.tools if self.tools is not None else self.engine.tool_table

    # The moments of a conversation, for hosts: see hookline.engine.host.moments

    def start(self, source: str = "startup", model: str | None = None) -> "Coroutine[Any, Any, Start]":
        """The session begins: SessionStart. `prompt` does this by itself if you did not."""
        from hookline.engine.host import moments  # noqa: PLC0415 hosts that only dispatch do without

        return moments.start(self, source, model)

    def prompt(self, text: str) -> "Coroutine[Any, Any, PromptResult]":
        """The user said something: UserPromptSubmit, TurnStart; for a sub-agent SubagentStart.

        ::

            prompt = await session.prompt("delete the logs")
            if prompt.blocked:
                print(prompt.blocked)
            else:
                send(*prompt.texts)
        """
        from hookline.engine.host import moments  # noqa: PLC0415 as above

        return moments.prompt(self, text)

    def model(
        self, messages: Sequence[Mapping[str, Any]], model: str | None = None
    ) -> "Coroutine[Any, Any, ModelRequestResult]":
        """A request to the model is about to be sent: PreModelCall. Late text of background hooks comes with it.

        ::

            request = await session.model([{"role": "user", "content": "hi"}])
            if request.blocked is None:
                answer = await ask_model([*request.messages, *request.transient])
        """
        from hookline.engine.host import moments  # noqa: PLC0415 as above

        return moments.model(self, messages, model)

    def answer(
        self,
        text: str,
        tool_calls: Sequence[Mapping[str, Any]] = (),
        usage: Mapping[str, Any] = MappingProxyType({}),
    ) -> "Coroutine[Any, Any, AnswerResult]":
        """The model answered: PostModelCall. Store and show `text` of the result."""
        from hookline.engine.host import moments  # noqa: PLC0415 as above

        return moments.answer(self, text, tool_calls, usage)

    def tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        run: "RunTool",
        id: str | None = None,  # noqa: A002 - the word that every API has for it
        check: "CheckArguments | None" = None,
        needs_approval: str | bool = False,
        category: str | None = None,
        mcp_server: Mapping[str, Any] | None = None,
    ) -> "Coroutine[Any, Any, CallResult]":
        """A whole tool call: PreToolUse, permission, the tool itself, PostToolUse or PostToolUseFailure.

        `run` gets the arguments as hooks left them; a plain function runs in a thread. `check` says what is wrong with
        arguments, also those that a hook rewrote. An ask goes to PermissionRequest hooks, then to `approve` of the
        session or the engine; without one it is a denial. ::

            done = await session.tool("run_shell", {"cmd": "ls"}, run=run_shell)
            tell_model(done.text)
            if done.stop:
                return
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 as above

        call = ToolCall(
            tool_name=name,
            tool_input=arguments,
            tool_use_id=id,
            tool_category=category,
            mcp_server=mcp_server,
        )
        return host_tool.tool(
            self, call, host_tool.ToolOptions(run=run, check=check, needs_approval=needs_approval)
        )

    def open_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        id: str | None = None,  # noqa: A002 - as above
        check: "CheckArguments | None" = None,
        needs_approval: str | bool = False,
        category: str | None = None,
        mcp_server: Mapping[str, Any] | None = None,
    ) -> "Coroutine[Any, Any, HostCall]":
        """The first half of `tool`, for hosts that are called before a tool and after it: PreToolUse, permission.

        ::

            call = await session.open_tool("run_shell", {"cmd": "ls"})
            done = call.refused or await call.returned(await run_shell(call.arguments))
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 as above

        call = ToolCall(
            tool_name=name,
            tool_input=arguments,
            tool_use_id=id,
            tool_category=category,
            mcp_server=mcp_server,
        )
        return host_tool.open_tool(
            self,
            call,
            host_tool.ToolOptions(run=host_tool.run_by_host, check=check, needs_approval=needs_approval),
        )

    def ask(
        self,
        name: str,
        arguments: Mapping[str, Any],
        reason: str,
        *,
        id: str | None = None,  # noqa: A002 - as above
    ) -> "Coroutine[Any, Any, HostCall]":
        """A question of your own rules about a call, after `PreToolUse`: PermissionRequest hooks, then `approve`.

        ::

            asked = await session.ask("run_shell", {"cmd": "ls"}, "it runs a command")
            if asked.refused is not None:
                tell_model(asked.refused.text)
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 as above

        return host_tool.ask(self, ToolCall(tool_name=name, tool_input=arguments, tool_use_id=id), reason)

    def end(self, answer: str) -> "Coroutine[Any, Any, EndResult]":
        """The turn is about to end: TurnEnd, Stop, TurnSettled; for a sub-agent SubagentStop.

        ::

            end = await session.end(answer)
            if end.send_back:
                messages.append({"role": "user", "content": end.send_back})  # and let the model go on
        """
        from hookline.engine.host import moments  # noqa: PLC0415 as above

        return moments.end(self, answer)

    def failed(self, error: BaseException | str, kind: str = "unknown") -> "Coroutine[Any, Any, None]":
        """The model gave no answer: Error, StopFailure, TurnSettled. `kind` is one of `ERROR_TYPES`."""
        from hookline.engine.host import moments  # noqa: PLC0415 as above

        return moments.failed(self, error, kind)

    async def close(self, reason: str = "other") -> None:
        """The session is over: SessionEnd, if it had begun. From now on it refuses tools, prompts and requests."""
        if self._closed:
            return
        self._closed = True
        from hookline.engine.host import moments  # noqa: PLC0415 as above

        await moments.close(self, reason)

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
        await self.close()

    @property
    def host(self) -> "HostState":
        """What `prompt`, `model`, `tool` and `end` remember between two calls."""
        if self._host is None:
            from hookline.engine.host.moments import HostState  # noqa: PLC0415 as above

            self._host = HostState()
        return self._host

    @property
    def root(self) -> "Session":
        """The session of the conversation that a sub-agent belongs to."""
        return self if self.parent is None else self.parent.root

    @property
    def approver(self) -> "Approve | None":
        """Who answers questions: the session's own, its parents', the engine's."""
        if self._approve is not None:
            return self._approve
        return self.parent.approver if self.parent is not None else self.engine.approve

    def told_call(self, prepared: PreparedHook, event: EventSpec[Any], payload: Any) -> "ToldCall":
        """What a hook is told of a tool call that its agent would make in another way."""
        last, hook = self._read(payload), prepared.hook
        # Hooks of one agent that are for any call are told the same.
        for_any = hook.matcher is None and hook.condition is None
        key = (id(hook.wire), event.name) if for_any else prepared
        known = last.told.get(key)
        if known is None:
            from hookline.engine.told_calls import tell  # noqa: PLC0415 most calls are told as they are

            known = last.told[key] = tell(prepared, event, payload, last)
        return known

    def possible_hooks(self, lane: Lane, payload: Any) -> Sequence[PreparedHook]:
        """The hooks of a lane that may be told something of a call; of the others it is sure that they are not."""
        if lane.index is None:
            return lane.hooks
        from hookline.engine.told_calls import possible_hooks  # noqa: PLC0415 as above

        return possible_hooks(lane, lane.index, payload, self._read(payload).call)

    def _read(self, payload: Any) -> "LastCall":
        last = self._last_call
        if last is None or last.payload is not payload or last.scene is not self.scene:
            from hookline.engine.told_calls import LastCall, call_of  # noqa: PLC0415 as above

            last = self._last_call = LastCall(payload, self.scene, call_of(payload, self), {}, {})
        return last

    def dispatch(self, event: EventSpec[P], payload: P) -> Coroutine[Any, Any, Outcome]:
        """Run the hooks that concern this event; the outcome says what they want.

        ::

            outcome = await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command": "ls"}))
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
        """As `dispatch`, and the observer is told."""
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
            from hookline.model.wrong_use import wrong_payload  # noqa: PLC0415 only for a mistake

            raise wrong_payload(event, payload)

    def _not_an_event(self, given: object, where: str) -> TypeError:
        from hookline.model.wrong_use import not_an_event  # noqa: PLC0415 only for a mistake

        return not_an_event(given, self.engine.events, f"session.{where}")

    def has(self, event: EventSpec[Any]) -> bool:
        """Whether any hook is configured for the event: cheap enough to check before building a payload.

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
        if (self._hooks or self.parent is not None) and event.name in self._merged():
            return True
        return self.closed  # a host that asks first must come by, to be refused

    def update(self, **changes: "Unpack[SceneChanges]") -> None:
        """Change what hooks are told of the conversation from now on: what `engine.session` takes, and `session_id`.

        ::

            session.update(cwd="/src/app", permission_mode="plan")
        """
        self.scene = replace(self.scene, **scene_fields("session.update", changes))

    def add(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        **options: "Unpack[HookOptions]",
    ) -> str:
        """Add a hook for this session: a function, a shell command or a guard. Returns the id to remove it by.

        The options are those of `engine.on`. ::

            hook_id = session.add(PRE_TOOL_USE, guard("force-push"))
            session.remove(hook_id)
        """
        from hookline.engine.make_hook import check_hook, make_hook  # noqa: PLC0415 only for hooks made in code

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

    def explain(self, event: EventSpec[P], payload: P) -> "list[Verdict]":
        """Every hook of the event, whether it would run on this payload, and why."""
        from hookline.engine.explain import explain  # noqa: PLC0415 a dispatch never needs it

        return list(explain(self.lanes(event.name), event, payload, self))

    def may_concern(self, event: EventSpec[P], payload: P) -> bool:
        """Whether any hook may be about a tool call whose arguments cannot be read."""
        return any(
            may_concern(prepared, event, payload, self, lane.subject_of(payload))
            for lane in self.lanes(event.name)
            for prepared in lane.hooks
        )

    def lanes(self, event_name: str) -> Lanes:
        """The lanes in force for this session: the engine's, then those of its own hooks."""
        if self._hooks or self.parent is not None:
            return self._merged().get(event_name, ())
        return self._store.lanes.get(event_name, ())

    def _merged(self) -> dict[str, Lanes]:
        versions = self.versions()
        if versions != self._merged_from:
            merged = dict(self._store.lanes)
            for name, own in build_lanes(prepare(self.hooks, self.engine.handlers)).items():
                merged[name] = (*merged.get(name, ()), *own)
            self._merged_lanes, self._merged_from = merged, versions
        return self._merged_lanes

    def versions(self) -> tuple[int, ...]:
        """The versions of all hook sets that this session's lanes are merged from."""
        above = self.parent.versions() if self.parent is not None else (self._store.version,)
        return (*above, self._version)


# How often in a row hooks may block an agent before it goes on without them


class _Count(Struct, frozen=True):
    blocks: int = 0
    turn: int = 0
    call: int = 0


class BlockCounts:
    """Consecutive blocks per policy, for one session. A new turn, or a tool call, may reset the count."""

    def __init__(self) -> None:
        #: How many turns and tool calls there were so far.
        self.ticks = {"turn": 0, "call": 0}
        self._counts: dict[str, _Count] = {}

    def clear(self) -> None:
        self._counts.clear()

    def apply(self, lanes: Sequence[LaneOutcome]) -> Outcome:
        """The outcomes merged, without blocks beyond the limits.

        Several lanes of one dispatch may have the same policy; together they block once, or not at all.
        """
        outcomes = [lane.outcome for lane in lanes]
        by_policy: dict[str, list[int]] = {}
        for place, lane in enumerate(lanes):
            if lane.policy.limit is not None:
                by_policy.setdefault(f"{lane.dialect}:{lane.policy.event_name}", []).append(place)
        notes = GO_ON
        for key, places in by_policy.items():
            policy = lanes[places[0]].policy
            blocks = self._count(key, policy, blocked=any(outcomes[place].blocked for place in places))
            if policy.limit is not None and blocks > policy.limit.obeyed:
                for place in places:
                    outcomes[place] = _overruled(policy.limit, outcomes[place])
                notes += _note(policy, policy.limit, blocks)
        return merged([*outcomes, notes])

    def _count(self, key: str, policy: Policy, *, blocked: bool) -> int:
        """Blocks in a row including this one; one beyond the limit resets the count."""
        limit = policy.limit
        if limit is None:
            return 0
        blocks = self._so_far(key, limit) + 1 if blocked else 0
        if blocks <= limit.obeyed:
            self._counts[key] = _Count(blocks, self.ticks["turn"], self.ticks["call"])
        else:
            self._counts.pop(key, None)
        return blocks

    def _so_far(self, key: str, limit: Limit) -> int:
        count = self._counts.get(key)
        if count is None or count.turn != self.ticks["turn"]:
            return 0
        return 0 if limit.resets == "call" and count.call != self.ticks["call"] else count.blocks


def _note(policy: Policy, limit: Limit, blocks: int) -> Outcome:
    text = f"{policy.event_name} blocked {blocks} times in a row"
    if limit.then == "end_turn":
        return Outcome(halts=(Halt(text),), messages=(Message(f"{text}: the turn ends"),), limit_reached=True)
    return Outcome(messages=(Message(f"{text}: not obeyed this time"),), limit_reached=True)


def _overruled(limit: Limit, outcome: Outcome) -> Outcome:
    """The outcome without the blocks that are not obeyed; where the turn ends instead, they stay."""
    if limit.then == "end_turn":
        return outcome
    blockers = {vote.by for vote in outcome.votes if vote.kind == "block"}
    texts = outcome.context_items
    return replace(
        outcome,
        votes=tuple(vote for vote in outcome.votes if vote.kind != "block"),
        context_items=texts if limit.keeps_text else tuple(t for t in texts if t.hook not in blockers),
    )
