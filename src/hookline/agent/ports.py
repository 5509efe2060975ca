"""Who watches the agent and answers its questions: a terminal, a test, a program. Both may be nobody."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

ShownKind = Literal["delta", "answer", "warning", "notice", "prompt", "call", "result", "blocked", "settled"]


class Shown(Struct, frozen=True, kw_only=True):
    """Something for whoever watches. The text is as it came: whoever prints it makes it printable."""

    kind: ShownKind
    text: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    is_error: bool = False
    #: The agent that speaks, when it is a sub-agent.
    agent: str | None = None


class Listener(Protocol):
    def show(self, shown: Shown) -> None:
        """Must be quick: the agent waits."""
        ...


class Nobody:
    """Watches nothing."""

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
    #: Also the next time, in this session.
    always: bool = False
    message: str = ""


class Asker(Protocol):
    """Questions come one after another, never two at once."""

    async def ask(self, question: Question) -> Reply: ...
