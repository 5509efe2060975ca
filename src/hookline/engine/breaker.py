"""Stop running a hook that only fails, for a while; its failure policy decides meanwhile (a circuit breaker).

So a guard that fails closed stays closed; this saves the time that each failure takes. Required and managed
hooks must run, so they have no breaker.
"""

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Final

from hookline.engine.memory import memory_of

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.engine.judge import Judgement
    from hookline.engine.prepared_hook import PreparedHook
    from hookline.model.wire import HookInvocation

#: It opens after so many failures in a row, or when more than half of so many runs failed.
IN_A_ROW: Final = 5
OF_THE_LAST: Final = 20
#: Seconds until one call tries the hook again.
OPEN_SECONDS: Final = 30.0

_SAYS: Final = "it is not run for now: "
#: Statuses that are not runs of the hook, or not its fault.
_NO_RUNS: Final = frozenset(("background", "skipped", "cancelled", "untrusted"))


class Breaker:
    """The breaker of one hook, from its first failure on."""

    def __init__(self) -> None:
        #: For each of the last runs, True if it failed.
        self.runs: deque[bool] = deque(maxlen=OF_THE_LAST)
        self.in_a_row = 0
        #: Time of the monotonic clock; 0 while it is closed.
        self.open_until = 0.0

    def refuses(self) -> str | None:
        """Return why the hook is not run now, or None. Once the time is over, one call passes to try it."""
        if not self.open_until:
            return None
        now = monotonic()
        if now >= self.open_until:
            self.open_until = now + OPEN_SECONDS  # keeps the others out while this call tries
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
                self.runs.clear()  # the call that tried it succeeded
            self.open_until = 0.0


def refusal(engine: "Engine", prepared: "PreparedHook", call: "HookInvocation") -> str | None:
    """Return why a hook is not run now, or None if it is."""
    breaker = memory_of(engine).breakers.get(_key(prepared))
    return breaker.refuses() if breaker is not None and not call.env else None


def note(engine: "Engine", prepared: "PreparedHook", call: "HookInvocation", judged: "Judgement") -> None:
    """Count a run. Durable hooks count attempts instead."""
    hook, failure = prepared.hook, judged.failure
    if not hook.policy.breaker or hook.required or hook.scope == "managed" or call.env:
        return
    if judged.status in _NO_RUNS or (failure is not None and failure.detail.startswith(_SAYS)):
        return
    breaker = memory_of(engine).breakers.get(_key(prepared))
    if breaker is None:
        if failure is None:
            return
        breaker = memory_of(engine).breakers[_key(prepared)] = Breaker()
    breaker.ended(failed=failure is not None)


def _key(prepared: "PreparedHook") -> object:
    """Return a key that stays the same when a hook is made or read again; it keeps no old hook alive."""
    hook = prepared.hook
    return hook.event.name, hook.name, hook.where.file, hook.where.path
