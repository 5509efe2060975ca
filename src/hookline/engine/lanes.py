"""Which hooks there are, in lanes, and which of them concern a payload.

A lane is a row of neighbouring hooks under one policy. Lanes are built once per configuration (`HookStore`); at an
event `select` picks the hooks to run.
"""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.handlers.registry import Handler
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError
from hookline.model.events import EventSpec, May
from hookline.model.hook import Doubt, Hook
from hookline.model.policy import Policy
from hookline.model.raw import Broke, RawResult
from hookline.model.run import Mode
from hookline.model.wire import Call
from hookline.tools.kinds import KIND_OF

if TYPE_CHECKING:
    from hookline.engine.session import Session
    from hookline.matching.rule_index import RuleIndex

Begin = Callable[[Call], RawResult | Coroutine[Any, Any, RawResult]]

#: The payload field that says which tool is called.
_TOOL = "tool_name"
#: Tools that rules about edits mean as well; those of programs alone, which no agent has, for hooks of any agent.
_EDITS = frozenset(("MultiEdit", "NotebookEdit"))
_ONLY_OURS = frozenset(("Delete", "Move"))
#: Of canonical tools that agents have: the argument that says what a call does, and other keys that it may be under.
_MAIN_KEYS = {name: (kind.needs, kind.other_keys) for name, kind in KIND_OF.items() if name not in _ONLY_OURS}
_PLAIN_KEYS = {name: keys for name, keys in _MAIN_KEYS.items() if name not in _EDITS}
#: Subjects remembered per lane. Tool names are few, but a host could invent them without end.
_REMEMBERED = 1024
#: With fewer conditions than this, comparing a call with each of them costs less than an index.
_FEWEST_INDEXED = 3


class PreparedHook:
    """A hook with everything about it that stays the same between two runs, worked out once."""

    __slots__ = (
        "_knows_tools",
        "_source",
        "_standard_tools",
        "begin",
        "can_block",
        "decode",
        "doubt",
        "handler",
        "hook",
        "in_process",
        "key",
        "may",
        "may_bits",
    )

    def __init__(self, hook: Hook, handler: Handler | None) -> None:
        self.hook = hook
        self.decode = hook.wire.decode
        self.run_by(handler)
        self.may = hook.event.may & hook.policy.may
        if hook.waiting == "rewake":
            # It is not waited for, so its block stops nothing: it wakes the agent, at any event.
            self.may |= May.BLOCK
        # Worked out here because the arithmetic of enum.Flag costs a microsecond a time.
        self.may_bits: int = self.may.value
        self.can_block = bool(self.may & May.BLOCK)
        #: What `once` remembers it by: a reloaded config keeps its marks. The hook itself where it has no other
        #: identity, never its address, which the next hook may get.
        self.key: object = (hook.event.name, hook.identity if hook.identity is not None else hook)
        #: Whether tool calls may have other names for its agent, and whether that has canonical ones.
        self._knows_tools = hook.event.subject == _TOOL and hasattr(hook.wire, "standard_tools")
        self._standard_tools: bool = getattr(hook.wire, "standard_tools", False)
        self._source: str | None = None
        #: What could not be told, where a payload concerns it only in doubt.
        self.doubt = ""

    def run_by(self, handler: Handler | None) -> None:
        """Run it by this handler from now on."""
        self.handler = handler
        #: It is a function, which could change what it is given.
        self.in_process = self.hook.kind == "function"
        #: Begins to run it: the result, or the rest, to be awaited.
        self.begin = begin_by(handler)

    def marked_in_doubt(self, doubt: str) -> "PreparedHook | None":
        """The same hook for a payload that concerns it only in doubt; None if that does not count for it."""
        if self.hook.in_doubt == "pass":
            return None
        doubted = PreparedHook(self.hook, self.handler)
        doubted.key, doubted.doubt = self.key, doubt
        return doubted

    def in_mode(self, mode: Mode) -> "PreparedHook":
        if mode == self.hook.mode:
            return self
        other = PreparedHook(replace(self.hook, mode=mode), self.handler)
        other.key = self.key
        return other

    def marked_broken(self, why: str) -> "PreparedHook":
        """The same hook with a reason why it cannot run: it fails not_started under its policy."""
        broken = PreparedHook(replace(self.hook, broken=why), self.handler)
        broken.key = self.key
        return broken

    def is_told_as_called(self, payload: Any, session: "Session") -> bool:
        """Whether its agent would make the call as it was made. Most calls are such."""
        if not self._knows_tools:
            return True
        if session.tools is None and self._standard_tools and not session.engine.tools:
            try:
                main, others = _PLAIN_KEYS[payload.tool_name]
                if type(payload.tool_input[main]) is str and others.isdisjoint(payload.tool_input):
                    return True
            except (AttributeError, LookupError, TypeError):
                pass  # not such a call: a closer look
        return self._is_told_as_called(payload, session)

    def _is_told_as_called(self, payload: Any, session: "Session") -> bool:
        if session.tools is not None:
            return session.tools is getattr(self.hook.wire, "tools", None)
        name = getattr(payload, _TOOL, None)
        if not isinstance(name, str):
            return True
        keys = _MAIN_KEYS.get(name) if self._standard_tools else None
        if keys is None or name in session.engine.tools or (name in _EDITS and self._is_canonical):
            return False
        # A program may give a tool of a canonical name other arguments.
        given: Any = payload.tool_input
        main, others = keys
        return not given or not main or (_is_text(given, main) and others.isdisjoint(given))

    @property
    def _is_canonical(self) -> bool:
        return getattr(self.hook.wire, "tools").canonical  # noqa: B009 wires of hosts need not have one

    @property
    def source(self) -> str:
        """file:line, looked up at most once."""
        if self._source is None:
            self._source = str(self.hook.where)
        return self._source


