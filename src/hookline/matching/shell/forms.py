"""A command from its words, in all the ways a rule may have it."""

from hookline.matching.shell import tables
from hookline.matching.shell.doors import opens_a_door
from hookline.matching.shell.names import Words, base_name
from hookline.matching.shell.reading import ShellCommand
from hookline.matching.shell.through import program_of


def command_of(words: Words, outer: Words = ()) -> ShellCommand:
    return ShellCommand(words, base_name(words[0]), _forms(words), opens_a_door(words), outer)


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
