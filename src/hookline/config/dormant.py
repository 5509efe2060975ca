"""Find hooks that are configured and not active: of skills, commands and agents not in use, of plugins that
are off.

Only commands that show the configuration search for them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import ConfigPath, DefinitionFiles, Dialect, upward
from hookline.dialects.files import layer_of, read_front_matter_of
from hookline.disk import DISK
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Path, Where
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.trust.trust import Trust

#: A directory with more files, or deeper ones, is something else.
_MOST_FILES = 1000
_DEEPEST = 3


class Dormant(Struct, frozen=True, eq=False):
    """The inactive hooks of one file."""

    file: str
    dialect: str
    hooks: tuple[Hook, ...]
    #: The time when they are active, or the reason why they are not.
    when: str
    #: True if only a setting can activate them.
    off: bool = False
    #: True if Hookline's own agent uses the file.
    used: bool = True


class DormantHooks(Struct, frozen=True, eq=False):
    files: tuple[Dormant, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def awaited(self) -> tuple[Hook, ...]:
        """The hooks that become active when what they belong to is used."""
        return tuple(hook for file in self.files if file.used and not file.off for hook in file.hooks)


def dormant_hooks(
    loader: "Loader",
    dialects: Sequence[Dialect],
    cwd: str,
    env: Mapping[str, str],
    trust: "Trust | None" = None,
) -> DormantHooks:
    """Find inactive hooks of these dialects, for one directory and user."""
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
        config_paths = [each for each in dialect.find(self._cwd, self._env) if DISK.is_there(each.file)]
        settings = [layer_of(dialect, config_path) for config_path in config_paths]
        plugins = self._loader.plugins(dialect, self._cwd, settings, self._trust)
        for place, why in plugins.off:
            self._off(dialect, place, why)
        installed = {place.file for place in (*plugins.config_paths, *(place for place, _ in plugins.off))}
        for directory in upward(os.path.abspath(self._cwd)):
            for config_path in dialect.plugin_at(directory):
                if config_path.file not in installed:
                    self._plugin_itself(dialect, config_path)
        roots = dict.fromkeys(place.root for place in plugins.config_paths)
        for definitions in dialect.definitions:
            for directory in self._directories(dialect):
                self._read(dialect, definitions, os.path.join(directory, definitions.directory))
            for root in roots if definitions.in_plugins else ():
                self._read(dialect, definitions, os.path.join(root, definitions.directory))

    def _directories(self, dialect: Dialect) -> Iterator[str]:
        projects = [os.path.join(each, dialect.directory) for each in upward(os.path.abspath(self._cwd))]
        user = dialect.user_directory(self._env)
        yield from projects
        if user and user not in projects:
            yield user

    def _off(self, dialect: Dialect, config_path: ConfigPath, why: str) -> None:
        hooks = self._loader.files([config_path.file], dialect.name).hooks
        if hooks:
            own = tuple(replace(hook, scope=config_path.scope) for hook in hooks)
            self.files.append(Dormant(config_path.file, dialect.name, own, why, off=True))

    def _plugin_itself(self, dialect: Dialect, config_path: ConfigPath) -> None:
        """Read the hooks of a directory that is itself a plugin, as its developer has it."""
        found = self._loader.read(dialect.name, [config_path])
        self.said += found.diagnostics
        if found.hooks:
            when = "once this plugin is installed"
            self.files.append(Dormant(config_path.file, dialect.name, found.hooks, when, used=False))

    def _read(self, dialect: Dialect, definitions: DefinitionFiles, directory: str) -> None:
        for name, file in _files(directory, definitions.file):
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
        for name in _names(directory) if definitions.file and dialect.listed.plugin_manifest else ():
            manifest = os.path.join(directory, name, dialect.listed.plugin_manifest)
            if DISK.is_there(manifest):
                message = "a plugin in this directory is not read: its hooks are not found"
                fix = f"--config {os.path.join(directory, name, dialect.plugin_file)}"
                self.said.append(Diagnostic("info", "not-searched", message, Where(manifest), fix=fix))

    def _add(self, dialect: Dialect, definitions: DefinitionFiles, document: Document, name: str) -> None:
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


def _files(root: str, file: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the definitions in a directory, each with its file."""
    if file:
        for name in _names(root):
            path = os.path.join(root, name, file)
            if DISK.is_there(path):
                yield name, path
        return
    count = 0
    for directory, below, files in os.walk(root):
        inside = os.path.relpath(directory, root)
        parts = [] if inside == "." else inside.split(os.sep)
        below[:] = sorted(each for each in below if each[0] != ".") if len(parts) < _DEEPEST else []
        for name in sorted(files):
            if name.endswith(".md") and name[0] != "." and count < _MOST_FILES:
                count += 1
                yield ":".join([*parts, name.removesuffix(".md")]), os.path.join(directory, name)


def _names(directory: str) -> list[str]:
    try:
        return [name for name in sorted(os.listdir(directory)) if name[0] != "."][:_MOST_FILES]
    except OSError:
        return []


def _renamed(document: Document, renamed: Mapping[str, str]) -> Document:
    """Rename the document's events to their usual names; lines are found by the names in the file."""
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
