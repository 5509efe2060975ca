"""Which file a program name means."""

import os
from stat import S_ISREG

from hookline.handlers.spawn_failures import not_started
from hookline.model.raw import Broke


def find_program(name: str, path: str, cwd: str) -> str | Broke:
    """An absolute path. Names with a slash are taken from `cwd`; of `path` only absolute parts count.

    A part that is empty or relative means "wherever we happen to be", which lets a project put its own
    `git` in front of the real one.
    """
    if not name:
        return not_started("the name of the program is empty")
    if "/" in name:
        return os.path.join(cwd, name)
    unusable: str | None = None
    for part in path.split(":"):
        if not part.startswith("/"):
            continue
        candidate = f"{part}/{name}"
        try:
            mode = os.stat(candidate).st_mode
        except (OSError, ValueError):
            continue
        if S_ISREG(mode) and os.access(candidate, os.X_OK):
            return candidate
        unusable = unusable or candidate
    if unusable is not None:
        return not_started(f"{name!r} was found only as {unusable!r}, which is not an executable file")
    return not_started(
        f"no program {name!r} in PATH ({path!r})" if path else f"no program {name!r}: PATH is empty"
    )
