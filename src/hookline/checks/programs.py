"""The programs of command hooks: those that cannot start, and how well processes they leave behind are found.

Only what is certain is reported. What depends on the shell is left out.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from hookline.checks.context import CheckContext, entries, project_of_file
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.handlers.command import CommandSpec
from hookline.matching.nearest import nearest
from hookline.matching.shell import HOLE, ShellCommand
from hookline.model.diagnostics import Diagnostic
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


class Started(Struct, frozen=True):
    word: str
    kind: Literal["name", "file", "script"]
    #: Absolute paths, one of which must exist: agents start hooks in the project or in the working directory.
    places: tuple[str, ...] = ()
    #: What runs the script.
    interpreter: str = ""
    #: Started without a shell.
    bare: bool = False


def started(hook: Hook, context: CheckContext) -> tuple[Started, ...]:
    """The first program of a command hook, and its script; nothing if that is not certain."""
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or spec.shell in ("powershell", "pwsh"):
        return ()
    if len(spec.command) > _LONGEST:
        return ()
    bases = directories(hook, context)
    filling = _Filling(hook, context, bases)
    if spec.args is not None:
        words = (spec.command, *spec.args)
        return tuple(_of_words(words, filling, bare=True))
    tilde = _QUOTED_TILDE.match(spec.command)
    if tilde is not None:
        return (Started(tilde[1], "file", tuple(os.path.join(base, tilde[1]) for base in bases)),)
    reading = context.shell.read(filling.marked(spec.command))
    if reading.uncertain or not reading.commands:
        return ()
    words = _first(reading.commands)
    return tuple(_of_words(words, filling, bare=False)) if words else ()


def directories(hook: Hook, context: CheckContext) -> tuple[str, ...]:
    """The directories that relative paths of a hook may be relative to."""
    project = project_of_file(hook.where.file, context.cwd) if hook.scope != "user" else context.cwd
    spec = hook.spec
    own = os.path.expanduser(spec.cwd) if isinstance(spec, CommandSpec) and spec.cwd else ""
    return tuple(dict.fromkeys(os.path.normpath(os.path.join(base, own)) for base in (context.cwd, project)))


def _first(commands: Sequence[ShellCommand]) -> tuple[str, ...]:
    """The first command that is not a wrapper such as `env`; what wrappers run follows them."""
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


def unrunnable(place: str, start: Started, context: CheckContext) -> tuple[str, str | None] | None:
    """Why the system cannot run a file that is executable, and what to do."""
    head = first_bytes(place)
    if not head.startswith(b"#!"):
        if start.bare and head and not head.startswith((b"\x7fELF", b"\xcf\xfa", b"\xca\xfe")):
            return f"{start.word} has no #! line, and is not started by a shell", "begin it with #!/bin/sh"
        return None
    return _interpreter(place, start, os.fsdecode(head.split(b"\n", 1)[0]), context)


def _interpreter(
    place: str, start: Started, line: str, context: CheckContext
) -> tuple[str, str | None] | None:
    if line.endswith("\r"):
        return f"{start.word}: its #! line ends in CRLF", f"sed -i 's/\\r$//' {place}"
    words = line[2:].split()
    if not words:
        return f"{start.word}: its #! line names no interpreter", "#!/bin/sh"
    if not os.path.exists(words[0]):
        return f"{start.word}: its interpreter {words[0]} does not exist", _better(words[0])
    if os.path.basename(words[0]) == "env":
        return _asked_of_env(start, words[1:], context.env.get("PATH", ""))
    return None


def _asked_of_env(start: Started, words: list[str], path: str) -> tuple[str, str | None] | None:
    wanted = next((word for word in words if not word.startswith("-") and "=" not in word), None)
    if not wanted or not path or any(executable(f"{each}/{wanted}") for each in path.split(":")):
        return None
    return f"{start.word}: its #! line asks env for {wanted}, which is not in PATH", f"install {wanted}"


def _better(interpreter: str) -> str:
    return f"#!/usr/bin/env {os.path.basename(interpreter)}"


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


def executable(place: str) -> bool:
    return os.path.isfile(place) and os.access(place, os.X_OK)


#: What a shell knows without looking for a file.
_BUILTINS: Final = frozenset(
    (
        ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "case", "cd", "command", "compgen",
        "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo", "elif", "else", "enable",
        "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts",
        "hash", "help", "history", "if", "in", "jobs", "kill", "let", "local", "logout", "mapfile", "popd",
        "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set", "shift",
        "shopt", "source", "suspend", "test", "then", "time", "times", "trap", "true", "type", "typeset",
        "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "{", "}", "!",
    )
)  # fmt: skip
#: The line has a PATH or names of its own, or says what to do when there is no such program.
_SEES_TO_IT: Final = re.compile(r"\bPATH=|\(\)\s*\{|\bfunction\s|\|\||^\s*\w+=(?:\$\(|`)")
_MOST_GUESSES: Final = 20
#: Shorter names are near to many others.
_LONG_ENOUGH: Final = 4
_SHELLS: Final = re.compile(r"(?:ba|da|z|k)?sh")


#: Among a thousand programs something is always a little like a name that is merely not installed.
_ALIKE: Final = 0.8


class _Guesses:
    """Similar names. Only for the first few: comparing with every program of a system takes time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], str | None] = {}

    def nearest(self, name: str, folders: Sequence[str]) -> str | None:
        key = (name, *folders)
        if key not in self._known:
            if len(self._known) >= _MOST_GUESSES or len(name) < _LONG_ENOUGH:
                return None
            same = (each for each in _programs(folders) if each[:1].casefold() == name[:1].casefold())
            self._known[key] = nearest(name, same, _ALIKE)
        return self._known[key]


