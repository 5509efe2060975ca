"""Build lanes of hooks, and select those that match a payload.

A lane is a row of neighbouring hooks under one policy. Lanes are built once per configuration (`HookStore`);
at an event `select` picks the hooks to run.
"""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.kinds import KIND_OF
from hookline.handlers.registry import Handler
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError
from hookline.model.events import Capability, EventSpec
from hookline.model.hook import Doubt, Hook
from hookline.model.policy import Policy
from hookline.model.raw import Failed, RawResult
from hookline.model.run import Mode
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.engine.session import Session
    from hookline.engine.translate_calls import TranslatedCall
    from hookline.matching.rule_index import RuleIndex

Begin = Callable[[HookInvocation], RawResult | Coroutine[Any, Any, RawResult]]

#: The payload field that says which tool is called.
_TOOL = "tool_name"
#: Tools that rules about edits mean as well; only programs have them, no agent, so they serve hooks of any
#: agent.
_EDITS = frozenset(("MultiEdit", "NotebookEdit"))
_ONLY_OURS = frozenset(("Delete", "Move"))
#: For canonical tools that agents have: the argument with the action, and other keys it may be under.
_MAIN_KEYS = {name: (kind.needs, kind.other_keys) for name, kind in KIND_OF.items() if name not in _ONLY_OURS}
_PLAIN_KEYS = {name: keys for name, keys in _MAIN_KEYS.items() if name not in _EDITS}
#: Subjects remembered per lane. Tool names are few, but a host could invent them without end.
_REMEMBERED = 1024
#: With fewer conditions than this, comparing a call with each of them costs less than an index.
_FEWEST_INDEXED = 3


