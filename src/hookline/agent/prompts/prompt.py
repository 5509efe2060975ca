"""Define a prompt while it is prepared: its inputs, and the result; and one that steers the turn that runs."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from hookline.matching.patterns import Expression, Patterns
from hookline.model.diagnostics import NOWHERE, Where
from hookline.model.errors import PatternError
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.agent.turn.includes import Includes

#: A slow pattern takes milliseconds per KiB, so only the beginning of a longer prompt is searched.
LONGEST_ROUTED = 16 * 1024

#: Where a command or skill was found, in the terms of UserPromptExpansion.
Origin = Literal["projectSettings", "userSettings"]


class PromptRoute(Struct, frozen=True, forbid_unknown_fields=True):
    """A route: prompts that match the pattern go to the model."""

    pattern: str
    model: str


class Router:
    """Choice of a model by the first route that matches. A route with a bad pattern is reported and ignored."""

    def __init__(self, routes: Sequence[PromptRoute] = ()) -> None:
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


class PromptContext(Struct, frozen=True, kw_only=True, eq=False):
    """Everything besides its text that decides how a prompt is prepared."""

    cwd: str
    #: HOME and XDG_CONFIG_HOME say where the user's commands are, and what `~` is.
    env: Mapping[str, str] = {}
    router: Router | None = None
    #: Why a mentioned file may not be read, or None. Asked with the path and with the target of a link.
    objection: Callable[[str], str | None] | None = None
    #: Reads files that the project's files mention; None: they are read like the user's mentions.
    includes: "Includes | None" = None


class PreparedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt, ready. `shown` is for people, the history and the transcript; `text` is for the model."""

    shown: str
    text: str = ""
    #: The model this prompt asks for: its command's, else that of the first route that matches.
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
    #: Where they were written.
    hooks_at: Where = NOWHERE
    #: Printable messages for the user.
    problems: tuple[str, ...] = ()
    #: False when there is nothing for a model: a command that cannot be used.
    sends: bool = True


class Steering(str):
    """A prompt for the turn that runs: the model gets it after the next batch of tool calls."""

    __slots__ = ()


def next_steering(queue: deque[str]) -> str | None:
    """Remove the first steering prompt from the queue and return it. The user may change the queue meanwhile."""
    try:
        found = next((text for text in tuple(queue) if isinstance(text, Steering)), None)
        if found is not None:
            queue.remove(found)
    except (RuntimeError, ValueError):  # it changed while it was read, or was taken back
        return None
    return found
