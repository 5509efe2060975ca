"""Whether a command is one that a row is about: program, sub-command, options and operands."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from hookline.guards.policy import GuardedCommand
from hookline.guards.rows import program_names
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.options import Options, OptionSpec, read_options, readings
from hookline.matching.shell.programs import spec_at_once, table, words_at_once

#: What stands for standard input where a file is expected.
_STDIN = frozenset(("-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"))
#: `docker container run` is `docker run`.
_CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
#: With such a value an option is as if it were not there: `--dry-run=none`.
_OFF = frozenset(("none", "false", "f", "0", "no", "off"))
_MOST_ALIASES = 8
_LONGEST_OPTION = 100


class Seen(NamedTuple):
    """A command, read for a guard."""

    program: str
    #: Sub-commands and operands.
    operands: Words
    options: Options
    words: Words
    #: Why it may be another command.
    doubt: str = ""


class Hit(NamedTuple):
    row: GuardedCommand
    #: The words that show it.
    words: Words
    #: What about it only the shell knows.
    doubt: str = ""


def hits(words: Words, rows: Sequence[GuardedCommand], texts: Sequence[str] = ()) -> Iterator[Hit]:
    """The rows that a command fits. `texts` are what feeds it."""
    if not rows or _asks_for_help(words):
        return
    for seen in _readings(words, tuple(rows)):
        for row in rows:
            doubt = _fits(row, seen, texts)
            if doubt is not None:
                yield Hit(row, seen.words, doubt)


def _asks_for_help(words: Words) -> bool:
    """Whether it is a program and sub-commands alone, and then `--help`. Further behind it may be meant for another."""
    return words[-1] == "--help" and all(word[:1] != "-" for word in words[:-1]) and len(words) <= 5


# --- reading ---------------------------------------------------------------------------------------------------------


def _readings(words: Words, rows: tuple[GuardedCommand, ...]) -> Iterator[Seen]:
    """The command; and for git what its aliases on the line stand for."""
    names = program_names(words[0])
    program = next((name for name in names if name in table()), names[-1])
    for options, doubt in _with_doubt(readings(words[1:], _spec(program, rows))):
        if _has_sub_commands(program):
            for seen in _with_sub(program, words, options, rows):
                yield seen._replace(doubt=doubt or seen.doubt)
        else:
            yield Seen(program, options.operands, options, words, doubt)


def _with_doubt(read: Iterator[Options]) -> Iterator[tuple[Options, str]]:
    for place, options in enumerate(read):
        yield options, "an option that is not known comes before it" if place else ""


def _has_sub_commands(program: str) -> bool:
    """Whether its own options come before its sub-command, which has others."""
    row = table().get(program)
    return row is not None and row.sub == "before"


def _with_sub(program: str, words: Words, top: Options, rows: tuple[GuardedCommand, ...]) -> Iterator[Seen]:
    """A program, its own options and its sub-command."""
    if not top.operands:
        yield Seen(program, (), top, words)
        return
    aliases = dict(_aliases(top)) if program == "git" else {}
    operands = _ungrouped(program, top.operands)
    for _ in range(_MOST_ALIASES):
        value = aliases.pop(operands[0], None)
        if value is None:
            break
        operands = (*value, *operands[1:])
    yield from _sub(program, operands, top, words, rows)
    if program == "git" and operands[0] == "config":
        # An alias that is kept is as good as a command.
        for at, word in enumerate(operands[1:-1], start=1):
            if word.startswith("alias.") and (kept := _alias_words(operands[at + 1])):
                yield from _sub(program, kept, top, words, rows)


def _ungrouped(program: str, operands: Words) -> Words:
    grouped = program in _CONTAINERS and operands[0] in {"container", "image"}
    return operands[1:] or operands if grouped else operands


def _sub(
    program: str, operands: Words, top: Options, words: Words, rows: tuple[GuardedCommand, ...]
) -> Iterator[Seen]:
    sub, rest = operands[0], operands[1:]
    # What an alias stands for is shown instead of it.
    shown = words if operands == top.operands[-len(operands) :] else (words[0], *operands)
    for inner, doubt in _with_doubt(readings(rest, _spec(f"{program} {sub}", rows))):
        options = Options(
            (*top.given, *inner.given), (sub, *inner.operands), inner.first, (*top.unknown, *inner.unknown)
        )
        yield Seen(program, (sub, *inner.operands), options, shown, doubt)


@lru_cache(maxsize=512)
def _spec(program: str, rows: tuple[GuardedCommand, ...]) -> OptionSpec:
    """The options of a program, with those that the rows ask for."""
    spec = spec_at_once(program)
    if _has_sub_commands(program):
        return spec
    known = words_at_once(program)
    more = {
        name: name + (":" if row.value and name in row.given.split() else "")
        for row in rows
        for name in (*row.given.split(), *row.unless.split())
        if name not in known
    }
    return OptionSpec(" ".join((spec.text, *more.values())), spec.style, exact=spec.exact)


def _aliases(top: Options) -> Iterator[tuple[str, Words]]:
    for value in top.values("-c", "--config-env"):
        name, _, text = value.partition("=")
        if name.startswith("alias.") and (words := _alias_words(text)):
            yield name.removeprefix("alias."), words


def _alias_words(text: str) -> Words:
    """An alias that begins with `!` is a shell line, which the reader of lines takes care of."""
    from shlex import split  # noqa: PLC0415 few lines have aliases

    try:
        return tuple(split(text.removeprefix("!git ")))
    except ValueError:
        return ()


# --- judging ---------------------------------------------------------------------------------------------------------


def _fits(row: GuardedCommand, seen: Seen, texts: Sequence[str]) -> str | None:
    """None: it does not. Else what about that only the shell knows, and nothing if it is sure."""
    behind, doubt = _below(row, seen.operands)
    doubt = doubt or seen.doubt
    if behind is None or _is_spared(row, seen):
        return None
    behind += seen.options.values(*_destinations(seen.program))
    for asked, found in ((row.given, _given), (row.operand, _operand)):
        answer = found(row, seen.options, behind) if asked else ""
        if answer is None:
            answer = _fed(row, seen, texts, is_option=found is _given)
        if answer is None:
            return None
        doubt = doubt or answer
    return doubt if _is_left(row, seen, behind, texts) else None


@lru_cache(maxsize=512)
def _destinations(program: str) -> Words:
    """Options whose value is where something goes, as an operand is: `curl --url`."""
    return tuple(word.name for word in words_at_once(program).values() if "*" in word.sign)


def _is_spared(row: GuardedCommand, seen: Seen) -> bool:
    """Whether it has an option with which it does nothing of that kind, and which nothing takes back."""
    names = row.unless.split()
    given = [option.value for option in seen.options.given if option.name in names]
    if not given or HOLE in (value := given[-1] or "") or value.casefold() in _OFF:
        return False
    # `git push -n --no-dry-run`: whichever of them comes last, as few write both.
    undone = [word.removeprefix("--no-") for word in seen.words if word.startswith("--no-")]
    return not any(name.lstrip("-").startswith(one) for one in undone for name in names)


def _fed(row: GuardedCommand, seen: Seen, texts: Sequence[str], *, is_option: bool) -> str | None:
    """Whether what another command prints may be a word that the row asks for: `git push $(echo -f)`."""
    if not texts or not any(HOLE in word for word in seen.words):
        return None
    if is_option and not row.value:
        printed = tuple(
            text for text in texts if text[:1] == "-" and text != "--" and len(text) < _LONGEST_OPTION
        )
        found = read_options(printed, OptionSpec(row.given)).has(*row.given.split())
    else:
        found = not is_option and any(_regex(row.operand).match(text) for text in texts)
    return "another command puts its words together" if found else None


def _is_left(row: GuardedCommand, seen: Seen, behind: Words, texts: Sequence[str]) -> bool:
    """What else a row asks for."""
    if row.spare and behind and all(_regex(row.spare).search(word) for word in behind):
        return False
    if row.fed and not _is_fed(seen, behind):
        return False
    return not row.text or any(_regex(row.text).search(text) for text in (*_arguments(seen), *texts))


def _arguments(seen: Seen) -> Iterator[str]:
    yield from seen.words[1:]
    yield from (option.value for option in seen.options.given if option.value)
    yield " ".join(seen.words[1:])


def _below(row: GuardedCommand, operands: Words) -> tuple[Words | None, str]:
    """The operands behind the sub-command of a row; None where it is another one."""
    wanted = row.run.split()[1:]
    if not wanted:
        return operands, ""
    if wanted[0] != "**":
        return _starts(wanted, operands)
    for at in range(len(operands)):
        found, doubt = _starts(wanted[1:], operands[at:])
        if found is not None and not doubt:
            return found, ""
    return None, ""


def _starts(wanted: Sequence[str], operands: Words) -> tuple[Words | None, str]:
    if len(operands) < len(wanted):
        return None, ""
    doubt = ""
    for one, word in zip(wanted, operands, strict=False):
        if word == HOLE:
            doubt = "its sub-command is known only to the shell"
        elif not any(fnmatchcase(word, each) for each in one.split("|")):
            return None, ""
    return operands[len(wanted) :], doubt


def _given(row: GuardedCommand, options: Options, behind: Words) -> str | None:  # noqa: ARG001 as the other
    names = row.given.split()
    if row.value:
        values = [value for value in options.values(*names) if _regex(row.value).search(value)]
        return "" if values else None
    if options.has(*names):
        return ""
    for word in options.unknown:
        known, hole, _ = word.partition(HOLE)
        if hole and any(name.startswith(known) for name in names):
            return f"what `{known}…` is, only the shell knows"
    return None


def _operand(row: GuardedCommand, options: Options, behind: Words) -> str | None:
    expression = _regex(row.operand)
    words = behind
    if row.which == "first":
        words = behind[:1]
    elif row.which == "only":
        words = behind if len(behind) == 1 else ()
    elif row.which == "last":
        # An option that is not known may have a value, which then looks like an operand.
        words = behind[1:] if options.unknown else behind[-1:]
    doubt: str | None = None
    for word in words:
        found = expression.search(word)
        if found is None:
            continue
        if HOLE not in found[0]:
            return ""
        doubt = "what it is given, only the shell knows"
    return doubt


def _is_fed(seen: Seen, behind: Words) -> bool:
    """Whether standard input, or what only the shell knows, is what the program runs."""
    if not behind or seen.options.has("-s"):
        return True
    return behind[0] in _STDIN or HOLE in behind[0]


@lru_cache(maxsize=512)
def _regex(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
