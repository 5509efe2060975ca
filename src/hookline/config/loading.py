"""Everything that is configured for a directory, in every dialect, in the order it runs."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.config.loaded import Loaded
from hookline.config.native import load_native, load_native_file
from hookline.config.recognising import NATIVE, dialect_of
from hookline.config.sources import native_sources
from hookline.dialects.native.home import NativeHome
from hookline.dialects.registry import Listed, standard_dialects
from hookline.handlers.registry import Handler
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.errors import UnknownDialectError

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.documents.document import Document


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
        # Only here: few have such documents.
        from hookline.config.foreign import document_of_session  # noqa: PLC0415 see above
        from hookline.dialects.dialect import Tools  # noqa: PLC0415 see above

        tools = Tools(self._handlers, *self._tables())
        return document_of_session(self.dialect(name), document, cwd, tools, self._env)

    def whose(self, file: str) -> str:
        """The name of the dialect a file is written in."""
        return dialect_of(file, (self.dialect(each) for each in self._listed))

    def places(self, cwd: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Every file that could hold hooks for this directory, of every dialect, there or not."""
        from hookline.config.foreign import project_of  # noqa: PLC0415 only for who watches

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
        # Only here: who has no other agent's hooks does not pay for reading them.
        from hookline.config.foreign import load_dialect, load_dialect_files  # noqa: PLC0415 see above
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
