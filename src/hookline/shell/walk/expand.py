"""Expand words as the shell would: quotes removed, variables filled in where the line shows their values.

Other values become placeholders. A word may become several words, or none; and where a variable may have
several values, a word is several alternatives.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Literal

from hookline.shell.environment import program_in
from hookline.shell.grammar.syntax import (
    Arithmetic,
    List,
    Node,
    Parameter,
    Part,
    Redirect,
    Simple,
    Substitution,
    Text,
    Word,
)
from hookline.shell.placeholders import HOLE
from hookline.shell.walk.fields import (
    BLANK,
    Fields,
    Origin,
    Piece,
    Pieces,
    ShellField,
    fields_of,
    fields_of_text,
    is_active,
    worst,
)
from hookline.shell.walk.variables import Elements, Variables, first_text, plain

#: The most values of variables that are followed in one word.
MOST_ALTERNATIVES = 8
_MOST_SEPARATORS = 1
#: The initial value of IFS.
_BLANKS = " \t\n"
_HOME_OR_PATTERN = re.compile(r"~|[*?\[].*", re.DOTALL)
#: How deep a variable's value is followed into other variables.
_DEEPEST = 6

#: Variables to which bash gives values, whatever is assigned to them.
_OF_THE_SHELL = frozenset(
    (
        "FUNCNAME", "GROUPS", "DIRSTACK", "PIPESTATUS", "BASH_ARGV", "BASH_ARGC", "BASH_ARGV0", "BASH_LINENO",
        "BASH_SOURCE", "BASH_COMMAND", "BASH_SUBSHELL", "BASHPID", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "PPID",
        "UID", "EUID", "EPOCHSECONDS", "EPOCHREALTIME", "HISTCMD", "OPTIND", "SHELLOPTS", "BASHOPTS", "COLUMNS",
        "LINES", "BASH_VERSINFO", "COMP_WORDBREAKS",
    )
)  # fmt: skip
#: The variables of ~, ~+ and ~-.
_HOMES = ("HOME", "PWD", "OLDPWD")
#: Commands that print the path of the program they are given.
_PATH_OF = (("which",), ("command", "-v"), ("type", "-p"), ("type", "-P"))
_PROGRAM_NAME = re.compile(r"\w[\w.+-]*")
#: Commands that print one absolute path and nothing else.
_PRINTS_PATH = frozenset(
    (
        "pwd", "pwd -P", "git rev-parse --show-toplevel", "npm root", "npm bin", "npm prefix", "npm root -g",
        "brew --prefix", "go env GOPATH", "go env GOROOT", "go env GOBIN", "yarn bin", "pnpm bin", "mktemp",
        "mktemp -d", "gem env home", "python -m site --user-base", "python3 -m site --user-base",
    )
)  # fmt: skip


_BREAK = Piece("", "break")
_NOTHING: Fields = (ShellField(""),)


class Expander:
    """Expands words. `positional` are the arguments of the line itself, where they are known; `assured` the
    variables that have certainly been assigned. `braces`: it is a shell that expands them."""

    def __init__(
        self, variables: Variables, positional: Sequence[str] | None, assured: set[str], braces: bool = True
    ) -> None:
        self._variables = variables
        self._braces = braces
        self._positional = positional
        self.assured = assured
        self._depth = 0

    def replaced(self, program: str) -> bool:
        """Return True if the line makes something that may run instead of this program."""
        return self._variables.may_replace(program)

    @property
    def forgot_arguments(self) -> bool:
        return self._positional is None

    def forget_arguments(self, instead: Sequence[str] | None = None) -> None:
        """Forget the arguments: after `set` and `shift` they are others."""
        self._positional = instead

    def fields(self, word: Word) -> list[Fields]:
        """Return the alternatives of a word; each is the words that it becomes."""
        if len(word) == 1 and isinstance(word[0], Text) and not self._moves_home(word[0]):
            return [fields_of_text(word[0], self._braces)]
        alternatives = self._pieces(word)
        if any(piece.mode == "value" and piece.text for pieces in alternatives for piece in pieces):
            # Should code that is read later change it, the words would be others.
            self._variables.used.add("IFS")
        found = dict.fromkeys(
            fields_of(pieces, self._braces, separators)
            for separators in self._separators()
            for pieces in alternatives
        )
        if _NOTHING in found and any(map(_is_all, word)):
            # `"$@"` without arguments gives no word at all.
            found[()] = None
        return list(found)

    def _separators(self) -> Sequence[re.Pattern[str] | None]:
        """Return the characters at which unquoted values may be split; None where only the shell knows. The
        time when IFS is set is ignored."""
        if not self._variables.may_change("IFS"):
            return (BLANK,)
        known: dict[str, None] = {}
        for value in self._variables.values.get("IFS", ()):
            texts = [plain(word) for word in value]
            if None in texts:
                return (None,)
            known["".join(text or "" for text in texts)] = None
        if self._variables.any_name or len(known) > _MOST_SEPARATORS:
            return (None,)
        return (BLANK, *(re.compile(f"[{re.escape(signs)}]+" if signs else r"(?!)") for signs in known))

    def texts(self, word: Iterable[Part]) -> list[tuple[str, Origin]]:
        """Return the alternatives of a word that is not split: the value of an assignment, a here-document."""
        found: dict[tuple[str, Origin], None] = {}
        for pieces in self._pieces(tuple(word)):
            found["".join(piece.text for piece in pieces), worst(piece.origin for piece in pieces)] = None
        return list(found)

    def _pieces(self, word: Word) -> list[Pieces]:
        every = [self._part(part) for part in word]
        count = 1
        for at, each in enumerate(every):
            count *= len(each)
            if count > MOST_ALTERNATIVES:
                mode = "quoted" if getattr(word[at], "quoted", True) else "value"
                every[at] = [(Piece(HOLE, mode, "unknown"),)]
                count //= len(each)
        return [tuple(piece for part in parts for piece in part) for parts in product(*every)]

    def _part(self, part: Part) -> list[Pieces]:
        if isinstance(part, Text):
            if self._moves_home(part):
                # `~` and what follows may be any text; if the ~ begins something is ignored.
                return [(Piece(_HOME_OR_PATTERN.sub(HOLE, part.text), "quoted", "unknown"),)]
            origin: Origin = "environment" if HOLE in part.text else ""
            return [(Piece(part.text, "quoted" if part.quoted else "source", origin),)]
        if isinstance(part, Parameter):
            found = self._parameter(part)
            if part.name == "IFS":
                # After any operation blanks may be left: `rm${IFS#x}y`.
                return _unique([*found, (Piece(_BLANKS, "quoted" if part.quoted else "value"),)])
            return found
        if isinstance(part, Arithmetic):
            return [(Piece(HOLE, "quoted", "environment"),)]
        return [(self._output(part),)]

    def _moves_home(self, part: Text) -> bool:
        return "~" in part.text and not part.quoted and any(map(self._variables.may_change, _HOMES))

    # Parameters

    def _parameter(self, part: Parameter) -> list[Pieces]:
        mode: Literal["quoted", "value"] = "quoted" if part.quoted else "value"
        if part.name == "" or part.indirect or part.name in {"", "_"}:
            return [(Piece(HOLE, mode, "unknown"),)]
        inherited = part.name == "0" and not self._positional
        if inherited or part.name in "#?$!-" or (part.operator == "#" and not part.word):
            known: list[Pieces] = [(Piece(HOLE, "quoted", "environment"),)]
            # Without a background job, and in some shells without options, there is nothing.
            return [*known, (Piece("", mode),)] if part.name in "!-" and not part.operator else known
        if part.operator in {":-", "-", ":=", "="}:
            return _unique([*self._values(part, mode, absent=False), *self._default(part)])
        if part.operator in {":+", "+"}:
            return _unique([(Piece("", mode),), *self._default(part)])
        if part.operator in {"", ":?", "?"}:
            return self._values(part, mode, absent=True)
        return self._after_operation(part, mode)

    def _after_operation(self, part: Parameter, mode: Literal["quoted", "value"]) -> list[Pieces]:
        """Return a placeholder, and the values that `${x%.md}` may have as far as they are known."""
        name = part.name
        assigned = name.isdigit() or name in "@*" or self._variables.may_change(name)
        origin: Origin = "unknown" if assigned else "environment"
        found: list[Pieces] = [(Piece(HOLE, mode, origin),)]
        word = plain(part.word)
        if origin == "unknown" and word is not None:
            from hookline.shell.walk.edited_text import edited  # noqa: PLC0415 few lines edit their values

            values = self._values(part, mode, absent=False)
            texts = (edited(one[0].text, part.operator, word) for one in values if len(one) == 1)
            found += [(Piece(text, mode),) for text in texts if text and HOLE not in text]
        return found

    def _default(self, part: Parameter) -> list[Pieces]:
        pieces = self._pieces(part.word)
        if part.quoted:
            return [tuple(piece._replace(mode="quoted") for piece in each) for each in pieces]
        return [
            tuple(piece._replace(mode="value") if piece.mode == "source" else piece for piece in each)
            for each in pieces
        ]

    def _values(self, part: Parameter, mode: Literal["quoted", "value"], absent: bool) -> list[Pieces]:
        """Return the values a variable may have. `absent`: it may also be unset."""
        name = part.name
        if name.isdigit() or name in "@*":
            return self._arguments(part, mode)
        if not self._variables.may_change(name):
            # `"${x[@]}"` is any number of words.
            mode = "value" if _is_all(part) else mode
            return [(Piece(HOLE, mode, "environment"),)] if absent or program_in(name) else []
        self._variables.used.add(name)
        if self._variables.any_name or self._depth >= _DEEPEST or name in _OF_THE_SHELL:
            return [(Piece(HOLE, mode, "unknown"),)]
        self._depth += 1
        found: list[Pieces] = []
        for value in self._variables.values.get(name, ())[: MOST_ALTERNATIVES + 1]:
            found.extend(self._value(value, part, mode))
        for word in self._variables.loops.get(name, ())[: MOST_ALTERNATIVES + 1]:
            every = (field for fields in self.fields(word) for field in fields)
            found.extend((Piece(field.text, mode, field.origin),) for field in every)
        self._depth -= 1
        if absent and (name not in self.assured or self._variables.may_fail):
            found.append((Piece("", mode),))
        if program_in(name) and name not in self.assured:
            found.append((Piece(HOLE, mode, "environment"),))
        return _unique(found) if len(found) <= MOST_ALTERNATIVES else [(Piece(HOLE, mode, "unknown"),)]

    def _value(
        self, value: tuple[Word, ...], part: Parameter, mode: Literal["quoted", "value"]
    ) -> list[Pieces]:
        which = None if part.subscript is None else plain(part.subscript)
        if part.subscript is None:
            value = value if isinstance(value, Elements) else value[:1] or ((),)
        elif which not in {"@", "*"}:
            return (
                [(Piece(HOLE, mode, "unknown"),)]
                if len(value) > 1 or which != "0"
                else self._value(value, part._replace(subscript=None), mode)
            )
        if isinstance(value, Elements) and part.subscript is None:
            firsts = [
                fields[0] if fields else ShellField("") for fields in self.fields(value[0] if value else ())
            ]
            return [(Piece(field.text, mode, field.origin),) for field in firsts]
        if len(value) == 1 and part.subscript is None:
            return [(Piece(text, mode, origin),) for text, origin in self.texts(value[0])]
        if which == "*" and self._variables.may_change("IFS"):
            return [(Piece(HOLE, mode, "unknown"),)]
        pieces: list[Piece] = []
        for word in value:
            alternatives = self.fields(word)
            if len(alternatives) > 1:
                return [(Piece(HOLE, mode, "unknown"),)]
            for field in alternatives[0]:
                pieces += [_BREAK] if pieces else []
                pieces.append(Piece(field.text, mode, field.origin))
        return [tuple(pieces)]

    def _arguments(self, part: Parameter, mode: Literal["quoted", "value"]) -> list[Pieces]:
        known = self._positional
        if known is None or part.operator:
            return [(Piece(HOLE, "value" if part.name in "@*" else mode, "unknown"),)]
        if part.name.isdigit():
            at = int(part.name)
            return [(Piece(known[at] if at < len(known) else "", mode),)]
        if part.name == "*" and self._variables.may_change("IFS"):
            return [(Piece(HOLE, mode, "unknown"),)]
        pieces: list[Piece] = []
        for text in known[1:]:
            pieces += [_BREAK] if pieces else []
            pieces.append(Piece(text, mode))
        return [tuple(pieces)]

    # The output of a command, where that is plain

    def _output(self, part: Substitution) -> Piece:
        mode: Literal["quoted", "value"] = "quoted" if part.quoted else "value"
        if part.direction:
            return Piece(HOLE, "quoted", "environment")
        printed = self._printed(part.body)
        return (
            Piece(printed, mode, "environment" if HOLE in printed else "")
            if printed
            else Piece(HOLE, mode, "unknown")
        )

    def _printed(self, body: List) -> str:
        commands = [item.node for item in body.items]
        last = commands[-1] if commands else None
        if not isinstance(last, Simple) or not last.words or last.assignments:
            return ""
        if not all(map(_keeps_output, last.redirects)):
            return ""
        words = tuple("" if is_active(word) else plain(word) or "" for word in last.words)
        printed = self._printed_by(words, len(commands) > 1)
        if printed and not self.replaced(words[0]) and all(map(self._only_moves, commands[:-1])):
            return printed
        return ""

    def _printed_by(self, words: tuple[str, ...], moved: bool) -> str:
        if " ".join(words) in _PRINTS_PATH:
            return "/" + HOLE
        if moved or not all(words):
            return ""
        program, *rest = words
        if program in {"echo", "printf"} and rest and "{" not in rest[0]:
            from hookline.shell.walk.edited_text import unescaped  # noqa: PLC0415 as above

            formats = program == "printf" and rest[0][:1] != "-"
            echoes = program == "echo" and len(rest) == 1 and rest[0].rstrip("neE") != "-"
            text = unescaped(*rest) if formats else rest[0] if echoes else ""
            return text if text and not set(text) & set("\\%") else ""
        return words[-1] if words[:-1] in _PATH_OF and _PROGRAM_NAME.fullmatch(words[-1]) else ""

    def _only_moves(self, node: Node) -> bool:
        """Return True for `cd "$(dirname "$0")"`."""
        moves = isinstance(node, Simple) and bool(node.words) and plain(node.words[0]) == "cd"
        return moves and not self.replaced("cd")


def _is_all(part: Part) -> bool:
    """Return True for `$@` and `${x[@]}`."""
    return isinstance(part, Parameter) and (part.name == "@" or plain(part.subscript or ()) == "@")


def _keeps_output(redirect: Redirect) -> bool:
    """Return True if a command's output still goes where it went: `2>/dev/null`, `2>&1`."""
    errors = redirect.number == "2" and redirect.operator in {">", ">&"}
    return errors and first_text(redirect.target) in {"/dev/null", "1"}


def _unique(found: list[Pieces]) -> list[Pieces]:
    return list(dict.fromkeys(found))
