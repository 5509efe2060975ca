"""Check the programs of command hooks: those that cannot start, and how well leftover processes are found.

Only certain findings are reported. What depends on the shell is left out.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from hookline.checks.commands.command_line import Program, directories, first_bytes, programs_of
from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.handlers.command import CommandSpec
from hookline.handlers.process.containment import may_be_numbered
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Repair
from hookline.model.hook import Hook
from hookline.shell.grammar.parser import RESERVED
from hookline.shell.programs import table

#: The line sets PATH, defines names, or handles a missing program itself: a search in PATH proves nothing.
_NOT_CHECKABLE: Final = re.compile(r"\bPATH=|\(\)\s*\{|\bfunction\s|\|\||^\s*\w+=(?:\$\(|`)")
#: Doubts of the reader that every shell shares.
_UNREADABLE: Final = re.compile(r"the line cannot be parsed: (.* is (?:never closed|missing))\Z")
#: Scripts that a shell would read as its own commands if they do not name their interpreter.
_OF_INTERPRETER: Final[Mapping[str, str]] = {
    ".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".rb": "ruby", ".pl": "perl", ".php": "php",
}  # fmt: skip
_MOST_GUESSES: Final = 20
#: Shorter names are similar to many others.
_LONG_ENOUGH: Final = 4
_SHELLS: Final = re.compile(r"(?:ba|da|z|k)?sh")
#: High threshold: avoids false suggestions.
_ALIKE: Final = 0.8
#: Gives a file the line ends that a shell reads.
_LINE_ENDS: Final = "sed -i 's/\\r$//'"


class _Guesses:
    """Similar names, for the first few only: comparing with every program of a system takes time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], str | None] = {}

    def nearest(self, name: str, search_path: Sequence[str]) -> str | None:
        key = (name, *search_path)
        if key not in self._known:
            if len(self._known) >= _MOST_GUESSES or len(name) < _LONG_ENOUGH:
                return None
            same = (each for each in _names_in(search_path) if each[:1].casefold() == name[:1].casefold())
            self._known[key] = nearest(name, same, _ALIKE)
        return self._known[key]


