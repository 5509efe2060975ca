"""Read programs that find, pack and copy files, and run a command on each of them."""

from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Line, Stdin
from hookline.shell.kinds.commands import split
from hookline.shell.options import Options, OptionSpec, read_options, valued
from hookline.shell.placeholders import HOLE, Words

#: The most commands made of known names; there may be more.
_MOST_COMMANDS = 20


def xargs(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Add names from standard input to the command, or put them where a mark is."""
    read = read_options(rest, spec)
    if read.unknown:
        yield from (Inner((*read.operands[at:], HOLE)) for at in range(len(read.operands)))
    command = read.operands
    if not command:
        return
    marks = [
        one.value or "{}"
        for one in read.given
        if one.name in {"-I", "-J", "-i", "--replace"} and (one.value or one.name in {"-i", "--replace"})
    ]
    names = _names(read, stdin)
    if marks:
        # Where the text has no name, the command still runs with none.
        for name in names if names is not None else (HOLE,):
            words = tuple(word.replace(marks[-1], name) for word in command)
            yield Inner(words)
            if words[0] != command[0]:
                # Not every one of them replaces the name of the program.
                yield Inner((command[0], *words[1:]))
    elif names is None:
        # Unless it is one word each time, the second one may be what a wrapper runs.
        one = "1" in read.values("-n", "--max-args")
        yield Inner((*command, HOLE) if one else (*command, HOLE, HOLE))
    else:
        for some in _chunks(read, names):
            yield Inner((*command, *some))


def _names(read: Options, stdin: Stdin) -> Words | None:
    """Return the names, where they are known."""
    if stdin.kind != "text" or HOLE in stdin.text or read.has("-a", "--arg-file", "-E", "-e", "--eof"):
        return None
    text = stdin.text
    delimiter = next(iter(read.values("-d", "--delimiter")), None)
    if read.has("-0", "--null") or delimiter not in {None, "\\n"}:
        return None
    if delimiter or read.has("-I", "-i", "--replace", "-J"):
        lines = text.splitlines() if delimiter else map(str.lstrip, text.splitlines())
        names = tuple(line for line in lines if line.strip())
        if any(sign in text for sign in "'\"\\") and not delimiter:
            return None
    else:
        names = split(text)
    return names if len(names) <= _MOST_COMMANDS and HOLE not in names else None


def _chunks(read: Options, names: Words) -> Iterator[Words]:
    if read.has("-n", "--max-args", "-L", "-l", "--max-lines", "-P", "--max-procs", "-s", "--max-chars"):
        yield from ((name,) for name in names)
    yield names


def parallel(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read a line of shell, made of the operands before `:::`; without one each line of the input is a command."""
    read = read_options(rest, spec)
    operands = list(read.operands)
    marks = [at for at, word in enumerate(operands) if word in {":::", ":::+", "::::", "::::+"}]
    command = operands[: marks[0]] if marks else operands
    given = tuple(operands[marks[0] + 1 :]) if marks and operands[marks[0]].startswith(":::") else ()
    if read.unknown or "::::" in operands or HOLE in " ".join(command):
        yield from (Inner((*command[at:], HOLE)) for at in range(len(command)))
    names = given or (tuple(stdin.text.splitlines()) if stdin.kind == "text" else ())
    for name in (names or (HOLE,))[:_MOST_COMMANDS]:
        if not command:
            yield Inner((HOLE,)) if HOLE in name else Line(name)
        elif HOLE in name or "{" in " ".join(command):
            words = tuple(word.replace("{}", name) for word in command)
            yield Inner(words if words != tuple(command) else (*words, name))
            code = " ".join(command).replace("{}", name)
            if HOLE not in code:
                yield Line(code)
        else:
            yield Line(" ".join((*command, name)))


def bundle(rest: Words, spec: OptionSpec) -> Words:
    """Read `tar cIf PROGRAM ARCHIVE`: letters without a dash, their values after them in their order."""
    if not rest or rest[0].startswith("-") or HOLE in rest[0]:
        return rest
    ordered: list[str] = []
    at, taking = 1, valued(spec)
    for letter in rest[0]:
        ordered.append(f"-{letter}")
        if f"-{letter}" in taking and at < len(rest):
            ordered.append(rest[at])
            at += 1
    return (*ordered, *rest[at:])


def zip_ordered(rest: Words, _spec: OptionSpec) -> Words:
    """Read `-TT LINE` and `-lf FILE`, options of zip that are two letters long."""
    ordered: list[str] = []
    for word in rest:
        ordered += ["--unzip-command", word[3:]] if word.startswith("-TT") and word[3:] else [word]
    long = {"-TT": "--unzip-command", "-lf": "--logfile-path"}
    return tuple(long.get(word, word) for word in ordered)
