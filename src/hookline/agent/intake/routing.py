"""Which model a prompt goes to: the first route whose pattern is found in its text."""

from collections.abc import Sequence

from msgspec import Struct

from hookline.matching.patterns import Expression, Patterns
from hookline.model.errors import PatternError
from hookline.model.safetext import one_line

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
