"""One agent conversation: its hooks, counters, inbox and scene."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from hookline.engine.dispatch import dispatch
from hookline.engine.inbox import Inbox
from hookline.engine.lanes import Lanes, Verdict, build_lanes, explain, prepare
from hookline.engine.limits import BlockCounts
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.scene import Scene

if TYPE_CHECKING:
    from hookline.engine.engine import Engine
    from hookline.engine.make_hook import Action

P = TypeVar("P")


class Session:
    """What hooks of one conversation share. A sub-agent's session inherits hooks, not counters."""

    def __init__(self, engine: "Engine", scene: Scene, parent: "Session | None" = None) -> None:
        self.engine = engine
        self.parent = parent
        self.scene = scene
        self.inbox = Inbox()
        self.counts = BlockCounts()
        self.once_marks: set[object] = set()
        self._hooks: dict[str, Hook] = {}
        self._version = 0
        self._store = engine.store
        self._merged_lanes: dict[str, Lanes] = {}
        self._merged_from: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        return self.scene.session_id

    def dispatch(self, event: EventSpec[P], payload: P) -> Coroutine[Any, Any, Outcome]:
        """Run the hooks that concern this event; the outcome says what they want."""
        return dispatch(self, event, payload)

    def has(self, event: EventSpec[Any]) -> bool:
        """Whether any hook is configured for the event: cheap enough to check before building a payload."""
        if event.name in self._store.lanes:
            return True
        return event.name in self._merged() if self._hooks or self.parent is not None else False

    def update(self, **changes: Any) -> None:
        """Change the scene: cwd, permission_mode, model, turn ..."""
        self.scene = replace(self.scene, **changes)

    def add(
        self, event: EventSpec[P], action: "Action[P]", matcher: str | None = None, **options: Any
    ) -> str:
        """Add a hook for this session: a function, or a shell command. Returns the id to remove it by."""
        hook = self.engine.make_hook(event, action, matcher, scope="session", **options)
        return self.add_hook(hook)

    def add_hook(self, hook: Hook) -> str:
        hook_id = self.engine.next_run_id()
        self._hooks[hook_id] = hook
        self._version += 1
        return hook_id

    def remove(self, hook_id: str) -> bool:
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

    def explain(self, event: EventSpec[P], payload: P) -> list[Verdict]:
        """Every hook of the event, whether it would run on this payload, and why."""
        return list(explain(self.lanes(event.name), event, payload, self))

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