def startable(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    guesses = _Guesses()
    for hook in entries(loaded):
        if hook.broken is None and hook.mode != "off":
            yield from _startable(hook, context, guesses)


def _startable(hook: Hook, context: CheckContext, guesses: _Guesses) -> Iterator[Diagnostic]:
    missing = _no_directory(hook, context)
    if missing is not None:
        yield missing
        return
    for start in started(hook, context):
        wrong = _KINDS[start.kind](start, hook, context, guesses)
        if wrong is not None:
            yield wrong
            return


def _no_directory(hook: Hook, context: CheckContext) -> Diagnostic | None:
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or not spec.cwd:
        return None
    places = directories(hook, context)
    if any(os.path.isdir(place) for place in places):
        return None
    message = f"its working directory {spec.cwd} does not exist, so it cannot start"
    return about(
        hook, "error", "no-directory", message, *_field(hook, context, "cwd"), fix=f"mkdir -p {places[0]}"
    )


def _name(start: Started, hook: Hook, context: CheckContext, guesses: _Guesses) -> Diagnostic | None:
    path = context.env.get("PATH", "")
    spec = hook.spec
    sees_to_it = "PATH" in spec.env or (spec.args is None and _SEES_TO_IT.search(spec.command))
    if not path or sees_to_it or (not start.bare and start.word in _BUILTINS):
        return None
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    if any(executable(os.path.join(folder, start.word)) for folder in folders):
        return None
    beside = next(
        (base for base in directories(hook, context) if os.path.isfile(f"{base}/{start.word}")), None
    )
    if beside is not None:
        fix = f"write ./{start.word}"
    else:
        close = guesses.nearest(start.word, folders)
        fix = f"did you mean {close}?" if close else f"install {start.word}, or write its whole path"
    message = f"there is no program {start.word} in PATH, so it cannot start"
    return about(hook, "error", "command-not-found", message, "command", fix=fix)


def _programs(folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        try:
            yield from os.listdir(folder)
        except (OSError, ValueError):
            continue


def _file(start: Started, hook: Hook, context: CheckContext, guesses: _Guesses) -> Diagnostic | None:
    place = _there(start)
    if place is None:
        message, fix = f"there is no file {start.word}, so it cannot start", _found_elsewhere(start, guesses)
        return about(hook, "error", "command-not-found", message, "command", fix=fix)
    if os.path.isdir(place):
        return about(
            hook, "error", "not-executable", f"{start.word} is a directory, not a program", "command"
        )
    if not os.access(place, os.X_OK):
        message = f"{start.word} is not executable, so it cannot start"
        return about(hook, "error", "not-executable", message, "command", fix=f"chmod +x {place}")
    wrong = unrunnable(place, start, context)
    return (
        None if wrong is None else about(hook, "error", "bad-interpreter", wrong[0], "command", fix=wrong[1])
    )


def _script_programs(
    start: Started, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    del context  # its program was looked at already
    place = _there(start)
    if place is None:
        message = f"there is no script {start.word} for {start.interpreter} to run"
        return about(
            hook, "error", "script-not-found", message, "command", fix=_found_elsewhere(start, guesses)
        )
    if _SHELLS.fullmatch(start.interpreter) and b"\r\n" in first_bytes(place):
        message = f"{start.word} has CRLF line ends, which {start.interpreter} reads as part of its commands"
        return about(hook, "error", "bad-interpreter", message, "command", fix=f"sed -i 's/\\r$//' {place}")
    return None


_KINDS: Final = {"name": _name, "file": _file, "script": _script_programs}


def _there(start: Started) -> str | None:
    return next((place for place in start.places if os.path.exists(place)), None)


def _found_elsewhere(start: Started, guesses: _Guesses) -> str:
    """How to correct a path: its quotes, or a file with a similar name."""
    if start.word.startswith("~"):
        return f"no quotes around ~: write $HOME{start.word[1:]}"
    if any("$" in place for place in start.places):
        return "double quotes: between single ones a shell fills in no variable"
    for place in start.places:
        folder, name = os.path.split(place)
        close = guesses.nearest(name, [folder])
        if close is not None:
            return f"did you mean {os.path.join(os.path.dirname(start.word), close)}?"
    return f"put it at {start.places[0]}, or correct the path"


def _field(hook: Hook, context: CheckContext, name: str) -> tuple[str, ...]:
    """The field of the entry; an agent may have its own name for it."""
    return (context.dialect(hook).entry_fields.get(name, name),)


#: A process that the stronger of the two tiers finds, and the other does not.
KNOWN_GAP: Final = "a process that left its session, emptied its environment and lost its parent is not found"


def containment_tier(platform: str = sys.platform) -> Literal["subreaper", "process group"]:
    """How well processes that hooks leave behind are found on this system by Hookline's commands."""
    return "subreaper" if platform == "linux" else "process group"
