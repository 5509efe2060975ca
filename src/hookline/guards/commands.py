"""Match a command with the rows of a guard: program, sub-command, options and operands."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from hookline.guards.destinations import is_local
from hookline.guards.rows import program_names
from hookline.guards.spec import GuardedCommand
from hookline.shell.options import Options, OptionSpec, read_options, readings
from hookline.shell.placeholders import HOLE, Words
from hookline.shell.programs import spec_at_once, table, words_at_once

#: Operands that mean standard input where a file is expected.
_STDIN = frozenset(("-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"))
#: `docker container run` is `docker run`.
_CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
#: Sub-commands with the words of other ones behind them: `git config alias.x`, `docker container run`.
_OTHERS_BEHIND = frozenset(("config", "container", "image"))
#: Values that switch an option off: `--dry-run=none`.
_OFF = frozenset(("none", "false", "f", "0", "no", "off"))
_MOST_ALIASES = 8
_LONGEST_OPTION = 100


class ReadCommand(NamedTuple):
    """A command, read for a guard."""

    program: str
    #: Sub-commands and operands.
    operands: Words
    options: Options
    words: Words
    #: The reason why it may be another command.
    doubt: str = ""


class CommandMatch(NamedTuple):
    row: GuardedCommand
    #: The words that show it.
    words: Words
    #: The part that only the shell knows.
    doubt: str = ""


def hits(words: Words, rows: Sequence[GuardedCommand], texts: Sequence[str] = ()) -> Iterator[CommandMatch]:
    """Yield the rows that a command matches. `texts` are its input."""
    if not rows or _asks_for_help(words):
        return
    for seen in _readings(words, tuple(rows)):
        for row in rows:
            doubt = _fits(row, seen, texts)
            if doubt is not None:
                yield CommandMatch(row, seen.words, doubt)


def _asks_for_help(words: Words) -> bool:
    """Return True if it is a program and sub-commands alone, and then `--help`. Further behind it may be
    meant for another, and behind a program that runs others it is meant for that one."""
    row = next((row for name in program_names(words[0]) if (row := table().get(name)) is not None), None)
    runs = row is not None and (row.runs or row.command is not None or row.first == "script")
    longest = 2 if runs else 5
    return (
        words[-1] == "--help" and all(word[:1] not in "-+" for word in words[:-1]) and len(words) <= longest
    )


# --- reading
# ---------------------------------------------------------------------------------------------------------


def _readings(words: Words, rows: tuple[GuardedCommand, ...]) -> Iterator[ReadCommand]:
    """Yield the command; and for git the commands of its aliases on the line."""
    program = _program(words[0])
    for options, doubt in _with_doubt(readings(words[1:], _spec(program, rows))):
        if _has_sub_commands(program):
            for seen in _with_sub(program, words, options, rows):
                yield seen._replace(doubt=doubt or seen.doubt)
        else:
            yield ReadCommand(program, options.operands, options, words, doubt)


@lru_cache(maxsize=512)
def _program(word: str) -> str:
    names = program_names(word)
    return next((name for name in names if name in table()), names[-1])


def head_of(words: Words) -> Words:
    """Return the program of a command, with its sub-command where only the next word can be that."""
    if len(words) < 2 or not _has_sub_commands(_program(words[0])):
        return words[:1]
    sub = words[1]
    return words[:1] if sub[:1] in "-+" or HOLE in sub or sub in _OTHERS_BEHIND else words[:2]


def may_match(row: GuardedCommand, head: Words) -> bool:
    """Return False if a row is about another sub-command than commands that begin with these words."""
    wanted = row.below[:1]
    return not head[1:] or wanted == ("**",) or _starts(wanted, head[1:])[0] is not None


def may_match_any(rows: Sequence[GuardedCommand], words: Words) -> bool:
    """Return False if no row can match a command: each is about another sub-command."""
    head = head_of(words)
    return any(may_match(row, head) for row in rows)


def _with_doubt(read: Iterator[Options]) -> Iterator[tuple[Options, str]]:
    for index, options in enumerate(read):
        yield options, "an option that is not known comes before it" if index else ""


def _has_sub_commands(program: str) -> bool:
    """Return True if its own options come before its sub-command, which has others."""
    row = table().get(program)
    return row is not None and row.sub == "before"


def _with_sub(
    program: str, words: Words, top: Options, rows: tuple[GuardedCommand, ...]
) -> Iterator[ReadCommand]:
    """Yield a program, its own options and its sub-command."""
    if not top.operands:
        yield ReadCommand(program, (), top, words)
        return
    aliases = dict(_aliases(top)) if program == "git" else {}
    operands = _ungrouped(program, top.operands)
    for _ in range(_MOST_ALIASES):
        value = aliases.pop(operands[0], None) if operands else None
        if value is None:
            break
        operands = (*value, *operands[1:])
    if not operands:
        return
    yield from _sub(program, operands, top, words, rows)
    if program == "git" and operands[0] == "config":
        # A stored alias is as good as a command.
        for at, word in enumerate(operands[1:-1], start=1):
            if word.startswith("alias.") and (kept := _alias_words(operands[at + 1])):
                yield from _sub(program, kept, top, words, rows)


def _ungrouped(program: str, operands: Words) -> Words:
    grouped = program in _CONTAINERS and operands[0] in {"container", "image"}
    return operands[1:] or operands if grouped else operands


def _sub(
    program: str, operands: Words, top: Options, words: Words, rows: tuple[GuardedCommand, ...]
) -> Iterator[ReadCommand]:
    sub, rest = operands[0], operands[1:]
    # The command of an alias is shown instead of it.
    shown = words if operands == top.operands[-len(operands) :] else (words[0], *operands)
    for inner, doubt in _with_doubt(readings(rest, _spec(f"{program} {sub}", rows))):
        options = Options(
            (*top.given, *inner.given), (sub, *inner.operands), inner.first, (*top.unknown, *inner.unknown)
        )
        yield ReadCommand(program, (sub, *inner.operands), options, shown, doubt)


@lru_cache(maxsize=512)
def _spec(program: str, rows: tuple[GuardedCommand, ...]) -> OptionSpec:
    """Return the options of a program, with those that the rows need."""
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
        if name.startswith("alias.") and ((words := _alias_words(text)) or text.strip() == "!git"):
            yield name.removeprefix("alias."), words


def _alias_words(text: str) -> Words:
    """Return the words of an alias. One that begins with `!` is a shell line, which the reader of lines handles."""
    from shlex import split  # noqa: PLC0415 few lines have aliases

    try:
        return tuple(split(re.sub(r"^!\s*git\b", "", text)))
    except ValueError:
        return ()


# --- judging
# ---------------------------------------------------------------------------------------------------------


def _fits(row: GuardedCommand, seen: ReadCommand, texts: Sequence[str]) -> str | None:
    """Return None if it does not match; else the part that only the shell knows, empty if it is sure."""
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
    """Return options whose value is a target, as an operand is: `curl --url`."""
    return tuple(word.name for word in words_at_once(program).values() if "*" in word.sign)


def _is_spared(row: GuardedCommand, seen: ReadCommand) -> bool:
    """Return True if it has an option that makes it harmless, and no other option that reverses it."""
    names = row.unless.split()
    given = [option.value for option in seen.options.given if option.name in names]
    if not given or HOLE in (value := given[-1] or "") or value.casefold() in _OFF:
        return False
    # `git push -n --no-dry-run`: whichever of them comes last, as few write both.
    undone = [word.removeprefix("--no-") for word in seen.words if word.startswith("--no-")]
    return not any(name.lstrip("-").startswith(one) for one in undone for name in names)


def _fed(row: GuardedCommand, seen: ReadCommand, texts: Sequence[str], *, is_option: bool) -> str | None:
    """Return why another command's output may be a word that the row needs, or None: `git push $(echo -f)`."""
    if not texts or not any(HOLE in word for word in seen.words):
        return None
    if is_option and not row.value:
        printed = tuple(
            text for text in texts if text[:1] == "-" and text != "--" and len(text) < _LONGEST_OPTION
        )
        found = read_options(printed, OptionSpec(row.given)).has(*row.given.split())
    elif is_option:
        names = row.given.split()
        values = read_options(tuple(texts), OptionSpec(" ".join(f"{name}:" for name in names))).values(*names)
        found = any(_regex(row.value).search(value) for value in values)
    else:
        found = any(_regex(row.operand).match(text) for text in texts)
    return "another command puts its words together" if found else None


