"""`hookline.load(cwd)`: everything that is configured for a directory, in every dialect, in the order it runs."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine, EngineOptions
from hookline.dialects.dialect import (
    Dialect,
    Disabled,
    HomeDialect,
    Layer,
    Place,
    Plugins,
    Reading,
    Tools,
    is_there,
    unused_files,
    user_directory,
)
from hookline.dialects.files import fleet_files, layer_of, read_file, unused_document
from hookline.dialects.registry import OWN_FORMAT, Listed, standard_dialects
from hookline.documents.document import Document
from hookline.handlers.registry import Handler
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.errors import UnknownDialectError
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Hook, Scope
from hookline.trust.items import TrustItem

if TYPE_CHECKING:
    from pathlib import Path

    from hookline.config.dormant import DormantHooks
    from hookline.trust.trust import Trust

#: Codes about what one agent does with a file that another one reads as well.
_ABOUT_ONE_AGENT = frozenset({"not-inherited"})


class Found(Struct, frozen=True):
    """A configuration file that is there."""

    file: str
    dialect: str
    scope: Scope
    #: The user has not trusted everything in it, so it changes nothing of other files.
    needs_trust: bool = False
    #: It could not be read as a document at all, so its hooks are unknown.
    unreadable: bool = False


class Loaded(Struct, frozen=True):
    """Hooks in the order they run, the files they came from, and everything that is wrong with those."""

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    found: tuple[Found, ...] = ()
    #: Every file that was looked for.
    looked_for: tuple[str, ...] = ()
    #: Settings of a project that change hooks of other files, such as switching them off.
    loosening: tuple[TrustItem, ...] = ()
    #: What the user's own file switches off, by name.
    disabled: tuple[Disabled, ...] = ()

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
            self.loosening + other.loosening,
            self.disabled + other.disabled,
        )


class Installation(Struct, frozen=True, eq=False):
    """An engine whose hooks come from files."""

    engine: Engine
    cwd: str
    loaded: Loaded

    @property
    def found(self) -> tuple[Found, ...]:
        """The files, their dialects, and whether the user has trusted what is in them."""
        return self.loaded.found

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.loaded.diagnostics


def load(
    cwd: "str | Path" = ".",
    *,
    dialects: Sequence[str] | None = None,
    files: Sequence[str] | None = None,
    trust: bool = False,
    **options: "Unpack[EngineOptions]",
) -> Installation:
    """Build the engine for Hookline's own files of this directory and user.

    `dialects` names the formats to read instead, `files` exactly the files. What a project brings runs only if the
    user has trusted it, or with `trust`: then you vouch for the project. Further options are the engine's. Nothing is
    raised for a mistake in a configuration: it is a diagnostic with file, line and fix. ::

        installation = load(cwd)
        for diagnostic in installation.loaded.diagnostics:
            print(diagnostic)
        session = installation.engine.session("conversation 1", cwd=cwd)
    """
    where = os.path.abspath(str(cwd))
    engine = Engine(**options)
    return Installation(engine, where, engine.load(where, files, dialects, trust=trust))


class Loader:
    """Reads configuration for one engine. Dialects are built once, when they are first needed."""

    def __init__(
        self,
        home: HomeDialect,
        handlers: Mapping[str, Handler],
        env: Mapping[str, str] | None = None,
        events: Mapping[str, EventSpec[Any]] = EVENTS,
    ) -> None:
        self.home = home
        self._events = events
        self._handlers = handlers
        self._listed = dict(standard_dialects())
        self._built: dict[str, Dialect] = {home.name: home}
        self._env = dict(os.environ) if env is None else env
        #: Dialects of files whose paths do not say it.
        self._named_files: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Of every dialect, in the order their lanes run."""
        return tuple(self._listed)

    def dialect(self, name: str) -> Dialect:
        """Raises `UnknownDialectError`, which names the nearest."""
        listed = self._listed.get(name)
        if listed is None:
            from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

            raise UnknownDialectError(name, self.names, nearest(name, self.names))
        if name not in self._built:
            self._built[name] = listed.build(self._events, self._env)
        return self._built[name]

    def add(self, dialect: Dialect) -> None:
        """Read a host's own dialect too. Its hooks run after those of other agents and before Hookline's own."""
        own = self._listed.pop(self.home.name)
        self._listed |= {dialect.name: Listed("", always=True), self.home.name: own}
        self._built[dialect.name] = dialect

    def directory(
        self,
        cwd: str,
        names: Sequence[str] | None = None,
        *,
        without: str | None = None,
        trust: "Trust | None" = None,
    ) -> Loaded:
        """Managed hooks first, then the dialects in their order.

        `without` leaves out a dialect whose agent runs its hooks itself. Without `trust` everything counts as trusted.
        """
        loaded = Loaded()
        for name in self.names if names is None else names:
            if name == without and self.dialect(name).has_agent:
                continue
            if names is not None or self._may_be_used(name, cwd):
                loaded += _without_files_of(loaded, self._of_directory(self.dialect(name), cwd, trust))
        if names is not None and self.home.name not in names:
            loaded = replace(loaded, disabled=self._disabled(cwd, trust))
        elif self._in_fleet():
            from hookline.config.bundles.load import bundles_in_force  # noqa: PLC0415 few machines have bundles

            loaded += bundles_in_force(self, cwd, self._env, trust)
        return _managed_first(_switched_off(loaded, every_hook=names is None and without is None))

    def files(self, files: Sequence[str], name: str | None = None, *, trust: "Trust | None" = None) -> Loaded:
        """Exactly these files. Those of one dialect are its layers.

        They count as trusted, because the user named them; with `trust` they need it as files of a project do.
        """
        by_dialect: dict[str, list[str]] = {}
        for file in files:
            by_dialect.setdefault(name or self.whose(file), []).append(file)
        loaded = Loaded()
        for whose, own in by_dialect.items():
            dialect = self.dialect(whose)
            places = [Place(file, "project" if trust else _scope_of(dialect, file)) for file in own]
            loaded += self._read(dialect, places, tuple(own), trust=trust)
        return _managed_first(loaded)

    def read(self, name: str, places: Sequence[Place]) -> Loaded:
        """Exactly these places as the layers of one dialect, each in its scope; they count as trusted."""
        return self._read(self.dialect(name), places, tuple(place.file for place in places))

    def document(self, document: Document, scope: Scope = "flag", name: str | None = None) -> Loaded:
        """The hooks of a document that was read already, in Hookline's own format or that of a dialect."""
        dialect = self.home if name is None else self.dialect(name)
        reading = dialect.read([Layer(Place(document.file, scope), document)], self._tools())
        return Loaded(reading.hooks, reading.diagnostics)

    def beside_settings(self, name: str, cwd: str, document: Document) -> Loaded:
        """The hooks of a document that is not a settings file; the agent's settings may disable or limit them."""
        dialect = self.dialect(name)
        places = [place for place in dialect.find(cwd, self._env) if is_there(place.file)]
        layers = [layer_of(dialect, place) for place in places]
        reading = dialect.read([*layers, Layer(Place(document.file, "session"), document)], self._tools())
        return Loaded(
            tuple(hook for hook in reading.hooks if hook.where.file == document.file),
            tuple(each for each in reading.diagnostics if each.where.file == document.file),
        )

    def name_files(self, files: Sequence[str], name: str) -> None:
        """Say which dialect files are written in, where their paths do not. Raises UnknownDialectError."""
        self._named_files |= {os.path.abspath(file): self.dialect(name).name for file in files}

    def whose(self, file: str) -> str:
        """The dialect a file is written in: as it was said, by its path, then by its shape.

        Where none or several shapes fit it is Hookline's own, whose reader says what is wrong.
        """
        path = os.path.abspath(file).replace(os.sep, "/")
        if path in self._named_files:
            return self._named_files[path]
        dialects = [self.dialect(name) for name in self.names]
        by_path = next((each.name for each in dialects if each.owns(path)), None)
        if by_path is not None:
            return by_path
        value = read_file(file).value
        by_shape = [each.name for each in dialects if value is not None and each.recognises(value)]
        return by_shape[0] if len(by_shape) == 1 else OWN_FORMAT

    def places(self, cwd: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Every file that could hold hooks for this directory, whether it exists or not."""
        wanted = self.names if names is None else names
        found = [place.file for name in wanted for place in self.dialect(name).find(cwd, self._env)]
        if self.home.name in wanted:
            found += self.bundle_places()
        return tuple(dict.fromkeys(found))

    def bundle_places(self) -> tuple[str, ...]:
        """The files that change when other bundles of a fleet are in force."""
        if not self._in_fleet():
            return ()
        from hookline.config.bundles.load import bundle_files  # noqa: PLC0415 as above

        return bundle_files(self._env)

    def dormant(
        self, cwd: str, names: Sequence[str] | None = None, trust: "Trust | None" = None
    ) -> "DormantHooks":
        """Hooks for this directory that are configured and not in force."""
        from hookline.config.dormant import dormant_hooks  # noqa: PLC0415 only for commands that show them

        used = [name for name in self.names if self._may_be_used(name, cwd)] if names is None else names
        return dormant_hooks(self, [self.dialect(name) for name in used], cwd, self._env, trust)

    def _of_directory(self, dialect: Dialect, cwd: str, trust: "Trust | None") -> Loaded:
        places = self._places(dialect, cwd, trust)
        there = {place.file: place for place in reversed(places) if is_there(place.file)}
        # In a home directory that is also the project one file is two layers: it is read once, as the first.
        once = [place for place in places if there.get(place.file) is place]
        loaded = self._read(dialect, once, tuple(place.file for place in places), cwd, trust)
        return loaded + self._unused(trust) if dialect is self.home else loaded

    def _unused(self, trust: "Trust | None") -> Loaded:
        """Report files that a variable leads to and that are not read: the user may rely on the guards in them."""
        files = [
            file for file in unused_files(self._env) if trust is None or not trust.is_foreign(file, "user")
        ]
        if not files:
            return Loaded()
        own = user_directory(self._env) or ""
        layers = [Layer(Place(file, "user"), unused_document(file, own)) for file in files]
        reading = self.home.read(layers, self._tools())
        found = [Found(file, self.home.name, "user", unreadable=True) for file in files]
        return Loaded(reading.hooks, reading.diagnostics, tuple(found))

    def _places(self, dialect: Dialect, cwd: str, trust: "Trust | None") -> Sequence[Place]:
        """A variable may name a place of the user inside the project: what is there is the project's."""
        places = dialect.find(cwd, self._env)
        if trust is None:
            return places
        return [
            Place(place.file, "project")
            if place.scope == "user" and trust.is_foreign(place.file, "user")
            else place
            for place in places
        ]

    def _read(
        self,
        dialect: Dialect,
        places: Sequence[Place],
        looked_for: tuple[str, ...],
        cwd: str | None = None,
        trust: "Trust | None" = None,
    ) -> Loaded:
        """Exactly these places, and in a directory also what plugins bring."""
        layers = [layer_of(dialect, place) for place in places]
        plugins = Plugins() if cwd is None else self.plugins(dialect, cwd, layers, trust)
        layers += [layer_of(dialect, place) for place in plugins.places]
        reading = dialect.read(layers, self._tools())
        held: Sequence[Layer] = ()
        loosening: tuple[TrustItem, ...] = ()
        if trust is not None and any(_is_foreign(layer, trust) for layer in layers):
            held, loosening = _held_back(dialect, layers, reading, trust)
            if held:
                reading = self._read_apart(dialect, layers, held, reading)
                for layer in layers:
                    # They were read again, and it is these that are asked about from now on.
                    trust.register(layer.document, reading.hooks, dialect.project_variables, layer.place.root)
        untrusted = {layer.place.file for layer in held}
        found = tuple(
            Found(
                layer.place.file,
                dialect.name,
                layer.place.scope,
                layer.place.file in untrusted,
                layer.document.value is None and bool(layer.document.diagnostics),
            )
            for layer in layers
            if layer.place.file not in reading.unused
        )
        diagnostics = plugins.diagnostics + reading.diagnostics
        return Loaded(reading.hooks, diagnostics, found, looked_for, loosening, reading.disabled)

    def plugins(
        self, dialect: Dialect, cwd: str, settings: Sequence[Layer], trust: "Trust | None" = None
    ) -> Plugins:
        """What plugins bring. Settings that the user has not trusted switch no plugin on or off."""
        found = dialect.plugins(cwd, self._env, settings, read_file)
        foreign = trust is not None and any(_is_foreign(layer, trust) for layer in settings)
        if trust is None or not foreign or not (found.places or found.off):
            return found
        held, _ = _held_back(dialect, settings, dialect.read(settings, self._tools()), trust)
        counted = [layer for layer in settings if layer not in held]
        return dialect.plugins(cwd, self._env, counted, read_file) if held else found

    def _read_apart(
        self, dialect: Dialect, layers: Sequence[Layer], held: Sequence[Layer], together: Reading
    ) -> Reading:
        """The hooks of all layers, but the untrusted ones replace and switch off nothing of the others."""
        apart = {layer.place.file for layer in held}
        others = [layer for layer in layers if layer.place.file not in apart]
        alone = dialect.read(others, self._tools())
        hooks, unused = list(alone.hooks), list(alone.unused)
        for layer in held:
            file = layer.place.file
            rest = [each for each in layers if each is layer or each.place.file not in apart]
            with_it = dialect.read(rest, self._tools())
            hooks += [hook for hook in with_it.hooks if hook.where.file == file]
            unused += [each for each in with_it.unused if each == file]
        diagnostics = [one for one in together.diagnostics if not _is_untrue(one, hooks)]
        return replace(together, hooks=tuple(hooks), diagnostics=tuple(diagnostics), unused=tuple(unused))

    def _disabled(self, cwd: str, trust: "Trust | None") -> tuple[Disabled, ...]:
        """What the user's own files switch off, where they are not read for their hooks."""
        places = [place for place in self._places(self.home, cwd, trust) if place.scope == "user"]
        layers = [Layer(place, read_file(place.file)) for place in places if is_there(place.file)]
        return self.home.read(layers, self._tools()).disabled

    def _in_fleet(self) -> bool:
        """Whether this machine or user takes bundles of a fleet."""
        return any(map(is_there, fleet_files(self._env)))

    def _tools(self) -> Tools:
        return Tools(self._handlers, *self.home.tables())

    def _may_be_used(self, name: str, cwd: str) -> bool:
        """Whether anything of the agent is there: most people have one or two of them."""
        listed = self._listed[name]
        if listed.always or any(self._env.get(variable) for variable in listed.variables):
            return True
        if any(is_there(path) for path in listed.system_paths):
            return True
        home = self._env.get("HOME", "")
        return any(_is_above(marker, cwd, home) for marker in listed.markers)


def _is_foreign(layer: Layer, trust: "Trust") -> bool:
    return trust.is_foreign(layer.place.file, layer.place.scope)


def _held_back(
    dialect: Dialect, layers: Sequence[Layer], reading: Reading, trust: "Trust"
) -> tuple[Sequence[Layer], tuple[TrustItem, ...]]:
    """The layers that the user has not trusted in all they do, and the settings of all that change other layers."""
    held: list[Layer] = []
    loosening: list[TrustItem] = []
    for layer in layers:
        if not _is_foreign(layer, trust):
            continue
        document, file = layer.document, layer.place.file
        hooks = [hook for hook in reading.hooks if hook.where.file == file]
        trust.register(document, hooks, dialect.project_variables, layer.place.root)
        value: Any = document.value
        facts: Mapping[str, Any] = (
            dialect.loosens(file, cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}
        )
        settings = [trust.settings_item(document.where(), dialect.loosening, facts)] if facts else []
        loosening += settings
        if trust.hashes:
            trust.accept_hashes([*(trust.item(hook) for hook in hooks), *settings])
        if not all(trust.status(hook).runs or hook.mode == "off" for hook in hooks) or not all(
            map(trust.allows, settings)
        ):
            held.append(layer)
    return held, tuple(loosening)


def _is_untrue(one: Diagnostic, hooks: Sequence[Hook]) -> bool:
    """Whether hooks that are said to be replaced are among these."""
    path = one.where.path
    return one.code == "replaced" and any(
        hook.where.file == one.where.file and hook.where.path[: len(path)] == path for hook in hooks
    )


def _scope_of(dialect: Dialect, file: str) -> Scope:
    """Paths in the hooks of a plugin are relative to the plugin."""
    ending = f"/{dialect.plugin_file}"
    return "plugin" if dialect.plugin_file and os.path.abspath(file).endswith(ending) else "flag"


def _is_above(folder: str, cwd: str, home: str) -> bool:
    directory = os.path.abspath(cwd)
    while True:
        if is_there(os.path.join(directory, folder)):
            return True
        parent = os.path.dirname(directory)
        if parent == directory:
            return bool(home) and is_there(os.path.join(home, folder))
        directory = parent


def _without_files_of(before: Loaded, later: Loaded) -> Loaded:
    """What was loaded later, without the hooks of files that an earlier dialect has read: they would run twice."""
    known = {found.file: found.dialect for found in before.found}
    twice = [found for found in later.found if found.file in known]
    if not twice:
        return later
    notes = [
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
    # The earlier dialect has reported what is wrong with such a file, but not what only this agent does with it.
    others = (one for one in later.diagnostics if one.where.file not in known or one.code in _ABOUT_ONE_AGENT)
    return replace(later, hooks=hooks, diagnostics=(*others, *notes))


def _switched_off(loaded: Loaded, *, every_hook: bool) -> Loaded:
    """`every_hook`: no hooks were left out, so a name that none of them has is a mistake."""
    if not loaded.disabled:
        return loaded
    from hookline.config.disable import disable_problems, switched_off  # noqa: PLC0415 few users have a list

    problems = disable_problems(loaded.hooks, loaded.disabled) if every_hook else ()
    hooks = switched_off(loaded.hooks, loaded.disabled)
    return replace(loaded, hooks=hooks, diagnostics=(*loaded.diagnostics, *problems))


def _managed_first(loaded: Loaded) -> Loaded:
    ordered = sorted(loaded.hooks, key=lambda hook: hook.scope != "managed")
    return replace(loaded, hooks=tuple(ordered))
