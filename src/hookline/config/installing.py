"""`hookline.load(cwd)`: the engine with everything that is configured for a directory, and what was found."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.config.embedding import Engine
from hookline.config.loaded import Found, Loaded
from hookline.model.diagnostics import Diagnostic


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
