"""Define how the agent uses hooks: a small protocol, so that it also runs without an engine."""

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from time import time
from typing import Any, Protocol, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from hookline.agent.ports import Shown, UserPort
from hookline.engine.background import Inbox
from hookline.engine.host.tool_call import HookDispatcher
from hookline.engine.lanes import Lanes
from hookline.engine.memory import lanes_of, once_marks_of
from hookline.engine.session import Session
from hookline.model.events import FILE_CHANGED, EventSpec, event_label
from hookline.model.messages import Totals, Usage, totals_of
from hookline.model.outcome import PASS, Outcome
from hookline.model.raw import first_line
from hookline.model.run import Run
from hookline.model.session_info import SessionInfo

P = TypeVar("P")


class SessionHooks(HookDispatcher, Protocol):
    """Hooks for the owner of a conversation: with the session info that hooks see, and the inbox for late results."""

    @property
    def info(self) -> SessionInfo: ...

    @property
    def session(self) -> Session | None:
        """The engine's session; None without an engine."""
        ...

    @property
    def inbox(self) -> Inbox: ...

    def update(self, **changes: Any) -> None:
        """Change the session info: cwd, permission_mode, model, turn, ..."""
        ...

    def clear(self) -> None:
        """Remove session hooks and once marks, because the session ended."""
        ...

    def renew(self) -> None:
        """Clear, then add the hooks that every session begins with: another session replaces this one."""
        ...

    def names(self, event: EventSpec[Any]) -> tuple[str, ...]:
        """Return the hooks of an event."""
        ...

    @property
    def report_own_writes(self) -> bool:
        """True if hooks of FileChanged expect the agent's own writes, watched or not."""
        ...

    def by(self, hook: str, *events: EventSpec[Any]) -> dict[str, Any]:
        """Return fields for `Shown`: a hook of one of these events, the event, and where the hook is
        configured (file:line).
        """
        ...

    def child(self, **info: Any) -> "SessionHooks":
        """Return hooks for a subagent: the same hooks with separate counters."""
        ...


def _add_nothing(session: Session) -> None:
    del session


class EngineHooks:
    """Hooks of an engine's session. `furnish` adds the hooks that every session begins with."""

    def __init__(self, session: Session, furnish: Callable[[Session], None] = _add_nothing) -> None:
        self.session = session
        self._furnish = furnish
        furnish(session)

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        return await self.session.dispatch(event, payload)

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session.has(event)

    @property
    def info(self) -> SessionInfo:
        return self.session.info

    @property
    def inbox(self) -> Inbox:
        return self.session.inbox

    def update(self, **changes: Any) -> None:
        self.session.update(**changes)

    def clear(self) -> None:
        self.session.clear()

    def renew(self) -> None:
        self.session.clear()
        self._furnish(self.session)

    def names(self, event: EventSpec[Any]) -> tuple[str, ...]:
        hooks = [prepared.hook for lane in lanes_of(self.session, event.name) for prepared in lane.hooks]
        return tuple(hook.name for hook in hooks if hook.mode != "off")

    @property
    def report_own_writes(self) -> bool:
        return any(lane.policy.own_writes for lane in lanes_of(self.session, FILE_CHANGED.name))

    def by(self, hook: str, *events: EventSpec[Any]) -> dict[str, Any]:
        lanes = (lane for event in events for lane in lanes_of(self.session, event.name))
        found = (prepared for lane in lanes for prepared in lane.hooks if prepared.hook.name == hook)
        known = next(found, None) if hook else None
        facts = {} if known is None else {"source": known.source, "label": known.hook.event_label}
        return {"hook": hook, "event": events[0].name, **facts} if hook else {}

    def child(self, **info: Any) -> "EngineHooks":
        return EngineHooks(self.session.engine.session(self.session.id, self.session, **info))