class PreparedHook:
    """A hook with everything that stays the same between two runs, computed once."""

    __slots__ = (
        "_knows_tools",
        "_source",
        "_standard_tools",
        "begin",
        "can_block",
        "decode",
        "doubt",
        "followed",
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
            # The agent does not wait for it, so its block stops nothing: it wakes the agent, at any event.
            self.may |= Capability.BLOCK
        # Computed here because the arithmetic of enum.Flag costs a microsecond a time.
        self.may_bits: int = self.may.value
        self.can_block = bool(self.may & Capability.BLOCK)
        #: The key that `once` uses: a reloaded config keeps its marks. A hook without an identity is its own
        #: key; its address is not used, because the next hook may get it.
        self.key: object = (hook.event.name, hook.identity if hook.identity is not None else hook)
        #: True if tool calls may have other names for its agent; `_standard_tools` is True if the agent has
        #: canonical ones.
        self._knows_tools = hook.event.subject == _TOOL and hasattr(hook.wire, "standard_tools")
        self._standard_tools: bool = getattr(hook.wire, "standard_tools", False)
        self._source: str | None = None
        #: Why the match is uncertain, if it is.
        self.doubt = ""
        #: The actions it is asked about, if those match it and the call itself does not.
        self.followed: TranslatedCall | None = None

    def run_by(self, handler: Handler | None) -> None:
        """Run it with this handler from now on."""
        self.handler = handler
        #: It is a function, which could change its input.
        self.in_process = self.hook.kind == "function"
        #: Begins a run: returns the result, or the rest, to be awaited.
        self.begin = begin_by(handler)

    def marked_in_doubt(self, doubt: str) -> "PreparedHook | None":
        """Return the same hook marked as matching in doubt; None if it ignores such matches."""
        if self.hook.in_doubt == "pass":
            return None
        doubted = PreparedHook(self.hook, self.handler)
        doubted.key, doubted.doubt = self.key, doubt
        return doubted

    def asked_about(self, followed: "TranslatedCall") -> "PreparedHook":
        """Return the same hook, to be asked about these actions of a call that it does not match."""
        asked = PreparedHook(self.hook, self.handler)
        asked.key, asked.followed = self.key, followed
        return asked

    def in_mode(self, mode: Mode) -> "PreparedHook":
        if mode == self.hook.mode:
            return self
        other = PreparedHook(replace(self.hook, mode=mode), self.handler)
        other.key = self.key
        return other

    def marked_broken(self, why: str) -> "PreparedHook":
        """Return the same hook with a reason why it cannot run: it fails not_started under its policy."""
        broken = PreparedHook(replace(self.hook, broken=why), self.handler)
        broken.key = self.key
        return broken

    def is_unchanged(self, payload: Any, session: "Session") -> bool:
        """Return True if its agent would make the call as it was made. Most calls are such."""
        if not self._knows_tools:
            return True
        if session.tools is None and self._standard_tools and not session.engine.tools:
            try:
                main, others = _PLAIN_KEYS[payload.tool_name]
                if type(payload.tool_input[main]) is str and others.isdisjoint(payload.tool_input):
                    return True
            except (AttributeError, LookupError, TypeError):
                pass  # not such a call: check in full
        return self._is_unchanged(payload, session)

    def _is_unchanged(self, payload: Any, session: "Session") -> bool:
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
        """file:line, computed at most once."""
        if self._source is None:
            self._source = str(self.hook.where)
        return self._source


def begin_by(handler: Handler | None) -> Begin:
    """Return the function that begins a run with this handler."""
    return getattr(handler, "begin", None) or partial(_begin, handler)


def _begin(handler: Handler | None, call: HookInvocation) -> RawResult | Coroutine[Any, Any, RawResult]:
    """Begin a run of a handler without `begin`: what ends in its first step needs no timer."""
    if handler is None:
        return Failed("not_started", f"there is no handler for type {call.hook.kind!r}")
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
    #: Finds the conditions that can hold, where there are many.
    index: "RuleIndex | None" = None

    def possible(self, payload: Any) -> Sequence[PreparedHook]:
        """Return the hooks whose conditions may hold."""
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
        "followers",
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
        self.guards = any(prepared.may & Capability.BLOCK for prepared in hooks)
        self.all_waited = policy.waits and all(prepared.hook.waiting == "wait" for prepared in hooks)
        #: True if that is all: each hook is waited for, for as long as it may take.
        self.all_at_once = (
            self.all_waited
            and not self.in_order
            and policy.run != "serial_if_asked"
            and policy.settle == "all"
            and policy.budget is None
        )
        #: True if everything its hooks say applies as it is.
        self.keeps_all = (
            policy.keep == "all"
            and policy.most_context is None
            and policy.reasons == "first"
            and policy.answers == "first"
        )
        #: True if its hooks match any call and see it as it was made: then the call need not be read.
        self.any_call = all(
            each.hook.as_called and each.hook.matcher is None and each.hook.condition is None
            for each in hooks
        )
        #: The hooks that may be asked about actions of calls that they do not match.
        self.followers = tuple(
            each
            for each in hooks
            if each.hook.actions != "named"
            and each.hook.event.follows
            and each.hook.mode != "off"
            and not (each.hook.matcher is None and each.hook.condition is None)
        )
        self._subject = hooks[0].hook.event.subject
        self._memory: dict[str, MatchedHooks] = {}
        self._index: RuleIndex | bool | None = False

    @property
    def index(self) -> "RuleIndex | None":
        """An index of the conditions of all its hooks; None where there are few. Built when it is needed."""
        if self._index is False:
            self._index = _index_of(self.hooks)
        return cast("RuleIndex | None", self._index)

    def matching(self, payload: Any) -> MatchedHooks:
        """Return the hooks whose matcher fits, remembered per subject."""
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
        """Return the text that matchers test; empty for an event without a subject."""
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
    """Yield the first of equal hooks."""
    seen: set[object] = set()
    for prepared in hooks:
        if prepared is None or prepared.hook.identity in seen:
            continue
        if prepared.hook.identity is not None:
            seen.add(prepared.hook.identity)
        yield prepared


Lanes = tuple[Lane, ...]


def build_lanes(hooks: Iterable[PreparedHook]) -> dict[str, Lanes]:
    """Build lanes per event name: a lane ends where the policy changes."""
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
    """Make one lane, or two where the policy runs the hooks that rewrite first."""
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
    """The active hooks: those of the configuration, then those the host added.

    One immutable set of lanes at a time; swapping it is one assignment, so no dispatch sees half of it.

    The lanes of a store whose `handlers` are None can be shared: each engine runs the hooks by its own.
    """

    def __init__(self, handlers: Mapping[str, Handler | None], events: Mapping[str, EventSpec[Any]]) -> None:
        self._handlers = handlers
        self._events = events
        self._configured: Sequence[PreparedHook] = ()
        self._added: list[PreparedHook] = []
        #: Modes that replace those in the configuration, by the key that a reload keeps of a hook.
        self._modes: dict[object, Mode] = {}
        self.lanes: Mapping[str, Lanes] = {}
        #: Grows with every change, so that sessions know when their own view is old.
        self.version = 0

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks as they are configured: `mode_of` returns the mode each runs in."""
        return tuple(prepared.hook for prepared in (*self._configured, *self._added))

    def mode_of(self, hook: Hook) -> Mode:
        return self._modes.get(_name_of(hook), hook.mode) if self._modes else hook.mode

    def set_mode(self, hook: Hook, mode: Mode) -> None:
        """Set the mode from now on, also after a swap; hooks of one name in one file share it."""
        if mode == hook.mode:
            self._modes.pop(_name_of(hook), None)
        else:
            self._modes[_name_of(hook)] = mode
        self._rebuild(hook.event.name)

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Activate another configuration. One that cannot be used changes nothing."""
        problems = [problem for hook in hooks for problem in self._problems(hook)]
        if problems:
            raise ConfigError(problems)
        self._configured = prepare(hooks, self._handlers)
        self._install(self._lanes_of(self._configured), self._lanes_of(self._added))

    def share(self, prepared: "HookStore") -> None:
        """Activate the configuration of another store, with the lanes that were built for it."""
        self._configured = prepared._configured  # noqa: SLF001 another of the same kind
        self._install(dict(prepared.lanes), self._lanes_of(self._added))

    def add(self, hook: Hook) -> None:
        problems = self._problems(hook)
        if problems:
            raise ConfigError(problems)
        self._added += prepare((hook,), self._handlers)
        self._rebuild(hook.event.name)

    def remove(self, hook: Hook) -> bool:
        """Remove a hook that was added; return False if it was not."""
        kept = [prepared for prepared in self._added if prepared.hook is not hook]
        found = len(kept) != len(self._added)
        self._added = kept
        if found:
            self._rebuild(hook.event.name)
        return found

    def _rebuild(self, event: str) -> None:
        """Build the lanes of one event again; the others stay, with what they remember."""
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
    """Return the key of a hook that stays the same after its file was read again."""
    return hook.event.name, hook.dialect, hook.name, hook.where.file


# Selecting the hooks of a lane that match a payload


def select(lane: Lane, event: EventSpec[Any], payload: Any, session: "Session") -> Sequence[PreparedHook]:
    """Return the hooks to run now, in config order. A `once` hook is used up by being selected."""
    selected = _select_named(lane, event, payload, session)
    return _with_followers(lane, selected, event, payload, session) if lane.followers else selected


def _select_named(
    lane: Lane, event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    if not (lane.any_call or lane.hooks[0].is_unchanged(payload, session)):
        return _select_translated(lane, event, payload, session)
    matching = lane.matching(payload)
    return matching.hooks if matching.final else _select_checked(matching, event, payload, session)


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
    possible = session.possible_hooks(lane, payload)
    checked = (check_shown(prepared, event, payload, session) for prepared in possible)
    return [found for found in _each_once(checked) if _is_due(found, session)]


def _with_followers(
    lane: Lane, selected: Sequence[PreparedHook], event: EventSpec[Any], payload: Any, session: "Session"
) -> Sequence[PreparedHook]:
    """Add the hooks that match no tool of the call, and a file that the call touches."""
    names = {prepared.key: prepared for prepared in selected}
    asked_elsewhere = any(prepared.hook.actions == "others" for prepared in selected)
    others = [prepared for prepared in lane.followers if prepared.key not in names]
    asked = [follow(prepared, event, payload, session) for prepared in others]
    added = {
        prepared.key: prepared for prepared in asked if prepared is not None and _is_due(prepared, session)
    }
    if not added and not asked_elsewhere:
        return selected
    # The agent of the others asks them itself about calls that they match.
    both = {key: each for key, each in names.items() if each.hook.actions != "others"} | added
    in_order = (both.get(prepared.key) for prepared in lane.hooks)
    return list(_each_once(in_order))


def follow(
    prepared: PreparedHook, event: EventSpec[Any], payload: Any, session: "Session"
) -> PreparedHook | None:
    """Return the hook with the actions of a call that it is to be asked about; None if there are none."""
    try:
        followed = session.followed_call(prepared, event, payload)
    except Exception as problem:  # noqa: BLE001 a matcher or condition may come from the host
        return prepared.marked_broken(f"its matcher or condition failed: {type(problem).__name__}: {problem}")
    return prepared.asked_about(followed) if followed is not None else None


def _is_due(prepared: PreparedHook, session: "Session") -> bool:
    """Return True if it may run again. A `once` hook may not from now on."""
    if prepared.hook.once:
        # Marks of a state that was saved have the hook's name.
        marks, name = session.once_marks, (prepared.hook.event.name, prepared.hook.name)
        if prepared.key in marks or name in marks:
            return False
        session.once_marks.add(prepared.key)
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
        actions = session.translated_call(prepared, event, payload).actions
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


def check_matcher(prepared: PreparedHook, subject: str) -> PreparedHook | None:
    """Return the hook if its matcher fits; a matcher that raises is a failed hook, not a non-match."""
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