def begin_by(handler: Handler | None) -> Begin:
    """Return what begins to run a call by this handler."""
    return getattr(handler, "begin", None) or partial(_begin, handler)


def _begin(handler: Handler | None, call: Call) -> RawResult | Coroutine[Any, Any, RawResult]:
    """For handlers that have no `begin`: what ends in its first step needs no timer."""
    if handler is None:
        return Broke("not_started", f"there is no handler for type {call.hook.kind!r}")
    running = handler.run(call)
    if handler.own_clock:
        return running
    from contextvars import copy_context  # noqa: PLC0415 functions and builtins need none

    context = copy_context()
    try:
        waits_for = context.run(running.send, None)
    except StopIteration as stop:
        return stop.value
    from hookline.handlers.deadline import Rest  # noqa: PLC0415 builtins never wait

    return Rest(running, waits_for, context, call.started).within(call.timeout)


def _is_text(arguments: Any, name: str) -> bool:
    try:
        return type(arguments[name]) is str
    except (LookupError, TypeError):  # no such argument, or not an object at all
        return False


def prepare(hooks: Iterable[Hook], handlers: Mapping[str, Handler | None]) -> list[PreparedHook]:
    return [PreparedHook(hook, handlers.get(hook.kind)) for hook in hooks]


class MatchedHooks(Struct, frozen=True):
    """The hooks of a lane whose matcher fits a subject; `final` when there is nothing else to check."""

    hooks: tuple[PreparedHook, ...]
    final: bool
    #: Tells which of their conditions can hold at all, where there are many.
    index: "RuleIndex | None" = None

    def possible(self, payload: Any) -> Sequence[PreparedHook]:
        """Those whose conditions may hold."""
        tool = getattr(payload, _TOOL, None)
        if self.index is None or type(tool) is not str:
            return self.hooks
        from hookline.matching.tool_rules import arguments_of, called_name  # noqa: PLC0415 it is loaded with rules

        places = self.index.possible(tool, called_name(payload) or "", arguments_of(payload))
        return [self.hooks[at] for at in places]