class NoHooks:
    """Hooks of an agent without an engine: every event passes."""

    def __init__(self, info: SessionInfo | None = None) -> None:
        self.info = info if info is not None else SessionInfo()
        self.session: Session | None = None
        self.inbox = Inbox()

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        del event, payload
        return PASS

    def has(self, event: EventSpec[Any]) -> bool:
        del event
        return False

    def update(self, **changes: Any) -> None:
        self.info = replace(self.info, **changes)

    def clear(self) -> None: ...

    def renew(self) -> None: ...

    def names(self, event: EventSpec[Any]) -> tuple[str, ...]:
        del event
        return ()

    @property
    def report_own_writes(self) -> bool:
        return False

    def by(self, hook: str, *events: EventSpec[Any]) -> dict[str, Any]:
        del hook, events
        return {}

    def child(self, **info: Any) -> "NoHooks":
        return NoHooks(replace(self.info, **info))


class FiredEvent(Struct, kw_only=True):
    """One event that was fired. Runs of background hooks are added when they end."""

    event: str
    payload: Any
    agent: str | None = None
    outcome: Outcome = PASS
    runs: list[Run] = []
    #: Seconds since the epoch.
    at: float = 0.0
    #: The session, its info, its hooks and its once marks when it was fired: to explain it later, or fire it again.
    session: Session | None = None
    info: SessionInfo = SessionInfo()
    lanes: Lanes = ()
    once_marks: frozenset[object] = frozenset()
    #: It was cancelled, so it has no outcome.
    interrupted: bool = False
    #: Called with runs that end after it.
    late: Callable[[Run], None] | None = None

    @property
    def event_name(self) -> str:
        """The event's name in the dialect of the first hook that ran."""
        return next((run.dialect_event for run in self.runs if run.dialect_event), self.event)


class EventLog:
    """Every event that a session fired, subagents included, in order."""

    def __init__(self, tell: Callable[[FiredEvent], None] | None = None, *, keep: bool = True) -> None:
        #: Empty unless `keep`: a session may fire events for days.
        self.fired: list[FiredEvent] = []
        self._tell = tell
        self._keep = keep
        # A dispatch and everything it starts share a context, which ties a run to its event.
        self._current: ContextVar[FiredEvent | None] = ContextVar("fired", default=None)

    def ran(self, run: Run) -> None:
        """Record a run; subscribe this to the journal."""
        fired = self._current.get()
        if fired is not None:
            fired.runs.append(run)
            if fired.late is not None:
                fired.late(run)

    async def dispatch(self, hooks: SessionHooks, event: EventSpec[P], payload: P) -> FiredEvent:
        fired = FiredEvent(event=event.name, payload=payload, agent=hooks.info.agent_type, at=time())
        fired.session, fired.info = hooks.session, hooks.info
        if fired.session is not None:
            fired.lanes = lanes_of(fired.session, event.name)
            fired.once_marks = frozenset(once_marks_of(fired.session))
        if self._keep:
            self.fired.append(fired)
        token = self._current.set(fired)
        try:
            fired.outcome = await hooks.dispatch(event, payload)
        except BaseException:
            fired.interrupted = True
            raise
        finally:
            self._current.reset(token)
            if self._tell is not None:
                self._tell(fired)
        return fired


class Spending:
    """Usage of a session so far, its subagents included."""

    def __init__(self) -> None:
        self.totals = Totals()

    def add(self, usage: Usage) -> None:
        self.totals = totals_of(self.totals + usage)

    def known(self, conversation_tokens: int | None) -> Totals | None:
        """Return the totals, or None while they are unknown."""
        found = totals_of(self.totals, conversation_tokens)
        return found if found != Totals() else None

    def restore(self, usage: Usage) -> None:
        """Continue from the usage of an earlier session."""
        self.totals = totals_of(usage)


