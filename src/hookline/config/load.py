"""Load everything that is configured for a directory, in every dialect, in the order it runs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Unpack, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine, EngineOptions
from hookline.dialects.dialect import (
    ConfigPath,
    Dialect,
    Disabled,
    Followed,
    HomeDialect,
    Layer,
    LoadedHooks,
    Plugins,
    Tools,
    unused_files,
    upward,
    user_directory,
)
from hookline.dialects.files import fleet_files, layer_of, read_file, unused_document
from hookline.dialects.registry import OWN_FORMAT, Listed, searched_directories, standard_dialects
from hookline.disk import DISK, Disk
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

#: Codes of findings about one agent's handling of a file that another one reads as well.
_ABOUT_ONE_AGENT = frozenset({"not-inherited"})


class Found(Struct, frozen=True):
    """A configuration file that exists."""

    file: str
    dialect: str
    scope: Scope
    #: The user has not trusted everything in it, so it changes nothing of other files.
    needs_trust: bool = False
    #: It could not be read as a document at all, so its hooks are unknown.
    unreadable: bool = False


class Loaded(Struct, frozen=True):
    """Hooks in the order they run, the files they came from, and all errors of those.

    ::

        loaded = engine.load(cwd)
        if loaded.errors:
            sys.exit("; ".join(map(str, loaded.errors)))
    """

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    found: tuple[Found, ...] = ()
    #: Every file that was searched for.
    searched: tuple[str, ...] = ()
    #: Settings of a project that change hooks of other files, such as switching them off.
    loosening: tuple[TrustItem, ...] = ()
    #: The hooks that the user's own file switches off, by name.
    disabled: tuple[Disabled, ...] = ()
    #: The hooks of other agents' formats that follow actions.
    followed: tuple[Followed, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are errors: their entries do not run."""
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The files that could not be read at all."""
        return tuple(each.file for each in self.found if each.unreadable)

    def __add__(self, other: "Loaded") -> "Loaded":
        return Loaded(
            self.hooks + other.hooks,
            self.diagnostics + other.diagnostics,
            self.found + other.found,
            self.searched + other.searched,
            self.loosening + other.loosening,
            self.disabled + other.disabled,
            self.followed + other.followed,
        )


class Installation(Struct, frozen=True, eq=False):
    """An engine whose hooks come from files."""

    engine: Engine
    cwd: str
    loaded: Loaded

    @property
    def found(self) -> tuple[Found, ...]:
        """The files with their dialects; `needs_trust` shows if the user has trusted them."""
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

    `dialects` names the formats to read instead, `files` exactly the files. A project's hooks run only if the
    user trusts them, or with `trust`: then you trust the project. Further options are the engine's. Nothing
    is raised for a mistake in a configuration: it is a diagnostic with file, line and fix. ::

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
        disk: Disk = DISK,
    ) -> None:
        self.home = home
        self.disk = disk
        self._events = events
        self._handlers = handlers
        self._listed = dict(standard_dialects())
        self._built: dict[str, Dialect] = {home.name: home}
        self._env = dict(os.environ) if env is None else env

    def through(self, disk: Disk) -> "Loader":
        """Return the same loader, which reads files through another disk. Its dialects are shared."""
        other = copy(self)
        other.disk = disk
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """The names of every dialect, in the order their lanes run."""
        return tuple(self._listed)

    def dialect(self, name: str) -> Dialect:
        """Return the dialect. Raises `UnknownDialectError`, which names the nearest."""
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
        """Load managed hooks first, then the dialects in their order.

        `without` leaves out a dialect whose agent runs its hooks itself. Without `trust` everything is
        treated as trusted.
        """
        loaded = Loaded()
        for name in self._used(cwd) if names is None else names:
            if name == without and self.dialect(name).has_agent:
                continue
            loaded += _without_files_of(loaded, self._of_directory(self.dialect(name), cwd, trust))
        if names is not None and self.home.name not in names:
            own = self._own_settings(cwd, trust)
            loaded = replace(loaded, disabled=own.disabled, followed=own.followed)
        elif self._in_fleet():
            from hookline.config.bundles.load import bundles_in_force  # noqa: PLC0415 few machines have bundles

            loaded += bundles_in_force(self, cwd, self._env, trust)
        if loaded.followed:
            loaded = self._following(loaded, cwd, without, trust)
        return _managed_first(_switched_off(loaded, every_hook=names is None and without is None))

    def _following(self, loaded: Loaded, cwd: str, without: str | None, trust: "Trust | None") -> Loaded:
        """Let hooks of other formats follow actions; those of the calling agent for calls that they do not match."""
        from hookline.config.change_hooks import following  # noqa: PLC0415 few users have the setting

        own = self.home.name
        loaded = replace(loaded, hooks=following(loaded.hooks, loaded.followed, own))
        if without is None or without == own or not self.dialect(without).has_agent:
            return loaded
        agents = self._of_directory(self.dialect(without), cwd, trust)
        hooks = following(agents.hooks, loaded.followed, own, "others")
        more = replace(agents, hooks=tuple(hook for hook in hooks if hook.actions == "others"))
        return loaded + _without_files_of(loaded, more)

    def files(self, files: Sequence[str], name: str | None = None, *, trust: "Trust | None" = None) -> Loaded:
        """Load exactly these files. Those of one dialect are its layers.

        They are treated as trusted, because the user named them; with `trust` they need it as files of a
        project do.
        """
        by_dialect: dict[str, list[str]] = {}
        for file in files:
            by_dialect.setdefault(name or self.whose(file), []).append(file)
        loaded = Loaded()
        for whose, own in by_dialect.items():
            dialect = self.dialect(whose)
            config_paths = [
                ConfigPath(file, "project") if trust else _named_path(dialect, file, self.disk)
                for file in own
            ]
            loaded += self._read(dialect, config_paths, tuple(own), trust=trust)
        return _managed_first(loaded)

    def read(self, name: str, config_paths: Sequence[ConfigPath]) -> Loaded:
        """Load exactly these files as the layers of one dialect, each in its scope; they are treated as
        trusted."""
        return self._read(
            self.dialect(name), config_paths, tuple(config_path.file for config_path in config_paths)
        )

    def document(self, document: Document, scope: Scope = "flag", name: str | None = None) -> Loaded:
        """Return the hooks of a document that was read already, in Hookline's own format or that of a
        dialect."""
        dialect = self.home if name is None else self.dialect(name)
        reading = dialect.read([Layer(ConfigPath(document.file, scope), document)], self._tools())
        return Loaded(reading.hooks, reading.diagnostics)

    def beside_settings(self, name: str, cwd: str, document: Document) -> Loaded:
        """Return the hooks of a document that is not a settings file; the agent's settings may disable or
        limit them."""
        dialect = self.dialect(name)
        config_paths = [
            each for each in dialect.find(cwd, self._env, self.disk) if self.disk.is_there(each.file)
        ]
        layers = [layer_of(dialect, config_path, self.disk) for config_path in config_paths]
        reading = dialect.read(
            [*layers, Layer(ConfigPath(document.file, "session"), document)], self._tools()
        )
        return Loaded(
            tuple(hook for hook in reading.hooks if hook.where.file == document.file),
            tuple(each for each in reading.diagnostics if each.where.file == document.file),
        )

    def whose(self, file: str) -> str:
        """Return the dialect of a file: by its path, then by its shape.

        Where none or several shapes match it is Hookline's own, whose reader reports the errors.
        """
        path = os.path.abspath(file).replace(os.sep, "/")
        dialects = [self.dialect(name) for name in self.names]
        by_path = next((each.name for each in dialects if each.owns(path)), None)
        if by_path is not None:
            return by_path
        from hookline.dialects.plugin_files import plugin_dialect  # noqa: PLC0415 only for files that are named

        of_plugin = plugin_dialect(dialects, path, self.disk)
        if of_plugin is not None:
            return of_plugin.name
        value = read_file(file, disk=self.disk).value
        by_shape = [each.name for each in dialects if value is not None and each.recognises(value)]
        return by_shape[0] if len(by_shape) == 1 else OWN_FORMAT

    def config_files(self, cwd: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """List every file that could hold hooks for this directory, existing or not."""
        wanted = self.names if names is None else names
        found = [
            config_path.file
            for name in wanted
            for config_path in self.dialect(name).find(cwd, self._env, self.disk)
        ]
        if self.home.name in wanted:
            found += self.bundle_files()
        return tuple(dict.fromkeys(found))

    def bundle_files(self) -> tuple[str, ...]:
        """List the files that change when other bundles of a fleet are active."""
        if not self._in_fleet():
            return ()
        from hookline.config.bundles.load import bundle_files  # noqa: PLC0415 as above

        return bundle_files(self._env, self.disk)

    def dormant(
        self, cwd: str, names: Sequence[str] | None = None, trust: "Trust | None" = None
    ) -> "DormantHooks":
        """Find hooks for this directory that are configured and not active."""
        from hookline.config.dormant import dormant_hooks  # noqa: PLC0415 only for commands that show them

        if names is None:
            there = self._used(cwd)
            used = [name for name in self.names if name in there or self._is_plugin(name, cwd)]
        else:
            used = list(names)
        return dormant_hooks(self, [self.dialect(name) for name in used], cwd, self._env, trust)

    def used(self, cwd: str) -> Iterator[Dialect]:
        """Yield the dialects of the agents that are used in this directory; the others are not even built."""
        for name in self._used(cwd):
            yield self.dialect(name)

    def _used(self, cwd: str) -> list[str]:
        directories = searched_directories(cwd, self._env)
        return [name for name in self.names if self._listed[name].is_used(directories, self._env, self.disk)]

    def _is_plugin(self, name: str, cwd: str) -> bool:
        """Return True if the directory, or one above it in the repository, is a plugin of the agent or lists some."""
        listed = self._listed[name]
        return any(
            self.disk.is_there(os.path.join(each, manifest))
            for manifest in (listed.plugin_manifest, listed.plugin_list)
            if manifest
            for each in upward(os.path.abspath(cwd), self.disk)
        )

    def _of_directory(self, dialect: Dialect, cwd: str, trust: "Trust | None") -> Loaded:
        places = self._places(dialect, cwd, trust)
        there = {place.file: place for place in reversed(places) if self.disk.is_there(place.file)}
        # In a home directory that is also the project one file is two layers: it is read once, as the first.
        once = [place for place in places if there.get(place.file) is place]
        loaded = self._read(dialect, once, tuple(place.file for place in places), cwd, trust)
        return loaded + self._unused(trust) if dialect is self.home else loaded

    def _unused(self, trust: "Trust | None") -> Loaded:
        """Report files that a variable leads to and that are not read: the user may rely on the guards in
        them."""
        files = [
            file
            for file in unused_files(self._env, self.disk)
            if trust is None or not trust.is_foreign(file, "user")
        ]
        if not files:
            return Loaded()
        own = user_directory(self._env) or ""
        layers = [Layer(ConfigPath(file, "user"), unused_document(file, own)) for file in files]
        reading = self.home.read(layers, self._tools())
        found = [Found(file, self.home.name, "user", unreadable=True) for file in files]
        return Loaded(reading.hooks, reading.diagnostics, tuple(found))

    def _places(self, dialect: Dialect, cwd: str, trust: "Trust | None") -> Sequence[ConfigPath]:
        """List the files; one that a variable names inside the project is the project's."""
        config_paths = dialect.find(cwd, self._env, self.disk)
        if trust is None:
            return config_paths
        return [
            ConfigPath(config_path.file, "project")
            if config_path.scope == "user" and trust.is_foreign(config_path.file, "user")
            else config_path
            for config_path in config_paths
        ]

    def _read(
        self,
        dialect: Dialect,
        config_paths: Sequence[ConfigPath],
        searched: tuple[str, ...],
        cwd: str | None = None,
        trust: "Trust | None" = None,
    ) -> Loaded:
        """Read exactly these files, and in a directory also those of plugins."""
        layers = [layer_of(dialect, config_path, self.disk) for config_path in config_paths]
        plugins = Plugins() if cwd is None else self.plugins(dialect, cwd, layers, trust)
        layers += [layer_of(dialect, place, self.disk) for place in plugins.config_paths]
        reading = dialect.read(layers, self._tools())
        held: Sequence[Layer] = ()
        loosening: tuple[TrustItem, ...] = ()
        if trust is not None and any(_is_foreign(layer, trust) for layer in layers):
            held, loosening = _held_back(dialect, layers, reading, trust)
            if held:
                reading = self._read_apart(dialect, layers, held, reading)
                for layer in layers:
                    # They were read again, and these are used from now on.
                    trust.register(
                        layer.document, reading.hooks, dialect.project_variables, layer.config_path.root
                    )
        untrusted = {layer.config_path.file for layer in held}
        found = tuple(
            Found(
                layer.config_path.file,
                dialect.name,
                layer.config_path.scope,
                layer.config_path.file in untrusted,
                layer.document.value is None and bool(layer.document.diagnostics),
            )
            for layer in layers
            if layer.config_path.file not in reading.unused
        )
        diagnostics = plugins.diagnostics + reading.diagnostics
        return Loaded(
            reading.hooks, diagnostics, found, searched, loosening, reading.disabled, reading.followed
        )

    def plugins(
        self, dialect: Dialect, cwd: str, settings: Sequence[Layer], trust: "Trust | None" = None
    ) -> Plugins:
        """Return the files of plugins. Settings that the user has not trusted switch no plugin on or off."""
        found = dialect.plugins(cwd, self._env, settings, self.disk)
        foreign = trust is not None and any(_is_foreign(layer, trust) for layer in settings)
        if trust is None or not foreign or not (found.config_paths or found.off):
            return found
        held, _ = _held_back(dialect, settings, dialect.read(settings, self._tools()), trust)
        counted = [layer for layer in settings if layer not in held]
        return dialect.plugins(cwd, self._env, counted, self.disk) if held else found

    def _read_apart(
        self, dialect: Dialect, layers: Sequence[Layer], held: Sequence[Layer], together: LoadedHooks
    ) -> LoadedHooks:
        """Read the hooks of all layers; the untrusted ones replace and switch off nothing of the others."""
        apart = {layer.config_path.file for layer in held}
        others = [layer for layer in layers if layer.config_path.file not in apart]
        alone = dialect.read(others, self._tools())
        hooks, unused = list(alone.hooks), list(alone.unused)
        for layer in held:
            file = layer.config_path.file
            rest = [each for each in layers if each is layer or each.config_path.file not in apart]
            with_it = dialect.read(rest, self._tools())
            hooks += [hook for hook in with_it.hooks if hook.where.file == file]
            unused += [each for each in with_it.unused if each == file]
        diagnostics = [one for one in together.diagnostics if not _is_untrue(one, hooks)]
        return replace(together, hooks=tuple(hooks), diagnostics=tuple(diagnostics), unused=tuple(unused))

    def _own_settings(self, cwd: str, trust: "Trust | None") -> LoadedHooks:
        """Return which hooks the user's own files switch off or let follow actions, where these are not read for
        their hooks."""
        places = [place for place in self._places(self.home, cwd, trust) if place.scope == "user"]
        there = [place for place in places if self.disk.is_there(place.file)]
        layers = [Layer(place, read_file(place.file, disk=self.disk)) for place in there]
        return self.home.read(layers, self._tools())

    def _in_fleet(self) -> bool:
        """Return True if this machine or user takes bundles of a fleet."""
        return any(map(self.disk.is_there, fleet_files(self._env)))

    def _tools(self) -> Tools:
        return Tools(self._handlers, *self.home.tables())


