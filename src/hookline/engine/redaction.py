"""Secrets taken out of text: those this environment holds, and those that look like secrets.

Works on whole text; whoever shortens text does it afterwards, or half a key is left that nothing recognises.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

#: What stands where a secret stood.
MARK = "[redacted]"

#: The shortest beginning of a known secret that is taken out where text was cut off.
_SHORTEST_BEGINNING = 6


class Shape(Struct, frozen=True):
    """Text that looks like a secret, wherever it comes from."""

    #: Lower-case words without one of which the shape cannot be there.
    hints: tuple[str, ...]
    taken_out: Callable[[str], str]


class _Wanted(Struct, frozen=True):
    values: tuple[str, ...]
    shapes: tuple[Shape, ...]


class Redactor:
    """Built from an environment snapshot; what it looks for is worked out when first needed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._wanted: _Wanted | None = None

    def redact(self, text: str, *, ends_early: bool = False) -> str:
        """The text without secrets. `ends_early`: it was cut off, so it may end in the first half of one."""
        if not text:
            return text
        wanted = self._wanted or self._find_out()
        values = wanted.values
        for value in values:
            if value in text:
                text = text.replace(value, MARK)
        if ends_early:
            text = _without_a_beginning(text, values)
        lowered = text.lower()
        for shape in wanted.shapes:
            for hint in shape.hints:
                if hint in lowered:
                    text = shape.taken_out(text)
                    break
        return text

    def _find_out(self) -> _Wanted:
        # Imported here: the patterns take milliseconds to compile, and many runs say nothing at all.
        from hookline.engine.secret_shapes import secret_shapes  # noqa: PLC0415 - see above
        from hookline.engine.secret_values import secret_values  # noqa: PLC0415 - see above

        self._wanted = wanted = _Wanted(secret_values(self._env), secret_shapes())
        return wanted


def _without_a_beginning(text: str, values: tuple[str, ...]) -> str:
    longest = 0
    for value in values:
        for length in range(min(len(value) - 1, len(text)), _SHORTEST_BEGINNING - 1, -1):
            if text.endswith(value[:length]):
                longest = max(longest, length)
                break
    return text[: len(text) - longest] + MARK if longest else text