class AgentHooks:
    """Hooks of one agent. Every dispatch is logged, and messages for the user are shown."""

    def __init__(
        self,
        hooks: SessionHooks,
        user: UserPort,
        log: EventLog | None = None,
        spending: Spending | None = None,
    ) -> None:
        self.session_hooks = hooks
        self.spending = spending if spending is not None else Spending()
        self._user = user
        self._log = log

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        # Here, so that every event has the usage so far, by any agent of the session.
        if self.spending.totals is not self.session_hooks.info.totals:
            self.update(totals=self.spending.totals)
        if self._log is None:
            fired = FiredEvent(event=event.name, payload=payload)
            fired.outcome = await self.session_hooks.dispatch(event, payload)
        else:
            fired = await self._log.dispatch(self.session_hooks, event, payload)
        outcome = fired.outcome
        if outcome is not PASS or fired.runs:
            for shown in _news(fired, lambda hook: self.session_hooks.by(hook, event)):
                self._user.listener.show(shown)
        fired.late = self._show_late
        return outcome

    def _show_late(self, run: Run) -> None:
        for shown in _untrusted([run], {"event": run.event}):
            self._user.listener.show(shown)

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session_hooks.has(event)

    @property
    def info(self) -> SessionInfo:
        return self.session_hooks.info

    @property
    def session(self) -> Session | None:
        return self.session_hooks.session

    @property
    def inbox(self) -> Inbox:
        return self.session_hooks.inbox

    def update(self, **changes: Any) -> None:
        self.session_hooks.update(**changes)

    def clear(self) -> None:
        self.session_hooks.clear()

    def renew(self) -> None:
        self.session_hooks.renew()

    def names(self, event: EventSpec[Any]) -> tuple[str, ...]:
        return self.session_hooks.names(event)

    @property
    def report_own_writes(self) -> bool:
        return self.session_hooks.report_own_writes

    def by(self, hook: str, *events: EventSpec[Any]) -> dict[str, Any]:
        return self.session_hooks.by(hook, *events)

    def child(self, **info: Any) -> "AgentHooks":
        return self.of_subagent(self._user, **info)

    def of_subagent(self, user: UserPort, **info: Any) -> "AgentHooks":
        return AgentHooks(self.session_hooks.child(**info), user, self._log, self.spending)


def _news(fired: FiredEvent, by: Callable[[str], dict[str, Any]]) -> Iterator[Shown]:
    """Yield what the user is shown of an event: messages, rewrites, added text, and hooks that failed open."""
    outcome, payload = fired.outcome, fired.payload
    about: dict[str, Any] = {"event": fired.event, "tool_use_id": getattr(payload, "tool_use_id", None) or ""}
    for edit in outcome.edits:
        if edit.whole is not UNSET:
            values = {"before": getattr(payload, edit.field, None), "after": edit.whole}
            yield Shown(kind="rewrite", field=edit.field, **values, **{**about, **by(edit.by)})
            payload = _changed(payload, edit.field, edit.whole)
    for item in outcome.context_items:
        yield Shown(kind="context", text=item.text, **{**about, **by(item.hook)})
    silent = {run.hook for run in fired.runs if run.failed_open}
    for message in outcome.messages:
        kind = "warning" if message.warns or message.hook in silent else "notice"
        yield Shown(kind=kind, text=message.text, **{**about, **by(message.hook)})
    shown = {message.hook for message in outcome.messages}
    for run in fired.runs:
        if run.failed_open and run.hook not in shown:
            what = run.detail or (run.cause or run.status).replace("_", " ")
            line = first_line(run.stderr.encode())
            what = what if line in what else f"{what}: {line}"
            text = f"hook {run.hook} failed open: {what}"
            label = event_label(run.dialect_event or run.event, run.event)
            whose: dict[str, Any] = {"hook": run.hook, "source": run.source, "label": label}
            yield Shown(kind="warning", text=text, **about, **whose)
    yield from _untrusted([run for run in fired.runs if run.hook not in shown], about)


def _untrusted(runs: Sequence[Run], about: dict[str, Any]) -> Iterator[Shown]:
    """Yield one line about hooks that were skipped for lack of trust: a gate never disappears in silence."""
    skipped = {run.hook: run for run in runs if run.status == "untrusted"}
    if not skipped:
        return
    run, names = next(iter(skipped.values())), ", ".join(skipped)
    if len(skipped) > 1:
        text = f"{len(skipped)} hooks did not run, because you have not trusted them: {names}; run `hookline trust`"
        yield Shown(kind="warning", text=text, **about)
        return
    label = event_label(run.dialect_event or run.event, run.event)
    whose: dict[str, Any] = {"hook": run.hook, "source": run.source, "label": label}
    yield Shown(kind="warning", text=f"hook {run.hook} did not run: {run.detail}", **about, **whose)


def _changed(payload: Any, name: str, value: Any) -> Any:
    try:
        return replace(payload, **{name: value})
    except (TypeError, ValueError):  # a payload that is not a record
        return payload
