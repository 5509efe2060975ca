"""What loading a configuration gives: the hooks, where they came from, and everything that is wrong."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.config.engine import Engine
from hookline.config.files import Source, native_sources, read_file, upward
from hookline.dialects.dialect import Dialect, Layer, Place, Tools
from hookline.dialects.native.home import NativeHome
from hookline.dialects.native.settings import NativeReader, NativeReading
from hookline.dialects.registry import Listed, standard_dialects
from hookline.documents.document import Document
from hookline.handlers.registry import Handler
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.errors import UnknownDialectError
from hookline.model.hook import Hook, Scope


class Found(Struct, frozen=True):
    """A configuration file that is there."""

    file: str
    dialect: str
    scope: Scope
    #: The agent it was written for runs its hooks only once the user has trusted them.
    needs_trust: bool = False
    #: It could not be read as a document at all, so nobody knows what it wanted.
    unreadable: bool = False


class Loaded(Struct, frozen=True):
    """Hooks in the order they run, and the whole story of how they were found."""

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    found: tuple[Found, ...] = ()
    #: Every place that was looked at.
    looked_for: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def unreadable(self) -> tuple[str, ...]:
        return tuple(each.file for each in self.found if each.unreadable)

    def __add__(self, other: "Loaded") -> "Loaded":
        return Loaded(
            self.hooks + other.hooks,
            self.diagnostics + other.diagnostics,
            self.found + other.found,
            self.looked_for + other.looked_for,
        )


NATIVE = "native"


def dialect_of(file: str, dialects: "Iterable[Dialect]") -> str:
    """The name of the dialect. Where two shapes fit, nobody guesses: it is native, whose reader says what is wrong."""
    path = os.path.abspath(file).replace(os.sep, "/")
    if "/.hookline/" in path:
        return NATIVE
    known = list(dialects)
    by_place = [one.name for one in known if any(path.endswith(f"/{name}") for name in one.project_files)]
    if by_place:
        return by_place[0]
    value = read_file(file).value
    by_shape = [one.name for one in known if value is not None and one.recognises(value)]
    return by_shape[0] if len(by_shape) == 1 else NATIVE


def load_native(
    cwd: str, reader: NativeReader, *, env: Mapping[str, str] | None = None, home: str | None = None
) -> Loaded:
    """What is in force in this directory, and everything that is wrong with it."""
    sources = native_sources(cwd, env, home)
    layers: dict[str, list[NativeReading]] = {"user": [], "project": [], "local": []}
    diagnostics: list[Diagnostic] = []
    found: list[Found] = []
    for source in sources:
        if source.files:
            diagnostics.extend(_side_by_side(source))
            reading = _read(source.files[0], reader, source.scope, found)
            layers[source.layer].append(reading)
            diagnostics.extend(reading.diagnostics)
    replaced = frozenset[str]().union(*(reading.events_named for reading in layers["project"]))
    user = [hook for reading in layers["user"] for hook in reading.hooks if hook.event.name not in replaced]
    rest = [hook for layer in ("project", "local") for reading in layers[layer] for hook in reading.hooks]
    looked_for = tuple(file for source in sources for file in source.looked_for)
    return Loaded((*user, *rest), tuple(diagnostics), tuple(found), looked_for)


def load_native_file(file: str, reader: NativeReader, scope: Scope = "flag") -> Loaded:
    """Exactly this file."""
    found: list[Found] = []
    reading = _read(file, reader, scope, found)
    return Loaded(reading.hooks, reading.diagnostics, tuple(found), (file,))


def _read(file: str, reader: NativeReader, scope: Scope, found: list[Found]) -> NativeReading:
    document = read_file(file)
    found.append(
        Found(file, "native", scope, unreadable=document.value is None and bool(document.diagnostics))
    )
    return reader.read(document, scope)


def _side_by_side(source: Source) -> list[Diagnostic]:
    """Two formats in one place are never what somebody meant, and guessing would silence hooks."""
    first, *others = source.files
    if not others:
        return []
    names = ", ".join(os.path.basename(other) for other in others)
    message = f"{names} is not read, because {os.path.basename(first)} stands beside it"
    fix = f"keep one of {os.path.basename(first)}, {names}"
    return [Diagnostic("error", "two-formats", message, Where(others[0]), fix=fix)]


def load_dialect(dialect: Dialect, cwd: str, tools: Tools, env: Mapping[str, str]) -> Loaded:
    """Everything of one dialect for a directory and its user."""
    places = dialect.places(project_of(dialect, cwd), env)
    there = {place.file: place for place in reversed(places) if os.path.lexists(place.file)}
    # In a home directory that is also the project a file stands for two layers: it is read once, as the first.
    once = [place for place in places if there.get(place.file) is place]
    return _read_foreign(dialect, once, tools, tuple(place.file for place in places))


def load_dialect_files(dialect: Dialect, files: Sequence[str], tools: Tools) -> Loaded:
    """Exactly these files, which count as trusted, combined as the agent combines layers."""
    return _read_foreign(dialect, [Place(file, _scope_of(file)) for file in files], tools, tuple(files))


def document_of_session(
    dialect: Dialect, document: Document, cwd: str, tools: Tools, env: Mapping[str, str]
) -> Loaded:
    """Hooks that a session takes in beside its settings, which may switch them off or limit them."""
    places = [place for place in dialect.places(project_of(dialect, cwd), env) if os.path.lexists(place.file)]
    layers = [Layer(place, read_file(place.file)) for place in places]
    reading = dialect.read([*layers, Layer(Place(document.file, "session"), document)], tools)
    return Loaded(
        tuple(hook for hook in reading.hooks if hook.where.file == document.file),
        tuple(each for each in reading.diagnostics if each.where.file == document.file),
    )


def _scope_of(file: str) -> Scope:
    """A plugin brings its hooks in hooks/hooks.json, and paths in them are relative to the plugin."""
    return "plugin" if os.path.abspath(file).endswith("/hooks/hooks.json") else "flag"


def project_of(dialect: Dialect, cwd: str) -> str:
    """The nearest directory, up to the root of the repository, that holds one of the agent's files."""
    for directory in upward(os.path.abspath(cwd)):
        if any(os.path.lexists(os.path.join(directory, file)) for file in dialect.project_files):
            return directory
    return os.path.abspath(cwd)


