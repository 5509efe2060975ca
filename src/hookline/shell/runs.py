"""Find what a command runs: programs behind wrappers, lines given to shells, code given to interpreters.

Rows describe the programs (`hookline.shell.programs`); this module reads the arguments of a command
by the row of its program.
"""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from msgspec.structs import replace

from hookline.shell.allowed_directories import HERE, Beyond
from hookline.shell.environment import look_at_variable
from hookline.shell.found import Foreign, Found, Inner, Line, ShellDoubt, Stdin
from hookline.shell.grammar.limits import LONGEST_ARGUMENTS
from hookline.shell.kinds import KINDS, from_stdin
from hookline.shell.kinds.code import starts_programs
from hookline.shell.kinds.commands import is_stdin, unknown_file
from hookline.shell.kinds.kind import ProgramKind
from hookline.shell.options import Option, Options, OptionSpec, may_be_option, read_options, readings
from hookline.shell.placeholders import HOLE, Words, base_name, without_version
from hookline.shell.programs import ProgramRow, has_rows_below, row_of, table

__all__ = [
    "Foreign",
    "Found",
    "Inner",
    "Line",
    "ShellDoubt",
    "Stdin",
    "after_options",
    "any_row",
    "beyond",
    "does",
    "forms_of",
    "is_program_pattern",
    "look_through",
    "may_run_files",
    "options_before",
    "program_of",
    "readings_after_options",
    "runs_on_found",
    "starts_programs",
]

#: Nothing is known to feed it.
NOTHING_FED = Stdin()
#: Options by which programs change their files, as users expect of them.
_PLAIN_WRITES = frozenset(("--fix", "--write", "--fix-only", "--unsafe-fixes"))
#: `find -exec`: the words after the option are a command.
_EXECUTED = ProgramKind()
_MOST_EXECUTED = 40
_MOST_MISREAD = 3
#: Of a program that is not known.
_NO_OPTIONS = OptionSpec(style="posix")
_PLAIN_NAME = r"[\w./@+-]+"
_ASSIGNMENT = r"[A-Za-z_]\w*(?:%%|\(\))?\+?="


@lru_cache(maxsize=512)
def program_of(word: str) -> str:
    """Return the key of a program in the table: `/usr/bin/Python3.12` is python."""
    name = base_name(word).casefold()
    if row_of(name) is not None:
        return name
    if name == "exe" and "/proc/" in word:
        return "/proc/pid/exe"
    if name.startswith(("ld-linux", "ld-musl", "ld.so")) or re.fullmatch(r"ld-[\d.]+\.so", name):
        return "ld.so"
    bare = name.removesuffix(".exe") if name.endswith(".exe") else without_version(name)
    return bare or name


@lru_cache(maxsize=1024)
def does(word: str, way: str) -> bool:
    """Return True if a program does this, one of `programs.row.WAYS`."""
    row = any_row(word)
    return row is not None and way in row.does


@lru_cache(maxsize=512)
def any_row(word: str) -> ProgramRow | None:
    """Return the row of a program, whether it runs anything or not."""
    # A number may be a part of the name: base64.
    return table().get(base_name(word).casefold()) or table().get(program_of(word))


@lru_cache(maxsize=512)
def runs_on_found(word: str) -> bool:
    """Return True if a program runs commands on the files that it finds: find, fd."""
    row = any_row(word)
    return row is not None and "lists" in row.does and "exec" in row.kinds.values()


def may_run_files(words: Words) -> bool:
    """Return True if a command may run a file: a script, a recipe, a hook, or what an alias of git stands for."""
    if "/" in words[0]:
        return True
    row = any_row(words[0])
    if row is not None and row.runs_files:
        return True
    if program_of(words[0]) == "git":
        if len(words) > 1 and not may_be_option(words[1]):
            return _git_may_run_files(words[1])
        return any(_git_may_run_files(rest[0]) for rest in readings_after_options(words) if rest)
    name = base_name(words[0]).casefold()
    return name.startswith("git-") and _git_may_run_files(name.removeprefix("git-"))


@lru_cache(maxsize=512)
def _git_may_run_files(subcommand: str) -> bool:
    row = table().get(f"git {subcommand}")
    return row is None or row.optional or bool(row.hooks)


