"""The native configuration of a directory, layer upon layer.

The project replaces the user's hooks event by event; what is local is added to both.
"""

import os
from collections.abc import Mapping

from hookline.config.files import read_file
from hookline.config.loaded import Found, Loaded
from hookline.config.sources import Source, native_sources
from hookline.dialects.native.config import NativeReader, NativeReading
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.hook import Scope


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
