"""Shell lines made of the corpus by changing them: tokens taken out, put in, exchanged or quoted, lines spliced.

Most of them do nothing any more, but they are where a reader that guesses is found out.
"""

import random
import re
from collections.abc import Callable, Sequence

from bench.shell_grammar import Grammar, Made, quoted
from bench.shell_productions import NAMES

_TOKEN = re.compile(
    r"""\s+ | \$?'[^']*' | "(?:[^"\\]|\\.)*" | \$\(\( | \$\( | \$\{ | [<>]\( | <<-? | <<< | >> | [12]?>&[12]? | &> | >\|
        | && | \|\|? | ;;&? | ;& | [;&(){}<>`#!] | \\. | [\w./=:,@%+*?~-]+ | .""",
    re.VERBOSE | re.DOTALL,
)
_PIECES: tuple[str, ...] = (
    "rm", "rm y", "y", "'", '"', "\\", "`", "$(", ")", "(", "{ ", "; }", ";", "&&", "||", "|", "&", "\n", " ", "#",
    " #", "$'", "\\\n", "<<E", "\nE\n", "<<-E", "<<'E'", "<<<", ">o", "2>&1", "&>o", "<f", "[[ ", " ]]", "[ ", " ]",
    "((", "))", "$((", "${", "}", "$X", "${X:-", "X=", "X=rm", "x=(", "if ", "then ", "; fi", "for i in ", "; do ",
    "; done", "case x in ", "x) ", ";; ", "esac", "!", "time ", "coproc ", "f() ", "function f ", "-c ", "-", "--",
    "-e ", "=", "==", " == ", "=~", "eval ", "env ", "sh -c ", "bash -c ", "xargs ", "| sh", "exec ", "command ", "*",
    "?", "~", "{a,b}", "\t", "\r", "''", '""', "$@", "$1", ":", "true", "trap ", " EXIT", "-o pipefail ",
    "-O extglob ", "\\\\", "<(", "@P",
)  # fmt: skip
#: Words in the positions of options and of their values: some end a program before it runs anything, some only seem to.
_OPTIONS: tuple[str, ...] = (
    "--help", "--version", "-h", "-v", "-V", "--", "-", "''", "x", "a=b", "+x", "-n", "-i", "-s", "-c", "-e", "-f",
    "-x", "-o", "-p", "-r", "-u", "-W", "-I", "-S '-c'", "-W '--help'", "-e ''", "-x '--'", "-r '-e'", "--x='-c'",
)  # fmt: skip
#: Programs so slow that few of the lines that begin them are worth the time.
_SLOW = re.compile(
    r"\b(?:gdb|npm|npx|apt|apt-get|tmux|cmake|valgrind|perf|node|watch|sleep|seq|strace|vim|man|ssh|prove)\b"
)

Change = Callable[[list[str], "Mutation"], list[str]]


class Mutation:
    def __init__(self, lines: Sequence[tuple[str, str]], grammar: Grammar, chance: random.Random) -> None:
        """`lines`: (family, line)."""
        slow = [line for line in lines if _SLOW.search(line[1])]
        self._lines = [*(line for line in lines if not _SLOW.search(line[1])), *slow[::6]]
        self._grammar = grammar
        self.chance = chance

    def make(self) -> Made:
        family, line = self.chance.choice(self._lines)
        tokens = _TOKEN.findall(line)
        for _ in range(self.chance.choice((1, 1, 1, 2, 2, 3))):
            tokens = self.chance.choice(_CHANGES)(tokens, self) or tokens
        made, uses = "".join(tokens), [(f"{family}, changed", line)]
        if self.chance.random() < 0.15:
            around = self._grammar.around(made)
            made, uses = around.line, [*around.uses, *uses]
        return Made(made, tuple(uses))

    def other(self) -> list[str]:
        return _TOKEN.findall(self.chance.choice(self._lines)[1])


def _delete(tokens: list[str], mutation: Mutation) -> list[str]:
    at = mutation.chance.randrange(len(tokens))
    return tokens[:at] + tokens[at + 1 :]


def _insert(tokens: list[str], mutation: Mutation) -> list[str]:
    at = mutation.chance.randrange(len(tokens) + 1)
    return [*tokens[:at], mutation.chance.choice(_PIECES), *tokens[at:]]


def _option(tokens: list[str], mutation: Mutation) -> list[str]:
    """Insert a word somewhere behind the first one."""
    places = [at + 1 for at, token in enumerate(tokens) if token.isspace()] or [len(tokens)]
    at = mutation.chance.choice(places)
    return [*tokens[:at], mutation.chance.choice(_OPTIONS), " ", *tokens[at:]]


def _exchange(tokens: list[str], mutation: Mutation) -> list[str]:
    one, two = mutation.chance.randrange(len(tokens)), mutation.chance.randrange(len(tokens))
    tokens = list(tokens)
    tokens[one], tokens[two] = tokens[two], tokens[one]
    return tokens


def _repeat(tokens: list[str], mutation: Mutation) -> list[str]:
    at = mutation.chance.randrange(len(tokens))
    return [*tokens[:at], tokens[at], *tokens[at:]]


def _replace(tokens: list[str], mutation: Mutation) -> list[str]:
    at = mutation.chance.randrange(len(tokens))
    return [*tokens[:at], mutation.chance.choice(mutation.other()), *tokens[at + 1 :]]


def _requote(tokens: list[str], mutation: Mutation) -> list[str]:
    at = mutation.chance.randrange(len(tokens))
    token = tokens[at]
    text = token[1:-1] if token[:1] == token[-1:] and token[:1] in "'\"" and len(token) > 1 else token
    return [*tokens[:at], quoted(text, mutation.chance), *tokens[at + 1 :]]


def _respell(tokens: list[str], mutation: Mutation) -> list[str]:
    return [mutation.chance.choice(NAMES) if token == "rm" else token for token in tokens]


def _splice(tokens: list[str], mutation: Mutation) -> list[str]:
    other = mutation.other()
    return tokens[: mutation.chance.randint(0, len(tokens))] + other[mutation.chance.randrange(len(other)) :]


def _join(tokens: list[str], mutation: Mutation) -> list[str]:
    between = mutation.chance.choice((";", "\n", "&&", "||", "|", "&", " ", ""))
    both = [tokens, mutation.other()]
    mutation.chance.shuffle(both)
    return [*both[0], between, *both[1]]


def _sign(tokens: list[str], mutation: Mutation) -> list[str]:
    """One sign put in, taken out or doubled, wherever it is."""
    line = "".join(tokens)
    at = mutation.chance.randrange(len(line))
    put = mutation.chance.choice(
        ("", line[at] * 2, mutation.chance.choice("'\"\\`$(){};&|#!<>= \n\t-[]@*?~"))
    )
    return _TOKEN.findall(line[:at] + put + line[at + 1 :])


def _quiet_name(tokens: list[str], mutation: Mutation) -> list[str]:
    """A command before the name, so that the name is its argument, or is it?"""
    return [mutation.chance.choice(("echo ", "true ", ": ", "A=", "cat ", "env ", "'")) if token == "rm" and
            mutation.chance.random() < 0.5 else token for token in tokens]  # fmt: skip


_CHANGES: tuple[Change, ...] = (
    _delete, _delete, _insert, _insert, _insert, _exchange, _repeat, _replace, _requote, _requote, _respell, _splice,
    _splice, _join, _sign, _sign, _quiet_name, _option, _option, _option,
)  # fmt: skip