def is_program_pattern(word: str) -> bool:
    """Return True for a pattern such as `/bin/r?`."""
    return re.search(r"(?:^|/)s?bin/[^/]*$", word) is not None


def look_through(words: Words, stdin: Stdin = NOTHING_FED) -> Iterator[Found]:
    """Yield everything this command may run."""
    key = program_of(words[0])
    row = row_of(key)
    if row is not None:
        yield from _Call(row, key, words, 1, stdin).found()


@lru_cache(maxsize=256)
def beyond(words: Words) -> tuple[Beyond, ...]:
    """Return the reasons why it runs or writes more than its program's plain job, or does so outside the project."""
    from hookline.shell.files import writes_by_option  # noqa: PLC0415 only permissions need it

    if sum(map(len, words)) > LONGEST_ARGUMENTS:
        return (Beyond("too long to judge"),)
    key = program_of(words[0])
    row = row_of(key)
    runs = () if row is None else tuple(dict.fromkeys(_Call(row, key, words, 1, NOTHING_FED).beyond()))
    if any(not one.place for one in runs):
        return runs
    return (*runs, *(Beyond(word) for word in writes_by_option(words) if word not in _PLAIN_WRITES))


def forms_of(words: Words) -> tuple[str, ...]:
    """Return the command as one folded text in the ways a rule may have it."""
    found = {" ".join(words).casefold(): None}
    name, bare = base_name(words[0]), after_options(words)
    if name != words[0]:
        found[" ".join((name, *words[1:])).casefold()] = None
    if len(bare) < len(words) - 1:
        found[" ".join((name, *bare)).casefold()] = None
    return tuple(found)


def after_options(words: Words) -> Words:
    """Return the arguments from the first operand on: without the options before a sub-command."""
    rest = words[1:]
    if not rest or not may_be_option(rest[0]):
        return rest
    return rest[read_options(rest, options_before(words[0])).first :]


def readings_after_options(words: Words) -> Iterator[Words]:
    """Yield the same in every reading: an operand may be the value of an unknown option."""
    return (read.operands for read in readings(words[1:], options_before(words[0])))


def options_before(word: str) -> OptionSpec:
    """Return the options of a program up to its first operand."""
    row = row_of(program_of(word))
    return _NO_OPTIONS if row is None else row.spec_before_operands


