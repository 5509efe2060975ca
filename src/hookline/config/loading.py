"""All native configuration for a directory, layer upon layer.

The project replaces the user's hooks event by event; what is local is added to both.
"""

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from hookline.config.files import read_file
from hookline.config.sources import Source, native_sources
from hookline.dialects.native.config import NativeReader, NativeReading
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.hook import Hook, Scope


class Loaded(Struct, frozen=True):
    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[Source, ...] = ()
    #: Files that could not be read at all, so that nobody knows what they wanted.
    unreadable: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")


def load_native(
    cwd: str, reader: NativeReader, *, env: Mapping[str, str] | None = None, home: str | None = None
) -> Loaded:
    """What is in force in this directory, and everything that is wrong with it."""
    sources = native_sources(cwd, env, home)
    layers: dict[str, list[NativeReading]] = {"user": [], "project": [], "local": []}
    diagnostics: list[Diagnostic] = []
    for source in sources:
        if source.files:
            diagnostics.extend(_side_by_side(source))
            reading = reader.read(read_file(source.files[0]), source.scope)
            layers[source.layer].append(reading)
            diagnostics.extend(reading.diagnostics)
    replaced = frozenset[str]().union(*(reading.events_named for reading in layers["project"]))
    user = [hook for reading in layers["user"] for hook in reading.hooks if hook.event.name not in replaced]
    rest = [hook for layer in ("project", "local") for reading in layers[layer] for hook in reading.hooks]
    return Loaded((*user, *rest), tuple(diagnostics), sources)


def load_files(files: Sequence[str], reader: NativeReader, scope: Scope = "flag") -> Loaded:
    """Exactly these files, in their order, each added to the ones before."""
    readings = [reader.read(read_file(file), scope) for file in files]
    return Loaded(
        tuple(hook for reading in readings for hook in reading.hooks),
        tuple(diagnostic for reading in readings for diagnostic in reading.diagnostics),
    )


def _side_by_side(source: Source) -> list[Diagnostic]:
    """Two formats in one place are never what somebody meant, and guessing would silence hooks."""
    first, *others = source.files
    if not others:
        return []
    names = ", ".join(os.path.basename(other) for other in others)
    message = f"{names} is not read, because {os.path.basename(first)} stands beside it"
    fix = f"keep one of {os.path.basename(first)}, {names}"
    return [Diagnostic("error", "two-formats", message, Where(others[0]), fix=fix)]
