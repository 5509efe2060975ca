"""Lanes: neighbouring hooks that one policy rules, armed with what they need to run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.handlers.registry import Handler
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError
from hookline.model.events import EventSpec, May
from hookline.model.hook import Hook
from hookline.model.policy import Policy

if TYPE_CHECKING:
    from hookline.engine.session import Session


#: Subjects remembered per lane. Tool names are few; a hostile host could invent them without end.
_REMEMBERED = 1024


class Armed:
    """A hook with everything about it that never changes between two runs worked out once."""

    __slots__ = ("_source", "handler", "hook", "key", "may")

    def __init__(self, hook: Hook, handler: Handler | None) -> None:
        self.hook = hook
        self.handler = handler
        self.may = hook.event.may & hook.policy.may
        if hook.waiting == "rewake":
            # Nobody waits for it, so its block stops nothing: it wakes the agent, at any event.
            self.may |= May.BLOCK
        #: What `once` remembers it by: a reloaded config keeps its marks. The hook itself where it has no other
        #: identity, never its address, which the next hook may get.
        self.key: object = (hook.event.name, hook.identity if hook.identity is not None else hook)
        self._source: str | None = None

    def broken(self, why: str) -> "Armed":
        """The same hook, unable to run: it fails not_started under its policy."""
        return Armed(replace(self.hook, broken=why), self.handler)

    @property
    def source(self) -> str:
        """file:line, looked up at most once."""
        if self._source is None:
            self._source = str(self.hook.where)
        return self._source


class Chosen(Struct, frozen=True):
    """The hooks of a lane whose matcher fits a subject; `plain` when nothing else has to be asked."""

    hooks: tuple[Armed, ...]
    plain: bool


class Lane:
    """Hooks in config order under one policy, and which of them concern which subject."""

    __slots__ = (
        "_memory",
        "_subject",
        "all_waited",
        "guards",
        "hooks",
        "in_order",
        "policy",
        "rechecks_own",
        "sees_current",
    )

    def __init__(self, policy: Policy, hooks: Sequence[Armed], *, rewriters: bool = False) -> None:
        self.policy = policy
        self.hooks = tuple(hooks)
        self.in_order = rewriters or policy.run == "serial"
        self.sees_current = rewriters or policy.sees == "current"
        self.rechecks_own = policy.recheck_own and not rewriters
        self.guards = any(armed.may & May.BLOCK for armed in hooks)
        self.all_waited = policy.waits and all(armed.hook.waiting == "wait" for armed in hooks)
        self._subject = hooks[0].hook.event.subject
        self._memory: dict[str, Chosen] = {}

    def matching(self, payload: Any) -> Chosen:
        """The hooks whose matcher fits, remembered per subject."""
        subject = self.subject_of(payload)
        chosen = self._memory.get(subject)
        if chosen is None:
            if len(self._memory) >= _REMEMBERED:
                self._memory.clear()
            chosen = self._memory[subject] = _choose(self.hooks, subject)
        return chosen

    def subject_of(self, payload: Any) -> str:
        """The text matchers test; empty for an event without a subject."""
        if self._subject is None:
            return ""
        found = getattr(payload, self._subject, None)
        if not isinstance(found, str) and isinstance(payload, Mapping):
            found = cast("Mapping[str, Any]", payload).get(self._subject)
        return found if isinstance(found, str) else ""


def _choose(hooks: Iterable[Armed], subject: str) -> Chosen:
    kept: list[Armed] = []
    seen: set[object] = set()
    for armed in hooks:
        found = matched(armed, subject)
        if found is None:
            continue
        identity = armed.hook.identity
        if identity is not None:
            if identity in seen:
                continue
            seen.add(identity)
        kept.append(found)
    return Chosen(tuple(kept), plain=not any(a.hook.condition is not None or a.hook.once for a in kept))


def matched(armed: Armed, subject: str) -> Armed | None:
    """The hook when its matcher fits; a matcher that breaks is a failure of the hook, never a no."""
    hook = armed.hook
    if hook.mode == "off":
        return None
    if hook.matcher is None:
        return armed
    try:
        return armed if hook.matcher.matches(subject) else None
    except Exception as problem:  # noqa: BLE001 a matcher may be anybody's code
        return armed.broken(f"its matcher {hook.matcher.text!r} failed: {type(problem).__name__}: {problem}")


Lanes = tuple[Lane, ...]


def build_lanes(hooks: Iterable[Armed]) -> dict[str, Lanes]:
    """Lanes per event name: a lane ends where the policy changes."""
    by_event: dict[str, list[list[Armed]]] = {}
    for armed in hooks:
        lanes = by_event.setdefault(armed.hook.event.name, [])
        if not lanes or lanes[-1][-1].hook.policy is not armed.hook.policy:
            lanes.append([])
        lanes[-1].append(armed)
    return {
        event: tuple(lane for neighbours in lanes for lane in _staged(neighbours))
        for event, lanes in by_event.items()
    }


def _staged(neighbours: Sequence[Armed]) -> Iterable[Lane]:
    """One lane, or two where the policy wants those that rewrite to come first."""
    policy = neighbours[0].hook.policy
    if policy.run != "rewriters_first":
        yield Lane(policy, neighbours)
        return
    rewriters = [armed for armed in neighbours if armed.hook.rewrites]
    others = [armed for armed in neighbours if not armed.hook.rewrites]
    if rewriters:
        yield Lane(policy, rewriters, rewriters=True)
    if others:
        yield Lane(policy, others)


def arm(hooks: Iterable[Hook], handlers: Mapping[str, Handler]) -> list[Armed]:
    return [Armed(hook, handlers.get(hook.kind)) for hook in hooks]


def select(lane: Lane, event: EventSpec[Any], payload: Any, session: "Session") -> Sequence[Armed]:
    """The hooks to run now, in config order. A `once` hook is used up by being selected."""
    matching = lane.matching(payload)
    if matching.plain:
        return matching.hooks
    chosen: list[Armed] = []
    for armed in matching.hooks:
        holding = held(armed, event, payload, session)
        if holding is None:
            continue
        if armed.hook.once:
            if armed.key in session.once_marks:
                continue
            session.once_marks.add(armed.key)
        chosen.append(holding)
    return chosen


def held(armed: Armed, event: EventSpec[Any], payload: Any, session: "Session") -> Armed | None:
    """The hook when its condition holds; a condition that breaks is a failure of the hook, never a no."""
    condition = armed.hook.condition
    if condition is None:
        return armed
    try:
        return armed if condition.holds(event, payload, session.scene) else None
    except Exception as problem:  # noqa: BLE001 a condition may be anybody's code
        return armed.broken(f"its condition {condition.text!r} failed: {type(problem).__name__}: {problem}")


class Verdict(Struct, frozen=True):
    """Whether a hook would run on a payload, and the reason in words."""

    armed: Armed
    selected: bool
    why: str


def explain(
    lanes: Sequence[Lane], event: EventSpec[Any], payload: Any, session: "Session"
) -> Iterator[Verdict]:
    """Every hook of the event with its reason, without running or using up anything."""
    for lane in lanes:
        seen: dict[object, str] = {}
        for armed in lane.hooks:
            selected, reason = _reason(armed, lane, seen, event, payload, session)
            yield Verdict(armed, selected, reason)


def _reason(
    armed: Armed,
    lane: Lane,
    seen: dict[object, str],
    event: EventSpec[Any],
    payload: Any,
    session: "Session",
) -> tuple[bool, str]:
    # Only for who asks: a dispatch never needs the words.
    from hookline.matching.conditions import why  # noqa: PLC0415 see above
    from hookline.matching.explain import explain_match, explain_matcher  # noqa: PLC0415 see above

    hook = armed.hook
    if hook.mode == "off":
        return False, "switched off: mode is off"
    if hook.matcher is not None and matched(armed, lane.subject_of(payload)) is None:
        return False, f"not matched: {explain_matcher(hook.matcher, lane.subject_of(payload))}"
    if hook.identity is not None:
        if hook.identity in seen:
            return False, f"the same as {seen[hook.identity]}, which runs once"
        seen[hook.identity] = armed.source or hook.name
    if hook.condition is not None and held(armed, event, payload, session) is None:
        return False, f"not matched: {why(hook.condition, event, payload, session.scene)}"
    if hook.once and armed.key in session.once_marks:
        return False, "ran already: once per session"
    return True, f"matched: {explain_match(hook.matcher, hook.condition, event, payload, session.scene).why}"


class Store:
    """One immutable set of lanes at a time; swapping it is one assignment, so no dispatch sees half of it."""

    def __init__(self, handlers: Mapping[str, Handler], events: Mapping[str, EventSpec[Any]]) -> None:
        self._handlers = handlers
        self._events = events
        self._configured: Sequence[Armed] = ()
        self._added: list[Armed] = []
        self.lanes: Mapping[str, Lanes] = {}
        #: Grows with every change, so that sessions know when their own view is old.
        self.version = 0

    @property
    def hooks(self) -> tuple[Hook, ...]:
        return tuple(armed.hook for armed in (*self._configured, *self._added))

    def swap(self, hooks: Sequence[Hook]) -> None:
        """Put another configuration in force. One that cannot be used changes nothing."""
        problems = [problem for hook in hooks for problem in self._problems(hook)]
        if problems:
            raise ConfigError(problems)
        self._configured = arm(hooks, self._handlers)
        self._install(build_lanes(self._configured), build_lanes(self._added))

    def add(self, hook: Hook) -> None:
        problems = self._problems(hook)
        if problems:
            raise ConfigError(problems)
        self._added += arm((hook,), self._handlers)
        self._renew(hook.event.name)

    def remove(self, hook: Hook) -> bool:
        """Take back a hook that was added; False when it was not."""
        kept = [armed for armed in self._added if armed.hook is not hook]
        found = len(kept) != len(self._added)
        self._added = kept
        if found:
            self._renew(hook.event.name)
        return found

    def _renew(self, event: str) -> None:
        """Build the lanes of one event anew; the others stay as they are, with what they remember."""
        configured = build_lanes(armed for armed in self._configured if armed.hook.event.name == event)
        added = build_lanes(armed for armed in self._added if armed.hook.event.name == event)
        others = {name: some for name, some in self.lanes.items() if name != event}
        self._install(others | configured, added)

    def _install(self, lanes: dict[str, Lanes], more: Mapping[str, Lanes]) -> None:
        for name, some in more.items():
            lanes[name] = (*lanes.get(name, ()), *some)
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
