"""Which hooks answer for Hookline: those the calling agent does not run itself, and none that would call us again."""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.matching.shell import ShellReader

_PROGRAM = "hookline"
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*", re.IGNORECASE)
#: Programs that start another one by its name.
_RUNNERS = frozenset({"uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "mise", "pixi", "conda", "nix"})
_QUOTES = re.compile(r"[\"'\\]")
#: For lines that cannot be read for certain.
_LOOKS_SO = re.compile(r"\bhookline[\w./-]*[\s)]+(?:-\S+\s+)*hook(?![\w.-])")


def hooks_for(engine: Engine, cwd: str, caller: str, files: Sequence[str] | None) -> Loaded:
    """Native hooks and those of other agents, in the order they run."""
    if files is not None:
        loaded = engine.loader.files(files)
        own: set[str] = set()
    else:
        loaded = engine.loader.directory(cwd, without=caller)
        own = _own_files(engine, cwd, caller, loaded)
    shell: list[ShellReader] = []
    hooks = tuple(hook for hook in loaded.hooks if hook.where.file not in own and not calls_us(hook, shell))
    return replace(loaded, hooks=hooks)


def _own_files(engine: Engine, cwd: str, caller: str, loaded: Loaded) -> set[str]:
    """Files of other dialects that the calling agent reads too, and so runs itself."""
    others = {found.file for found in loaded.found if found.dialect != OWN_FORMAT}
    if caller == OWN_FORMAT or not others:
        return set()
    own = {os.path.realpath(file) for file in engine.loader.places(cwd, [caller])}
    return {file for file in others if os.path.realpath(file) in own}


def calls_us(hook: Hook, shell: "list[ShellReader]") -> bool:
    """Whether a hook runs `hookline hook`: asked again, it would ask again."""
    spec: Any = hook.spec
    command, args = getattr(spec, "command", None), getattr(spec, "args", None)
    if hook.kind != "command" or not isinstance(command, str):
        return False
    if args is not None:
        return _is_us((command, *args))
    if _PROGRAM not in _QUOTES.sub("", command):
        return False
    if not shell:
        # Only who has such a line pays for reading it.
        from hookline.matching.shell import ShellReader

        shell.append(ShellReader())
    reading = shell[0].read(command)
    if any(_is_us(each.words) for each in reading.commands):
        return True
    return reading.uncertain is not None and _LOOKS_SO.search(_QUOTES.sub("", command)) is not None


def words_for_us(hook: Hook, shell: "ShellReader") -> tuple[tuple[str, ...], ...]:
    """What a hook says behind `hookline`, once for each time it runs it; nothing where that is not certain."""
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
    return tuple(tuple(words) for line in lines if (words := _behind_us(line)) is not None)


def _is_us(words: Sequence[str]) -> bool:
    behind = _behind_us(words)
    return behind is not None and next((word for word in behind if not word.startswith("-")), "") == "hook"


def _behind_us(words: Sequence[str]) -> Sequence[str] | None:
    """The words behind `hookline`, however it is started; None where something else is."""
    program = _base(words[0])
    if program == _PROGRAM:
        return words[1:]
    if _PYTHON.fullmatch(program) or program in _RUNNERS:
        for place, word in enumerate(words[1:], 1):
            if _base(word) == _PROGRAM or word.startswith((f"{_PROGRAM}.", f"-m{_PROGRAM}")):
                return words[place + 1 :]
    return None


def _base(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe").casefold()
