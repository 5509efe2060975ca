"""Keep the last events of a session, and what each of their hooks was called with."""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.explain import HookAccount, accounts_of, explain
from hookline.engine.memory import once_marks_of
from hookline.engine.session import Session
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.agent.hooks import FiredEvent
    from hookline.config.engine import Engine
    from hookline.engine.running import RunningHooks
    from hookline.model.events import EventSpec
    from hookline.model.hook import Hook
    from hookline.model.wire import HookInvocation

_MOST_EVENTS = 200
_MOST_CALLS = 1000


class EventHistory:
    """The last events and calls, written on the agent's thread, read on the screen's."""

    def __init__(self) -> None:
        self._events: deque[FiredEvent] = deque(maxlen=_MOST_EVENTS)
        self._calls: dict[str, HookInvocation] = {}
        #: Grows with every event.
        self.count = 0

    def fired(self, fired: "FiredEvent") -> None:
        self._events.append(fired)
        self.count += 1

    def started(self, status: "RunningHooks") -> None:
        """Remember what running hooks were called with; subscribe this to an engine's status."""
        for call in status.calls:
            self._calls[call.run_id] = call
        for run_id in list(islice(self._calls, max(len(self._calls) - _MOST_CALLS, 0))):
            del self._calls[run_id]

    @property
    def events(self) -> "Sequence[FiredEvent]":
        """Return the events, oldest first."""
        return tuple(self._events)

    def call_of(self, run: Run) -> "HookInvocation | None":
        return self._calls.get(run.run_id)

    def last(self, event: str) -> "FiredEvent | None":
        """Return the last event of this name."""
        return next((fired for fired in reversed(self.events) if fired.event == event), None)


class Account(Struct, frozen=True, eq=False):
    """One hook of an event: its run, or why it did not run."""

    hook: "Hook"
    run: Run
    ran: bool


def accounts(engine: "Engine", fired: "FiredEvent") -> list[Account]:
    """Return every hook of an event in config order, run or not, as the hooks were then. May take long."""
    session = Session(engine, fired.info)
    if fired.session is not None:
        session.tools, session.admit = fired.session.tools, fired.session.admit
    once_marks_of(session).update(fired.once_marks)
    event: EventSpec[object] = engine.events[fired.event]
    decisions = list(explain(fired.lanes, event, fired.payload, session))
    found, again = accounts_of(decisions, tuple(fired.runs), engine.journal.cleaned)
    return [*_listed(found), *_rechecks(found, again)]


def _listed(found: Sequence[HookAccount]) -> list[Account]:
    return [
        Account(each.decision.prepared.hook, run, each.ran)
        for each in found
        if not each.decision.prepared.hook.calls_hookline
        for run in each.runs
    ]


def _rechecks(found: Sequence[HookAccount], again: Sequence[Run]) -> list[Account]:
    hooks: Mapping[tuple[str, str], Hook] = {
        (run.hook, run.source): each.decision.prepared.hook for each in found for run in each.runs
    }
    return [
        Account(hook, replace(run, recheck=True), ran=True)
        for run in again
        if (hook := hooks.get((run.hook, run.source))) is not None
    ]