def _is_foreign(layer: Layer, trust: "Trust") -> bool:
    return trust.is_foreign(layer.config_path.file, layer.config_path.scope)


def _held_back(
    dialect: Dialect, layers: Sequence[Layer], reading: LoadedHooks, trust: "Trust"
) -> tuple[Sequence[Layer], tuple[TrustItem, ...]]:
    """Return the layers that the user has not trusted in all they do, and the settings of all that change
    other layers."""
    held: list[Layer] = []
    loosening: list[TrustItem] = []
    for layer in layers:
        if not _is_foreign(layer, trust):
            continue
        document, file = layer.document, layer.config_path.file
        hooks = [hook for hook in reading.hooks if hook.where.file == file]
        trust.register(document, hooks, dialect.project_variables, layer.config_path.root)
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
    """Return True if hooks that were reported as replaced are among these."""
    path = one.where.path
    return one.code == "replaced" and any(
        hook.where.file == one.where.file and hook.where.path[: len(path)] == path for hook in hooks
    )


def _named_path(dialect: Dialect, file: str, disk: Disk) -> ConfigPath:
    """Return a file with its scope: paths in the hooks of a plugin are relative to the plugin."""
    path, ending = os.path.abspath(file), f"/{dialect.plugin_file}"
    if not dialect.plugin_file or not path.endswith(ending):
        return ConfigPath(file, "flag")
    found = dialect.plugin_at(path.removesuffix(ending), disk)
    plugin = next((each.plugin for each in found if each.file == path), None)
    return ConfigPath(file, "plugin", plugin)