class Lane:
    """Hooks in config order under one policy, and which of them concern which subject."""

    __slots__ = (
        "_index",
        "_memory",
        "_subject",
        "all_at_once",
        "all_waited",
        "any_call",
        "guards",
        "hooks",
        "in_order",
        "keeps_all",
        "policy",
        "rechecks_own",
        "sees_current",
    )

    def __init__(self, policy: Policy, hooks: Sequence[PreparedHook], *, rewriters: bool = False) -> None:
        self.policy = policy
        self.hooks = tuple(hooks)
        self.in_order = rewriters or policy.run == "serial"
        self.sees_current = rewriters or policy.sees == "current"
        self.rechecks_own = policy.recheck_own and not rewriters
        self.guards = any(prepared.may & May.BLOCK for prepared in hooks)
        self.all_waited = policy.waits and all(prepared.hook.waiting == "wait" for prepared in hooks)
        #: Whether that is all: each hook is waited for, for as long as it may take.
        self.all_at_once = (
            self.all_waited
            and not self.in_order
            and policy.run != "serial_if_asked"
            and policy.settle == "all"
            and policy.budget is None
        )
        #: Whether all that its hooks say counts as it is.
        self.keeps_all = (
            policy.keep == "all"
            and policy.most_context is None
            and policy.reasons == "first"
            and policy.answers == "first"
        )
        #: Whether its hooks are for any call, and see it as it is made: then it need not be looked at.
        self.any_call = all(
            each.hook.as_called and each.hook.matcher is None and each.hook.condition is None
            for each in hooks
        )
        self._subject = hooks[0].hook.event.subject
        self._memory: dict[str, MatchedHooks] = {}
        self._index: RuleIndex | bool | None = False

    @property
    def index(self) -> "RuleIndex | None":
        """Tells which conditions of all its hooks can hold; None where there are few. Built when it is needed."""
        if self._index is False:
            self._index = _index_of(self.hooks)
        return cast("RuleIndex | None", self._index)

    def matching(self, payload: Any) -> MatchedHooks:
        """The hooks whose matcher fits, remembered per subject."""
        subject = getattr(payload, self._subject, None) if self._subject is not None else ""
        if type(subject) is not str:
            subject = self.subject_of(payload)
        found = self._memory.get(subject)
        if found is None:
            if len(self._memory) >= _REMEMBERED:
                self._memory.clear()
            found = self._memory[subject] = _match(self.hooks, subject)
        return found

    def subject_of(self, payload: Any) -> str:
        """The text matchers test; empty for an event without a subject."""
        if self._subject is None:
            return ""
        # Attributes first: a payload is a record, and a mapping only where a host chose one.
        found = getattr(payload, self._subject, None)
        if not isinstance(found, str) and isinstance(payload, Mapping):
            found = cast("Mapping[str, Any]", payload).get(self._subject)
        return found if isinstance(found, str) else ""


def _match(hooks: Iterable[PreparedHook], subject: str) -> MatchedHooks:
    kept = list(_each_once(check_matcher(prepared, subject) for prepared in hooks))
    final = not any(p.hook.condition is not None or p.hook.once for p in kept)
    return MatchedHooks(tuple(kept), final, _index_of(kept))


def _index_of(hooks: Sequence[PreparedHook]) -> "RuleIndex | None":
    if sum(prepared.hook.condition is not None for prepared in hooks) < _FEWEST_INDEXED:
        return None
    from hookline.matching.rule_index import RuleIndex  # noqa: PLC0415 most configurations have few conditions

    return RuleIndex([prepared.hook.condition for prepared in hooks])


def _each_once(hooks: Iterable[PreparedHook | None]) -> Iterator[PreparedHook]:
    """Of equal hooks the first one."""
    seen: set[object] = set()
    for prepared in hooks:
        if prepared is None or prepared.hook.identity in seen:
            continue
        if prepared.hook.identity is not None:
            seen.add(prepared.hook.identity)
        yield prepared


Lanes = tuple[Lane, ...]


def build_lanes(hooks: Iterable[PreparedHook]) -> dict[str, Lanes]:
    """Lanes per event name: a lane ends where the policy changes."""
    by_event: dict[str, list[list[PreparedHook]]] = {}
    for prepared in hooks:
        lanes = by_event.setdefault(prepared.hook.event.name, [])
        if not lanes or lanes[-1][-1].hook.policy is not prepared.hook.policy:
            lanes.append([])
        lanes[-1].append(prepared)
    return {
        event: tuple(lane for neighbours in lanes for lane in _split_rewriters(neighbours))
        for event, lanes in by_event.items()
    }


