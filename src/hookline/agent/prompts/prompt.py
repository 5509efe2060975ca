"""What comes in with a prompt, and what comes out of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from hookline.matching.patterns import Expression, Patterns
from hookline.model.errors import PatternError
from hookline.model.safe_text import one_line

#: A pattern made to be slow takes milliseconds per KiB, so of a longer prompt only the beginning is searched.
LONGEST_ROUTED = 16 * 1024


class Route(Struct, frozen=True):
    """Prompts in which the pattern is found go to the model."""

    pattern: str
    model: str


class Router:
    """Routes in the order they were given. One that cannot be understood is told, and matches nothing."""

    def __init__(self, routes: Sequence[Route] = ()) -> None:
        self._routes: list[tuple[Expression, str]] = []
        self.problems: tuple[str, ...] = ()
        patterns = Patterns(longest_subject=LONGEST_ROUTED)
        for route in routes:
            try:
                compiled = patterns.expression(route.pattern, anchored=False)
            except PatternError as problem:
                said = f"the route to {one_line(route.model, 80)} is not used: {one_line(str(problem), 300)}"
                self.problems += (said,)
            else:
                self._routes.append((compiled, route.model))

    def __len__(self) -> int:
        return len(self._routes)

    def model_for(self, text: str) -> str | None:
        beginning = text[:LONGEST_ROUTED]
        return next((model for pattern, model in self._routes if pattern.found(beginning)), None)


#: Where a command or skill was found, in the words hooks know.
Origin = Literal["projectSettings", "userSettings"]


class LocalCommand(Struct, frozen=True):
    """A command the agent carries out itself: nothing of it reaches a model."""

    name: str
    argument: str = ""


class Surroundings(Struct, frozen=True, kw_only=True, eq=False):
    """Everything beside its text that decides what a prompt becomes."""

    cwd: str
    #: HOME and XDG_CONFIG_HOME say where the user's commands are, and what `~` is.
    env: Mapping[str, str] = {}
    router: Router | None = None
    #: Why a mentioned file may not be read, or None. Asked with the path and with what a link leads to.
    objection: Callable[[str], str | None] | None = None


class Prepared(Struct, frozen=True, kw_only=True):
    """A prompt, ready. `shown` is for people, the history and the transcript; `text` is for the model."""

    shown: str
    text: str = ""
    #: The model this prompt asks for: its command's, else the first route that fits.
    model: str | None = None
    #: `allowed-tools` of the command or skill, as permission rules; None when it has none.
    allowed_tools: tuple[str, ...] | None = None
    command: str | None = None
    command_kind: Literal["command", "skill"] | None = None
    command_arguments: str = ""
    command_source: Origin | None = None
    command_file: str = ""
    #: Hooks in the front matter of the command or skill, as they were written.
    hooks: Mapping[str, Any] | None = None
    #: What the user should be told, each printable as it is.
    problems: tuple[str, ...] = ()
    local: LocalCommand | None = None
    #: False when there is nothing for a model: a local command, or a command that cannot be used.
    sends: bool = True
