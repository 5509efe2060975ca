"""Keep the sessions of an adapter: one per conversation, and one for each run of a subagent."""

import logging
import os
from collections.abc import AsyncGenerator, Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar
from uuid import uuid4

from hookline.config.engine import Engine
from hookline.engine.memory import memory_of
from hookline.engine.session import Session, info_fields
from hookline.events import PRE_TOOL_USE
from hookline.host import SessionOptions

T = TypeVar("T")

#: With more, an adapter forgets the conversation that was silent for longest. Frameworks make up an id for each run
#: without one, and never report its end.
MOST_SESSIONS = 10_000

#: The session whose tool is running here: an agent that the tool starts is its subagent.
_AROUND: ContextVar[Session | None] = ContextVar("hookline_session", default=None)


#: The events that adapters fire.
FIRED = frozenset({
    "SessionStart", "SessionEnd", "UserPromptSubmit", "TurnStart", "PreModelCall", "PostModelCall", "PreToolUse",
    "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure", "TurnEnd", "Stop", "TurnSettled",
    "StopFailure", "Error", "SubagentStart", "SubagentStop",
})  # fmt: skip


#: The framework's own object of a run, in `SessionInfo.extra` of hooks: its dependencies, its context or its state.
RUN_CONTEXT = "run_context"


def warn_once(engine: Engine, text: str) -> None:
    """Log what a program gets wrong about its hooks, each thing once."""
    warned = memory_of(engine).warned
    if text not in warned:
        warned.add(text)
        logging.getLogger("hookline").warning("%s", text)


def warn_of_later(session: Session) -> None:
    """Log that another middleware stands between hooks and the tools, if there are hooks that judge calls."""
    if session.has(PRE_TOOL_USE):
        text = "another middleware comes after that of the hooks, which do not see what it changes: put theirs last"
        warn_once(session.engine, text)


def keep_run_context(session: Session, value: object) -> None:
    """Let hooks in Python find the framework's object of a run. It is in no payload of a command."""
    extra = session.info.extra or {}
    if extra.get(RUN_CONTEXT) is not value:
        session.update(extra={**extra, RUN_CONTEXT: value})


class AdapterSessions:
    """Sessions by the id of their conversation. All of them have the fields of `info`: cwd, permission_mode ...

    `fired` are the events of the adapter: the log names hooks that wait for others.
    """

    def __init__(self, engine: Engine, info: SessionOptions, fired: Collection[str] = FIRED) -> None:
        self._engine, self._fired = engine, fired
        self._info: SessionOptions = {"cwd": os.getcwd(), **info}
        info_fields("the adapter", info)  # reports a misspelt option now, not with the first conversation
        self._sessions: dict[str, Session] = {}

    def of(self, session_id: str) -> Session:
        """Return the session of a conversation; a new one the first time, and after it was closed."""
        session = self._sessions.pop(session_id, None)
        if session is None or session.closed:
            session = self._engine.session(session_id, **self._info)
            self._name_idle_hooks()
        self._sessions[session_id] = session
        if len(self._sessions) > MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return session

    def _name_idle_hooks(self) -> None:
        """Log hooks that this adapter never calls, each once."""
        for hook in self._engine.hooks:
            if hook.event.name not in self._fired:
                text = f"the hook {hook.name} never runs here: this adapter does not fire {hook.event.name}"
                warn_once(self._engine, text)

    async def close(self, session_id: str | None = None, reason: str = "other") -> None:
        """Fire SessionEnd for one conversation, or for all of them."""
        for each in [session_id] if session_id is not None else list(self._sessions):
            session = self._sessions.pop(each, None)
            if session is not None:
                await session.close(reason)


def sub_agent(name: str) -> Session | None:
    """Return a new session below the one whose tool is running here; None if this is not a subagent."""
    parent = _AROUND.get()
    if parent is None:
        return None
    return parent.engine.session(
        parent.id, parent, agent_id=uuid4().hex[:12], agent_type=name, model=parent.info.model
    )


async def steps_inside(session: Session, events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the events of a tool of this session.

    Its listener is outside of the session, so each step enters it anew.
    """
    try:
        while True:
            with inside(session):
                try:
                    event = await anext(events)
                except StopAsyncIteration:
                    return
            yield event
    finally:
        await events.aclose()


@contextmanager
def inside(session: Session) -> Generator[None]:
    """Mark that a tool of this session is running."""
    token = _AROUND.set(session)
    try:
        yield
    finally:
        _AROUND.reset(token)
