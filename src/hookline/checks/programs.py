"""The programs of command hooks: those that cannot start, and how well processes they leave behind are found.

Only what is certain is reported. What depends on the shell is left out.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from hookline.checks.command_line import Program, directories, first_bytes, programs_of
from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.handlers.command import CommandSpec
from hookline.handlers.process.containment import may_be_numbered
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook

#: Names that a shell runs without a file.
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
#: The line sets PATH, defines names, or handles a missing program itself: a search in PATH proves nothing.
_NOT_CHECKABLE: Final = re.compile(r"\bPATH=|\(\)\s*\{|\bfunction\s|\|\||^\s*\w+=(?:\$\(|`)")
_MOST_GUESSES: Final = 20
#: Shorter names are similar to many others.
_LONG_ENOUGH: Final = 4
_SHELLS: Final = re.compile(r"(?:ba|da|z|k)?sh")
#: High threshold: avoids false suggestions.
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
            same = (each for each in _names_in(folders) if each[:1].casefold() == name[:1].casefold())
            self._known[key] = nearest(name, same, _ALIKE)
        return self._known[key]


def unstartable(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Command hooks whose working directory, program or script is missing or cannot be run."""
    guesses = _Guesses()
    for hook in entries(loaded):
        if hook.broken is None and hook.mode != "off":
            yield from _unstartable(hook, context, guesses)


def _unstartable(hook: Hook, context: CheckContext, guesses: _Guesses) -> Iterator[Diagnostic]:
    missing = _no_directory(hook, context)
    if missing is not None:
        yield missing
        return
    for program in programs_of(hook, context):
        wrong = _PROBLEMS[program.kind](program, hook, context, guesses)
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


