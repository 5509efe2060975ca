"""The agent's user interface: lines, a screen, or nothing but the answer.

A program runs an agent with a user interface, which runs on the agent's event loop and may hand on to another
thread.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from hookline.agent.ports import Choice, UserPort

if TYPE_CHECKING:
    from hookline.agent.build import BuiltAgent
    from hookline.agent.hooks import FiredEvent
    from hookline.agent.mcp.elicitation import ElicitationHandler
    from hookline.agent.session.session import PromptTurn
    from hookline.config.engine import Engine


class UserInterface(Protocol):
    @property
    def user(self) -> UserPort: ...

    @property
    def answers(self) -> "ElicitationHandler | None":
        """The answers to questions of MCP servers."""
        ...

    @property
    def queue(self) -> deque[str]: ...

    @property
    def talks(self) -> bool:
        """True if the user sits at a terminal: questions can be asked, and Ctrl-C stops only the turn."""
        ...

    def watch(self, engine: "Engine") -> None:
        """Watch an engine; called once, before hooks run."""
        ...

    def fired(self, fired: "FiredEvent") -> None:
        """Handle an event whose waiting hooks have all answered."""
        ...

    def note(self, text: str) -> None:
        """Show a text to the user that is not part of the conversation."""
        ...

    async def choose(self, title: str, body: Sequence[str], choices: Sequence[Choice]) -> str | None:
        """Return the key of the choice; None when the user does not answer. `body` was shown already if it is empty."""
        ...

    def on_signals(
        self, stop: Callable[[], object], leave: Callable[[], object]
    ) -> AbstractContextManager[None]:
        """Let Ctrl-C call `stop`, and a closed terminal or SIGTERM call `leave`, on the agent's loop."""
        ...

    def stopped(self, queued: int) -> None:
        """Handle a turn stopped by Ctrl-C; so many prompts are queued, and on hold."""
        ...

    def opened(self, ready: "BuiltAgent") -> None:
        """Handle a new session whose hooks have not run yet."""
        ...

    async def talk(self, ready: "BuiltAgent") -> "PromptTurn | None":
        """Play everything the user wants of a session that has begun. Returns the result of the last prompt."""
        ...

    def ended(self, result: "PromptTurn | None") -> None:
        """Handle the end of the session; background hooks have a little time to end."""
        ...


#: One run of the agent with a front; the exit status. It is run on the loop that the front lives on.
Play = Callable[[UserInterface], Coroutine[Any, Any, int]]
#: Shows a run on a screen, and returns its exit status.
RunScreen = Callable[[Play], int]
