"""How the agent sees hooks: a small protocol, so that it also runs without an engine."""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from hookline.agent.ports import Shown, UserPort
from hookline.engine.background import Inbox
from hookline.engine.session import Session
from hookline.engine.tool_call import Hooks
from hookline.model.events import FILE_CHANGED, EventSpec, event_label
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.raw import first_line
from hookline.model.run import Run
from hookline.model.scene import Scene
from hookline.model.usage import Totals, Usage, totals_of

P = TypeVar("P")


class SessionHooks(Hooks, Protocol):
    """What the owner of a conversation needs as well: the scene that hooks see, and the inbox for late results."""

    @property
    def scene(self) -> Scene: ...

    @property
    def inbox(self) -> Inbox: ...

    def update(self, **changes: Any) -> None:
        """Change the scene: cwd, permission_mode, model, turn, ..."""
        ...

    def clear(self) -> None:
        """Forget session hooks and once marks: the session ended."""
        ...

    def renew(self) -> None:
        """Clear, then add again what every session begins with: another session takes this one's place."""
        ...

    def names(self, event: EventSpec[Any]) -> tuple[str, ...]:
        """The hooks of an event."""
        ...

    @property
    def report_own_writes(self) -> bool:
        """True if hooks of FileChanged expect what the agent writes, watched or not."""
        ...

    def by(self, hook: str, *events: EventSpec[Any]) -> dict[str, Any]:
        """For `Shown`: a hook of one of these events, the event, and where the hook is configured (file:line)."""
        ...

    def child(self, **scene: Any) -> "SessionHooks":
        """For a subagent: the same hooks with counters of their own."""
        ...


def _add_nothing(session: Session) -> None:
    del session


class EngineHooks:
    """The hooks of an engine's session. `furnish` adds the hooks that every session begins with."""

    def __init__(self, session: Session, furnish: Callable[[Session], None] = _add_nothing) -> None:
        self.session = session
        self._furnish = furnish
        furnish(session)

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        return await self.session.dispatch(event, payload)

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session.has(event)

    @property
    def scene(self) -> Scene:
        return self.session.scene

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
        hooks = [prepared.hook for lane in self.session.lanes(event.name) for prepared in lane.hooks]
        return tuple(hook.name for hook in hooks if hook.mode != "off")

    @property
    def report_own_writes(self) -> bool:
        return any(lane.policy.own_writes for lane in self.session.lanes(FILE_CHANGED.name))

    def by(self, hook: str, *events: EventSpec[Any]) -> dict[str, Any]:
        lanes = (lane for event in events for lane in self.session.lanes(event.name))
        found = (prepared for lane in lanes for prepared in lane.hooks if prepared.hook.name == hook)
        known = next(found, None) if hook else None
        facts = {} if known is None else {"source": known.source, "label": known.hook.event_label}
        return {"hook": hook, "event": events[0].name, **facts} if hook else {}

    def child(self, **scene: Any) -> "EngineHooks":
        return EngineHooks(self.session.engine.session(self.session.id, self.session, **scene))


class NoHooks:
    """For an agent without an engine: every event passes."""

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene if scene is not None else Scene()
        self.inbox = Inbox()

    async def dispatch(self, event: EventSpec[P], payload: P) -> Outcome:
        del event, payload
        return GO_ON

    def has(self, event: EventSpec[Any]) -> bool:
        del event
        return False

    def update(self, **changes: Any) -> None:
        self.scene = replace(self.scene, **changes)

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

    def child(self, **scene: Any) -> "NoHooks":
        return NoHooks(replace(self.scene, **scene))


class Fired(Struct, kw_only=True):
    """One event that was fired. Runs of background hooks are added when they end."""

    event: str
    payload: Any
    agent: str | None = None
    outcome: Outcome = GO_ON
    runs: list[Run] = []

    @property
    def event_name(self) -> str:
        """The event's name in the dialect of the first hook that ran."""
        return next((run.spelled for run in self.runs if run.spelled), self.event)


