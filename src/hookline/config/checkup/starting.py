"""What a command hook starts first: a name for PATH to find, a file, or a script for an interpreter.

Only what is certain is told. Whatever only the shell can know is left out, and then nobody is alarmed.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from hookline.config.checkup.here import Here, project_of_file
from hookline.handlers.command import CommandSpec
from hookline.matching.shell import HOLE, ShellCommand
from hookline.model.hook import Hook

#: The variables by which each agent tells a hook where the project is.
_PROJECT_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "claude-code": ("CLAUDE_PROJECT_DIR",),
    "gen-code": ("GEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    "codewhale": ("DEEPSEEK_WORKSPACE",),
    "native": ("HOOKLINE_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
}
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
#: Longer lines are not read: nobody wrote them.
_LONGEST: Final = 64 * 1024
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
#: Stands for a directory while the line is read: unlike a real one it never needs quotes.
_MARK: Final = "/hookline--place--"
_QUOTED_TILDE: Final = re.compile(r"""\s*(?:exec\s+)?["'](~/[^"']*)["']""")


class Started(Struct, frozen=True):
    word: str
    kind: Literal["name", "file", "script"]
    #: Absolute paths, any of which is right: agents start where the project is, or where the user is.
    places: tuple[str, ...] = ()
    #: What a script is given to.
    interpreter: str = ""
    #: Started by the system itself, without a shell that would help out.
    bare: bool = False


def started(hook: Hook, here: Here) -> tuple[Started, ...]:
    """The first program of a command hook, and the script it is given; nothing where that is not certain."""
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or spec.shell in ("powershell", "pwsh"):
        return ()
    if len(spec.command) > _LONGEST:
        return ()
    bases = directories(hook, here)
    filling = _Filling(hook, here, bases)
    if spec.args is not None:
        words = (spec.command, *spec.args)
        return tuple(_of_words(words, filling, bare=True))
    tilde = _QUOTED_TILDE.match(spec.command)
    if tilde is not None:
        return (Started(tilde[1], "file", tuple(os.path.join(base, tilde[1]) for base in bases)),)
    reading = here.shell.read(filling.marked(spec.command))
    if reading.uncertain or not reading.commands:
        return ()
    words = _first(reading.commands)
    return tuple(_of_words(words, filling, bare=False)) if words else ()


def directories(hook: Hook, here: Here) -> tuple[str, ...]:
    """Where relative paths of a hook may start: the hook's own directory, else here or where its project is."""
    project = project_of_file(hook.where.file, here.cwd) if hook.scope != "user" else here.cwd
    spec = hook.spec
    own = os.path.expanduser(spec.cwd) if isinstance(spec, CommandSpec) and spec.cwd else ""
    return tuple(dict.fromkeys(os.path.normpath(os.path.join(base, own)) for base in (here.cwd, project)))


def _first(commands: Sequence[ShellCommand]) -> tuple[str, ...]:
    """Through wrappers: what they run is listed after them."""
    for command in commands[:4]:
        if command.base_name not in _WRAPPERS:
            return command.words
    return ()


def _of_words(words: Sequence[str], filling: "_Filling", *, bare: bool) -> Iterator[Started]:
    program = words[0]
    if HOLE in program:
        return
    if "/" in program:
        yield Started(filling.shown(program), "file", filling.places(program, bare=bare), bare=bare)
    else:
        yield Started(program, "name", bare=bare)
    interpreter = os.path.basename(program)
    if not _INTERPRETERS.fullmatch(interpreter):
        return
    script = _script(interpreter, words[1:])
    if script is not None and HOLE not in script:
        places = filling.places(script, bare=bare)
        yield Started(filling.shown(script), "script", places, interpreter)


def _script(interpreter: str, words: Sequence[str]) -> str | None:
    bare = next((options for name, options in _BARE_OPTIONS if name in interpreter), None)
    for word in words:
        if not word.startswith("-"):
            return word if "/" in word or _SCRIPT.fullmatch(word) else None
        if bare is None or not bare.fullmatch(word):
            return None
    return None


class _Filling:
    """The variables an agent sets, filled in."""

    def __init__(self, hook: Hook, here: Here, bases: tuple[str, ...]) -> None:
        project = project_of_file(hook.where.file, here.cwd) if hook.scope != "user" else here.cwd
        projects = tuple(dict.fromkeys((project, here.cwd)))
        self._bases = bases
        self._home = here.env.get("HOME", "")
        self._values: dict[str, tuple[str, ...]] = {}
        for name in _PROJECT_VARIABLES.get(hook.dialect, ()):
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
