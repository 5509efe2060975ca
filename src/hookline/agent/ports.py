"""Define the user's side of a session: what is shown, and who answers questions. A terminal, a program or a test."""

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from hookline.model.messages import Usage

ShownKind = Literal[
    # Text and calls.
    "prompt", "delta", "answer", "call", "result", "notice", "warning", "blocked", "settled",
    # A request was sent; its text is held back until hooks have seen it; the usage of the turn so far.
    "request", "held", "usage",
    # The text of an answer that broke off; a failed request that is repeated after `seconds`.
    "partial", "retry",
    # The model's thinking, as it arrives, and all of it.
    "thinking", "thought",
    # Actions of hooks: wake the agent, change something, add text for the model.
    "wake", "rewrite", "context",
]  # fmt: skip

#: The running call: a subagent's output belongs to the call that started it.
CURRENT_CALL: ContextVar[str] = ContextVar("current_call", default="")


class Shown(Struct, frozen=True, kw_only=True):
    """Something to show. The text may hold control characters: escape it before printing."""

    kind: ShownKind
    text: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    #: The call that it is about: calls run at the same time.
    tool_use_id: str = ""
    is_error: bool = False
    #: The call did not run.
    refused: bool = False
    #: The changes of an edit: hunks with `oldStart`, `newStart` and `lines`.
    patch: Sequence[Mapping[str, Any]] = ()
    #: The type of the subagent it comes from, and the call that started it; None and empty for the main agent.
    agent: str | None = None
    under: str = ""
    #: The hook it comes from, its event, and where it is configured (file:line).
    hook: str = ""
    event: str = ""
    source: str = ""
    #: The event by the hook's own name, with Hookline's in brackets where that differs.
    label: str = ""
    #: Of a rewrite: which field, and its value before and after.
    field: str = ""
    before: Any = None
    after: Any = None
    #: The usage of the turn so far.
    usage: Usage | None = None
    #: Of a retry: how long the agent waits before it.
    seconds: float = 0.0


class Listener(Protocol):
    def show(self, shown: Shown) -> None:
        """Show something, quickly: the agent waits for it."""
        ...


class NoListener:
    """A listener that shows nothing."""

    def show(self, shown: Shown) -> None:
        del shown


class NestedListener:
    """A listener that marks what a subagent shows."""

    def __init__(self, listener: Listener, agent: str, under: str) -> None:
        self._listener = listener
        self._agent = agent
        self._under = under

    def show(self, shown: Shown) -> None:
        self._listener.show(
            replace(shown, agent=shown.agent or self._agent, under=shown.under or self._under)
        )


class PermissionPrompt(Struct, frozen=True, kw_only=True):
    """A question to the user: may this call run?"""

    #: The question itself, if the tool has another one.
    title: str = ""
    tool_name: str
    tool_input: Mapping[str, Any]
    reason: str
    suggestions: tuple[Mapping[str, Any], ...] = ()
    agent: str | None = None
    #: The hook that asks, if one does; and where it, or the rule that asks, is written.
    hook: str = ""
    source: str = ""
    #: The rule that `always` would add.
    grants: tuple[str, ...] = ()
    #: The changes of a file that the call would make, as in `Shown`.
    patch: Sequence[Mapping[str, Any]] = ()


class PermissionReply(Struct, frozen=True, kw_only=True):
    allow: bool
    #: Allow it from now on, for this session.
    always: bool = False
    #: For the model, if the answer is no.
    message: str = ""
    #: After a no: the model reads the message and continues. Otherwise the turn ends.
    go_on: bool = False


class Asker(Protocol):
    """A user who is asked one question at a time."""

    async def ask(self, question: PermissionPrompt) -> PermissionReply: ...


class Confirmer(Protocol):
    async def confirm(self, text: str) -> bool:
        """Ask beside the conversation, which continues meanwhile. Cancelled when the question is settled otherwise."""
        ...


class Choice(Struct, frozen=True):
    """One answer to a question: its key, other words for it, and its text."""

    key: str
    text: str
    words: tuple[str, ...] = ()


class Chooser(Protocol):
    async def pick(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], *, words: bool = False
    ) -> tuple[str | None, str]:
        """Return the key of a choice, None if the user does not answer; with `words`, other words are an answer."""
        ...


class UserPort(Struct, frozen=True, kw_only=True, eq=False):
    """Connection of an agent to its user. Subagents and MCP servers share their session's: there is one user."""

    listener: Listener = field(default_factory=NoListener)
    #: None: no user can be asked, and a call that needs permission is denied.
    asker: Asker | None = None
    #: None: no user can agree to a change of the configuration.
    confirmer: Confirmer | None = None
    #: None: no user can choose.
    chooser: Chooser | None = None
    #: Held while a question is open, so that questions never overlap.
    dialog: asyncio.Lock = field(default_factory=asyncio.Lock)

    def show(self, kind: ShownKind, text: str, **facts: Any) -> None:
        self.listener.show(Shown(kind=kind, text=text, **facts))

    def warn(self, text: str) -> None:
        self.show("warning", text)

    def of_subagent(self, agent: str) -> "UserPort":
        """Return the same user, for a subagent that the current call starts."""
        return replace(self, listener=NestedListener(self.listener, agent, CURRENT_CALL.get()))
