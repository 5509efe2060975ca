"""Find out if a hook runs Hookline itself, and with which arguments."""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

import hookline
from hookline.config.commands import HookArguments, is_as_installed, read_hook_words
from hookline.dialects.entries import HookSelection, IfMissing
from hookline.dialects.labels import INSTALLED_HERE
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.shell import ShellReader

#: The beginning of what an entry says once Hookline is gone.
MISSING = "Hookline is not installed"
_PROGRAM = "hookline"
#: The relay passes the call on to the daemon, or to the program.
_PROGRAMS = frozenset((_PROGRAM, "hookline-relay"))
# Patterns are compiled when they are first used: most lines do not name Hookline.
_PYTHON = r"(?i:python|pypy)[\d.]*"
#: The start of Python in an entry: with `-I` it would still read these two variables, which name other
#: packages and programs.
_CLEARED = ("/usr/bin/env", "-u", "PYTHONEXECUTABLE", "-u", "__PYVENV_LAUNCHER__")
#: Programs that start another one by its name.
_RUNNERS = frozenset({"uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "mise", "pixi", "conda", "nix"})
_QUOTES = r"[\"'\\]"
#: A word as `shlex.quote` writes it.
_QUOTED = r"""(?:[\w@%+=:,./-]+|'[^']*'(?:"'"'[^']*')*)"""
#: The start of an entry whose shell answers if Hookline is gone (`started_if`).
_CHECKED = (
    rf"\A(?:\[ -x {_QUOTED} \](?: && \[ -e {_QUOTED} \])?|command -v {_QUOTED} >/dev/null) \|\| "
    rf"(?:exit \d|(?P<said>\{{ (?:printf '%s\\n' {_QUOTED}(?: >&2)?; )+exit \d; \}})); "
)
#: The end of an entry that blocks if Hookline cannot be run, as every release has written it.
_CLOSED = r" \|\| \{ \[ \$\? = 2 \] \|\| echo 'hookline could not be run[^']*' >&2; exit 2; \}\Z"
#: The same around the call, for agents that read reasons only in an answer (`answered_in_shell`).
_ANSWERED = (
    rf"\Asaid=\$\((?P<call>(?s:.*))\) (?:\|\| said={_QUOTED}; printf '%s\\n' \"\$said\"|"
    rf"&& code=0 \|\| \{{ \[ \$\? = \d \] && \[ \"\$said\" \] \|\| said={_QUOTED}; code=\d; \}}; "
    r"printf '%s' \"\$said\"; exit \$code)\Z"
)
#: A line for a separate shell, quoted as `shlex.quote` does.
_INNER = r"""\Ash -c ('[^']*'(?:"'"'[^']*')*)\Z"""
_EXPANDS = r"^\s*!|[$`#*?\n]"
#: For command lines that cannot be parsed with certainty.
#: Another `hookline` further on is another call.
_LOOKS_LIKE_CALL = (
    r"\bhookline(?:(?!hookline)[\w./-])*+[\s)]++(?:--daemon\s++\S++\s++)?"
    r"(?:-(?:(?!hookline)\S)++\s++)*+hook(?![\w.-])"
)


def isolated_program() -> str:
    """Name this installation, started so that neither the project nor a variable chooses what Python loads."""
    return shlex.join((*_CLEARED, sys.executable, "-I", "-m", _PROGRAM))


def program_words(line: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command without those that only clear its environment."""
    words = tuple(line)
    return words[len(_CLEARED) :] if words[: len(_CLEARED)] == _CLEARED else words


def calls_hookline_hook(hook: Hook, shell: "list[ShellReader]") -> bool:
    """Return True if a hook runs `hookline hook`: called by it, it would call it again.

    `shell` is empty or holds the reader of shell lines, which is made when it is first needed.
    """
    spec: Any = hook.spec
    command, args = getattr(spec, "command", None), getattr(spec, "args", None)
    if hook.kind != "command" or not isinstance(command, str):
        return False
    if args is not None:
        return _is_hook_call((command, *args))
    if _PROGRAM not in re.sub(_QUOTES, "", command):
        return False
    if not shell:
        # Only here: most configurations have no such line.
        from hookline.shell import ShellReader  # noqa: PLC0415 most configurations have no such line

        shell.append(ShellReader())
    reading = shell[0].read(command)
    if any(_is_hook_call(each.words) for each in reading.commands):
        return True
    return (
        reading.uncertain is not None
        and re.search(_LOOKS_LIKE_CALL, re.sub(_QUOTES, "", command)) is not None
    )


def own_entries_marked(hooks: Sequence[Hook]) -> list[Hook]:
    """Return the hooks, with those that run `hookline hook` marked as Hookline's own entries."""
    shell: list[ShellReader] = []
    return [
        replace(hook, name=INSTALLED_HERE, mode="off", calls_hookline=True)
        if calls_hookline_hook(hook, shell)
        else hook
        for hook in hooks
    ]


def hookline_arguments(hook: Hook, shell: "ShellReader") -> tuple[tuple[str, ...], ...]:
    """Return the arguments of `hookline`, for each time a hook runs it; nothing if that is not certain."""
    spec: Any = hook.spec
    command, args = getattr(spec, "command", None), getattr(spec, "args", None)
    if hook.kind != "command" or not isinstance(command, str):
        return ()
    if args is not None:
        lines: list[tuple[str, ...]] = [(command, *args)]
    elif _PROGRAM not in re.sub(_QUOTES, "", command):
        return ()
    else:
        reading = shell.read(command)
        lines = [] if reading.uncertain is not None else [each.words for each in reading.commands]
    return tuple(tuple(found) for line in lines if (found := _arguments(line)) is not None)


class EntryCall(Struct, frozen=True):
    """An entry that does nothing but call Hookline."""

    program: tuple[str, ...]
    arguments: tuple[str, ...]


def is_own_call(hook: Hook) -> bool:
    """Return True if an entry does nothing but call Hookline."""
    spec: Any = hook.spec
    command, args = getattr(spec, "command", None), getattr(spec, "args", None)
    if hook.kind != "command" or not isinstance(command, str) or args is not None:
        return False
    return _PROGRAM in command and entry_call(command) is not None


def plain_program(command: str, dialect: str) -> tuple[str, ...] | None:
    """Return the words that start Hookline in an entry that was printed or installed for this dialect; None
    for any other line.

    A line with options that an installation does not write is the user's, or for the hooks of one file.
    """
    call = entry_call(command)
    if call is None or call.arguments[:3] != ("hook", "--dialect", dialect):
        return None
    found = read_hook_words(call.arguments[1:])
    return call.program if isinstance(found, HookArguments) and is_as_installed(found) else None


def moved_entry(command: str, before: Sequence[str], program: str) -> str | None:
    """Return the entry with this program in place of the one before; None where that is not certain."""
    former = shlex.join(before)
    tested = command.replace(installed_test(former), installed_test(program))
    return tested.replace(former, program) if tested.count(former) == 1 else None


class EntryChoice(Struct, frozen=True):
    """A user's choices at installation, which the entries carry."""

    hooks: HookSelection
    if_missing: IfMissing


def entry_choice(command: str, event_guards: bool) -> EntryChoice | None:
    """Return the choices that an entry of ours carries; None for another line."""
    call = entry_call(command)
    if call is None:
        return None
    found = read_hook_words(call.arguments[1:])
    own = isinstance(found, HookArguments) and found.hooks == "own"
    checked = re.match(_CHECKED, _unwrapped(command))
    blocks = event_guards and (checked is None or MISSING in (checked["said"] or ""))
    return EntryChoice("own" if own else "all", "block" if blocks else "allow")


def installed_test(program: str) -> str:
    """Return a test for the shell: is the Hookline still there that this program text starts?"""
    words = program_words(shlex.split(program))
    if not os.path.isabs(words[0]):
        return f"command -v {shlex.quote(words[0])} >/dev/null"
    test = f"[ -x {shlex.quote(words[0])} ]"
    if len(words) > 1:  # Python, which stays when the package is removed
        package = os.path.join(os.path.dirname(os.path.abspath(hookline.__file__)), "__main__.py")
        test += f" && [ -e {shlex.quote(package)} ]"
    return test


@lru_cache(maxsize=512)  # several questions about each entry of a file are asked
def entry_call(command: str) -> EntryCall | None:
    """Return the call of Hookline that a line is; None for a line that does anything more.

    The shell's reaction if Hookline cannot be run is part of it (`closed_in_shell`).
    """
    line = _words(re.sub(_CLOSED, "", re.sub(_CHECKED, "", _unwrapped(command))))
    words = program_words(line)
    arguments = words[1:] if words and _base(words[0]) in _PROGRAMS else None
    if arguments is None:
        for place in (words[1:3], words[1:4]):
            if place in (
                ("-m", _PROGRAM),
                *((option, "-m", _PROGRAM) for option in ("-I", "-P")),
            ) and re.fullmatch(_PYTHON, _base(words[0])):
                arguments = words[len(place) + 1 :]
    if not arguments:
        return None
    return EntryCall(words[: -len(arguments)], arguments)


def _unwrapped(command: str) -> str:
    """Return the line without the shell around it: one of its own, or one that answers in Hookline's place."""
    line = re.sub(_INNER, lambda found: shlex.split(found[1])[0], command)
    return re.sub(_ANSWERED, lambda found: found["call"], line)


def _words(line: str) -> tuple[str, ...]:
    """Return the words of a line that is one command and nothing else; none for any other line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    try:
        words = tuple(lexer)
    except ValueError:
        return ()
    # Quoted text stays one word; an operator or an expansion makes it another line than ours.
    return (
        ()
        if any(word and not word.strip("();<>|&") for word in words) or re.search(_EXPANDS, line)
        else words
    )


def _is_hook_call(words: Sequence[str]) -> bool:
    found = _arguments(words)
    return found is not None and next((word for word in found if not word.startswith("-")), "") == "hook"


def _arguments(words: Sequence[str]) -> Sequence[str] | None:
    """Return the words after `hookline`, however it is started; None if something else is run."""
    words = program_words(words)
    program = _base(words[0]) if words else ""
    if program in _PROGRAMS:
        return _without_directory(words[1:])
    if re.fullmatch(_PYTHON, program) or program in _RUNNERS:
        for index, word in enumerate(words[1:], 1):
            if _base(word) in _PROGRAMS or word.startswith((f"{_PROGRAM}.", f"-m{_PROGRAM}")):
                return _without_directory(words[index + 1 :])
    return None


def _without_directory(arguments: Sequence[str]) -> Sequence[str]:
    """Remove the relay's first argument, which may name the directory of the daemon."""
    return arguments[2:] if arguments and arguments[0] == "--daemon" else arguments


def _base(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe").casefold()
