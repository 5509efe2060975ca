"""The configuration other agents' hooks already have: found where that agent looks, read as it reads."""

import os
from collections.abc import Mapping, Sequence

from hookline.config.files import read_file
from hookline.config.loaded import Found, Loaded
from hookline.config.sources import upward
from hookline.dialects.dialect import Dialect, Layer, Place, Tools
from hookline.documents.document import Document
from hookline.model.hook import Scope


def load_dialect(dialect: Dialect, cwd: str, tools: Tools, env: Mapping[str, str]) -> Loaded:
    """Everything of one dialect for a directory and its user."""
    places = dialect.places(project_of(dialect, cwd), env)
    there = {place.file: place for place in reversed(places) if os.path.lexists(place.file)}
    # In a home directory that is also the project a file stands for two layers: it is read once, as the first.
    once = [place for place in places if there.get(place.file) is place]
    return _read(dialect, once, tools, tuple(place.file for place in places))


def load_dialect_files(dialect: Dialect, files: Sequence[str], tools: Tools) -> Loaded:
    """Exactly these files, which count as trusted, combined as the agent combines layers."""
    return _read(dialect, [Place(file, _scope_of(file)) for file in files], tools, tuple(files))


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


def _read(dialect: Dialect, places: Sequence[Place], tools: Tools, looked_for: tuple[str, ...]) -> Loaded:
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