class _Call:
    """One command, read by the row of its program."""

    def __init__(
        self, row: ProgramRow, key: str, words: Words, at: int, stdin: Stdin, once: bool = False
    ) -> None:
        """Read a command; `once` if it is not read in any other way."""
        self._once = once
        self._row = row
        self._key = key
        self._words = words
        self._at = at
        self._stdin = stdin
        rest = words[at:]
        self._rest = row.ordered(rest, row.spec) if row.ordered is not None else rest
        spec = row.spec
        self._below = has_rows_below(key)
        if self._below:
            spec = OptionSpec(spec.text, "posix", exact=spec.exact)
        self._spec = spec
        self._options: Options = read_options(self._rest, spec)

    def found(self) -> Iterator[Found]:
        row = self._row
        if self._is_quiet():
            return
        if row.reader is not None:
            yield from self._there(row.reader(self._rest, self._stdin, row.spec))
        yield from self._in_options()
        if row.runner and (named := self._plainly_named()) is not None:
            yield named
            return
        if row.loose is not None:
            yield from self._there(self._loose(row.loose))
        yield from self._there(self._in_operands())
        yield from self._in_stdin()
        below = self._sub_command()
        if below is not None:
            yield from below.found()
        for other in self._other_sub_commands():
            yield from other.found()
        if not self._once:
            yield from self._misread()

    def _there(self, found: Iterator[Found], option: str = "") -> Iterator[Found]:
        """Mark what runs elsewhere: all of a program that runs commands there, but for the lines of other options
        than the row says."""
        away = self._row.away
        return found if away is None or (option and option not in away) else map(_away, found)

    def _misread(self) -> Iterator[Found]:
        """Read values that look like options: to some programs they are options: `npx -c --call=LINE`."""
        like_options = [
            one.at
            for one in self._options.given
            if one.value is not None
            and len(one.value) > 1
            and one.value[0] == "-"
            and one.value in self._rest
        ]
        for at in like_options[:_MOST_MISREAD]:
            words = (self._words[0], *self._rest[:at], *self._rest[at + 1 :])
            yield from _Call(self._row, self._key, words, 1, self._stdin, once=True).found()

    def beyond(self) -> Iterator[Beyond]:
        if self._is_quiet():
            return
        if self._row.always:
            yield Beyond(f"{self._key} itself")
        if self._row.here:
            yield Beyond(HERE, place=True)
        if self._below and self._options.unknown and self._row.reader is None:
            # It may have a value, and then the word after that is the sub-command.
            yield Beyond(f"{self._key} {self._options.unknown[0]}")
        for option, kind in self._given_kinds():
            yield from self._judged(kind, option.value or "", option.name)
        for operand, kind in self._operand_kinds():
            yield from self._judged(kind, operand, "")
        below = self._sub_command()
        if below is not None:
            yield from below.beyond()

    def _judged(self, name: str, text: str, option: str) -> Iterator[Beyond]:
        """Yield the reasons why a text of this kind goes beyond the plain job; `option` holds it, if it is
        not an operand."""
        kind = KINDS.get(name, _EXECUTED)
        if name in self._row.near:
            yield Beyond(text, place=True)
        elif kind.place is not None:
            # `pytest tests/test_*.py`: the files that match are in that directory.
            path = kind.place(text if option or text[:1] == HOLE else text.replace(HOLE, "*"))
            yield Beyond(path, place=True, written=kind.written)
        elif name not in self._row.plain and kind.beyond(text):
            yield Beyond(option if option and name == "written" else f"{option or 'operand'} {text}")

    def _is_quiet(self) -> bool:
        """Return True if it has --help, with which nothing runs. Abbreviations are ignored: not every program
        takes them. So is a word after an operand: it may be for the program that is run, or an argument of a
        script."""
        if not self._options.given:
            return False
        quiet = self._row.quiet_options
        # The value of an option that is not known may look like it, too.
        return not self._options.unknown and any(
            one.name in quiet
            and one.at < self._options.first
            and (not one.name.startswith("--") or self._rest[one.at] == one.name)
            for one in self._options.given
        )

    def _sub_command(self) -> "_Call | None":
        operands = self._options.operands
        if not self._below or not operands:
            return None
        key = f"{self._key} {operands[0]}"
        row = row_of(key) or row_of(f"{self._key} *")
        if row is None:
            return None
        at = self._at + self._options.first + 1
        words = self._words if self._row.ordered is None else (self._words[0], *self._rest)
        return _Call(
            row, key, words, at if self._row.ordered is None else self._options.first + 2, self._stdin
        )

    def _other_sub_commands(self) -> "Iterator[_Call]":
        """Yield sub-commands behind the value of an unknown option: `kubectl --new-option 5 exec …`."""
        if not self._below or not self._options.perhaps_values:
            return
        for read in islice(readings(self._rest, self._spec), 1, None):
            key = f"{self._key} {read.operands[0]}" if read.operands else ""
            row = row_of(key) or row_of(f"{self._key} *")
            if key and row is not None:
                yield _Call(row, key, (self._words[0], *read.operands[1:]), 1, self._stdin)

    # options

    def _given_kinds(self) -> Iterator[tuple[Option, str]]:
        kinds = self._row.kinds
        for option in self._options.given:
            kind = kinds.get(option.name)
            if kind is not None:
                yield option, kind

    def _in_options(self) -> Iterator[Found]:
        executed = 0
        for option, kind in self._given_kinds():
            if kind == "exec":
                executed += 1
                if executed > _MOST_EXECUTED:
                    yield ShellDoubt("it runs too many commands to judge them all")
                    return
                yield from self._executed(option.at + 1)
            elif kind == "file" and self._row.stdin and option.value is not None and is_stdin(option.value):
                yield from from_stdin(self._row.stdin, self._stdin, named=True)
            elif option.value is not None or kind == "document":
                yield from self._there(KINDS[kind].found(option.value or ""), option.name)
                if self._row.appended and kind in {"line", "usual line"}:
                    words = map(shlex.quote, self._options.operands)
                    yield from KINDS[kind].found(" ".join((option.value or "", *words)))

    def _executed(self, at: int) -> Iterator[Found]:
        """Read `-exec rm {} ;`: a command among the arguments, in which {} is the found file."""
        words = [word.replace("{}", HOLE) for word in self._rest[at:]]
        ends = (i for i, word in enumerate(words) if word == ";" or (word == "+" and i))
        command = tuple(words[: next(ends, len(words))])
        if command:
            yield Inner(command)

    # operands

    def _operand_kinds(self) -> Iterator[tuple[str, str]]:
        row = self._row
        operands = self._options.operands
        first = row.first
        if first and first != "script":
            if any(kind in {first, "file"} for _option, kind in self._given_kinds()):
                first = ""
            elif operands:
                yield operands[0], first
        if row.others:
            yield from ((operand, row.others) for operand in operands[1 if first else 0 :])

    def _in_operands(self) -> Iterator[Found]:
        for operand, kind in self._operand_kinds():
            yield from KINDS[kind].found(operand)
        if self._row.first == "script":
            yield from self._script()
        if self._row.command is not None:
            yield from self._command(self._row.command)

    def _command(self, place: int) -> Iterator[Found]:
        if self._options.unknown:
            # It is unknown which word is a value and which is the command.
            yield from self._loose(())
            return
        words = self._options.operands
        if self._row.assigns:
            assigned = 0
            while assigned < len(words) and "=" in words[assigned]:
                name, _equals, value = words[assigned].partition("=")
                if not re.match(_ASSIGNMENT, words[assigned]):
                    # Not every one of them takes this for an assignment.
                    yield Inner(words[assigned:])
                yield from look_at_variable(name, value)
                assigned += 1
            words = words[assigned:]
        words = words[place:]
        if self._row.joined and words:
            yield from KINDS["line"].found(" ".join(words))
        elif words:
            yield Inner(words)

    def _script(self) -> Iterator[Found]:
        """Read a program given as a file: its content is not known, but rules can be about its name."""
        operands = self._options.operands
        code = [kind for _option, kind in self._given_kinds() if kind not in {"file", "settings", "names"}]
        if code or not operands or is_stdin(operands[0]):
            return
        if unknown_file(operands[0]):
            yield ShellDoubt("only the shell knows which file is run")
        elif self._row.stdin == "line":
            yield Inner(operands)

    def _plainly_named(self) -> Inner | None:
        operands = self._options.operands
        plain = operands and not self._options.unknown and not any(self._given_kinds())
        if plain and re.fullmatch(_PLAIN_NAME, operands[0]):
            return Inner(operands, self._words)
        return None

    # standard input

    def _in_stdin(self) -> Iterator[Found]:
        kind = self._row.stdin
        if not kind:
            return
        operands = self._options.operands
        # An empty name is that of no script.
        is_named = any(is_stdin(one) or not one for one in operands[: self._row.stdin_operands + 1])
        if self._row.stays and self._options.has(*self._row.stays):
            yield from from_stdin(kind, self._stdin)
            return
        if not is_named and self._row.unread and self._options.has(*self._row.unread):
            return
        besides = self._row.besides
        given = {given for option, given in self._given_kinds() if option.name not in besides}
        if not is_named and (len(operands) > self._row.stdin_operands or kind in given or "file" in given):
            return
        if kind in given and self._row.first == "script":
            # `python -c CODE -`: the dash is an argument of the code.
            return
        yield from from_stdin(kind, self._stdin, named=is_named)

    # programs whose options are not listed

    def _loose(self, triggers: tuple[str, ...]) -> Iterator[Found]:
        start = 0
        rest = [word.replace("{}", HOLE) for word in self._rest]
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
                before = rest[at - 1]
                if at == start or before[:1] != "-" or before == "--" or is_program_pattern(word):
                    yield ShellDoubt("only the shell knows what the command is")
            elif not word.startswith("-"):
                yield Inner(tuple(rest[at:]))


def _away(found: Found) -> Found:
    return replace(found, away=True) if isinstance(found, Line | Inner) else found


def _quoted_line(word: str) -> Iterator[Found]:
    yield Line(word)
    option, equals, value = word.partition("=")
    if equals and option.startswith("-"):
        yield Line(value)
