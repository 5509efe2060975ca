"""The circuit breaker: a hook that only fails is not run for a while. Its failure policy decides meanwhile.

So a guard that is closed stays closed; what is saved is the time that each failure takes. Hooks that must run, because
they are required or managed, have none.
"""

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hookline.engine.engine import Engine
    from hookline.engine.judge import Judgement
    from hookline.engine.lanes import PreparedHook
    from hookline.model.wire import Call

#: So many failures in a row, or more than half of so many runs, open it.
IN_A_ROW: Final = 5
OF_THE_LAST: Final = 20
#: Seconds until it is tried again, once.
OPEN_SECONDS: Final = 30.0

_SAYS: Final = "it is not run for now: "
#: Not runs of the hook, or not its fault.
_NO_RUNS: Final = frozenset(("detached", "skipped", "cancelled", "untrusted"))


class Breaker:
    """Of one hook, from its first failure on."""

    def __init__(self) -> None:
        #: Whether each of the last runs failed.
        self.runs: deque[bool] = deque(maxlen=OF_THE_LAST)
        self.in_a_row = 0
        #: By the monotonic clock; 0: it is closed.
        self.open_until = 0.0

    def refuses(self) -> str | None:
        """Why the hook is not run now. When its time is over one call is let through, to try it."""
        if not self.open_until:
            return None
        now = monotonic()
        if now >= self.open_until:
            self.open_until = now + OPEN_SECONDS  # for the others, while this one tries
            return None
        last = (
            f"{self.in_a_row} failures in a row"
            if self.in_a_row >= IN_A_ROW
            else "it failed most of the time"
        )
        return f"{_SAYS}{last}; it is tried again in {self.open_until - now:.0f} s"

    def ended(self, *, failed: bool) -> None:
        self.runs.append(failed)
        self.in_a_row = self.in_a_row + 1 if failed else 0
        mostly = len(self.runs) == OF_THE_LAST and 2 * sum(self.runs) > OF_THE_LAST
        if self.in_a_row >= IN_A_ROW or (failed and mostly):
            self.open_until = monotonic() + OPEN_SECONDS
        elif not failed:
            if self.open_until:
                self.runs.clear()  # the one that tried it was fine
            self.open_until = 0.0


def refusal(engine: "Engine", prepared: "PreparedHook", call: "Call") -> str | None:
    """Why a hook is not run now; None: it is."""
    breaker = engine.breakers.get(_key(prepared))
    return breaker.refuses() if breaker is not None and not call.env else None


def note(engine: "Engine", prepared: "PreparedHook", call: "Call", judged: "Judgement") -> None:
    """Count a run. Durable hooks have a number of attempts instead."""
    hook, failure = prepared.hook, judged.failure
    if not hook.policy.breaker or hook.required or hook.scope == "managed" or call.env:
        return
    if judged.status in _NO_RUNS or (failure is not None and failure.detail.startswith(_SAYS)):
        return
    breaker = engine.breakers.get(_key(prepared))
    if breaker is None:
        if failure is None:
            return
        breaker = engine.breakers[_key(prepared)] = Breaker()
    breaker.ended(failed=failure is not None)


def _key(prepared: "PreparedHook") -> object:
    """The same for a hook that was made or read again: nothing is kept of the old one."""
    hook = prepared.hook
    return hook.event.name, hook.name, hook.where.file, hook.where.path
