"""What was read off a shell line."""

from msgspec import Struct

from hookline.matching.shell.names import HOLE, Words


class ShellCommand(Struct, frozen=True):
    """One simple command. `HOLE` in a word stands for what only the shell knows."""

    words: Words
    base_name: str
    #: The command as one folded text in the ways a rule may have it: as written, by base name, without the
    #: options before its first operand.
    forms: tuple[str, ...]
    #: It runs or writes more than its program's name says: only a rule that spells it out permits it.
    opens: bool = False
    #: The words of the command that runs this one, where they name it plainly: `uv run pytest`.
    outer: Words = ()

    @property
    def pin(self) -> Words:
        """The words around it that name it: whoever permits these permits it, too."""
        return self.outer[: len(self.outer) - len(self.words) + 1] if self.outer else ()

    @property
    def text(self) -> str:
        return " ".join(self.words).replace(HOLE, "…")


class ShellReading(Struct, frozen=True):
    commands: tuple[ShellCommand, ...] = ()
    #: Code of other languages, here-documents and values that may become code: text to search, not to parse.
    foreign: tuple[str, ...] = ()
    #: Why the list of commands must not be trusted to be whole.
    uncertain: str | None = None
    #: Nothing but literal words, lists and pipes: what a permission may be granted on.
    literal: bool = False
