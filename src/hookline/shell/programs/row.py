"""Read rows of the table of programs: one program, its options and its operands.

A row is text. It begins at the margin with the names it is for and the plain job of the program. Indented
below are words: those with a dash are its options, the others its properties, which are the fields of `ProgramRow`.

    sort, gsort = sorts lines
        files=<*
        -n -r -k: -t: --check:: -o:written --output:written --compress-program:program --files0-from:<

`docker|podman run|exec` are four names, and `git *` is every sub-command of git without a row. Versions,
paths and .exe are not part of a name. A row without a job runs nothing else.

An option is its name, then `:` where a value follows, `::` where one may be glued to it or `:::` where two words
follow and the second is the value, then the value. A
sign describes the value as a file: `<` read, `>` written, which is more than the plain job, `+` written as
the plain job, `!` proves the user's identity, `@` data that is sent (of a file, after @), `^` a file that is
sent, `#` code, `*` where something goes, `-` none, although the kind has one. Of an option without a value:
`~` the operands are changed in place (`~>` where that is more than the plain job), `&` a directory includes
all in it, `?` nothing is written. Then the kind, a name of `hookline.shell.kinds` with dashes for
blanks: it describes the value to the program that runs it, with `=` before it where there is no value. Flags
are listed as well: an option that no row knows may have a value, and the words behind it are in doubt.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

from msgspec import Struct

from hookline.shell.found import Found, Stdin
from hookline.shell.options import OptionSpec, Style
from hookline.shell.placeholders import Words

_CODE = "awk code javascript lua makefile mysql perl php psql python ruby sed sqlite vim"
_CODE_KINDS = frozenset(_CODE.split())
#: The sign of a value of this kind, if the word has none.
_SIGN_OF_KIND = {
    **dict.fromkeys(_CODE_KINDS, "#"),
    "written": ">",
    "output": "+",
    "file": "<",
    "settings": "<",
}
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_SIGNS = "-<>+!@^#~&?*"

#: Names for what programs do to the words, the text and the files of a line.
WAYS = {
    "decodes": "turns text into other text, as a name that is not to be seen",
    "deletes": "deletes its files",
    "edits": "changes text",
    "evaluates": "runs what it is given in the shell that runs the line",
    "enters": "goes to another directory, with the whole shell",
    "filters": "writes files that its options and its script name",
    "keeps": "keeps text for later commands",
    "links": "may make links",
    "lists": "lists names of files",
    "logs-in": "starts a shell, which runs the files of a user",
    "permits": "changes who may use its files, and what is below them",
    "prints": "prints its words",
    "renames": "gives a file another name",
    "schedules": "runs the lines of the files that it is given",
    "shows": "prints files as they are",
    "spreads": "reads a list, and runs a command on what is in it",
}

#: Puts the arguments of a command into the order of getopt.
Ordered = Callable[[Words, OptionSpec], Words]
#: Finds what the arguments of a command run that no options describe.
Reader = Callable[[Words, Stdin, OptionSpec], Iterator[Found]]


class Word(NamedTuple):
    """One option."""

    name: str
    #: Empty, `:`, `::` or `:::`.
    takes: str
    sign: str
    kind: str


def word_of(text: str) -> Word:
    # A sign may be the letter of an option: `-#`, `-?`.
    rest = text[2:].lstrip(_LETTERS)
    name = text[: len(text) - len(rest)]
    kind = rest.lstrip(":")
    takes = rest[: len(rest) - len(kind)]
    plain = kind.lstrip(_SIGNS)
    sign = kind[: len(kind) - len(plain)]
    kind = plain.removeprefix("=").replace("-", " ")
    return Word(name, takes, "" if sign == "-" else sign or _SIGN_OF_KIND.get(kind, ""), kind)


def names_of(text: str) -> Sequence[str]:
    """Return the names of a row: `docker|podman run, finch run` are three."""
    names = text.split(", ")
    if "|" not in text:
        return names
    return [
        " ".join(each) for one in names for each in product(*(part.split("|") for part in one.split(" ")))
    ]


class ProgramRow(Struct, frozen=True, eq=False, dict=True):
    """One program, or one sub-command of a program (`git bisect run`)."""

    names: str
    #: Its plain job, in words: the scope of a permission for the program alone. Empty: it runs nothing else.
    job: str = ""
    #: Its own options, as they are written.
    options: Words = ()
    #: It has the options of this row as well; its own win.
    like: "ProgramRow | None" = None
    style: Style = "gnu"
    #: Its long options are written in full.
    exact: bool = False
    #: Its first operand is a sub-command, whose options come behind it; `anywhere`: its own may come there,
    #: too.
    sub: Literal["", "before", "anywhere"] = ""
    #: What it does as guards follow it through a line, by the names of `WAYS`.
    does: Words = ()
    #: A shell runs it itself: `only` if there is no program of that name, else `too`.
    builtin: Literal["", "only", "too"] = ""
    #: With one of these options it runs nothing.
    quiet: Words = ("--help", "--version")
    #: With one of these options it prints nothing: its exit code is the answer.
    silent: Words = ()

    # Its files

    #: A sign for each operand in turn: `<` read, `>` written, `$` written, which is more than the plain job,
    #: `=` read and written, `%` only named or listed, `-` no file, `?` perhaps read and perhaps written, `^`
    #: sent, `#` code. `*` after a sign: all further ones; a sign after that is for the last one (`<*>`
    #: copies). None: nothing is known of its files, and every word may be one.
    files: str | None = None
    #: Options that replace the first operand: the pattern of grep, the program of sed.
    instead: Words = ()
    #: A directory always means all in it.
    whole: bool = False
    #: Of one that lists: the options with which it finds names that begin with a dot. None: it always does.
    hidden: Words | None = None
    #: The operand that is used when there is none.
    default: str = ""
    #: It runs a command, which the reading also lists.
    runs: bool = False
    #: The files of a command among its words are its own: `find -exec`, `python -m`.
    holds: bool = False

    # The repository that it is started in

    #: It changes files, commits or settings there. None: it does not. Else with one of these options or first
    #: operands, `*` with any operand, `**` with two; always where there are none.
    changes: Words | None = None
    #: With one of these options or first operands it shows something, and changes nothing.
    shows: Words = ()

    # Files that it runs

    #: Its operands may be scripts, although it has no kind for them.
    scripts: bool = False
    #: The ends of the names of files that it loads by the name of a module, or without being given them. Empty:
    #: only those that it is given.
    loads: Words | None = None
    #: The files in its directory whose recipes it runs, and the options that name another one.
    recipes: Words = ()
    recipes_by: Words = ()
    #: The file in its directory whose scripts its sub-commands run.
    package: str = ""
    #: A module of Python by its name: `python -m pip` is pip.
    module: bool = False
    #: The hooks of a repository that it runs.
    hooks: Words = ()
    #: Not every installation of its program has it: an alias may have its name.
    optional: bool = False

    #: The sub-commands and options with which it removes packages.
    removes: Words = ()

    # Programs that it runs

    #: The lines that options hold are run with the operands behind them: `git fetch --upload-pack=LINE
    #: REPOSITORY`.
    appended: bool = False
    #: The operand from which on the operands are a command; None when they are none.
    command: int | None = None
    #: The operands from `command` on are one line of shell, joined by blanks.
    joined: bool = False
    #: Options with the directory in which it runs the command; `-p=NAME=` where the value begins with NAME=.
    chdir: Words = ()
    #: NAME=value may come before the command.
    assigns: bool = False
    #: The kind of the first operand, if no option holds the same kind of thing: sed's script.
    first: str = ""
    #: The kind of every other operand.
    others: str = ""
    #: The kind of standard input, and with how many operands at most it is read.
    stdin: str = ""
    stdin_operands: int = 0
    #: With one of these options it continues with standard input, whatever it was given: `python -i
    #: script.py`.
    stays: Words = ()
    #: Options that hold something to run, and beside which standard input is read all the same: `ex -c LINE`.
    besides: Words = ()
    #: With one of these options it does not read standard input.
    unread: Words = ()
    #: Too many options to list: any word after one of these (after the name, where there is none) may be the
    #: command.
    loose: Words | None = None
    #: The first operand is plainly the program: a permission for `npx tsc` is one for tsc.
    runner: bool = False
    #: What it runs has other files than this machine: all but the lines of its options, of which these are also
    #: run there. None: it runs commands here.
    away: Words | None = None
    #: Kinds that are its plain job: their content needs no separate permission.
    plain: Words = ()
    #: Kinds that are so inside the project: `make -f build/rules.mk`.
    near: Words = ()
    #: It runs, or is configured by, files in the directory it is started in: a makefile, settings, tests.
    here: bool = False
    #: All it does goes beyond the plain job of its program: `git difftool`.
    always: bool = False
    #: For programs with their own order: tar's bundles.
    ordered: Ordered | None = None
    reader: Reader | None = None

    @cached_property
    def words(self) -> Mapping[str, Word]:
        """Its options by their names."""
        own = {(word := word_of(text)).name: word for text in self.options}
        return own if self.like is None else {**self.like.words, **own}

    @cached_property
    def runs_files(self) -> bool:
        """It may run a file that its words name, or that is in its directory."""
        return bool(self.first == "script" or self.scripts or self.loads or self.recipes or self.package)

    @cached_property
    def takes_code(self) -> bool:
        """Its operands may be code of another language."""
        return not _CODE_KINDS.isdisjoint((self.first, self.others))

    @cached_property
    def spec(self) -> OptionSpec:
        words = (word.name + word.takes for word in self.words.values())
        # To some programs `--version` is an option with a value: what the row says wins.
        text = " ".join((*self.quiet, *words))
        return OptionSpec(text, self.style, "exec" in self.kinds.values(), self.exact)

    @cached_property
    def spec_before_operands(self) -> OptionSpec:
        """The same up to the first operand: later words belong to a sub-command."""
        style = self.style if self.style in {"words", "glued"} else "posix"
        return OptionSpec(self.spec.text, style, exact=self.exact)

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each option's value."""
        return {word.name: word.kind for word in self.words.values() if word.kind}

    @cached_property
    def quiet_options(self) -> frozenset[str]:
        return frozenset(name for name in self.quiet if name not in self.words or not self.words[name].takes)
