"""Build lanes: rows of neighbouring hooks under one policy. They are built once per configuration
(`HookStore`), and remember which of their hooks match which subject."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from hookline.engine.prepared_hook import TOOL_NAME, PreparedHook, prepare
from hookline.handlers.registry import Handler
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError
from hookline.model.events import Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.policy import Policy
from hookline.model.run import Mode

if TYPE_CHECKING:
    from hookline.matching.rule_index import RuleIndex

#: Subjects remembered per lane. Tool names are few, but a host could invent them without end.
_REMEMBERED = 1024
#: With fewer conditions than this, comparing a call with each of them costs less than an index.
_FEWEST_INDEXED = 3


class MatchedHooks(Struct, frozen=True):
    """The hooks of a lane whose matcher fits a subject; `final` when there is no condition to check."""

    hooks: tuple[PreparedHook, ...]
    final: bool
    #: True if nothing else decides which hooks run, unless a further hook follows what the call does to files.
    by_name: bool = False
    #: True if no hook of the lane may follow actions of such a call, either.
    complete: bool = False
    #: Finds the conditions that can hold, where there are many.
    index: "RuleIndex | None" = None

    def possible(self, payload: Any) -> Sequence[PreparedHook]:
        """Return the hooks whose conditions may hold."""
        tool = getattr(payload, TOOL_NAME, None)
        if self.index is None or type(tool) is not str:
            return self.hooks
        from hookline.matching.tool_rules import arguments_of, called_name  # noqa: PLC0415 it is loaded with rules

        places = self.index.possible(tool, called_name(payload) or "", arguments_of(payload))
        return [self.hooks[at] for at in places]


class Lane:
    """Hooks in config order under one policy, and which of them concern which subject."""

    __slots__ = (
        "_file_followers",
        "_index",
        "_memory",
        "_subject",
        "all_at_once",
        "all_waited",
        "any_call",
        "asked_elsewhere",
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
        #: True if another agent asks some of its hooks about calls that they match.
        self.asked_elsewhere = any(each.hook.actions == "others" for each in hooks)
        #: The hooks that may be asked about actions of calls that they do not match.
        self.followers = tuple(
            each
            for each in hooks
            if each.hook.actions != "named"
            and each.hook.event.follows
            and each.hook.mode != "off"
            and not (each.hook.matcher is None and each.hook.condition is None)
        )
        self._file_followers: tuple[PreparedHook, ...] | None = None
        self._subject = hooks[0].hook.event.subject
        self._memory: dict[str, MatchedHooks] = {}
        self._index: RuleIndex | bool | None = False

    @property
    def file_followers(self) -> "tuple[PreparedHook, ...]":
        """The followers without those whose rules are about lines of a shell alone."""
        if self._file_followers is None:
            self._file_followers = self.followers
            if any(each.hook.condition is not None for each in self.followers):
                from hookline.matching.tool_rules import only_about_lines  # noqa: PLC0415 it is loaded with rules

                self._file_followers = tuple(
                    each
                    for each in self.followers
                    if each.hook.condition is None or not only_about_lines(each.hook.condition)
                )
        return self._file_followers

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
            found = self._memory[subject] = self._match(subject)
        return found

    def _match(self, subject: str) -> MatchedHooks:
        kept = tuple(each_once(check_matcher(prepared, subject) for prepared in self.hooks))
        final = not any(each.hook.condition is not None or each.hook.once for each in kept)
        keys = {each.key for each in kept}
        by_name = final and not (self.asked_elsewhere and any(each.hook.actions == "others" for each in kept))
        complete = by_name and all(each.key in keys for each in self.followers)
        return MatchedHooks(kept, final, by_name, complete, _index_of(kept))

    def subject_of(self, payload: Any) -> str:
        """Return the text that matchers test; empty for an event without a subject."""
        if self._subject is None:
            return ""
        # Attributes first: a payload is a record, and a mapping only where a host chose one.
        found = getattr(payload, self._subject, None)
        if not isinstance(found, str) and isinstance(payload, Mapping):
            found = cast("Mapping[str, Any]", payload).get(self._subject)
        return found if isinstance(found, str) else ""


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


def _index_of(hooks: Sequence[PreparedHook]) -> "RuleIndex | None":
    if sum(prepared.hook.condition is not None for prepared in hooks) < _FEWEST_INDEXED:
        return None
    from hookline.matching.rule_index import RuleIndex  # noqa: PLC0415 most configurations have few conditions

    return RuleIndex([prepared.hook.condition for prepared in hooks])


def each_once(hooks: Iterable[PreparedHook | None]) -> Iterator[PreparedHook]:
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
        self._install(dict(prepared.lanes), self._lanes_of(self._added) if self._added else {})

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
            message = f"no handler for type {hook.kind!r}"
            fix = f"one of: {', '.join(sorted(self._handlers))}"
            problems.append(Diagnostic("error", "unknown-type", message, hook.where, hook.name, fix))
        return problems


def _name_of(hook: Hook) -> object:
    """Return the key of a hook that stays the same after its file was read again."""
    return hook.event.name, hook.dialect, hook.name, hook.where.file
