"""The commands and skills that people wrote, and where they are looked for."""

import os
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from hookline.agent.intake.prepared import Origin
from hookline.config.sources import upward, user_directory

Kind = Literal["command", "skill"]

#: In one folder and those below it; a folder with more holds something else.
_MOST_FILES = 1000
_DEEPEST = 3
_PROJECT_COMMANDS = (".hookline/commands", ".claude/commands", ".gen/commands")
_PROJECT_SKILLS = (".hookline/skills", ".claude/skills")


class Entry(Struct, frozen=True):
    """A file that is there. What stands in it is read when it is used."""

    name: str
    kind: Kind
    file: str
    origin: Origin


class Place(Struct, frozen=True):
    kind: Kind
    folder: str
    origin: Origin


def places(cwd: str, env: Mapping[str, str]) -> tuple[Place, ...]:
    """Every folder that is looked in. Commands win over skills, then the project over the user."""
    directories = upward(os.path.abspath(cwd))
    kinds: tuple[tuple[Kind, tuple[str, ...], str], ...] = (
        ("command", _PROJECT_COMMANDS, "commands"),
        ("skill", _PROJECT_SKILLS, "skills"),
    )
    found: list[Place] = []
    for kind, relative, name in kinds:
        found += [
            Place(kind, os.path.join(directory, each), "projectSettings")
            for directory in directories
            for each in relative
        ]
        found += [Place(kind, os.path.join(folder, name), "userSettings") for folder in _user_folders(env)]
    return tuple(found)


def entries(cwd: str, env: Mapping[str, str]) -> Mapping[str, Entry]:
    """Every command and skill by the name it is called with. Blocking: it looks into folders."""
    found: dict[str, Entry] = {}
    for place in places(cwd, env):
        for entry in _commands(place) if place.kind == "command" else _skills(place):
            found.setdefault(entry.name, entry)
    return found


def _user_folders(env: Mapping[str, str]) -> list[str]:
    native = user_directory(env)
    home = env.get("HOME", "")
    claude = env.get("CLAUDE_CONFIG_DIR") or (os.path.join(home, ".claude") if os.path.isabs(home) else "")
    return [folder for folder in (native, claude) if folder]


def _commands(place: Place) -> Iterator[Entry]:
    """`ui/button.md` is /ui:button, and /button where no other has that name."""
    nested: list[Entry] = []
    for relative in _markdown(place.folder):
        parts = relative.removesuffix(".md").split(os.sep)
        file = os.path.join(place.folder, relative)
        yield Entry(":".join(parts), "command", file, place.origin)
        if len(parts) > 1:
            nested.append(Entry(parts[-1], "command", file, place.origin))
    yield from nested


def _markdown(folder: str) -> list[str]:
    found: list[str] = []
    for directory, below, files in os.walk(folder):
        inside = os.path.relpath(directory, folder)
        depth = 0 if inside == "." else inside.count(os.sep) + 1
        below[:] = sorted(each for each in below if not each.startswith(".")) if depth < _DEEPEST else []
        wanted = [name for name in sorted(files) if name.endswith(".md") and not name.startswith(".")]
        found += [os.path.normpath(os.path.join(inside, name)) for name in wanted]
        if len(found) >= _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _skills(place: Place) -> Iterator[Entry]:
    try:
        names = sorted(os.listdir(place.folder))[:_MOST_FILES]
    except OSError:
        return
    for name in names:
        file = os.path.join(place.folder, name, "SKILL.md")
        if not name.startswith(".") and os.path.isfile(file):
            yield Entry(name, "skill", file, place.origin)
