"""Define the findings in a command: a line of shell, another command, code of another language, or doubt."""

from typing import Literal, NamedTuple

from msgspec import Struct

from hookline.shell.placeholders import Words


class Line(Struct, frozen=True):
    """A line of shell found inside a command."""

    code: str
    #: The values of its $0, $1 and so on: `sh -c CODE a b`.
    args: Words = ()
    #: The program that runs it writes to its standard input.
    fed: bool = False
    #: It runs in a container or on another machine.
    away: bool = False


class Inner(Struct, frozen=True):
    """The words of a command found inside a command."""

    words: Words
    #: The command around it, where that plainly names this one: a permission for `npx tsc` is one for tsc.
    outer: Words = ()
    #: It is given another name, and not run.
    renamed: bool = False
    #: It runs in a container or on another machine.
    away: bool = False


class Foreign(Struct, frozen=True):
    """Code of another language, in which the name of a program can only be searched for."""

    text: str


class ShellDoubt(Struct, frozen=True):
    """An uncertainty, as a phrase: "a shell reads its commands from a pipe"."""

    reason: str


class Typed(Struct, frozen=True):
    """An uncertainty where text that is typed into the running command is not seen: nothing else feeds it."""

    reason: str


Found = Line | Inner | Foreign | ShellDoubt | Typed


class Stdin(NamedTuple):
    """A command's standard input, as far as it is known.

    `inherited`: nothing feeds it. `text`: a here-document or the like. `unknown`: a pipe or a file.
    """

    kind: Literal["inherited", "text", "unknown"] = "inherited"
    text: str = ""
    #: It is the content of a file, or a dump of a database: as good as a file that is named.
    file: str = ""
