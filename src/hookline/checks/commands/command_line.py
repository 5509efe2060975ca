"""Find the programs and scripts that a command line names, where that is certain without running it."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from hookline.checks.context import CheckContext, once_per_hook, project_of_file
from hookline.handlers.command import CommandSpec
from hookline.model.hook import Hook
from hookline.shell import HOLE, ShellCommand
from hookline.shell.runs import any_row

_INTERPRETERS: Final = re.compile(
    r"python[\d.]*|pypy[\d.]*|node|tsx|ruby|perl|php|lua|(?:ba|da|z|k)?sh", re.ASCII
)
#: Programs that run a script by its name, executable or not.
_SCRIPT_RUNNERS: Final = frozenset({"bun", "bunx", "deno", "npx", "pnpm", "ts-node", "uv", "pipx"})
#: Options without a value: the script follows them.
_BARE_OPTIONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("python", re.compile(r"-[uBEsSIOqb]+")),
    ("sh", re.compile(r"-[euxv]+|--norc|--noprofile")),
)
_SCRIPT: Final = re.compile(r".*\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|lua)", re.DOTALL)
#: Commands that ask whether something is there: what follows may not run.
_ASKING: Final = frozenset({"command", "which", "type", "hash", "test", "[", "[[", "if", "case"})
#: Words and operators after which a command runs only in some cases.
_BRANCHES: Final = re.compile(r"\|\||\bif\b|\bcase\b|\bwhile\b|\bfor\b|\btrap\b|\(\)\s*\{")
_MOST_COMMANDS: Final = 12
#: Longer lines are generated, and not checked.
_LONGEST: Final = 64 * 1024
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
#: Replaces a directory while the line is parsed: it never needs quotes.
_MARK: Final = "/hookline--place--"
_QUOTED_TILDE: Final = re.compile(r"""\s*(?:exec\s+)?["'](~/[^"']*)["']""")


class Program(Struct, frozen=True):
    """A program or script that a command names, and its possible paths."""

    word: str
    kind: Literal["name", "file", "script"]
    #: Absolute paths, one of which must exist: agents start hooks in the project or in the working directory.
    paths: tuple[str, ...] = ()
    #: The program that runs the script.
    interpreter: str = ""
    #: Started without a shell.
    bare: bool = False


@once_per_hook
def programs_of(hook: Hook, context: CheckContext) -> tuple[Program, ...]:
    """Return the programs of a command hook, and their scripts; nothing that is not certain to run."""
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or spec.shell in ("powershell", "pwsh"):
        return ()
    if len(spec.command) > _LONGEST:
        return ()
    bases = directories(hook, context)
    variables = _Variables(hook, context, bases)
    if spec.args is not None:
        words = (spec.command, *spec.args)
        return tuple(_of_words(words, variables, bare=True))
    tilde = _QUOTED_TILDE.match(spec.command)
    if tilde is not None:
        return (Program(tilde[1], "file", tuple(os.path.join(base, tilde[1]) for base in bases)),)
    reading = context.shell.read(variables.marked(spec.command))
    if reading.uncertain or not reading.commands:
        return ()
    lines = list(_certain(reading.commands, spec.command))
    return tuple(one for words in lines for one in _of_words(words, variables, bare=False))


def directories(hook: Hook, context: CheckContext) -> tuple[str, ...]:
    """Return the directories that relative paths of a hook may be relative to."""
    project = project_of_file(hook.where.file, context.cwd) if hook.scope != "user" else context.cwd
    spec = hook.spec
    own = os.path.expanduser(spec.cwd) if isinstance(spec, CommandSpec) and spec.cwd else ""
    return tuple(dict.fromkeys(os.path.normpath(os.path.join(base, own)) for base in (context.cwd, project)))


def _certain(commands: Sequence[ShellCommand], line: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a line that run whatever happens: the first one, and those after it until one asks.

    Wrappers such as `env` come before the command that they run; a runner such as `npx` finds its command itself.
    """
    first, moved = True, False
    for command in commands[:_MOST_COMMANDS]:
        # The reader names the script of an interpreter as a command, too.
        script = command.words[0]
        around = command.outer or (commands[command.by].words if command.by >= 0 else ())
        interpreter = os.path.basename(around[0]) if around and script in around[1:] else ""
        absolute = script.startswith(("/", "~", _MARK))
        if interpreter in _SCRIPT_RUNNERS and _SCRIPT.fullmatch(script):
            if absolute or not moved:
                yield interpreter, script
            continue
        if _is_wrapper(command) or command.outer or _INTERPRETERS.fullmatch(interpreter):
            continue
        if not (moved and not absolute and "/" in script):
            yield command.words
        if command.base_name in _ASKING or (first and _BRANCHES.search(line)):
            return
        first, moved = False, moved or command.does("enters")


