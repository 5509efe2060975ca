"""The hooks in force: those of the configuration, then those the host added."""

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.engine.lanes import Armed, Lanes, arm, build_lanes
from hookline.handlers.registry import Handler
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError
from hookline.model.events import EventSpec
from hookline.model.hook import Hook


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
