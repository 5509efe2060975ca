"""Shells, and those of their builtins that run what they are given."""

from collections.abc import Iterator

from hookline.matching.shell.found import Doubt, Found, Inner, Line, Stdin
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.kinds import KINDS, from_stdin
from hookline.matching.shell.kinds.commands import is_stdin, unknown_file
from hookline.matching.shell.options import Options, OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_LETTERS = " ".join(f"-{letter}" for letter in "abefghiklmnprstuvxyBCDEHIPTVqX")
_BASH = OptionSpec(
    f"{_LETTERS} -c -d -o: -O: --rcfile: --init-file: --norc --noprofile --login --posix --restricted "
    "--verbose --debugger "
    "--debug --dump-strings --dump-po-strings --noediting --wordexp --protected --rpm-requires "
    "--pretty-print "
    "--help --version --command: --init-command: --emulate: --no-config",
    "shell",
)


def _shell(rest: Words, stdin: Stdin) -> Iterator[Found]:
    read = read_options(rest, _BASH)
    if _only_checks(rest, read):
        return
    for one in read.given:
        if one.value is None:
            continue
        if one.name in {"--rcfile", "--init-file"}:
            yield from _file(one.value, stdin)
        elif one.name in {"--command", "--init-command"}:
            yield from KINDS["line"].found(one.value)
    operands = read.operands
    names_none = not operands or is_stdin(operands[0])
    if read.has("-c"):
        yield from _code(operands)
    elif not names_none and not read.has("-s"):
        yield from _script(operands)
    if read.has("-s") or (names_none and not read.has("-c", "--command")):
        named = read.has("-s") or bool(operands) or "-" in rest
        yield from from_stdin("line", stdin, named=named)
    if read.unknown:
        yield from (Line(word) for word in rest if " " in word.strip() and HOLE not in word)


def _only_checks(rest: Words, read: Options) -> bool:
    """`bash --help` runs nothing; `-n` looks for mistakes, unless the shell is interactive or has `+n` as well."""
    if any(rest[one.at] in {"--version", "--help"} for one in read.given if one.at < read.first):
        return True
    switches = {rest[one.at][:1] for one in read.given if one.name == "-n"}
    return switches == {"-"} and not read.has("-i")


def _running(rest: Words, stdin: Stdin) -> Iterator[Found]:
    yield from _shell(rest, stdin)
    yield Doubt("which program a process is, only the shell knows")


def _file(name: str, stdin: Stdin) -> Iterator[Found]:
    """A file that a shell reads before anything else."""
    if is_stdin(name):
        yield from from_stdin("line", stdin, named=True)
    elif unknown_file(name):
        yield Doubt("which file a shell reads, only the shell knows")
    else:
        yield Inner((name,))


def _code(operands: Words) -> Iterator[Found]:
    if operands:
        yield Line(operands[0], operands[1:])


def _script(operands: Words) -> Iterator[Found]:
    """A shell given a file: its content is not known, but rules can be about its name."""
    if unknown_file(operands[0]):
        yield Doubt("which file a shell reads, only the shell knows")
    else:
        yield Inner(operands)


def _fish(rest: Words, stdin: Stdin) -> Iterator[Found]:
    spec = OptionSpec(
        "-n -N -i -l -P -d: -o: -f: -D: -h -v --login --interactive --no-config --no-execute "
        "--private --profile: "
        "--features: --debug: --debug-output: -c: -C: --command: --init-command:",
        "posix",
    )
    read = read_options(rest, spec)
    lines = read.values("-c", "-C", "--command", "--init-command")
    for line in lines:
        yield from KINDS["line"].found(line)
    if lines:
        return
    if read.operands and not is_stdin(read.operands[0]):
        yield from _script(read.operands)
    else:
        yield from from_stdin("line", stdin)


