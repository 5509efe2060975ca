"""The side of an agent that its user sees: lines, a screen, or nothing but the answer.

A program runs an agent with a front; the front runs on the agent's event loop and may hand on to another thread.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from hookline.agent.ports import UserPort

if TYPE_CHECKING:
    from hookline.agent.build import BuiltAgent
    from hookline.agent.hooks import Fired
    from hookline.agent.mcp.elicitation import Answers
    from hookline.agent.session.session import PromptResult
    from hookline.config.engine import Engine


class Choice(Struct, frozen=True):
    """One answer to a question: its key, other words for it, and what it says."""

    key: str
    text: str
    words: tuple[str, ...] = ()


class Front(Protocol):
    @property
    def user(self) -> UserPort: ...

    @property
    def answers(self) -> "Answers | None":
        """Answers questions of MCP servers."""
        ...

    @property
    def queue(self) -> deque[str]: ...

    @property
    def talks(self) -> bool:
        """The user sits at a terminal: questions can be asked, and Ctrl-C stops only the turn."""
        ...

    def watch(self, engine: "Engine") -> None:
        """Called once, before hooks run."""
        ...

    def fired(self, fired: "Fired") -> None:
        """An event was fired, and the hooks that are waited for have answered."""
        ...

    def note(self, text: str) -> None:
        """Tell the user something that is no part of the conversation."""
        ...

    async def choose(self, title: str, body: Sequence[str], choices: Sequence[Choice]) -> str | None:
        """The key of the choice; None when the user does not answer. `body` was shown if it is empty."""
        ...

    def on_signals(
        self, stop: Callable[[], object], leave: Callable[[], object]
    ) -> AbstractContextManager[None]:
        """While Ctrl-C calls `stop`, and a closed terminal or SIGTERM calls `leave`, on the agent's loop."""
        ...

    def stopped(self, queued: int) -> None:
        """Ctrl-C has stopped the turn; so many prompts are queued, and on hold."""
        ...

    def opened(self, ready: "BuiltAgent") -> None:
        """A session is there; none of its hooks has run yet."""
        ...

    async def talk(self, ready: "BuiltAgent") -> "PromptResult | None":
        """Play everything the user wants of a session that has begun. Returns the result of the last prompt."""
        ...

    def ended(self, result: "PromptResult | None") -> None:
        """The session is over, and background hooks have a moment to end."""
        ...


#: One run of the agent with a front; the exit status. It is run on the loop that the front lives on.
Play = Callable[[Front], Coroutine[Any, Any, int]]
#: Shows a run on a screen, and returns its exit status.
RunScreen = Callable[[Play], int]
