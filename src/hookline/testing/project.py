"""Find the files that a test names, and their hooks: a directory or files by name, and nothing of the user."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import ConfigPath
from hookline.dialects.files import OWNERSHIP
from hookline.dialects.registry import OWN_FORMAT
from hookline.model.hook import Scope

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.dialects.dialect import Dialect
    from hookline.model.diagnostics import Diagnostic

#: Scopes that belong to the project everywhere. Files that are local to a machine must be named.
_SCOPE = "project"


class FoundProject(Struct, frozen=True):
    """Hooks that a test named, and the directory they are for."""

    directory: str
    loaded: Loaded
    dialects: tuple[str, ...]


def loader_for(engine: "Engine") -> Loader:
    """Return a loader for this engine. It has no home directory, so that it finds no file of the user."""
    return Loader(engine.home, engine.handlers, {}, engine.events)


def find_project(
    loader: Loader, paths: Sequence[str | os.PathLike[str]], dialect: str | None, root: str
) -> FoundProject:
    """Return the hooks of these files and directories. Raises AssertionError where there are none."""
    __tracebackhide__ = True
    wanted: dict[str, list[ConfigPath]] = {}
    directory = ""
    for path in paths:
        where = _resolved(os.fspath(path), root)
        name = dialect or (OWN_FORMAT if os.path.isdir(where) else loader.whose(where))
        found = _places(loader, loader.dialect(name), where)
        wanted.setdefault(name, []).extend(found)
        directory = directory or _project(loader.dialect(name), found[0].file)
    loaded = Loaded()
    for name in sorted(wanted, key=loader.names.index):
        loaded += loader.read(name, wanted[name])
    if not loaded.hooks and not loaded.diagnostics:
        files = ", ".join(place.file for places in wanted.values() for place in places)
        raise AssertionError(f"there are no hooks in {files}")
    return FoundProject(directory, loaded, tuple(wanted))


def refuse_diagnostics(diagnostics: "Sequence[Diagnostic]", ignore: Sequence[str]) -> None:
    """Raise AssertionError with the mistakes in the files, each with its line."""
    __tracebackhide__ = True
    wrong = [
        one
        for one in diagnostics
        if one.severity != "info" and one.code not in OWNERSHIP and one.code not in ignore
    ]
    if wrong:
        lines = "\n".join(f"  {one}" for one in wrong)
        codes = ", ".join(dict.fromkeys(repr(one.code) for one in wrong))
        raise AssertionError(f"the hooks have mistakes (ignore=[{codes}] lets them pass):\n{lines}")


def _resolved(path: str, root: str) -> str:
    """Resolve a path as Python does; if nothing is there, from pytest's root, so that tests can run from anywhere."""
    __tracebackhide__ = True
    places = dict.fromkeys((os.path.abspath(path), os.path.join(root, path) if root else ""))
    found = next((place for place in places if place and os.path.exists(place)), None)
    if found is None:
        raise AssertionError(f"no such file or directory {' or '.join(filter(None, places))}")
    return os.path.normpath(found)


def _places(loader: Loader, dialect: "Dialect", where: str) -> list[ConfigPath]:
    __tracebackhide__ = True
    if not os.path.isdir(where):
        return [ConfigPath(where, _scope(dialect, where))]
    found = list(_of_project(dialect, where))
    if not found:
        others = [name for name in loader.names if any(_of_project(loader.dialect(name), where))]
        hint = (
            f'; there are hooks of {", ".join(others)}: hooks.load(".", dialect={others[0]!r})'
            if others
            else ""
        )
        raise AssertionError(f"there is no file with hooks of {dialect.title} in {where}{hint}")
    return found


def _of_project(dialect: "Dialect", directory: str) -> Iterator[ConfigPath]:
    for config_path in dialect.find(directory, {}):
        if config_path.scope == _SCOPE and os.path.lexists(config_path.file):
            yield config_path


def _scope(dialect: "Dialect", file: str) -> Scope:
    """Return the scope that the agent gives a file: hooks of a project may get less of the environment than others."""
    for config_path in dialect.config_paths(_project(dialect, file), {}):
        if config_path.file == file:
            return config_path.scope
    return "flag"


def _project(dialect: "Dialect", file: str) -> str:
    """Return the directory that a file is for."""
    for name in dialect.project_files:
        if file.endswith(f"/{name}"):
            return file.removesuffix(f"/{name}") or "/"
    return os.path.dirname(file)
