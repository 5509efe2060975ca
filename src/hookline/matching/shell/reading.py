"""What was read off a shell line."""

from msgspec import Struct

from hookline.matching.shell import tables
from hookline.matching.shell.through import Words, base_name, program_of
from hookline.matching.shell.words import HOLE


class ShellCommand(Struct, frozen=True):
    """One simple command. `HOLE` in a word stands for what only the shell knows."""

    words: Words
    base_name: str
    #: The command as one folded text in the ways a rule may have it: as written, by base name, without the
    #: options before its first operand.
    forms: tuple[str, ...]

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


def command_of(words: Words) -> ShellCommand:
    return ShellCommand(words, base_name(words[0]), _forms(words))


def _forms(words: Words) -> tuple[str, ...]:
    written = " ".join(words)
    named = " ".join((base_name(words[0]), *words[1:]))
    bare = " ".join((base_name(words[0]), *_without_leading_options(words)))
    return tuple(dict.fromkeys((written.casefold(), named.casefold(), bare.casefold())))


def _without_leading_options(words: Words) -> Words:
    valued = tables.GLOBAL_VALUED.get(program_of(words[0]), frozenset[str]())
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    return words[at:]
