"""Lanes: neighbouring hooks that one policy rules, armed with what they need to run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.handlers.registry import Handler
from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.policy import Policy

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
