"""Define the syntax of a shell line: words made of parts, and commands made of words."""

from typing import Literal, NamedTuple


class Text(NamedTuple):
    """Characters as they are. Only unquoted ones can be patterns, braces or a tilde."""

    text: str
    quoted: bool


class Parameter(NamedTuple):
    """`$x`, `${x:-word}`, `$1`, `$@`, `${x[0]}`, `${!x}`."""

    name: str
    quoted: bool
    #: The operator and the word after it; for operators with two words both are in one.
    operator: str = ""
    word: "Word" = ()
    #: The text between [ and ], which is evaluated as arithmetic.
    subscript: "Word | None" = None
    #: `${!x}`: the value of x is the name of the variable.
    indirect: bool = False


class Substitution(NamedTuple):
    """`$(...)`, `` `...` `` or, with a direction, `<(...)`."""

    body: "List"
    quoted: bool
    direction: Literal["", "<", ">"] = ""


class Arithmetic(NamedTuple):
    """`$((...))`. The names in it are evaluated, and so are the texts that they hold."""

    parts: "Word"
    quoted: bool


Part = Text | Parameter | Substitution | Arithmetic
#: A word as the shell reads it, before anything is expanded.
Word = tuple[Part, ...]


class Assignment(NamedTuple):
    name: str
    value: Word = ()
    #: The elements of `x=(a b)`.
    elements: tuple[Word, ...] | None = None
    subscript: Word | None = None
    append: bool = False


class Redirect(NamedTuple):
    operator: str
    target: Word = ()
    #: The text of a here-document. It is read after the rest of the line, so it is filled in later.
    body: "list[Part] | None" = None
    #: `{fd}>file`: the variable that gets the number.
    variable: str = ""
    #: The descriptor, where it is written: `2>file`.
    number: str = ""


class Simple(NamedTuple):
    """One simple command."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Pipeline(NamedTuple):
    commands: tuple["Node", ...]


class Item(NamedTuple):
    """One pipeline of a list, and the operator after which it runs: `;`, `&&`, `||`."""

    node: "Node"
    after: str = ";"
    #: `&`: a separate shell runs it.
    background: bool = False


class List(NamedTuple):
    items: tuple[Item, ...]


class Block(NamedTuple):
    """A compound command. Its `bodies` run always, perhaps, or often, as its kind says."""

    kind: Literal["group", "subshell", "if", "loop", "case", "function", "coproc"]
    bodies: tuple[List, ...]
    redirects: tuple[Redirect, ...] = ()
    #: The name of a function or of a loop's variable.
    name: str = ""
    #: The words of a loop, or the word that a case compares; None for a loop over "$@".
    words: tuple[Word, ...] | None = ()


class Test(NamedTuple):
    """`[[ ... ]]` and `((...))`: they run only substitutions in their words."""

    words: tuple[Word, ...]
    arithmetic: bool
    redirects: tuple[Redirect, ...] = ()


Node = Simple | Pipeline | List | Block | Test
