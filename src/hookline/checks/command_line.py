"""Which programs and scripts a command line names, as far as that is certain without running it."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from hookline.checks.context import CheckContext, project_of_file
from hookline.handlers.command import CommandSpec
from hookline.matching.shell import HOLE, ShellCommand
from hookline.model.hook import Hook

#: Programs that run the rest of their line.
_WRAPPERS: Final = frozenset(
    {"exec", "env", "timeout", "nice", "nohup", "setsid", "time", "stdbuf", "ionice"}
)
_INTERPRETERS: Final = re.compile(
    r"python[\d.]*|pypy[\d.]*|node|tsx|ruby|perl|php|lua|(?:ba|da|z|k)?sh", re.ASCII
)
#: Options that take no value, so the script is what follows them.
_BARE_OPTIONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("python", re.compile(r"-[uBEsSIOqb]+")),
    ("sh", re.compile(r"-[euxv]+|--norc|--noprofile")),
)
_SCRIPT: Final = re.compile(r".*\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|lua)", re.DOTALL)
#: Longer lines are generated, and not checked.
_LONGEST: Final = 64 * 1024
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
#: Replaces a directory while the line is parsed: it never needs quotes.
_MARK: Final = "/hookline--place--"
_QUOTED_TILDE: Final = re.compile(r"""\s*(?:exec\s+)?["'](~/[^"']*)["']""")


class Program(Struct, frozen=True):
    """A program or script that a command names, and where it may be."""

    word: str
    kind: Literal["name", "file", "script"]
    #: Absolute paths, one of which must exist: agents start hooks in the project or in the working directory.
    places: tuple[str, ...] = ()
    #: What runs the script.
    interpreter: str = ""
    #: Started without a shell.
    bare: bool = False


def programs_of(hook: Hook, context: CheckContext) -> tuple[Program, ...]:
    """The first program of a command hook, and its script; nothing if that is not certain."""
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
    words = _unwrapped(reading.commands)
    return tuple(_of_words(words, variables, bare=False)) if words else ()


def directories(hook: Hook, context: CheckContext) -> tuple[str, ...]:
    """The directories that relative paths of a hook may be relative to."""
    project = project_of_file(hook.where.file, context.cwd) if hook.scope != "user" else context.cwd
    spec = hook.spec
    own = os.path.expanduser(spec.cwd) if isinstance(spec, CommandSpec) and spec.cwd else ""
    return tuple(dict.fromkeys(os.path.normpath(os.path.join(base, own)) for base in (context.cwd, project)))


def _unwrapped(commands: Sequence[ShellCommand]) -> tuple[str, ...]:
    """The first command that is not a wrapper such as `env`; what wrappers run follows them."""
    for command in commands[:4]:
        if command.base_name not in _WRAPPERS:
            return command.words
    return ()


def _of_words(words: Sequence[str], variables: "_Variables", *, bare: bool) -> Iterator[Program]:
    program = words[0]
    if HOLE in program:
        return
    if "/" in program:
        yield Program(variables.shown(program), "file", variables.places(program, bare=bare), bare=bare)
    else:
        yield Program(program, "name", bare=bare)
    interpreter = os.path.basename(program)
    if not _INTERPRETERS.fullmatch(interpreter):
        return
    script = _script(interpreter, words[1:])
    if script is not None and HOLE not in script:
        places = variables.places(script, bare=bare)
        yield Program(variables.shown(script), "script", places, interpreter)


def _script(interpreter: str, words: Sequence[str]) -> str | None:
    bare = next((options for name, options in _BARE_OPTIONS if name in interpreter), None)
    for word in words:
        if not word.startswith("-"):
            return word if "/" in word or _SCRIPT.fullmatch(word) else None
        if bare is None or not bare.fullmatch(word):
            return None
    return None


class _Variables:
    """Fills in the variables that an agent sets."""

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
        """The line with marks for known variables; between single quotes a shell fills in nothing."""
        pieces = re.split(r"('[^']*'|\"(?:[^\"\\]|\\.)*\")", line)
        return "".join(
            [piece if piece.startswith("'") else _VARIABLE.sub(self._mark, piece) for piece in pieces]
        )

    def _mark(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return f"{_MARK}{self._names.index(name)}--" if name in self._values else found[0]

    def places(self, word: str, *, bare: bool) -> tuple[str, ...]:
        """Every path the word may mean."""
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
        """The word as it was written."""
        for number, name in enumerate(self._names):
            word = word.replace(f"{_MARK}{number}--", f"${name}")
        return word


def first_bytes(place: str) -> bytes:
    """The first bytes of a regular file; empty for anything else."""
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