def unstartable(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report command hooks whose working directory, program or script is missing or cannot be run."""
    guesses = _Guesses()
    for hook in entries(loaded):
        if hook.broken is None and hook.mode != "off":
            yield from _unstartable(hook, context, guesses)


def _unstartable(hook: Hook, context: CheckContext, guesses: _Guesses) -> Iterator[Diagnostic]:
    missing = _no_directory(hook, context)
    if missing is not None:
        yield missing
        return
    wrong_line = _syntax_problem(hook, context)
    if wrong_line is not None:
        yield wrong_line
        return
    for program in programs_of(hook, context):
        if context.files_only and not _in_files(program, context):
            continue
        wrong = _PROBLEMS[program.kind](program, hook, context, guesses)
        if wrong is not None:
            yield wrong
            return


def _syntax_problem(hook: Hook, context: CheckContext) -> Diagnostic | None:
    """Report a line that no shell can read: it fails at each call, in most shells with the code that blocks."""
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or spec.args is not None or spec.shell in ("powershell", "pwsh"):
        return None
    found = _UNREADABLE.match(context.shell.read(spec.command).uncertain or "")
    if found is None:
        return None
    return about(hook, "error", "bad-syntax", f"a shell cannot read its line: {found[1]}", "command")


def _in_files(program: Program, context: CheckContext) -> bool:
    """Return True for a file of the project, which is known also where nothing else of the machine is."""
    top = f"{os.path.realpath(context.cwd)}/"
    return (
        program.kind != "name"
        and not program.word.startswith(("~", "$HOME"))
        and all(f"{os.path.realpath(each)}/".startswith(top) for each in program.paths)
    )


def _no_directory(hook: Hook, context: CheckContext) -> Diagnostic | None:
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or not spec.cwd:
        return None
    paths = directories(hook, context)
    if any(os.path.isdir(path) for path in paths):
        return None
    field = context.dialect(hook).entry_fields.get("cwd", "cwd")
    message = f"its working directory {spec.cwd} does not exist, so it cannot start"
    return about(hook, "error", "no-directory", message, field, fix=f"mkdir -p {paths[0]}")


def _is_of_shell(word: str) -> bool:
    """Return True for a word that a shell runs without a file."""
    row = table().get(word)
    return word in RESERVED or (row is not None and bool(row.builtin))


def _name_problem(
    program: Program, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    path = context.env.get("PATH", "")
    spec = hook.spec
    uncertain = "PATH" in spec.env or (spec.args is None and _NOT_CHECKABLE.search(spec.command))
    if not path or uncertain or (not program.bare and _is_of_shell(program.word)):
        return None
    search_path = [directory for directory in path.split(":") if directory.startswith("/")]
    if any(_executable(os.path.join(directory, program.word)) for directory in search_path):
        return None
    if any(os.path.isfile(f"{base}/{program.word}") for base in directories(hook, context)):
        fix = f"write ./{program.word}"
    else:
        close = guesses.nearest(program.word, search_path)
        fix = f"did you mean {close}?" if close else f"install {program.word}, or write its whole path"
    message = f"{program.word} is not in PATH, so it cannot start"
    return about(hook, "error", "command-not-found", message, "command", fix=fix)


def _names_in(search_path: Sequence[str]) -> Iterator[str]:
    for directory in search_path:
        try:
            yield from os.listdir(directory)
        except (OSError, ValueError):
            continue


def _file_problem(
    program: Program, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    path = _existing(program)
    if path is None:
        message, fix = (
            f"the file {program.word} does not exist, so it cannot start",
            _path_fix(program, guesses),
        )
        return about(hook, "error", "command-not-found", message, "command", fix=fix)
    if os.path.isdir(path):
        return about(
            hook, "error", "not-executable", f"{program.word} is a directory, not a program", "command"
        )
    if not os.access(path, os.X_OK):
        message = f"{program.word} is not executable, so it cannot start"
        repair = Repair("executable", file=path)
        return about(
            hook, "error", "not-executable", message, "command", fix=f"chmod +x {path}", repair=repair
        )
    wrong = _unrunnable(path, program, context)
    if wrong is None:
        return None
    repair = Repair("line-ends", file=path) if wrong[1] and wrong[1].startswith(_LINE_ENDS) else None
    return about(hook, "error", "bad-interpreter", wrong[0], "command", fix=wrong[1], repair=repair)


def _script_problem(
    program: Program, hook: Hook, context: CheckContext, guesses: _Guesses
) -> Diagnostic | None:
    del context  # the interpreter is checked as a separate program
    path = _existing(program)
    if path is None:
        message = f"the script {program.word} does not exist, so {program.interpreter} cannot run it"
        return about(hook, "error", "script-not-found", message, "command", fix=_path_fix(program, guesses))
    if _SHELLS.fullmatch(program.interpreter) and b"\r\n" in first_bytes(path):
        message = (
            f"{program.word} has CRLF line ends, which {program.interpreter} reads as part of its commands"
        )
        return about(
            hook,
            "error",
            "bad-interpreter",
            message,
            "command",
            fix=f"{_LINE_ENDS} {path}",
            repair=Repair("line-ends", file=path),
        )
    return None


_PROBLEMS: Final = {"name": _name_problem, "file": _file_problem, "script": _script_problem}


def _existing(program: Program) -> str | None:
    return next((path for path in program.paths if os.path.exists(path)), None)


def _path_fix(program: Program, guesses: _Guesses) -> str:
    """Suggest how to correct a path: its quotes, or a file with a similar name."""
    if program.word.startswith("~") and any("/~/" in path for path in program.paths):
        return f"no quotes around ~: write $HOME{program.word[1:]}"
    if any("$" in path for path in program.paths):
        return "double quotes: between single ones a shell fills in no variable"
    for path in program.paths:
        directory, name = os.path.split(path)
        close = guesses.nearest(name, [directory])
        if close is not None:
            return f"did you mean {os.path.join(os.path.dirname(program.word), close)}?"
    return f"create {program.paths[0]}, or correct the path"


# Files that the system cannot run


def _unrunnable(path: str, program: Program, context: CheckContext) -> tuple[str, str | None] | None:
    """Explain why the system cannot run an executable file, and what to do."""
    head = first_bytes(path)
    if not head.startswith(b"#!"):
        if program.bare and head and not head.startswith((b"\x7fELF", b"\xcf\xfa", b"\xca\xfe")):
            return f"{program.word} has no #! line, and is not started by a shell", "begin it with #!/bin/sh"
        needed = _OF_INTERPRETER.get(os.path.splitext(path)[1])
        if needed is None or not head or not head.isascii():
            return None
        message = f"{program.word} has no #! line, so a shell reads it as its own commands"
        return message, f"begin it with #!/usr/bin/env {needed}"
    return _interpreter_problem(path, program, os.fsdecode(head.split(b"\n", 1)[0]), context)


def _interpreter_problem(
    path: str, program: Program, line: str, context: CheckContext
) -> tuple[str, str | None] | None:
    if line.endswith("\r"):
        return f"{program.word}: its #! line ends in CRLF", f"{_LINE_ENDS} {path}"
    words = line[2:].split()
    if not words:
        return f"{program.word}: its #! line names no interpreter", "#!/bin/sh"
    if not context.files_only and not os.path.exists(words[0]):
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


def _executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


# Processes that hooks leave behind

Tier = Literal["subreaper", "process group"]


class Survivor(Struct, frozen=True):
    """Processes that may survive when Hookline itself is killed with SIGKILL. All others end."""

    kind: str
    #: A shell line that leaves one behind, for `make soak`; empty where that takes another user or a service.
    example: str = ""
    #: Whether processes of hooks carry a number of ours, without which more survive.
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
#: Processes that the weaker tier misses even where Hookline ends a hook itself.
KNOWN_GAP: Final = "a process that left its session, emptied its environment and lost its parent is not found"


def containment_tier(platform: str = sys.platform) -> Tier:
    """Return how well Hookline's commands find leftover processes of hooks on this system."""
    return "subreaper" if platform == "linux" else "process group"


def survivors(tier: Tier) -> tuple[Survivor, ...]:
    """Return the processes that may survive here when Hookline is killed."""
    numbered = tier == "subreaper" and may_be_numbered()
    here = ("always", "numbered" if numbered else "not numbered")
    return tuple(row for row in SURVIVORS if row.where in here)