def _read_foreign(
    dialect: Dialect, places: Sequence[Place], tools: Tools, looked_for: tuple[str, ...]
) -> Loaded:
    layers = [Layer(place, read_file(place.file)) for place in places]
    reading = dialect.read(layers, tools)
    found = tuple(
        Found(
            layer.place.file,
            dialect.name,
            layer.place.scope,
            layer.place.needs_trust,
            layer.document.value is None and bool(layer.document.diagnostics),
        )
        for layer in layers
    )
    return Loaded(reading.hooks, reading.diagnostics, found, looked_for)


#: What one agent does with a file that another one reads as well.
_ITS_OWN = frozenset({"not-inherited"})


class Loader:
    """Reads configuration for one engine. Dialects are built when their files are there, once."""

    def __init__(
        self,
        native: NativeHome,
        handlers: Mapping[str, Handler],
        dialects: Mapping[str, Listed] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._native = native.reader(handlers)
        self._handlers = handlers
        self._tables = native.tables
        self._listed = standard_dialects() if dialects is None else dialects
        self._built: dict[str, Dialect] = {}
        self._env = dict(os.environ) if env is None else env

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._listed, NATIVE)

    def dialect(self, name: str) -> "Dialect":
        """A dialect other than native, by name."""
        listed = self._listed.get(name)
        if listed is None:
            raise UnknownDialectError(name, self.names, nearest(name, self.names))
        if name not in self._built:
            self._built[name] = listed.build()
        return self._built[name]

    def directory(
        self, cwd: str, names: Sequence[str] | None = None, *, without: str | None = None
    ) -> Loaded:
        """Managed hooks first, then the dialects in their order, then native; `without` one of the others."""
        loaded = Loaded()
        for name in self.names if names is None else names:
            if name == without and name != NATIVE:
                continue
            if name == NATIVE:
                loaded += load_native(cwd, self._native, env=self._env)
            elif names is not None or self._may_be_used(name, cwd):
                loaded += _unread_so_far(self._foreign(name, cwd), loaded)
        return _managed_first(loaded)

    def files(self, files: Sequence[str], name: str | None = None) -> Loaded:
        """Exactly these files; whose they are is told, or recognised. Those of one dialect are its layers."""
        by_dialect: dict[str, list[str]] = {}
        for file in files:
            whose = name or self.whose(file)
            by_dialect.setdefault(whose, []).append(file)
        loaded = Loaded()
        for whose, own in by_dialect.items():
            if whose == NATIVE:
                for file in own:
                    loaded += load_native_file(file, self._native)
            else:
                loaded += self._foreign(whose, files=own)
        return _managed_first(loaded)

    def native_document(self, document: "Document") -> Loaded:
        """The native hooks of a document that was read already: a part of a larger file."""
        reading = self._native.read(document, "flag")
        return Loaded(reading.hooks, reading.diagnostics)

    def beside_settings(self, name: str, cwd: str, document: "Document") -> Loaded:
        """The hooks of a document that is no settings file, under what the agent's settings say of hooks."""
        from hookline.dialects.dialect import Tools  # noqa: PLC0415 see above

        tools = Tools(self._handlers, *self._tables())
        return document_of_session(self.dialect(name), document, cwd, tools, self._env)

    def whose(self, file: str) -> str:
        """The name of the dialect a file is written in."""
        return dialect_of(file, (self.dialect(each) for each in self._listed))

    def places(self, cwd: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Every file that could hold hooks for this directory, of every dialect, there or not."""

        files: dict[str, None] = {}
        for name in self.names if names is None else names:
            if name == NATIVE:
                sources = native_sources(cwd, self._env)
                files |= dict.fromkeys(file for source in sources for file in source.looked_for)
            else:
                dialect = self.dialect(name)
                places = dialect.places(project_of(dialect, cwd), self._env)
                files |= dict.fromkeys(place.file for place in places)
        return tuple(files)

    def _foreign(self, name: str, cwd: str = "", files: Sequence[str] | None = None) -> Loaded:
        from hookline.dialects.dialect import Tools  # noqa: PLC0415 see above

        tools = Tools(self._handlers, *self._tables())
        if files is not None:
            return load_dialect_files(self.dialect(name), files, tools)
        return load_dialect(self.dialect(name), cwd, tools, self._env)

    def _may_be_used(self, name: str, cwd: str) -> bool:
        """Whether anything of the agent is there: most people have one or two of them."""
        listed = self._listed[name]
        if any(self._env.get(variable) for variable in listed.variables):
            return True
        if any(os.path.lexists(file) for file in listed.files):
            return True
        home = self._env.get("HOME", "")
        return any(_stands_above(folder, cwd, home) for folder in listed.folders)


def _stands_above(folder: str, cwd: str, home: str) -> bool:
    directory = os.path.abspath(cwd)
    while True:
        if os.path.lexists(os.path.join(directory, folder)):
            return True
        parent = os.path.dirname(directory)
        if parent == directory:
            return bool(home) and os.path.lexists(os.path.join(home, folder))
        directory = parent


def _unread_so_far(later: Loaded, before: Loaded) -> Loaded:
    """Without the hooks of files that an earlier dialect has read: nobody wants a hook to run twice."""
    known = {found.file: found.dialect for found in before.found}
    twice = [found for found in later.found if found.file in known]
    said = [
        Diagnostic(
            "info",
            "read-already",
            f"{found.dialect} reads this file too; its hooks run once, as {known[found.file]} runs them",
            Where(found.file),
            fix=f"choose {found.dialect} alone to run them its way",
        )
        for found in twice
        if any(hook.where.file == found.file for hook in later.hooks)
    ]
    hooks = tuple(hook for hook in later.hooks if hook.where.file not in known)
    # What is wrong with such a file was said by the dialect whose hooks run; what only this one leaves out was not.
    others = (one for one in later.diagnostics if one.where.file not in known or one.code in _ITS_OWN)
    return Loaded(hooks, (*others, *said), later.found, later.looked_for)


def _managed_first(loaded: Loaded) -> Loaded:
    ordered = sorted(loaded.hooks, key=lambda hook: hook.scope != "managed")
    return Loaded(tuple(ordered), loaded.diagnostics, loaded.found, loaded.looked_for)


class Installation(Struct, frozen=True, eq=False):
    """An engine whose hooks come from files."""

    engine: Engine
    cwd: str
    loaded: Loaded

    @property
    def found(self) -> tuple[Found, ...]:
        """The files, whose they are, and whether their own agent would want the user's trust first."""
        return self.loaded.found

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.loaded.diagnostics


def load(
    cwd: str | Path = ".",
    *,
    dialects: Sequence[str] | None = None,
    files: Sequence[str] | None = None,
    **options: Any,
) -> Installation:
    """Find every configuration of every dialect for this directory and user, and build the engine for it.

    `dialects` takes only those, `files` takes exactly these files. Further options are the engine's. Nothing
    is raised for a mistake in a configuration: it is a diagnostic with file, line and fix.
    """
    where = os.path.abspath(str(cwd))
    engine = Engine(**options)
    return Installation(engine, where, engine.load(where, files, dialects))