def _is_left(row: GuardedCommand, seen: ReadCommand, behind: Words, texts: Sequence[str]) -> bool:
    """Return True if the other requirements of a row hold."""
    if (row.spare or row.remote) and behind and all(_is_spared_word(row, word) for word in behind):
        return False
    if row.fed and not _is_fed(seen, behind):
        return False
    return not row.text or any(_regex(row.text).search(text) for text in (*_arguments(seen), *texts))


def _is_spared_word(row: GuardedCommand, word: str) -> bool:
    spared = bool(row.spare) and _regex(row.spare).search(word) is not None
    return spared or (row.remote and is_local(word))


def _arguments(seen: ReadCommand) -> Iterator[str]:
    yield from seen.words[1:]
    yield from (option.value for option in seen.options.given if option.value)
    yield " ".join(seen.words[1:])


def _below(row: GuardedCommand, operands: Words) -> tuple[Words | None, str]:
    """Return the operands behind the sub-command of a row; None where it is another one."""
    wanted = row.below
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
            return f"only the shell knows what `{known}…` is"
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
        doubt = "only the shell knows what it is given"
    return doubt


def _is_fed(seen: ReadCommand, behind: Words) -> bool:
    """Return True if the program runs standard input, or text only the shell knows."""
    if not behind or seen.options.has("-s"):
        return True
    return behind[0] in _STDIN or HOLE in behind[0]


@lru_cache(maxsize=512)
def _regex(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
