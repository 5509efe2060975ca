"""Read shell lines as lists of commands."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from hookline.shell.placeholders import HOLE, Words, base_name

if TYPE_CHECKING:
    from hookline.shell.allowed_directories import Places


NO_CONTENTS: Final[Mapping[str, str]] = MappingProxyType({})


#: By the name of a program, as a line has it.
_WAYS: dict[str, Words] = {}
_MOST_WAYS = 1024


def _ways_of(word: str) -> Words:
    from hookline.shell.runs import any_row  # noqa: PLC0415 loaded with the line

    if len(_WAYS) >= _MOST_WAYS:
        _WAYS.clear()
    row = any_row(word)
    found = _WAYS[word] = row.does if row is not None else ()
    return found


class ShellCommand(Struct, frozen=True):
    """One simple command. `HOLE` in a word replaces text only the shell can expand."""

    words: Words
    base_name: str
    #: The command as one folded text in the ways a rule may have it: as written, by base name, without the
    #: options before its first operand.
    forms: tuple[str, ...]
    #: Its words are not specific enough: only a rule with the exact command permits it.
    by_word: bool = False
    #: The words of the command that runs this one, where they name it plainly: `uv run pytest`.
    outer: Words = ()
    #: The position of the command that runs this one; -1 for the line itself.
    by: int = -1
    #: It runs in a container or on another machine, with other files.
    away: bool = False

    @property
    def pin(self) -> Words:
        """The words around it that name it: a permission for these covers it, too."""
        return self.outer[: len(self.outer) - len(self.words) + 1] if self.outer else ()

    def beyond(self, places: "Sequence[Places] | None" = None) -> Words:
        """Return the reasons why it runs or writes more than its program's plain job in one of these
        directories, or here."""
        from hookline.shell.allowed_directories import Places  # noqa: PLC0415 as below
        from hookline.shell.runs import beyond  # noqa: PLC0415 only permissions ask for it

        if self.by_word:
            return ("all its words",)
        held = (Places(),) if places is None else places
        return tuple(one.word for one in beyond(self.words) if not any(each.hold(one) for each in held))

    def does(self, way: str) -> bool:
        """Return True if its program does this, one of `programs.row.WAYS`."""
        word = self.words[0] if self.words else ""
        ways = _WAYS.get(word)
        return way in (_ways_of(word) if ways is None else ways)

    @property
    def escapes(self) -> bool:
        """True if it runs or writes more than its program's name suggests: only a rule with the exact command
        permits it."""
        return bool(self.beyond())

    @property
    def needs_permission(self) -> bool:
        """False for commands that only end or continue the line: `break`, `[ -f x ]`, the word `time`."""
        from hookline.shell.permitted import needs_permission  # noqa: PLC0415 only permissions ask for it

        return needs_permission(self.words)

    @property
    def text(self) -> str:
        return " ".join(self.words).replace(HOLE, "…")


class ShellReading(Struct, frozen=True):
    """The commands of a line: those that are certain, the doubts, and text that can only be searched."""

    commands: tuple[ShellCommand, ...] = ()
    #: Code of other languages: text to search, not to parse.
    foreign: tuple[str, ...] = ()
    #: Reasons why the list of commands may be incomplete, each as a phrase.
    doubts: tuple[str, ...] = ()
    #: A permission may be granted on it: it is all known, and nothing is written or smuggled in.
    literal: bool = False
    #: The files that redirections write to and read from.
    writes: Words = ()
    reads: Words = ()
    #: Pairs of commands, by their positions: the output of the first becomes input, words or code of the
    #: second.
    flows: tuple[tuple[int, int], ...] = ()
    #: The text that the line writes to a file, where it shows it: `cat > a <<E`, `echo x | tee a`.
    contents: Mapping[str, str] = NO_CONTENTS
    #: The reason why more commands may be typed into one of them, as a phrase; empty where nothing is read.
    typed: str = ""
    #: Those of `writes` that only redirections in a container or on another machine write to.
    writes_away: Words = ()

    @property
    def uncertain(self) -> str | None:
        return self.doubts[0] if self.doubts else None

    @property
    def known(self) -> tuple[Words, ...]:
        """The commands that are known to the last letter."""
        return tuple(one.words for one in self.commands if HOLE not in "".join(one.words))

    def shows(self, argv: Words) -> bool:
        """Return True if exactly this command is in the line."""
        return bool(argv) and any(
            base_name(words[0]) == base_name(argv[0]) and words[1:] == argv[1:] for words in self.known
        )


class ShellReader(Struct, eq=False):
    """Reads shell lines and remembers the last of them. Build one and pass it down."""

    remembered: int = 128
    _readings: dict[str, ShellReading] = field(default_factory=dict[str, ShellReading])

    def read(self, line: str, files: Mapping[str, str] = NO_CONTENTS) -> ShellReading:
        """Read a line. Never raises: a line that cannot be read gives a reading in doubt that says why.

        `files` are those that it runs, each with its text.
        """
        if files:
            return _read(line, files)
        readings = self._readings
        known = readings.pop(line, None)
        if known is None:
            known = _read(line, files)
            if len(readings) >= self.remembered:
                del readings[next(iter(readings))]
        readings[line] = known
        return known


def _read(line: str, files: Mapping[str, str]) -> ShellReading:
    # Imported with the first shell line that a rule is about: most runs need none.
    from hookline.shell.walk.lines import read_line  # noqa: PLC0415 see above

    return read_line(line, files)