class EventLog:
    """Every event a session fired, subagents included, in order."""

    def __init__(self, tell: Callable[[Fired], None] | None = None, *, keep: bool = True) -> None:
        #: Empty unless `keep`: a session may fire events for days.
        self.fired: list[Fired] = []
        self._tell = tell
        self._keep = keep
        # A dispatch and everything it starts share a context, which ties a run to its event.
        self._current: ContextVar[Fired | None] = ContextVar("fired", default=None)

    def ran(self, run: Run) -> None:
        """Subscribe this to the journal."""
        fired = self._current.get()
        if fired is not None:
            fired.runs.append(run)

    async def dispatch(self, hooks: SessionHooks, event: EventSpec[P], payload: P) -> Fired:
        fired = Fired(event=event.name, payload=payload, agent=hooks.scene.agent_type)
        if self._keep:
            self.fired.append(fired)
        token = self._current.set(fired)
        try:
            fired.outcome = await hooks.dispatch(event, payload)
        finally:
            self._current.reset(token)
        if self._tell is not None:
            self._tell(fired)
        return fired


class Spending:
    """What a session has used so far, its subagents included."""

    def __init__(self) -> None:
        self.totals = Totals()

    def add(self, usage: Usage) -> None:
        self.totals = totals_of(self.totals + usage)

    def known(self, conversation_tokens: int | None) -> Totals | None:
        """The totals, None while nothing is known of them."""
        found = totals_of(self.totals, conversation_tokens)
        return found if found != Totals() else None

    def restore(self, usage: Usage) -> None:
        """Go on from what an earlier session has used."""
        self.totals = totals_of(usage)


class AgentHooks:
    """The hooks of one agent. Every dispatch is logged, and messages for the user are shown."""

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
        # Here, so that every event has what was used until then, by whichever agent of the session.
        if self.spending.totals is not self.scene.totals:
            self.update(totals=self.spending.totals)
        if self._log is None:
            fired = Fired(event=event.name, payload=payload)
            fired.outcome = await self.session_hooks.dispatch(event, payload)
        else:
            fired = await self._log.dispatch(self.session_hooks, event, payload)
        outcome = fired.outcome
        if outcome is not GO_ON or fired.runs:
            for shown in _news(fired, lambda hook: self.session_hooks.by(hook, event)):
                self._user.listener.show(shown)
        return outcome

    def has(self, event: EventSpec[Any]) -> bool:
        return self.session_hooks.has(event)

    @property
    def scene(self) -> Scene:
        return self.session_hooks.scene

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

    def child(self, **scene: Any) -> "AgentHooks":
        return self.of_subagent(self._user, **scene)

    def of_subagent(self, user: UserPort, **scene: Any) -> "AgentHooks":
        return AgentHooks(self.session_hooks.child(**scene), user, self._log, self.spending)


def _news(fired: Fired, by: Callable[[str], dict[str, Any]]) -> Iterator[Shown]:
    """What the user is shown of an event: messages, rewrites, added text, and hooks that gave no answer."""
    outcome, payload = fired.outcome, fired.payload
    about: dict[str, Any] = {"event": fired.event, "tool_use_id": getattr(payload, "tool_use_id", None) or ""}
    for edit in outcome.edits:
        if edit.whole is not UNSET:
            values = {"before": getattr(payload, edit.field, None), "after": edit.whole}
            yield Shown(kind="rewrite", field=edit.field, **values, **{**about, **by(edit.by)})
            payload = _changed(payload, edit.field, edit.whole)
    for item in outcome.context_items:
        yield Shown(kind="context", text=item.text, **{**about, **by(item.hook)})
    silent = {run.hook for run in fired.runs if run.passed_without_answer}
    for message in outcome.messages:
        kind = "warning" if message.warns or message.hook in silent else "notice"
        yield Shown(kind=kind, text=message.text, **{**about, **by(message.hook)})
    told = {message.hook for message in outcome.messages}
    for run in fired.runs:
        if run.passed_without_answer and run.hook not in told:
            what = run.detail or (run.cause or run.status).replace("_", " ")
            line = first_line(run.stderr.encode())
            what = what if line in what else f"{what}: {line}"
            text = f"hook {run.hook} gave no answer, and its event went on: {what}"
            label = event_label(run.spelled or run.event, run.event)
            whose: dict[str, Any] = {"hook": run.hook, "source": run.source, "label": label}
            yield Shown(kind="warning", text=text, **about, **whose)


def _changed(payload: Any, name: str, value: Any) -> Any:
    try:
        return replace(payload, **{name: value})
    except (TypeError, ValueError):  # a payload that is no record
        return payload
