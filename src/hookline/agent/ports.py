"""The user's side of a session: what is shown, and who answers questions. A terminal, a program or a test."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

ShownKind = Literal["delta", "answer", "warning", "notice", "prompt", "call", "result", "blocked", "settled"]


class Shown(Struct, frozen=True, kw_only=True):
    """Something to show. The text may hold control characters: escape it before printing."""

    kind: ShownKind
    text: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    is_error: bool = False
    #: The type of the subagent it comes from; None for the main agent.
    agent: str | None = None


class Listener(Protocol):
    def show(self, shown: Shown) -> None:
        """Must be quick: the agent waits for it."""
        ...


class NoListener:
    """Shows nothing."""

    def show(self, shown: Shown) -> None:
        del shown


class Question(Struct, frozen=True, kw_only=True):
    """May this call run?"""

    tool_name: str
    tool_input: Mapping[str, Any]
    reason: str
    suggestions: tuple[Mapping[str, Any], ...] = ()
    agent: str | None = None


class Reply(Struct, frozen=True, kw_only=True):
    allow: bool
    #: Allow it from now on, for this session.
    always: bool = False
    message: str = ""


class Asker(Protocol):
    """Asked one question at a time."""

    async def ask(self, question: Question) -> Reply: ...


class Confirmer(Protocol):
    async def confirm(self, text: str) -> bool:
        """Ask beside the conversation, which goes on meanwhile. Cancelled when the question is settled otherwise."""
        ...


class UserPort(Struct, frozen=True, kw_only=True, eq=False):
    """How an agent reaches its user. Subagents and MCP servers share their session's: there is one user."""

    listener: Listener = field(default_factory=NoListener)
    #: None: there is no user to ask, and a call that needs permission is denied.
    asker: Asker | None = None
    #: None: there is no user who could agree to a change of the configuration.
    confirmer: Confirmer | None = None
    #: Held while a question is open, so that questions never overlap.
    dialog: asyncio.Lock = field(default_factory=asyncio.Lock)

    def show(self, kind: ShownKind, text: str, agent: str | None = None) -> None:
        self.listener.show(Shown(kind=kind, text=text, agent=agent))

    def warn(self, text: str) -> None:
        self.show("warning", text)
