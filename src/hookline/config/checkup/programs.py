"""Commands that cannot start: not found, not executable, no interpreter for them."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from hookline.config.checkup.here import Here, about, entries
from hookline.config.checkup.shebangs import executable, first_bytes, unrunnable
from hookline.config.checkup.starting import Started, directories, started
from hookline.config.loaded import Loaded
from hookline.handlers.command import CommandSpec
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook

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
    """What a name was meant to be. Only for the first few: comparing with every program of a system takes time."""

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


def startable(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    guesses = _Guesses()
    for hook in entries(loaded):
        if hook.broken is None and hook.mode != "off":
            yield from _startable(hook, here, guesses)


def _startable(hook: Hook, here: Here, guesses: _Guesses) -> Iterator[Diagnostic]:
    missing = _no_directory(hook, here)
    if missing is not None:
        yield missing
        return
    for start in started(hook, here):
        wrong = _KINDS[start.kind](start, hook, here, guesses)
        if wrong is not None:
            yield wrong
            return


def _no_directory(hook: Hook, here: Here) -> Diagnostic | None:
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or not spec.cwd:
        return None
    places = directories(hook, here)
    if any(os.path.isdir(place) for place in places):
        return None
    message = f"its working directory {spec.cwd} does not exist, so it cannot start"
    return about(hook, "error", "no-directory", message, *_field(hook, "cwd"), fix=f"mkdir -p {places[0]}")


def _name(start: Started, hook: Hook, here: Here, guesses: _Guesses) -> Diagnostic | None:
    path = here.env.get("PATH", "")
    spec = hook.spec
    sees_to_it = "PATH" in spec.env or (spec.args is None and _SEES_TO_IT.search(spec.command))
    if not path or sees_to_it or (not start.bare and start.word in _BUILTINS):
        return None
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    if any(executable(os.path.join(folder, start.word)) for folder in folders):
        return None
    beside = next((base for base in directories(hook, here) if os.path.isfile(f"{base}/{start.word}")), None)
    if beside is not None:
        fix = f"write ./{start.word}"
    else:
        close = guesses.nearest(start.word, folders)
        fix = f"did you mean {close}?" if close else f"install {start.word}, or write its whole path"
    message = f"there is no program {start.word} in PATH, so it cannot start"
    return about(hook, "error", "command-not-found", message, *_field(hook, "command"), fix=fix)


def _programs(folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        try:
            yield from os.listdir(folder)
        except (OSError, ValueError):
            continue


def _file(start: Started, hook: Hook, here: Here, guesses: _Guesses) -> Diagnostic | None:
    place = _there(start)
    field = _field(hook, "command")
    if place is None:
        message, fix = f"there is no file {start.word}, so it cannot start", _found_elsewhere(start, guesses)
        return about(hook, "error", "command-not-found", message, *field, fix=fix)
    if os.path.isdir(place):
        return about(hook, "error", "not-executable", f"{start.word} is a directory, not a program", *field)
    if not os.access(place, os.X_OK):
        message = f"{start.word} is not executable, so it cannot start"
        return about(hook, "error", "not-executable", message, *field, fix=f"chmod +x {place}")
    wrong = unrunnable(place, start, here)
    return None if wrong is None else about(hook, "error", "bad-interpreter", wrong[0], *field, fix=wrong[1])


def _script(start: Started, hook: Hook, here: Here, guesses: _Guesses) -> Diagnostic | None:
    del here  # its program was looked at already
    place = _there(start)
    field = _field(hook, "command")
    if place is None:
        message = f"there is no script {start.word} for {start.interpreter} to run"
        return about(hook, "error", "script-not-found", message, *field, fix=_found_elsewhere(start, guesses))
    if _SHELLS.fullmatch(start.interpreter) and b"\r\n" in first_bytes(place):
        message = f"{start.word} has CRLF line ends, which {start.interpreter} takes for part of its words"
        return about(hook, "error", "bad-interpreter", message, *field, fix=f"sed -i 's/\\r$//' {place}")
    return None


_KINDS: Final = {"name": _name, "file": _file, "script": _script}


def _there(start: Started) -> str | None:
    return next((place for place in start.places if os.path.exists(place)), None)


def _found_elsewhere(start: Started, guesses: _Guesses) -> str:
    """What was meant: the path between the wrong quotes, or a file with nearly that name."""
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


def _field(hook: Hook, name: str) -> tuple[str, ...]:
    """The field of the entry that says it; an agent may call it otherwise."""
    return ("working_dir",) if name == "cwd" and hook.dialect == "docker-agent" else (name,)
