"""What a command runs: programs behind wrappers, lines given to shells, code given to evaluators."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hookline.matching.shell import tables
from hookline.matching.shell.holes import HOLE, Words, base_name

_PLAIN_NAME = re.compile(r"[\w./@+-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
#: Where `sed` runs a program: the command e, or the flag e of s.
_SED_RUNS = re.compile(r"(?:^|[\n;{}!$\d/,|#@])[gipmM\d\s]*e(?:\s|$|[gipmM;}])")


_STARTS_PROGRAMS = re.compile(
    r"system|exec|eval|popen|subprocess|spawn|fork|child_process|import_|importlib|ctypes|getline|shell|[`!]|\|\s*\"",
    re.IGNORECASE,
)


class Line(Struct, frozen=True):
    """A line of shell found inside a command."""

    code: str


class Inner(Struct, frozen=True):
    """The words of a command found inside a command."""

    words: Words
    #: The command around it, where that plainly names this one: a permission for `npx tsc` is one for tsc.
    outer: Words = ()


class Foreign(Struct, frozen=True):
    """Code of another language, in which the name of a program can only be searched for."""

    text: str


class Doubt(Struct, frozen=True):
    reason: str


Found = Line | Inner | Foreign | Doubt


def program_of(word: str) -> str:
    """The key of a program in the tables: `/usr/bin/Python3.12` is python."""
    name = base_name(word).casefold()
    bare = name.removesuffix(".exe") if name.endswith(".exe") else _without_version(name)
    return bare or name


def _without_version(name: str) -> str:
    """Without `3.12`, `-3` or `.5` at the end. No regular expression: it would try every digit of a long number."""
    bare = name.rstrip("0123456789.")
    version = name[len(bare) :].lstrip(".")
    if not version:
        return name
    dots = len(name) - len(bare) - len(version)
    return name[: len(bare) + dots - 1] if dots else bare.removesuffix("-")


def look_through(words: Words, fed: bool) -> Iterator[Found]:
    """Everything this command may run. `fed`: a here-document is its standard input."""
    if HOLE in words[0]:
        yield Doubt("what the command is, only the shell knows")
        return
    program = program_of(words[0])
    rest = words[1:]
    if program in tables.SUBSCRIPTING:
        yield from (Line(f": {word}") for word in rest if HOLE not in word and ("$(" in word or "`" in word))
    if program in tables.SHELLS:
        yield from _shell(rest)
    elif program in _SPECIAL:
        yield from _SPECIAL[program](rest)
    elif program in tables.WRAPPERS:
        yield from _wrapped(tables.WRAPPERS[program], rest)
    if program in tables.LOOSE:
        yield from _named(program, words) or _loose(tables.LOOSE[program], rest)
    if program in tables.INTERPRETERS:
        yield from _foreign(tables.INTERPRETERS[program], rest)
    if program in tables.STDIN_SHELLS and not tables.LISTING_FLAGS.intersection(rest):
        yield Doubt("a line of shell is read from standard input")
    if program in tables.STDIN_INTERPRETERS and not fed:
        yield from _stdin_code(rest)


def _code(text: str) -> Found:
    return Line(text)


def _shell(rest: Sequence[str]) -> Iterator[Found]:
    reads_code = False
    at = 0
    while at < len(rest) and rest[at][:1] in {"-", "+"} and rest[at] not in {"-", "--"}:
        option = rest[at]
        if option in tables.HARMLESS_FLAGS:
            return
        short = not option.startswith("--")
        reads_code |= (short and "c" in option) or option.partition("=")[0] == "--command"
        if short and "s" in option:
            yield Doubt("a shell reads its commands from standard input")
        at += 2 if option in tables.SHELL_VALUED else 1
    operands = rest[at + 1 :] if at < len(rest) and rest[at] in {"-", "--"} else rest[at:]
    if reads_code:
        yield from (_code(operand) for operand in operands[:1])
    else:
        yield from _script(operands)


def _script(operands: Sequence[str]) -> Iterator[Found]:
    """A shell given a file: its content is not known, but rules can be about its name."""
    if not operands or operands[0] == "-" or operands[0].startswith(tables.STDIN_FILES):
        yield Doubt("a shell reads its commands from standard input")
    elif operands[0].startswith(HOLE):
        yield Doubt("which file a shell reads, only the shell knows")
    else:
        yield Inner(tuple(operands))


def _source(rest: Sequence[str]) -> Iterator[Found]:
    if rest:
        yield from _script(rest)


def _eval(rest: Sequence[str]) -> Iterator[Found]:
    words = rest[1:] if rest[:1] == ("--",) else rest
    if words:
        yield _code(" ".join(words))


def _trap(rest: Sequence[str]) -> Iterator[Found]:
    yield from (_code(word) for word in rest if not word.startswith("-"))


def _alias(rest: Sequence[str]) -> Iterator[Found]:
    yield from (_code(word.partition("=")[2] or word) for word in rest if "=" in word or HOLE in word)


def _hash(rest: Sequence[str]) -> Iterator[Found]:
    if any(word.startswith("-p") for word in rest):
        yield Doubt("a command is given another name")


def _env(rest: Sequence[str]) -> Iterator[Found]:
    """`env -S 'rm x'` splits its value into a command."""
    for at, word in enumerate(rest):
        if word.startswith("--split-string"):
            yield _code(" ".join((word.partition("=")[2], *rest[at + 1 :])))
            return
        if word[:1] == "-" and re.match(r"-[i0v]*S", word):
            yield _code(" ".join((word.partition("S")[2], *rest[at + 1 :])))
            return
    yield from _wrapped(tables.WRAPPERS["env"], rest)


def _find(rest: Sequence[str]) -> Iterator[Found]:
    rest = [word.replace("{}", HOLE) for word in rest]
    for at, word in enumerate(rest):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            ends = (i for i in range(at + 1, len(rest)) if rest[i] == ";" or (rest[i] == "+" and i > at + 1))
            yield from _inner(rest[at + 1 : next(ends, len(rest))])


def _xargs(rest: Sequence[str]) -> Iterator[Found]:
    """The placeholder for the input is a hole, and the input comes after the last word."""
    mark = _replaced(rest)
    shown = tuple(word.replace(mark, HOLE) for word in rest) if mark else tuple(rest)
    for found in _wrapped(tables.WRAPPERS["xargs"], shown):
        yield Inner((*found.words, HOLE)) if isinstance(found, Inner) else found


def _replaced(rest: Sequence[str]) -> str:
    for at, word in enumerate(rest):
        if word in {"-I", "-J", "--replace"} and at + 1 < len(rest):
            return rest[at + 1]
        if word.startswith(("-I", "-J", "-i", "--replace=")):
            return word.partition("=")[2] if "=" in word else word[2:] or "{}"
    return ""


def _sed(rest: Sequence[str]) -> Iterator[Found]:
    yield from (Foreign(word) for word in rest if _SED_RUNS.search(word))


def _git(rest: Sequence[str]) -> Iterator[Found]:
    """Before its sub-command -c is a setting, which may name a program; behind most of them it is not."""
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in tables.GLOBAL_VALUED["git"] else 1
    yield from _foreign(tables.GIT_CODE[""], rest[:at])
    if at < len(rest) and rest[at] in tables.GIT_CODE:
        yield from _foreign(tables.GIT_CODE[rest[at]], rest[at + 1 :])


def _inner(words: Sequence[str]) -> Iterator[Found]:
    if words:
        yield Inner(tuple(words))


def _wrapped(wrapper: tables.Wrapper, rest: Sequence[str]) -> Iterator[Found]:
    at = 0
    while at < len(rest) and rest[at].startswith("-") and rest[at] != "-":
        if rest[at] == "--":
            at += 1
            break
        taken = _words_of_option(wrapper, rest[at])
        if not taken:
            yield from _loose((), rest)
            return
        at += taken
    while wrapper.assigns and at < len(rest) and "=" in rest[at]:
        if not _ASSIGNMENT.match(rest[at]):
            # Not every one of them takes this for an assignment.
            yield from _inner(rest[at:])
        yield Foreign(rest[at].partition("=")[2])
        at += 1
    yield from _inner(rest[at + wrapper.operands :])


def _words_of_option(wrapper: tables.Wrapper, option: str) -> int:
    """How many words it takes; 0 when that is not known."""
    if option.startswith("--"):
        name, has_value, _value = option[2:].partition("=")
        if has_value or name in wrapper.long_flags.split():
            return 1
        return 2 if name in wrapper.long_valued.split() else 0
    if option[1:].isdigit():
        return 1
    for at, letter in enumerate(option[1:], 2):
        if letter in wrapper.valued:
            return 1 if at < len(option) else 2
        if letter not in wrapper.flags:
            return 0
    return 1


def _loose(triggers: tuple[str, ...], rest: Sequence[str]) -> Iterator[Found]:
    start = 0
    rest = [word.replace("{}", HOLE) for word in rest]
    if triggers:
        marks = [at for at, word in enumerate(rest) if word.partition("=")[0] in triggers]
        if not marks:
            return
        start = marks[0] if rest[marks[0]].startswith("-") else marks[0] + 1
    for at in range(start, len(rest)):
        word = rest[at]
        if " " in word.strip() or "\n" in word.strip():
            yield from _quoted_line(word)
        elif HOLE in word:
            # After an option it is more likely its value: `docker run -v $PWD:/x`.
            if at == start or not rest[at - 1].startswith("-") or rest[at - 1] == "--":
                yield Doubt("what the command is, only the shell knows")
        elif not word.startswith("-"):
            yield Inner(tuple(rest[at:]))


def _named(program: str, words: Words) -> tuple[Found, ...]:
    """The program that a runner such as `npx` plainly names; none when it is not that plain."""
    after = tables.RUNNERS.get(program)
    if after is None or (after and words[1:2] != (after,)):
        return ()
    at = 2 if after else 1
    plain = at < len(words) and words[at][:1] != "-" and _PLAIN_NAME.fullmatch(words[at])
    return (Inner(words[at:], words),) if plain else ()


def _quoted_line(word: str) -> Iterator[Found]:
    yield Line(word)
    option, equals, value = word.partition("=")
    if equals and option.startswith("-"):
        yield Line(value)


def _foreign(options: tuple[str, ...], rest: Sequence[str]) -> Iterator[Found]:
    for word in _foreign_words(options, rest):
        yield Foreign(word)
        if starts_programs(word):
            yield Doubt("a program in another language starts programs")
        elif options and HOLE in word:
            yield Doubt("a program in another language is put together at run time")


def starts_programs(code: str) -> bool:
    """Whether code in another language looks as if it runs programs, or code that it makes up."""
    return _STARTS_PROGRAMS.search(code) is not None


def _foreign_words(options: tuple[str, ...], rest: Sequence[str]) -> Iterator[str]:
    if not options:
        yield from rest
        return
    letters = tuple(option[1] for option in options if len(option) == 2)
    for at, word in enumerate(rest):
        name = word.partition("=")[0]
        # Most programs take the beginning of a long option for the whole.
        long = name in options or (
            len(name) > 4 and name[:2] == "--" and any(option.startswith(name) for option in options)
        )
        short = word[:1] == "-" and word[:2] != "--" and any(letter in word[1:] for letter in letters)
        if long or short or word.startswith("+"):
            yield from rest[at : at + 2]


def _stdin_code(rest: Sequence[str]) -> Iterator[Found]:
    if any(word in tables.HARMLESS_FLAGS for word in rest):
        return
    if not rest or rest[-1] == "-" or rest[0].startswith(tables.STDIN_FILES):
        yield Doubt("a program is read from standard input")


_SPECIAL = {
    "eval": _eval,
    "git": _git,
    "trap": _trap,
    "alias": _alias,
    "hash": _hash,
    "env": _env,
    "find": _find,
    "gfind": _find,
    "xargs": _xargs,
    "gxargs": _xargs,
    "sed": _sed,
    "gsed": _sed,
    ".": _source,
    "source": _source,
}
