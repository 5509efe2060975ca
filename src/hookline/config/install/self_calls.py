"""Whether a hook runs Hookline itself, and with which arguments."""

import re
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.matching.shell import ShellReader

_PROGRAM = "hookline"
#: The relay passes the call on to the resident, or to the program.
_PROGRAMS = frozenset((_PROGRAM, "hookline-relay"))
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*", re.IGNORECASE)
#: How an entry starts Python: `-I` does not keep it from believing these two, which name other packages and programs.
_CLEARED = ("/usr/bin/env", "-u", "PYTHONEXECUTABLE", "-u", "__PYVENV_LAUNCHER__")
#: Programs that start another one by its name.
_RUNNERS = frozenset({"uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "mise", "pixi", "conda", "nix"})
_QUOTES = re.compile(r"[\"'\\]")
#: The end of an entry that blocks if Hookline cannot be run, as every release has written it.
_CLOSED = re.compile(r" \|\| \{ \[ \$\? = 2 \] \|\| echo 'hookline could not be run[^']*' >&2; exit 2; \}\Z")
#: A line for a shell of its own, quoted as `shlex.quote` does.
_INNER = re.compile(r"""\Ash -c ('[^']*'(?:"'"'[^']*')*)\Z""")
_EXPANDS = re.compile(r"^\s*!|[$`#*?\n]")
#: For command lines that cannot be parsed with certainty.
_LOOKS_LIKE_CALL = re.compile(r"\bhookline[\w./-]*[\s)]+(?:--resident\s+\S+\s+)?(?:-\S+\s+)*hook(?![\w.-])")


def isolated_program() -> str:
    """Name this installation, started so that neither the project nor a variable chooses what Python loads."""
    return shlex.join((*_CLEARED, sys.executable, "-I", "-m", _PROGRAM))


def program_words(line: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command without those that only clear its environment."""
    words = tuple(line)
    return words[len(_CLEARED) :] if words[: len(_CLEARED)] == _CLEARED else words


def calls_hookline_hook(hook: Hook, shell: "list[ShellReader]") -> bool:
    """Whether a hook runs `hookline hook`: called by it, it would call it again.

    `shell` is empty or holds the reader of shell lines, which is made when it is first needed.
    """
    spec: Any = hook.spec
    command, args = getattr(spec, "command", None), getattr(spec, "args", None)
    if hook.kind != "command" or not isinstance(command, str):
        return False
    if args is not None:
        return _is_hook_call((command, *args))
    if _PROGRAM not in _QUOTES.sub("", command):
        return False
    if not shell:
        # Only here: most configurations have no such line.
        from hookline.matching.shell import ShellReader  # noqa: PLC0415 most configurations have no such line

        shell.append(ShellReader())
    reading = shell[0].read(command)
    if any(_is_hook_call(each.words) for each in reading.commands):
        return True
    return reading.uncertain is not None and _LOOKS_LIKE_CALL.search(_QUOTES.sub("", command)) is not None


def hookline_arguments(hook: Hook, shell: "ShellReader") -> tuple[tuple[str, ...], ...]:
    """The arguments of `hookline`, for each time a hook runs it; nothing if that is not certain."""
    spec: Any = hook.spec
    command, args = getattr(spec, "command", None), getattr(spec, "args", None)
    if hook.kind != "command" or not isinstance(command, str):
        return ()
    if args is not None:
        lines: list[tuple[str, ...]] = [(command, *args)]
    elif _PROGRAM not in _QUOTES.sub("", command):
        return ()
    else:
        reading = shell.read(command)
        lines = [] if reading.uncertain is not None else [each.words for each in reading.commands]
    return tuple(tuple(found) for line in lines if (found := _arguments(line)) is not None)


class EntryCall(Struct, frozen=True):
    """An entry that does nothing but call Hookline."""

    program: tuple[str, ...]
    arguments: tuple[str, ...]


def plain_program(command: str, dialect: str) -> tuple[str, ...] | None:
    """How an entry starts Hookline that was printed or installed for this dialect; None for any other line.

    A line that has other options than `--home` was written by the user, or for the hooks of one file.
    """
    call = entry_call(command)
    if call is None or call.arguments[:3] != ("hook", "--dialect", dialect):
        return None
    further = call.arguments[5:] if call.arguments[3:4] == ("--home",) else call.arguments[3:]
    return call.program if len(further) <= 1 and not "".join(further).startswith("-") else None


def entry_call(command: str) -> EntryCall | None:
    """The call of Hookline that a line is; None for a line that does anything more.

    What a shell does there if Hookline cannot be run belongs to it (`closed_in_shell`).
    """
    line = _words(_CLOSED.sub("", _INNER.sub(lambda found: shlex.split(found[1])[0], command)))
    words = program_words(line)
    arguments = words[1:] if words and _base(words[0]) in _PROGRAMS else None
    if arguments is None:
        for place in (words[1:3], words[1:4]):
            if place in (
                ("-m", _PROGRAM),
                *((option, "-m", _PROGRAM) for option in ("-I", "-P")),
            ) and _PYTHON.fullmatch(_base(words[0])):
                arguments = words[len(place) + 1 :]
    if not arguments:
        return None
    return EntryCall(words[: -len(arguments)], arguments)


def _words(line: str) -> tuple[str, ...]:
    """The words of a line that is one command and nothing else; none for any other line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    try:
        words = tuple(lexer)
    except ValueError:
        return ()
    # What is quoted stays one word; an operator, or what a shell puts in its place, makes it another line than ours.
    return () if any(word and not word.strip("();<>|&") for word in words) or _EXPANDS.search(line) else words


def _is_hook_call(words: Sequence[str]) -> bool:
    found = _arguments(words)
    return found is not None and next((word for word in found if not word.startswith("-")), "") == "hook"


def _arguments(words: Sequence[str]) -> Sequence[str] | None:
    """What follows `hookline`, however it is started; None if something else is run."""
    words = program_words(words)
    program = _base(words[0]) if words else ""
    if program in _PROGRAMS:
        return _without_folder(words[1:])
    if _PYTHON.fullmatch(program) or program in _RUNNERS:
        for place, word in enumerate(words[1:], 1):
            if _base(word) in _PROGRAMS or word.startswith((f"{_PROGRAM}.", f"-m{_PROGRAM}")):
                return _without_folder(words[place + 1 :])
    return None


def _without_folder(arguments: Sequence[str]) -> Sequence[str]:
    """The relay may be told first where the resident is."""
    return arguments[2:] if arguments and arguments[0] == "--resident" else arguments


def _base(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe").casefold()
