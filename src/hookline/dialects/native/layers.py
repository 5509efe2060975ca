"""Native files layer upon layer: a project replaces the user's hooks event by event; local files add to both."""

import os
from collections.abc import Sequence

from hookline.dialects.dialect import Layer, Reading
from hookline.dialects.native.settings import NativeReader, NativeReading
from hookline.model.diagnostics import Diagnostic, Where


def read_layers(layers: Sequence[Layer], reader: NativeReader) -> Reading:
    """Of two formats in one place the first is read."""
    places: dict[str, list[Layer]] = {}
    for number, layer in enumerate(layers):
        # Files that were named one by one are all meant.
        found = layer.place.scope in ("user", "project", "local")
        key = layer.place.file.rpartition(".")[0] if found else f"{number}"
        places.setdefault(key, []).append(layer)
    readings: list[tuple[str, NativeReading]] = []
    diagnostics: list[Diagnostic] = []
    unused: list[str] = []
    for first, *others in places.values():
        files = [other.place.file for other in others]
        unused += files
        diagnostics += _two_formats(first.place.file, files)
        reading = reader.read(first.document, first.place.scope)
        diagnostics += reading.diagnostics
        readings.append((first.place.scope, reading))
    replaced = frozenset[str]().union(
        *(reading.events_named for scope, reading in readings if scope == "project")
    )
    user = [
        hook
        for scope, reading in readings
        for hook in reading.hooks
        if scope == "user" and hook.event.name not in replaced
    ]
    rest = [hook for scope, reading in _in_order(readings) for hook in reading.hooks if scope != "user"]
    return Reading((*user, *rest), tuple(diagnostics), tuple(unused))


def _in_order(readings: Sequence[tuple[str, NativeReading]]) -> list[tuple[str, NativeReading]]:
    """The project before what is local, wherever the files were found."""
    return sorted(readings, key=lambda each: each[0] == "local")


def _two_formats(first: str, others: Sequence[str]) -> list[Diagnostic]:
    """Two formats in one place are never intended, and guessing which one counts would silence hooks."""
    if not others:
        return []
    names = ", ".join(os.path.basename(other) for other in others)
    message = f"{names} is not read, because {os.path.basename(first)} stands beside it"
    fix = f"keep one of {os.path.basename(first)}, {names}"
    return [Diagnostic("error", "two-formats", message, Where(others[0]), fix=fix)]
