"""Which hooks are running right now, and the message to show meanwhile."""

from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from hookline.engine.subscribers import Subscribers
from hookline.model.hook import Hook
from hookline.model.safetext import one_line

_MESSAGE_COLUMNS = 200


class Active(Struct, frozen=True):
    """One hook that is running. `since` is a reading of `time.monotonic()`."""

    hook: str
    event: str
    since: float
    message: str | None = None
    run_id: str = ""


class Running:
    """The hooks that have started and not ended, oldest first."""

    def __init__(self) -> None:
        self._active: dict[int, tuple[Hook, str, float]] = {}
        self._last = 0
        self._subscribers = Subscribers["Running"]("status")

    def started(self, run_id: str, hook: Hook) -> int:
        """A hook runs from now on; give the token to `ended`."""
        self._last = token = self._last + 1
        self._active[token] = (hook, run_id, monotonic())
        if self._subscribers.callbacks:
            self._subscribers.tell(self)
        return token

    def ended(self, token: int) -> None:
        """Safe to call twice: whoever cleans up need not know who was first."""
        if self._active.pop(token, None) is not None and self._subscribers.callbacks:
            self._subscribers.tell(self)

    def now(self) -> tuple[Active, ...]:
        return tuple(
            Active(hook.name, hook.event.name, since, _message_of(hook), run_id)
            for hook, run_id, since in tuple(self._active.values())
        )

    @property
    def message(self) -> str | None:
        """What to show: the message of the newest running hook that has one."""
        for hook, _run_id, _since in reversed(tuple(self._active.values())):
            if hook.status_message:
                return _message_of(hook)
        return None

    @property
    def problems(self) -> tuple[str, ...]:
        return self._subscribers.problems

    def subscribe(self, callback: Callable[["Running"], None]) -> Callable[[], None]:
        """Be called at each start and end; what is returned ends it."""
        return self._subscribers.add(callback)


def _message_of(hook: Hook) -> str | None:
    return one_line(hook.status_message, _MESSAGE_COLUMNS) if hook.status_message else None