def _without_files_of(before: Loaded, later: Loaded) -> Loaded:
    """Remove the hooks of files that an earlier dialect has read from a later load: they would run twice."""
    known = {found.file: found.dialect for found in before.found}
    twice = [found for found in later.found if found.file in known]
    if not twice:
        return later
    notes = [
        Diagnostic(
            "info",
            "read-already",
            f"{found.dialect} reads this file too; its hooks run once, in the way of {known[found.file]}",
            Where(found.file),
            fix=f"choose {found.dialect} alone to run them its way",
        )
        for found in twice
        if any(hook.where.file == found.file for hook in later.hooks)
    ]
    hooks = tuple(hook for hook in later.hooks if hook.where.file not in known)
    # The earlier dialect has reported the errors of such a file, but not this agent's own handling.
    others = (one for one in later.diagnostics if one.where.file not in known or one.code in _ABOUT_ONE_AGENT)
    return replace(later, hooks=hooks, diagnostics=(*others, *notes))


def _switched_off(loaded: Loaded, *, every_hook: bool) -> Loaded:
    """Switch hooks off. `every_hook`: no hooks were left out, so an unknown name is a mistake."""
    if not loaded.disabled:
        return loaded
    from hookline.config.change_hooks import disable_problems, switched_off  # noqa: PLC0415 few users have a list

    problems = disable_problems(loaded.hooks, loaded.disabled) if every_hook else ()
    hooks = switched_off(loaded.hooks, loaded.disabled)
    return replace(loaded, hooks=hooks, diagnostics=(*loaded.diagnostics, *problems))


def _managed_first(loaded: Loaded) -> Loaded:
    ordered = sorted(loaded.hooks, key=lambda hook: hook.scope != "managed")
    return replace(loaded, hooks=tuple(ordered))