def _eval(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """To dash all words are the line, also one with a dash."""
    if rest and rest[0].startswith("-") and rest[0] != "--":
        yield from KINDS["line"].found(" ".join(rest))


def _source(rest: Words, stdin: Stdin) -> Iterator[Found]:
    words = rest[1:] if rest[:1] == ("--",) else rest
    if words and is_stdin(words[0]):
        yield from from_stdin("line", stdin, named=True)
    elif words:
        yield from _script(words)


def _trap(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`trap -- LINE SIGNAL`. With `-l`, `-p` or a signal alone nothing is set."""
    words = rest[1:] if rest[:1] == ("--",) else rest
    if words and not words[0].startswith("-"):
        yield from KINDS["line"].found(words[0])


def _alias(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    for word in rest:
        if "=" in word:
            yield from KINDS["line"].found(word.partition("=")[2])
        elif HOLE in word:
            yield Doubt("what an alias stands for, only the shell knows")


def _command(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`command -v rm` only looks a program up."""
    read = read_options(rest, OptionSpec("-p -v -V", "posix"))
    if read.operands and not read.has("-v", "-V"):
        yield Inner(read.operands)


def _fc(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """Runs lines of the history again, or an editor on them."""
    if not any(word.startswith("-") and "l" in word for word in rest):
        read = read_options(rest, OptionSpec("-l -n -r -s -e:"))
        for editor in read.values("-e"):
            yield from KINDS["usual line"].found(editor)
        yield Doubt("lines of the history are run again")


def _complete(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """Words of `-W` are expanded, `-C` is a line, `-F` a function."""
    read = read_options(
        rest,
        OptionSpec(
            "-a -b -c -d -e -f -g -j -k -s -u -v -p -r -D -E -I -V: -o: -A: -G: -W: -F: -C: -X: -P: -S:",
            "posix",
        ),
    )
    for line in read.values("-C"):
        yield from KINDS["line"].found(line)
    for function in read.values("-F"):
        yield Inner((function,))
    for words in read.values("-W"):
        yield from KINDS["expanded"].found(words)


def _bind(rest: Words, stdin: Stdin) -> Iterator[Found]:
    read = read_options(rest, OptionSpec("-l -p -P -s -S -v -V -X -m: -q: -u: -r: -f: -x:", "posix"))
    for binding in read.values("-x"):
        yield from KINDS["line"].found(binding.partition(":")[2].strip(" '\""))
    for file in read.values("-f"):
        yield from from_stdin("code", stdin) if is_stdin(file) else ()


def _subscripts(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """A subscript of an array is arithmetic, in which substitutions run even if they were quoted."""
    for word in rest:
        if "$(" in word or "`" in word:
            yield from KINDS["expanded"].found(word)


def _test(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`[ -v 'a[$(rm)]' ]`, and numbers compared in [[ ]]."""
    yield from _subscripts(rest, _stdin)


def _as_one(rest: Words) -> Words:
    """`cmd /c rd /s x`: all that follows is one line."""
    return (" ".join(rest),) if rest else ()


def _powershell(rest: Words) -> Words:
    """Names of options in lower case, whole where they are short; all after `-Command` is one line, and after
    `-File NAME` come arguments of the script.
    """
    ordered: list[str] = []
    for at, word in enumerate(rest):
        name = word.casefold()
        if word[:1] != "-":
            ordered.append(word)
        elif len(name) > 1 and "-command".startswith(name):
            return (*ordered, "-command", " ".join(rest[at + 1 :]))
        elif len(name) > 1 and "-file".startswith(name):
            return (*ordered, "-file", *rest[at + 1 : at + 2])
        else:
            ordered.append(name)
    return tuple(ordered)


# No builtin is quiet: `--help` is nothing to those of dash, and may be the value of an option to those of bash.
ROWS = (
    Program(
        "sh, bash, dash, zsh, ksh, mksh, ash, rbash, yash, posh, lksh, oksh, rksh, loksh, brush, "
        "osh, bosh, hush",
        "runs a script",
        # As the reader says.
        quiet="",
        reader=_shell,
        examples=(
            "echo 'rm y' | sh -s a --help b",
            "echo 'rm y' | bash --rcfile --help /dev/stdin -i",
            "echo 'rm y' | sh -c -s a b",
            "sh -c 'rm y'",
            "bash -euo pipefail -c 'rm y'",
            "bash -euoc pipefail 'rm y'",
            "bash -lO extglob -c 'rm y'",
            "bash -co pipefail 'rm y'",
            "bash -Oc extglob 'rm y'",
            "bash +x -c 'rm y'",
            "bash -ic 'rm y'",
            "bash --norc -c -- 'rm y'",
            "bash -c 'rm \"$@\"' x y",
            "echo 'rm y' | bash",
            "echo 'rm y' | sh -s a b",
            "bash <<< 'rm y'",
            "echo 'rm y' | bash /dev//stdin",
            "echo 'rm y' | bash /proc/self/fd/0",
            "echo 'rm y' | bash -",
            "echo 'rm y' | bash --rcfile /dev/stdin -i",
            "bash --rcfile <(echo 'rm y') -i",
            "bash -init-file <(echo 'rm y') -i",
            "bash <(echo 'rm y')",
        ),
    ),
    Program(
        "/proc/pid/exe",
        "runs the program that a process is, mostly the shell itself",
        reader=_running,
        examples=("/proc/self/exe -c 'rm y'", "env /proc/self/exe rm y"),
    ),
    Program("fish, elvish, nu, xonsh, oil, ion", "runs a script", reader=_fish),
    Program("csh, tcsh", "runs a script", reader=_shell),
    Program(
        "pwsh, powershell",
        "runs a script",
        "-noexit -nologo -noninteractive -noprofile -nop -noni -executionpolicy: -exec: -ep: -ex: "
        "-workingdirectory: -wd: "
        "-outputformat: -inputformat: -version: -windowstyle: -login -l -sta -mta -configurationname:",
        {
            "powershell": "-command:",
            "unread": "-commandwithargs: -cwa: -encodedcommand: -enc: -ec: -e:",
            "file": "-file:",
        },
        style="words",
        quiet="-help -? -h",
        ordered=_powershell,
        stdin="powershell",
        first="unread",
        others="unread",
    ),
    Program("cmd", "runs a line of cmd", ordered=_as_one, others="unread"),
    Program(
        "eval",
        "runs its operands as a line",
        quiet="",
        reader=_eval,
        style="posix",
        command=0,
        joined=True,
        examples=("eval 'rm y'", "eval -- rm y", "eval rm y"),
    ),
    Program(
        "., source",
        "reads a script into the shell",
        quiet="",
        reader=_source,
        examples=(". /dev/stdin <<< 'rm y'", "source <(echo 'rm y')", "echo 'rm y' | . /dev//stdin"),
    ),
    Program(
        "trap",
        "runs a line at a signal",
        quiet="",
        reader=_trap,
        examples=("trap 'rm y' EXIT", "trap -- 'rm y' 0"),
    ),
    Program(
        "alias",
        "gives a line a name",
        quiet="",
        reader=_alias,
        examples=("shopt -s expand_aliases; alias l='rm y'\nl",),
    ),
    Program(
        "command",
        "runs a command that is no function",
        quiet="",
        reader=_command,
        examples=("command rm y", "command -p -- rm y"),
    ),
    Program(
        "builtin",
        "runs a builtin",
        quiet="",
        style="posix",
        command=0,
        examples=("builtin eval 'rm y'", "builtin command rm y"),
    ),
    Program(
        "exec",
        "runs a command in the shell's place",
        "-c -l -a:",
        quiet="",
        style="posix",
        command=0,
        examples=("exec rm y", "exec -a x rm y", "exec -cla x rm y"),
    ),
    Program("coproc", "runs a command beside the shell", loose=()),
    Program(
        "hash",
        "remembers where programs are",
        "-l -r -d -t",
        {"renamed": "-p:"},
        quiet="",
        style="posix",
        examples=("hash -p $(command -v rm) ls; ls y",),
    ),
    Program(
        "enable",
        "switches builtins on and off",
        "-a -d -n -p -s",
        {"renamed": "-f:"},
        quiet="",
        style="posix",
    ),
    Program("fc", "shows or runs lines of the history", quiet="", reader=_fc),
    Program("bind", "sets what keys do", quiet="", reader=_bind),
    Program(
        "complete, compgen, compopt",
        "sets how words are completed",
        quiet="",
        reader=_complete,
        examples=("compgen -C 'rm y' x", "compgen -W '$(rm y)'"),
    ),
    Program(
        "mapfile, readarray",
        "reads lines into an array",
        "-t -d: -n: -O: -s: -u: -c:",
        {"line": "-C:"},
        quiet="",
        reader=_subscripts,
        examples=("mapfile -c1 -C 'rm y' a <<< x", "mapfile -tc 1 -C 'rm y' a <<< x"),
    ),
    Program(
        "let, printf, read, unset, declare, typeset, local, export, readonly, wait, getopts, integer, float",
        "sets variables",
        reader=_subscripts,
        examples=("let 'x[$(rm y)]=1'", "read 'x[$(rm y)]' <<< 1"),
    ),
    Program(
        "test, [, [[",
        "tests a condition",
        reader=_test,
        examples=("test -v 'x[$(rm y)]'", "[ -v 'x[`rm y`0]' ]"),
    ),
    Program(
        "emulate", "runs a line as another shell does", "-L -R -l -o: +o:", {"line": "-c:"}, style="posix"
    ),
    Program("sched, zsh/sched, precmd, autoload", "runs a line of zsh later", others="line"),
)
