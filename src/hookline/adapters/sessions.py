"""The sessions of an adapter: one per conversation, and one for each run of a sub-agent."""

import os
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar
from uuid import uuid4

from hookline.engine.engine import Engine
from hookline.engine.session import Session
from hookline.host import SceneOptions
from hookline.model.scene import scene_fields

T = TypeVar("T")

#: An adapter forgets the conversation that was silent for longest when there are more. Frameworks make up an id for
#: each run that is given none, and nobody says when it is over.
MOST_SESSIONS = 10_000

#: The session whose tool is running here: an agent that the tool starts is its sub-agent.
_AROUND: ContextVar[Session | None] = ContextVar("hookline_session", default=None)


class Sessions:
    """Sessions by the id of their conversation. `scene` is what all of them are told: cwd, permission_mode ..."""

    def __init__(self, engine: Engine, scene: SceneOptions) -> None:
        self._engine = engine
        self._scene: SceneOptions = {"cwd": os.getcwd(), **scene}
        scene_fields("the adapter", scene)  # a misspelt option is told here, not with the first conversation
        self._sessions: dict[str, Session] = {}

    def of(self, session_id: str) -> Session:
        """The session of a conversation; a new one the first time, and after it was closed."""
        session = self._sessions.pop(session_id, None)
        if session is None or session.closed:
            session = self._engine.session(session_id, **self._scene)
        self._sessions[session_id] = session
        if len(self._sessions) > MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return session

    async def close(self, session_id: str | None = None, reason: str = "other") -> None:
        """SessionEnd for one conversation, or for all of them."""
        for each in [session_id] if session_id is not None else list(self._sessions):
            session = self._sessions.pop(each, None)
            if session is not None:
                await session.close(reason)


def sub_agent(name: str) -> Session | None:
    """A new session below the one whose tool is running here; None if this is no sub-agent."""
    parent = _AROUND.get()
    if parent is None:
        return None
    return parent.engine.session(
        parent.id, parent, agent_id=uuid4().hex[:12], agent_type=name, model=parent.scene.model
    )


async def steps_inside(session: Session, events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The events of a tool of this session. Who listens to them is not inside of it, so each step is for itself."""
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
    """While a tool of this session runs."""
    token = _AROUND.set(session)
    try:
        yield
    finally:
        _AROUND.reset(token)