def _is_wrapper(command: ShellCommand) -> bool:
    """Return True for a program that runs the rest of its line: env, sudo."""
    row = any_row(command.words[0])
    return row is not None and row.command is not None and not row.runner


def _of_words(words: Sequence[str], variables: "_Variables", *, bare: bool) -> Iterator[Program]:
    program = words[0]
    if HOLE in program:
        return
    if "/" in program:
        yield Program(variables.shown(program), "file", variables.paths(program, bare=bare), bare=bare)
    else:
        yield Program(program, "name", bare=bare)
    interpreter = os.path.basename(program)
    if not _INTERPRETERS.fullmatch(interpreter) and interpreter not in _SCRIPT_RUNNERS:
        return
    script = _script(interpreter, words[1:])
    if script is not None and HOLE not in script:
        paths = variables.paths(script, bare=bare)
        yield Program(variables.shown(script), "script", paths, interpreter)


def _script(interpreter: str, words: Sequence[str]) -> str | None:
    bare = next((options for name, options in _BARE_OPTIONS if name in interpreter), None)
    for word in words:
        if not word.startswith("-"):
            return word if "/" in word or _SCRIPT.fullmatch(word) else None
        if bare is None or not bare.fullmatch(word):
            return None
    return None


class _Variables:
    """Values of the variables that an agent sets."""

    def __init__(self, hook: Hook, context: CheckContext, bases: tuple[str, ...]) -> None:
        project = project_of_file(hook.where.file, context.cwd) if hook.scope != "user" else context.cwd
        projects = tuple(dict.fromkeys((project, context.cwd)))
        self._bases = bases
        self._home = context.env.get("HOME", "")
        self._values: dict[str, tuple[str, ...]] = {}
        for name in context.dialect(hook).project_variables:
            self._values[name] = projects
        if self._home:
            self._values["HOME"] = (self._home,)
        spec = hook.spec
        for name, value in spec.env.items() if isinstance(spec, CommandSpec) else ():
            self._values[name] = (value,)
        self._names = tuple(self._values)

    def marked(self, line: str) -> str:
        """Replace known variables in a line by marks, except between single quotes, where a shell expands nothing."""
        pieces = re.split(r"('[^']*'|\"(?:[^\"\\]|\\[\s\S]?)*+(?:\"|\Z))", line)
        return "".join(
            [piece if piece.startswith("'") else _VARIABLE.sub(self._mark, piece) for piece in pieces]
        )

    def _mark(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return f"{_MARK}{self._names.index(name)}--" if name in self._values else found[0]

    def paths(self, word: str, *, bare: bool) -> tuple[str, ...]:
        """Return every path that the word may mean."""
        if word.startswith("~/") and not bare and self._home:
            return (os.path.normpath(self._home + word[1:]),)
        filled = self._filled(word)
        return tuple(
            dict.fromkeys(
                os.path.normpath(os.path.join(base, text)) for text in filled for base in self._bases
            )
        )

    def _filled(self, word: str) -> list[str]:
        texts: list[str] = [word]
        for number, name in enumerate(self._names):
            mark = f"{_MARK}{number}--"
            if mark in word:
                texts = [text.replace(mark, value) for text in texts for value in self._values[name]]
        return texts

    def shown(self, word: str) -> str:
        """Return the word as it was written."""
        for number, name in enumerate(self._names):
            word = word.replace(f"{_MARK}{number}--", f"${name}")
        return word


def first_bytes(place: str) -> bytes:
    """Return the first bytes of a regular file; empty for anything else."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, 1024) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
