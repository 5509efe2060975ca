"""Hooks that are configured and not in force: of skills, commands and agents not in use, of plugins that are off.

Only commands that show what is configured look for them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import Definitions, Dialect, Place, is_there, upward
from hookline.dialects.files import layer_of, read_front_matter_of
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Path, Where
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.trust.trust import Trust

#: A folder with more files, or deeper ones, is something else.
_MOST_FILES = 1000
_DEEPEST = 3


class Dormant(Struct, frozen=True, eq=False):
    """The hooks of one file that are not in force."""

    file: str
    dialect: str
    hooks: tuple[Hook, ...]
    #: When they are in force, or why they are not.
    when: str
    #: Whether nothing but a setting brings them into force.
    off: bool = False
    #: Whether Hookline's own agent uses the file.
    used: bool = True


class DormantHooks(Struct, frozen=True, eq=False):
    files: tuple[Dormant, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def dormant_hooks(
    loader: "Loader",
    dialects: Sequence[Dialect],
    cwd: str,
    env: Mapping[str, str],
    trust: "Trust | None" = None,
) -> DormantHooks:
    """Of these dialects, for one directory and user."""
    finder = _Finder(loader, cwd, env, trust)
    for dialect in dialects:
        finder.look_at(dialect)
    return DormantHooks(tuple(finder.files), tuple(finder.said))


class _Finder:
    def __init__(self, loader: "Loader", cwd: str, env: Mapping[str, str], trust: "Trust | None") -> None:
        self._loader = loader
        self._trust = trust
        self._cwd = cwd
        self._env = env
        self.files: list[Dormant] = []
        self.said: list[Diagnostic] = []

    def look_at(self, dialect: Dialect) -> None:
        places = [place for place in dialect.find(self._cwd, self._env) if is_there(place.file)]
        settings = [layer_of(dialect, place) for place in places]
        plugins = self._loader.plugins(dialect, self._cwd, settings, self._trust)
        for place, why in plugins.off:
            self._off(dialect, place, why)
        roots = dict.fromkeys(place.root for place in plugins.places)
        for definitions in dialect.definitions:
            for folder in self._folders(dialect):
                self._read(dialect, definitions, os.path.join(folder, definitions.folder))
            for root in roots if definitions.in_plugins else ():
                self._read(dialect, definitions, os.path.join(root, definitions.folder))

    def _folders(self, dialect: Dialect) -> Iterator[str]:
        projects = [os.path.join(each, dialect.folder) for each in upward(os.path.abspath(self._cwd))]
        user = dialect.user_folder(self._env)
        yield from projects
        if user and user not in projects:
            yield user

    def _off(self, dialect: Dialect, place: Place, why: str) -> None:
        hooks = self._loader.files([place.file], dialect.name).hooks
        if hooks:
            own = tuple(replace(hook, scope=place.scope) for hook in hooks)
            self.files.append(Dormant(place.file, dialect.name, own, why, off=True))

    def _read(self, dialect: Dialect, definitions: Definitions, folder: str) -> None:
        for name, file in _files(folder, definitions.file):
            document = read_front_matter_of(file)
            if document.value is None:
                self.said += [replace(each, severity="warning") for each in document.diagnostics]
            fields = cast("Mapping[str, Any]", document.value or {})
            if "hooks" in fields:
                self._add(
                    dialect,
                    definitions,
                    document,
                    str(name if definitions.file else fields.get("name", name)),
                )
        for name in _names(folder) if definitions.file and dialect.plugin_manifest else ():
            manifest = os.path.join(folder, name, dialect.plugin_manifest)
            if is_there(manifest):
                message = "a plugin in this folder is not looked at: its hooks are not found"
                fix = f"--config {os.path.join(folder, name, dialect.plugin_file)}"
                self.said.append(Diagnostic("info", "not-searched", message, Where(manifest), fix=fix))

    def _add(self, dialect: Dialect, definitions: Definitions, document: Document, name: str) -> None:
        named = _renamed(document, definitions.renamed)
        if dialect.has_agent:
            found = self._loader.beside_settings(dialect.name, self._cwd, named)
        else:
            found = self._loader.document(named)
        self.said += found.diagnostics
        if not found.hooks:
            return
        hooks = tuple(replace(hook, scope="session") for hook in found.hooks)
        if self._trust is not None:
            register_front_matter(self._trust, named, hooks, dialect)
        when = definitions.when.format(" ".join(name.split())[:60])
        self.files.append(Dormant(document.file, dialect.name, hooks, when, used=definitions.used))


def register_front_matter(
    trust: "Trust", document: Document, hooks: Sequence[Hook], dialect: Dialect
) -> None:
    """Let the user's trust decide about hooks of a skill, a command or an agent."""
    trust.register(document, hooks, dialect.project_variables)
    if trust.hashes:
        trust.accept_hashes([trust.item(hook) for hook in hooks])


def _files(folder: str, file: str) -> Iterator[tuple[str, str]]:
    """The names of what is defined in a folder, each with its file."""
    if file:
        for name in _names(folder):
            path = os.path.join(folder, name, file)
            if is_there(path):
                yield name, path
        return
    count = 0
    for directory, below, files in os.walk(folder):
        inside = os.path.relpath(directory, folder)
        parts = [] if inside == "." else inside.split(os.sep)
        below[:] = sorted(each for each in below if each[0] != ".") if len(parts) < _DEEPEST else []
        for name in sorted(files):
            if name.endswith(".md") and name[0] != "." and count < _MOST_FILES:
                count += 1
                yield ":".join([*parts, name.removesuffix(".md")]), os.path.join(directory, name)


def _names(folder: str) -> list[str]:
    try:
        return [name for name in sorted(os.listdir(folder)) if name[0] != "."][:_MOST_FILES]
    except OSError:
        return []


def _renamed(document: Document, renamed: Mapping[str, str]) -> Document:
    """The document with the names that its events have elsewhere; lines are found by the names in the file."""
    hooks = document.value["hooks"]
    if not renamed or not isinstance(hooks, dict):
        return document
    back = {new: old for old, new in renamed.items() if old in hooks and new not in hooks}
    table = cast("dict[str, Any]", hooks)
    events = {
        next((new for new, old in back.items() if old == name), name): each for name, each in table.items()
    }

    def locate(path: Path) -> int | None:
        return document.locate(
            tuple(back.get(str(each), each) if at == 1 else each for at, each in enumerate(path))
        )

    return replace(document, value={**document.value, "hooks": events}, locate=locate)
