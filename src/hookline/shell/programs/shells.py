"""Read shells, and those of their builtins that run their arguments."""

from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Line, ShellDoubt, Stdin
from hookline.shell.kinds import KINDS, from_stdin
from hookline.shell.kinds.commands import is_stdin, unknown_file
from hookline.shell.options import Options, OptionSpec, read_options
from hookline.shell.placeholders import HOLE, Words


def shell(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    read = read_options(rest, spec)
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
    """Return True for `bash --help`, which runs nothing, and `-n`, unless the shell is interactive or has
    `+n` as well."""
    if any(rest[one.at] in {"--version", "--help"} for one in read.given if one.at < read.first):
        return True
    switches = {rest[one.at][:1] for one in read.given if one.name == "-n"}
    return switches == {"-"} and not read.has("-i")


def running(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    yield from shell(rest, stdin, spec)
    yield ShellDoubt("only the shell knows which program a process is")


def _file(name: str, stdin: Stdin) -> Iterator[Found]:
    """Read a file that a shell reads before anything else."""
    if is_stdin(name):
        yield from from_stdin("line", stdin, named=True)
    elif unknown_file(name):
        yield ShellDoubt("only the shell knows which file a shell reads")
    else:
        yield Inner((name,))


def _code(operands: Words) -> Iterator[Found]:
    if operands:
        yield Line(operands[0], operands[1:])


def _script(operands: Words) -> Iterator[Found]:
    """Read a shell given a file: its content is not known, but rules can be about its name."""
    if unknown_file(operands[0]):
        yield ShellDoubt("only the shell knows which file a shell reads")
    else:
        yield Inner(operands)


def fish(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
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


def eval_line(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read the line of eval: to dash all words are the line, also one with a dash."""
    if rest and rest[0].startswith("-") and rest[0] != "--":
        yield from KINDS["line"].found(" ".join(rest))


def source(rest: Words, stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    words = rest[1:] if rest[:1] == ("--",) else rest
    if words and is_stdin(words[0]):
        yield from from_stdin("line", stdin, named=True)
    elif words:
        yield from _script(words)


def trap(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read `trap -- LINE SIGNAL`. With `-l`, `-p` or a signal alone nothing is set."""
    words = rest[1:] if rest[:1] == ("--",) else rest
    if words and not words[0].startswith("-"):
        yield from KINDS["line"].found(words[0])


def alias(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    for word in rest:
        if "=" in word:
            yield from KINDS["line"].found(word.partition("=")[2])
        elif HOLE in word:
            yield ShellDoubt("only the shell knows what an alias stands for")


def command(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read command: `command -v rm` only finds a program."""
    read = read_options(rest, spec)
    if read.operands and not read.has("-v", "-V"):
        yield Inner(read.operands)


def fc(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read fc, which runs lines of the history again, or an editor on them."""
    if not any(word.startswith("-") and "l" in word for word in rest):
        read = read_options(rest, spec)
        for editor in read.values("-e"):
            yield from KINDS["usual line"].found(editor)
        yield ShellDoubt("lines of the history are run again")


def complete(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read complete: words of `-W` are expanded, `-C` is a line, `-F` a function."""
    read = read_options(rest, spec)
    for line in read.values("-C"):
        yield from KINDS["line"].found(line)
    for function in read.values("-F"):
        yield Inner((function,))
    for words in read.values("-W"):
        yield from KINDS["expanded"].found(words)


def bind(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    read = read_options(rest, spec)
    for binding in read.values("-x"):
        yield from KINDS["line"].found(binding.partition(":")[2].strip(" '\""))
    for file in read.values("-f"):
        yield from from_stdin("code", stdin) if is_stdin(file) else ()


def subscripts(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read subscripts of arrays: they are arithmetic, in which substitutions run even if they were quoted."""
    for word in rest:
        if "$(" in word or "`" in word:
            yield from KINDS["expanded"].found(word)


def as_one(rest: Words, _spec: OptionSpec) -> Words:
    """Join the words of `cmd /c rd /s x`: all that follows is one line."""
    return (" ".join(rest),) if rest else ()


def powershell(rest: Words, _spec: OptionSpec) -> Words:
    """Write names of options in lower case, whole where they are short; join all after `-Command` to one
    line; after `-File NAME` come arguments of the script."""
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
