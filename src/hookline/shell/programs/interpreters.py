"""Read programs with their own language that can start others."""

import re
from collections.abc import Iterator

from hookline.shell.found import Found, Inner, ShellDoubt, Stdin
from hookline.shell.kinds import KINDS, from_stdin
from hookline.shell.kinds.commands import is_stdin
from hookline.shell.options import OptionSpec, read_options, valued
from hookline.shell.placeholders import HOLE, Words
from hookline.shell.programs import table

#: Modules that run code or the script in their arguments.
_CODE_MODULES = frozenset(
    ("timeit", "pdb", "code", "trace", "cprofile", "profile", "runpy", "doctest", "pty", "site")
)
#: Letters of options of Perl whose value does not go to the end of the word, and a blank after them.
_PERL_APART = re.compile(r"([^\seEmMFxiI]*+(?:[iI]\S*+)?)\s++-?(?=\w)")
#: `-d`, where no module of a debugger follows, and letters of options without a value before it.
_PERL_DEBUGS = re.compile(r"-[acfnpsStTuUwWX]*d(?=[^:t\s])")


#: A path of nothing else names nothing: `/$X`.
_UNNAMED = f"/ \t{HOLE}"


def python(rest: Words, stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    """Read python: `-c` and `-m` end the options, the following words are arguments of the code or the module."""
    ended = _end_of_options(rest, spec)
    taken = ended if ended == len(rest) else ended + (1 if rest[ended][-1] not in "cm" else 2)
    read = read_options(rest[:taken], spec)
    if read.has("--version", "-V", "--help", "-h", "-?"):
        return
    after = rest[taken:]
    if read.has("-i"):
        yield from from_stdin("python", stdin)
    for code in read.values("-c"):
        yield from KINDS["python"].found(code)
    for module in read.values("-m"):
        yield from _module(module, after, stdin)
    if read.has("-c", "-m"):
        return
    operands = read.operands
    if not operands or is_stdin(operands[0]):
        yield from from_stdin("python", stdin, named=bool(operands))
    elif not operands[0].strip(_UNNAMED):
        yield ShellDoubt("only the shell knows which file is run")


def _end_of_options(rest: Words, spec: OptionSpec) -> int:
    """Return the position of the word with `-c` or `-m`; where there is none, the end."""
    taking = valued(spec)
    is_value = False
    for at, word in enumerate(rest):
        if is_value:
            is_value = False
        elif word.startswith("--"):
            is_value = word in taking
        elif word[:1] == "-":
            # The first letter that takes a value has the rest of the word, or else the next word.
            place = next((index for index in range(1, len(word)) if f"-{word[index]}" in taking), 0)
            if place and word[place] in "cm":
                return at
            is_value = place > 0 and place == len(word) - 1
    return len(rest)


def _code_in(word: str) -> Iterator[Found]:
    """Read code, or `-s CODE` in one word."""
    for code in (word,) if word[:1] != "-" else (word.partition("s")[2], word):
        yield from KINDS["python"].found(code)


def _module(module: str, after: Words, stdin: Stdin) -> Iterator[Found]:
    if HOLE in module:
        yield ShellDoubt("only the shell knows which module is run")
    elif module.casefold() in _CODE_MODULES:
        for word in after:
            if " " in word or "(" in word:
                yield from _code_in(word)
            elif is_stdin(word) and word != "-":
                yield from from_stdin("python", stdin, named=True)
            elif not word.strip(_UNNAMED):
                yield ShellDoubt("only the shell knows which file is run")
        if module in {"code", "pdb"}:
            yield from from_stdin("python", stdin)
        if module == "pdb" and any(word in {"-c", "--command"} for word in after):
            yield ShellDoubt("a debugger gets commands to run")
    elif (row := table().get(module.casefold())) is not None and row.module:
        yield Inner((module, *after), ("python", "-m", module, *after))


def node(rest: Words, _spec: OptionSpec) -> Words:
    """Join `-pe CODE` and `-p -e CODE`: one option with one value."""
    ordered: list[str] = []
    for at, word in enumerate(rest):
        after = rest[at + 1] if at + 1 < len(rest) else ""
        # Text glued to --print is not its value: standard input is the code.
        if not word.startswith("--print=") and (word not in {"-p", "--print"} or after[:1] not in {"", "-"}):
            ordered.append("--eval" if word in {"-pe", "-ep"} else word)
    return tuple(ordered)


def perl(rest: Words, _spec: OptionSpec) -> Words:
    """Split `'-w -e' CODE`: a blank among letters without a value begins the next option. `-de` is -d and -e."""
    ordered: list[str] = []
    for written in rest:
        debugs = _PERL_DEBUGS.match(written)
        ordered.extend([debugs[0]] if debugs else [])
        word = f"-{written[debugs.end() :]}" if debugs else written
        begun = 1
        while apart := word[:1] == "-" and _PERL_APART.match(word, begun):
            ordered.append(f"-{apart[1]}")
            begun = apart.end()
        ordered.append(f"-{word[begun:]}" if begun > 1 else word)
    return tuple(ordered)


def tcl(rest: Words, stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read the first word as a script, unless it begins with a dash: then there is none."""
    words = rest[2:] if rest[:1] == ("-encoding",) else rest
    if not words or words[0].startswith("-") or is_stdin(words[0]):
        yield from from_stdin("code", stdin, named=bool(words) and is_stdin(words[0]))
    else:
        yield from KINDS["file"].found(words[0])


def prove(rest: Words, _stdin: Stdin, spec: OptionSpec) -> Iterator[Found]:
    read = read_options(rest, spec)
    if "" in read.values("-e", "--exec"):
        for operand in read.operands:
            yield from KINDS["line"].found(operand)
