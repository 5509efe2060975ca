"""Track the hooks that run now, and the message to show meanwhile."""

from collections.abc import Callable
from time import monotonic, perf_counter

from msgspec import Struct

from hookline.journal.journal import Subscribers
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line
from hookline.model.wire import HookInvocation

_STATUS_COLUMNS = 200


class RunningHook(Struct, frozen=True):
    """One hook that is running. `since` is a reading of `time.monotonic()`."""

    hook: str
    event: str
    since: float
    message: str | None = None
    run_id: str = ""
    #: The session, and the subagent, that waits for it or started it.
    session: str = ""
    agent: str | None = None
    #: Where it is configured: file:line.
    source: str = ""
    #: Its event by the name that users see: the one in the hook's format.
    label: str = ""


class RunningHooks:
    """The hooks that have started and not ended, oldest first, and the message to show meanwhile."""

    def __init__(self) -> None:
        self._calls: dict[HookInvocation, HookInvocation] = {}
        self._subscribers = Subscribers["RunningHooks"]("status")

    def started(self, call: HookInvocation) -> None:
        """Record that a hook has started."""
        self._calls[call] = call
        if self._subscribers.callbacks:
            self._subscribers.notify(self)

    def ended(self, call: HookInvocation) -> None:
        """Record that a hook has ended; may be called twice for the same call."""
        if self._calls.pop(call, None) is not None and self._subscribers.callbacks:
            self._subscribers.notify(self)

    def now(self) -> tuple[RunningHook, ...]:
        ahead = monotonic() - perf_counter()
        return tuple(
            RunningHook(
                call.hook.name,
                call.hook.event.name,
                call.started + ahead,
                _status_message(call.hook),
                call.run_id,
                call.info.session_id,
                call.info.agent_id,
                str(call.hook.where),
                call.hook.event_label,
            )
            for call in tuple(self._calls)
        )

    @property
    def calls(self) -> tuple[HookInvocation, ...]:
        """The input of each of them, oldest first."""
        return tuple(self._calls)

    def skip(self, call: HookInvocation, why: str) -> bool:
        """End a running hook without its answer; call this on the engine's loop. False if nothing waits for it."""
        task = call.task() if call.task is not None else None
        if call not in self._calls or task is None or call.skipped:
            return False
        call.skipped = why
        task.cancel()
        return True

    @property
    def message(self) -> str | None:
        """The message to show: that of the newest running hook that has one."""
        for call in reversed(tuple(self._calls)):
            if call.hook.status_message:
                return _status_message(call.hook)
        return None

    @property
    def problems(self) -> tuple[str, ...]:
        return self._subscribers.problems

    def subscribe(self, callback: Callable[["RunningHooks"], None]) -> Callable[[], None]:
        """Call a function at each start and end. Call the returned function to unsubscribe."""
        return self._subscribers.add(callback)


def _status_message(hook: Hook) -> str | None:
    return one_line(hook.status_message, _STATUS_COLUMNS) if hook.status_message else None
