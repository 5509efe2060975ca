"""What is certain of the program that an entry runs, or why nothing is.

Shell lines and the scripts of shells and Python are followed (`proof`); of anything else it is said why it is not.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.convert.proof.commands import table
from hookline.cli.commands.convert.proof.python import Python
from hookline.cli.commands.convert.proof.shell import Command, Shell
from hookline.cli.commands.convert.proof.shell_words import Streams
from hookline.cli.commands.convert.proof.state import End, Seen, State, Unproven
from hookline.cli.commands.convert.proof.values import ANYTHING, NOTHING, Value
from hookline.handlers.specs import CommandSpec

#: Programs with plain words, which every shell reads alike; not what ends or replaces the shell itself.
PLAIN_LINE: Final = re.compile(r"(?!(?:exit|exec|return|set|trap|\.)\b)[\w./@%+:,~-][\w./@%+=:,~ -]*")
#: Shells of which it is known how they read a line.
_KNOWN_LINES: Final = frozenset(("sh -c {}", "bash -c {}"))
_SHELLS: Final = frozenset(("sh", "bash", "dash"))
_PYTHON: Final = re.compile(r"python(?:3(?:\.\d+)?)?")
_LONGEST: Final = 64 * 1024
#: Scripts that run scripts that run scripts are not read.
_DEEPEST: Final = 3
_SHEBANG: Final = re.compile(r"#!\s*(?:/usr/bin/env\s+)?(?:/(?:usr/)?bin/)?([\w.]+)[ \t]*(-[eu]+)?[ \t]*")


class Script(Struct, frozen=True):
    """What was found."""

    #: Every way in which it may end, beyond those of any program; empty if that is not certain.
    ends: tuple[End, ...] = ()
    #: Fields of the payload that it looks at; () is the payload as a whole.
    fields: frozenset[tuple[str, ...]] = frozenset()
    #: Variables of the environment that it looks at.
    variables: frozenset[str] = frozenset()
    #: Why it matters where it runs; empty if it does not.
    place: str = ""
    #: Why nothing is certain, as the rest of a sentence that begins with "it".
    unproven: str = ""

    @property
    def prints(self) -> bool:
        return bool(self.unproven) or any(end.out != NOTHING for end in self.ends)

    @property
    def answers(self) -> bool:
        """Whether it may print more than text."""
        texts = [text.lstrip() for end in self.ends for text in end.out]
        return bool(self.unproven) or any(text.startswith(("{", ANYTHING)) for text in texts)


class Surroundings(Struct, frozen=True):
    """Where an entry is run."""

    project: str
    #: Variables that hold the project's directory.
    variables: Sequence[str]
    #: The command by which its agent runs a line.
    line: str
    #: Whether the file is the project's: relative names mean what they mean here.
    in_project: bool


def read_script(spec: CommandSpec, around: Surroundings) -> Script:
    """Everything that a command runs, followed to its ends."""
    seen = Seen()
    try:
        ends = tuple(_ends(spec, around, seen))
    except Unproven as problem:
        return Script(unproven=str(problem))
    except RecursionError:
        return Script(unproven="is nested too deeply to be read")
    return Script(ends, frozenset(seen.fields), frozenset(seen.variables), seen.place)


def _ends(spec: CommandSpec, around: Surroundings, seen: Seen) -> Sequence[End]:
    if spec.shell in ("powershell", "pwsh"):
        raise Unproven("is for PowerShell, which is not read")
    line = spec.command if spec.args is None else shlex.join((spec.command, *spec.args))
    known = spec.args is not None or around.line in _KNOWN_LINES or PLAIN_LINE.fullmatch(line)
    if not known:
        raise Unproven("is a line for a shell that is not known")
    if spec.env:
        raise Unproven("has an environment of its own")
    files = _Files(around, seen)
    found = files.shell(line, bash=around.line.startswith("bash")).run(State())
    return [End(state.status, state.out, state.err) for state in found]


class _Files:
    """Runs the scripts that are named in lines and scripts."""

    def __init__(self, around: Surroundings, seen: Seen, depth: int = 0) -> None:
        self._around = around
        self._seen = seen
        self._depth = depth
        home = os.path.expanduser("~")
        self._settings: Mapping[str, str] = {**dict.fromkeys(around.variables, around.project), "HOME": home}
        runs: dict[str, Command] = dict.fromkeys(_SHELLS, self._interpreted)
        names = ("python", "python3", *(f"python3.{minor}" for minor in range(8, 20)))
        self._commands = table({**runs, **dict.fromkeys(names, self._interpreted)})

    def shell(self, text: str, *, bash: bool) -> Shell:
        return Shell(
            text, self._seen, self._commands, self._run, self._settings, bash=bash, depth=self._depth
        )

    def _interpreted(
        self, shell: Shell, state: State, values: Sequence[Value], streams: Streams
    ) -> list[State]:
        """`sh script words`."""
        if len(values) < 2 or (values[1].text or "-").startswith("-"):
            raise Unproven(f"calls {values[0].text} in a way that is not read")
        return self._run(shell, state, values[1:], streams, interpreter=values[0].text or "")

    def _run(
        self,
        shell: Shell,
        state: State,
        values: Sequence[Value],
        streams: Streams,
        interpreter: str = "",
    ) -> list[State]:
        for value in values:
            shell.used(value)
        name = values[0].text or ""
        text, path = self._content(name, moved=shell.moved)
        flags = ""
        if not interpreter:
            interpreter, flags = _interpreter(text, name)
        inner = _Files(self._around, self._seen, self._depth + 1)
        begun = replace(state, out=NOTHING, err=NOTHING)
        if interpreter in _SHELLS:
            found = inner.shell(text, bash=interpreter == "bash").run(begun, fails=bool(flags))
        else:
            beside = [each for each in os.listdir(os.path.dirname(path)) if each != os.path.basename(path)]
            found = Python(text, self._seen, beside).run(begun)
        return [self._after(shell, state, each, streams) for each in found]

    def _after(self, shell: Shell, before: State, after: State, streams: Streams) -> State:
        """What a program wrote goes where its descriptors lead."""
        state = replace(before, stdin=after.stdin, status=after.status)
        state = shell.written(state, Value(after.out, after.out_whole), streams[0])
        return shell.written(state, Value(after.err), streams[1])

    def _content(self, name: str, *, moved: bool) -> tuple[str, str]:
        expanded = os.path.expanduser(name)
        if not os.path.isabs(expanded) and (moved or not self._around.in_project):
            raise Unproven(f"needs {name}, which is another file in each directory")
        if not self._around.in_project and self._seen.variables.intersection(self._around.variables):
            raise Unproven(f"needs {name}, which is another file in each project")
        path = os.path.join(self._around.project, expanded)
        problem = Unproven(f"needs {name}, which cannot be read")
        if self._depth >= _DEEPEST:
            raise problem
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > _LONGEST:
                raise problem
            with open(path, encoding="utf-8", newline="") as stream:
                return stream.read(), path
        except (OSError, UnicodeDecodeError, ValueError):
            raise problem from None


def _interpreter(text: str, name: str) -> tuple[str, str]:
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return "sh", ""
    found = _SHEBANG.fullmatch(first)
    if found is None or not (found[1] in _SHELLS or _PYTHON.fullmatch(found[1])):
        raise Unproven(f"runs {name}, a program for {first[2:60].strip()}, which is not read")
    return found[1], found[2] or ""
