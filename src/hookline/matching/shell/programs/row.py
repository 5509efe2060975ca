"""What one program may run, as data: which options, operands and input hold a command, and of what kind."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from hookline.matching.shell.found import Found, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.options import OptionSpec, Style


class Program(Struct, frozen=True, eq=False, dict=True):
    """One program, or one sub-command of a program (`git bisect run`).

    Kinds are the names in `hookline.matching.shell.kinds`: `line`, `program`, `python`, `sed`, `written`, …
    """

    #: Separated by commas; versions, paths and .exe are left out: `python` is also /usr/bin/python3.12. `git *` is
    #: every sub-command of git that has no row of its own.
    names: str
    #: Its plain job, in words: what a permission for the program alone is for.
    job: str
    #: Options that hold nothing to run, as in `OptionSpec`.
    options: str = ""
    #: By kind, the options whose value is of that kind: `{"program": "--compress-program:", "written": "-o:"}`.
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    #: The lines that options hold are run with the operands behind them: `git fetch --upload-pack=LINE REPOSITORY`.
    appended: bool = False
    style: Style = "gnu"
    #: With one of these options it runs nothing.
    quiet: str = "--help --version"
    #: The operand from which on the operands are a command; None when they are none.
    command: int | None = None
    #: The operands from `command` on are one line of shell, joined by blanks.
    joined: bool = False
    #: NAME=value may come before the command.
    assigns: bool = False
    #: The kind of the first operand, if no option holds the same kind of thing: sed's script.
    first: str = ""
    #: The kind of every other operand.
    others: str = ""
    #: The kind of standard input, and with how many operands at most it is read.
    stdin: str = ""
    stdin_operands: int = 0
    #: With one of these options it goes on with standard input, whatever it was given: `python -i script.py`.
    stays: str = ""
    #: Options that hold something to run, and beside which standard input is read all the same: `ex -c LINE`.
    besides: str = ""
    #: Too many options to list: any word after one of these (after the name, where there is none) may be the command.
    loose: tuple[str, ...] | None = None
    #: The first operand is plainly the program: a permission for `npx tsc` is one for tsc.
    runner: bool = False
    #: Kinds that are its plain job: what they hold needs no permission of its own kind.
    plain: str = ""
    #: Kinds that are so inside the project: `make -f build/rules.mk`.
    near: str = ""
    #: It runs, or is told what to run by, what is in the directory it is started in: a makefile, settings, tests.
    here: bool = False
    #: All it does goes beyond the plain job of its program: `git difftool`.
    always: bool = False
    #: Its arguments in the order of getopt, for programs with a way of their own: tar's bundles.
    ordered: Callable[[Words], Words] | None = None
    #: For programs whose arguments no options describe.
    reader: Callable[[Words, Stdin], Iterator[Found]] | None = None
    #: Lines that start `rm` by way of this row. Tests run them.
    examples: tuple[str, ...] = ()
    #: Lines that do so only with what the sandbox of the tests lacks: rights, a terminal, a network, a service.
    untried: tuple[str, ...] = ()

    @cached_property
    def spec(self) -> OptionSpec:
        text = " ".join((self.options, *self.values.values(), self.quiet))
        return OptionSpec(text, self.style, endless="exec" in self.values)

    @cached_property
    def spec_before_operands(self) -> OptionSpec:
        """The same up to the first operand: what comes behind it belongs to a sub-command."""
        return OptionSpec(self.spec.text, "words" if self.style == "words" else "posix")

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each option's value."""
        return {
            option.rstrip(":"): kind for kind, options in self.values.items() for option in options.split()
        }

    @cached_property
    def quiet_options(self) -> frozenset[str]:
        return frozenset(self.quiet.split())