def _split_rewriters(neighbours: Sequence[PreparedHook]) -> Iterable[Lane]:
    """One lane, or two where the policy runs the hooks that rewrite first."""
    policy = neighbours[0].hook.policy
    if policy.run != "rewriters_first":
        yield Lane(policy, neighbours)
        return
    rewriters = [prepared for prepared in neighbours if prepared.hook.rewrites]
    others = [prepared for prepared in neighbours if not prepared.hook.rewrites]
    if rewriters:
        yield Lane(policy, rewriters, rewriters=True)
    if others:
        yield Lane(policy, others)


class HookStore:
    """The hooks in force: those of the configuration, then those the host added.

    One immutable set of lanes at a time; swapping it is one assignment, so no dispatch sees half of it.

    The lanes of a store whose `handlers` are None can be shared: each engine runs the hooks by its own.
    """

    def __init__(self, handlers: Mapping[str, Handler | None], events: Mapping[str, EventSpec[Any]]) -> None:
        self._handlers = handlers
        self._events = events
        self._configured: Sequence[PreparedHook] = ()
        self._added: list[PreparedHook] = []
        #: Modes that count in place of those in the configuration, by what a reload keeps of a hook.
        self._modes: dict[object, Mode] = {}
        self.lanes: Mapping[str, Lanes] = {}
        #: Grows with every change, so that sessions know when their own view is old.
        self.version = 0

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """As they are configured: `mode_of` says which mode counts."""
        return tuple(prepared.hook for prepared in (*self._configured, *self._added))

    def mode_of(self, hook: Hook) -> Mode:
        return self._modes.get(_name_of(hook), hook.mode) if self._modes else hook.mode

    def set_mode(self, hook: Hook, mode: Mode) -> None:
        """From now on, also after a swap; hooks of one name in one file share it."""
        if mode == hook.mode:
            self._modes.pop(_name_of(hook), None)
        else:
            self._modes[_name_of(hook)] = mode
        self._rebuild(hook.event.name)

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Put another configuration in force. One that cannot be used changes nothing."""
        problems = [problem for hook in hooks for problem in self._problems(hook)]
        if problems:
            raise ConfigError(problems)
        self._configured = prepare(hooks, self._handlers)
        self._install(self._lanes_of(self._configured), self._lanes_of(self._added))

    def share(self, prepared: "HookStore") -> None:
        """Put the configuration of another store in force, with the lanes that were built for it."""
        self._configured = prepared._configured  # noqa: SLF001 another of the same kind
        self._install(dict(prepared.lanes), self._lanes_of(self._added))

    def add(self, hook: Hook) -> None:
        problems = self._problems(hook)
        if problems:
            raise ConfigError(problems)
        self._added += prepare((hook,), self._handlers)
        self._rebuild(hook.event.name)

    def remove(self, hook: Hook) -> bool:
        """Take back a hook that was added; False when it was not."""
        kept = [prepared for prepared in self._added if prepared.hook is not hook]
        found = len(kept) != len(self._added)
        self._added = kept
        if found:
            self._rebuild(hook.event.name)
        return found

    def _rebuild(self, event: str) -> None:
        """Build the lanes of one event again; the others stay as they are, with what they remember."""
        configured = self._lanes_of(
            prepared for prepared in self._configured if prepared.hook.event.name == event
        )
        added = self._lanes_of(prepared for prepared in self._added if prepared.hook.event.name == event)
        others = {name: lanes for name, lanes in self.lanes.items() if name != event}
        self._install(others | configured, added)

    def _lanes_of(self, hooks: Iterable[PreparedHook]) -> dict[str, Lanes]:
        if not self._modes:
            return build_lanes(hooks)
        return build_lanes(prepared.in_mode(self.mode_of(prepared.hook)) for prepared in hooks)

    def _install(self, lanes: dict[str, Lanes], more: Mapping[str, Lanes]) -> None:
        for name, added in more.items():
            lanes[name] = (*lanes.get(name, ()), *added)
        self.lanes = lanes
        self.version += 1

    def _problems(self, hook: Hook) -> list[Diagnostic]:
        problems: list[Diagnostic] = []
        if self._events.get(hook.event.name) is not hook.event:
            message = f"event {hook.event.name!r} is not in this engine's table"
            fix = "pass its row to the engine"
            problems.append(Diagnostic("error", "unknown-event", message, hook.where, hook.name, fix))
        if hook.broken is None and hook.kind not in self._handlers:
            message = f"there is no handler for type {hook.kind!r}"
            fix = f"one of: {', '.join(sorted(self._handlers))}"
            problems.append(Diagnostic("error", "unknown-type", message, hook.where, hook.name, fix))
        return problems


def _name_of(hook: Hook) -> object:
    """What a hook is still known by after its file was read again."""
    return hook.event.name, hook.dialect, hook.name, hook.where.file


# Which hooks of a lane concern a payload


def select(lane: Lane, event: EventSpec[Any], payload: Any, session: "Session") -> Sequence[PreparedHook]:
    """The hooks to run now, in config order. A `once` hook is used up by being selected."""
    if not (lane.any_call or lane.hooks[0].is_told_as_called(payload, session)):
        return _select_told(lane, event, payload, session)
    matching = lane.matching(payload)
    return matching.hooks if matching.final else _select_checked(matching, event, payload, session)


def _select_checked(
    matching: MatchedHooks, event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    possible = matching.possible(payload)
    checked = (check_condition(prepared, event, payload, session) for prepared in possible)
    return [found for found in checked if found is not None and _is_due(found, session)]


def _select_told(
    lane: Lane, event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    """The hooks that a call concerns in the terms of their own agent."""
    possible = session.possible_hooks(lane, payload)
    checked = (check_told(prepared, event, payload, session) for prepared in possible)
    return [found for found in _each_once(checked) if _is_due(found, session)]


def _is_due(prepared: PreparedHook, session: "Session") -> bool:
    """Whether it may run again. A `once` hook may not from now on."""
    if prepared.hook.once:
        if prepared.key in session.once_marks:
            return False
        session.once_marks.add(prepared.key)
    return True


def check_again(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """A hook that was selected, when another payload concerns it as well."""
    if prepared.is_told_as_called(payload, session):
        return check_condition(prepared, event, payload, session)
    return check_told(prepared, event, payload, session)


def check_told(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """The hook when the call concerns it as its own agent would tell it; what raises is a failed hook."""
    if prepared.hook.mode == "off":
        return None
    try:
        acts = session.told_call(prepared, event, payload).acts
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return prepared.marked_broken(f"its matcher or condition failed: {type(problem).__name__}: {problem}")
    if prepared.hook.as_called and acts and all(act.doubt for act in acts):
        return prepared.marked_in_doubt(acts[0].doubt)  # it is told all of the call at once
    return prepared if acts else None


def may_concern(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session", subject: str
) -> bool:
    """Whether a hook may be about a call whose arguments cannot be read."""
    if prepared.is_told_as_called(payload, session):
        return check_matcher(prepared, subject) is not None
    return check_told(prepared, event, payload, session) is not None


def check_matcher(prepared: PreparedHook, subject: str) -> PreparedHook | None:
    """The hook when its matcher fits; a matcher that raises is a failed hook, not treated as a non-match."""
    hook = prepared.hook
    if hook.mode == "off":
        return None
    if hook.matcher is None:
        return prepared
    try:
        return prepared if hook.matcher.matches(subject) else None
    except Exception as problem:  # noqa: BLE001 a matcher may come from the host
        return prepared.marked_broken(
            f"its matcher {hook.matcher.text!r} failed: {type(problem).__name__}: {problem}"
        )


def check_condition(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """The hook when its condition holds; a condition that raises is a failed hook, not treated as a non-match."""
    condition = prepared.hook.condition
    if condition is None:
        return prepared
    try:
        answer = condition.holds(event, payload, session.scene)
    except Exception as problem:  # noqa: BLE001 a condition may come from the host
        return prepared.marked_broken(
            f"its condition {condition.text!r} failed: {type(problem).__name__}: {problem}"
        )
    if isinstance(answer, Doubt):
        return prepared.marked_in_doubt(answer.text)
    return prepared if answer else None
