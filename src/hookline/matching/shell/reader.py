"""Shell lines as lists of commands: what a reading holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from hookline.matching.shell.holes import HOLE, Words

if TYPE_CHECKING:
    from hookline.matching.shell.places import Places


class ShellCommand(Struct, frozen=True):
    """One simple command. `HOLE` in a word replaces what only the shell knows."""

    words: Words
    base_name: str
    #: The command as one folded text in the ways a rule may have it: as written, by base name, without the
    #: options before its first operand.
    forms: tuple[str, ...]
    #: Its words say too little: only a rule with the exact command permits it.
    by_word: bool = False
    #: The words of the command that runs this one, where they name it plainly: `uv run pytest`.
    outer: Words = ()

    @property
    def pin(self) -> Words:
        """The words around it that name it: a permission for these covers it, too."""
        return self.outer[: len(self.outer) - len(self.words) + 1] if self.outer else ()

    def beyond(self, places: "Sequence[Places] | None" = None) -> Words:
        """What makes it run or write more than its program's plain job, which is in one of these places, or here."""
        from hookline.matching.shell.places import Places  # noqa: PLC0415 as below
        from hookline.matching.shell.runs import beyond  # noqa: PLC0415 only permissions ask for it

        if self.by_word:
            return ("all its words",)
        held = (Places(),) if places is None else places
        return tuple(one.word for one in beyond(self.words) if not any(each.hold(one) for each in held))

    @property
    def escapes(self) -> bool:
        """It runs or writes more than its program's name says: only a rule with the exact command permits it."""
        return bool(self.beyond())

    @property
    def needs_permission(self) -> bool:
        """Not for what only ends or goes on with the line: `break`, `[ -f x ]`, the word `time`."""
        from hookline.matching.shell.permitted import needs_permission  # noqa: PLC0415 only permissions ask for it

        return needs_permission(self.words)

    @property
    def text(self) -> str:
        return " ".join(self.words).replace(HOLE, "…")


class ShellReading(Struct, frozen=True):
    """What a line runs: what is sure, what could not be told, and text that can only be searched."""

    commands: tuple[ShellCommand, ...] = ()
    #: Code of other languages: text to search, not to parse.
    foreign: tuple[str, ...] = ()
    #: Why the list of commands may be incomplete, each as a phrase.
    doubts: tuple[str, ...] = ()
    #: A permission may be granted on it: it is all known, and nothing is written or smuggled in.
    literal: bool = False
    #: The files that redirections write to and read from.
    writes: Words = ()
    reads: Words = ()
    #: Pairs of commands, by their place: the output of the first becomes input, words or code of the second.
    flows: tuple[tuple[int, int], ...] = ()

    @property
    def uncertain(self) -> str | None:
        return self.doubts[0] if self.doubts else None


class ShellReader(Struct, eq=False):
    """Reads shell lines and remembers the last of them. Build one and pass it down."""

    remembered: int = 128
    _readings: dict[str, ShellReading] = field(default_factory=dict[str, ShellReading])

    def read(self, line: str) -> ShellReading:
        """Never raises. A line that cannot be read gives a reading in doubt that says why."""
        readings = self._readings
        known = readings.pop(line, None)
        if known is None:
            known = _read(line)
            if len(readings) >= self.remembered:
                del readings[next(iter(readings))]
        readings[line] = known
        return known


def _read(line: str) -> ShellReading:
    # Imported with the first shell line that a rule is about: most runs need none.
    from hookline.matching.shell.walk.lines import read_line  # noqa: PLC0415 see above

    return read_line(line)