def _name_problem(
    program: Program, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    path = context.env.get("PATH", "")
    spec = hook.spec
    uncertain = "PATH" in spec.env or (spec.args is None and _NOT_CHECKABLE.search(spec.command))
    if not path or uncertain or (not program.bare and program.word in _BUILTINS):
        return None
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    if any(_executable(os.path.join(folder, program.word)) for folder in folders):
        return None
    if any(os.path.isfile(f"{base}/{program.word}") for base in directories(hook, context)):
        fix = f"write ./{program.word}"
    else:
        close = guesses.nearest(program.word, folders)
        fix = f"did you mean {close}?" if close else f"install {program.word}, or write its whole path"
    message = f"there is no program {program.word} in PATH, so it cannot start"
    return about(hook, "error", "command-not-found", message, "command", fix=fix)


def _names_in(folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        try:
            yield from os.listdir(folder)
        except (OSError, ValueError):
            continue


def _file_problem(
    program: Program, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    place = _existing(program)
    if place is None:
        message, fix = f"there is no file {program.word}, so it cannot start", _path_fix(program, guesses)
        return about(hook, "error", "command-not-found", message, "command", fix=fix)
    if os.path.isdir(place):
        return about(
            hook, "error", "not-executable", f"{program.word} is a directory, not a program", "command"
        )
    if not os.access(place, os.X_OK):
        message = f"{program.word} is not executable, so it cannot start"
        return about(hook, "error", "not-executable", message, "command", fix=f"chmod +x {place}")
    wrong = _unrunnable(place, program, context)
    return (
        None if wrong is None else about(hook, "error", "bad-interpreter", wrong[0], "command", fix=wrong[1])
    )


def _script_problem(
    program: Program, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    del context  # the interpreter itself is checked as a program of its own
    place = _existing(program)
    if place is None:
        message = f"there is no script {program.word} for {program.interpreter} to run"
        return about(hook, "error", "script-not-found", message, "command", fix=_path_fix(program, guesses))
    if _SHELLS.fullmatch(program.interpreter) and b"\r\n" in first_bytes(place):
        message = (
            f"{program.word} has CRLF line ends, which {program.interpreter} reads as part of its commands"
        )
        return about(hook, "error", "bad-interpreter", message, "command", fix=f"sed -i 's/\\r$//' {place}")
    return None


_PROBLEMS: Final = {"name": _name_problem, "file": _file_problem, "script": _script_problem}


def _existing(program: Program) -> str | None:
    return next((place for place in program.places if os.path.exists(place)), None)


def _path_fix(program: Program, guesses: _Guesses) -> str:
    """How to correct a path: its quotes, or a file with a similar name."""
    if program.word.startswith("~"):
        return f"no quotes around ~: write $HOME{program.word[1:]}"
    if any("$" in place for place in program.places):
        return "double quotes: between single ones a shell fills in no variable"
    for place in program.places:
        folder, name = os.path.split(place)
        close = guesses.nearest(name, [folder])
        if close is not None:
            return f"did you mean {os.path.join(os.path.dirname(program.word), close)}?"
    return f"put it at {program.places[0]}, or correct the path"


def _field(hook: Hook, context: CheckContext, name: str) -> tuple[str, ...]:
    """The field of the entry; an agent may have its own name for it."""
    return (context.dialect(hook).entry_fields.get(name, name),)


# Files that the system cannot run


def _unrunnable(place: str, program: Program, context: CheckContext) -> tuple[str, str | None] | None:
    """Why the system cannot run a file that is executable, and what to do."""
    head = first_bytes(place)
    if not head.startswith(b"#!"):
        if program.bare and head and not head.startswith((b"\x7fELF", b"\xcf\xfa", b"\xca\xfe")):
            return f"{program.word} has no #! line, and is not started by a shell", "begin it with #!/bin/sh"
        return None
    return _interpreter_problem(place, program, os.fsdecode(head.split(b"\n", 1)[0]), context)


def _interpreter_problem(
    place: str, program: Program, line: str, context: CheckContext
) -> tuple[str, str | None] | None:
    if line.endswith("\r"):
        return f"{program.word}: its #! line ends in CRLF", f"sed -i 's/\\r$//' {place}"
    words = line[2:].split()
    if not words:
        return f"{program.word}: its #! line names no interpreter", "#!/bin/sh"
    if not os.path.exists(words[0]):
        return (
            f"{program.word}: its interpreter {words[0]} does not exist",
            f"#!/usr/bin/env {os.path.basename(words[0])}",
        )
    if os.path.basename(words[0]) == "env":
        return _env_problem(program, words[1:], context.env.get("PATH", ""))
    return None


def _env_problem(program: Program, words: list[str], path: str) -> tuple[str, str | None] | None:
    wanted = next((word for word in words if not word.startswith("-") and "=" not in word), None)
    if not wanted or not path or any(_executable(f"{each}/{wanted}") for each in path.split(":")):
        return None
    return f"{program.word}: its #! line asks env for {wanted}, which is not in PATH", f"install {wanted}"


def _executable(place: str) -> bool:
    return os.path.isfile(place) and os.access(place, os.X_OK)


# Processes that hooks leave behind

Tier = Literal["subreaper", "process group"]


class Survivor(Struct, frozen=True):
    """Processes that may go on when Hookline itself is killed with SIGKILL. Whatever is no such kind ends."""

    kind: str
    #: A shell line that leaves one behind, for `make soak`; empty where that takes another user or a service.
    example: str = ""
    #: Whether what hooks start carries a number of ours, without which more gets away.
    where: Literal["always", "numbered", "not numbered"] = "always"


SURVIVORS: Final = (
    Survivor("processes of another user (sudo)"),
    Survivor("processes that a service starts (docker, systemd-run, at)"),
    Survivor(
        "processes that left their session and emptied their environment",
        "(env -i setsid sleep 61 &) ; sleep 61",
        "not numbered",
    ),
    Survivor(
        "processes that left their session, emptied their environment and lifted their limit on file locks",
        "(bash -c 'ulimit -Sx unlimited; exec env -i setsid sleep 61' &) ; sleep 61",
        "numbered",
    ),
)
#: What the weaker tier misses even where Hookline ends a hook itself.
KNOWN_GAP: Final = "a process that left its session, emptied its environment and lost its parent is not found"


def containment_tier(platform: str = sys.platform) -> Tier:
    """How well processes that hooks leave behind are found on this system by Hookline's commands."""
    return "subreaper" if platform == "linux" else "process group"


def survivors(tier: Tier) -> tuple[Survivor, ...]:
    """What may go on here when Hookline is killed."""
    numbered = tier == "subreaper" and may_be_numbered()
    here = ("always", "numbered" if numbered else "not numbered")
    return tuple(row for row in SURVIVORS if row.where in here)
