"""Find the hooks of jobs that another process left: read the files again, and check trust again."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from hookline.jobs.stored import StoredCall, hook_key
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.config.engine import Engine

#: Seconds for which a project's configuration is cached: jobs come in batches.
_FRESH_SECONDS: Final = 1.0
#: Reads the hooks of a directory in a dialect, or of one file in it, with an engine that admits them by trust, and
#: names the files that it could not read.
ReadHooks = Callable[[str, str, str], "tuple[Engine, Sequence[Hook], Sequence[str]]"]


class ProjectHooks:
    """A finder of jobs' hooks in any project, as the files define them now."""

    def __init__(self, read: ReadHooks) -> None:
        self._read = read
        #: By directory, dialect and file: when it was read, the engine, the hooks by their keys, unreadable files.
        self._known: dict[tuple[str, str, str], tuple[float, Engine, Mapping[str, Hook], Sequence[str]]] = {}

    def __call__(self, stored: StoredCall) -> "tuple[Engine, Hook] | str":
        """Return the hook of a job with an engine that decides if it may run, or why there is none."""
        directories = (
            stored.directory,
            stored.info.cwd,
            stored.info.project_dir or "",
            # The user's own files are read in every directory; in their own they would be those of a project.
            os.sep if stored.scope in ("user", "managed") else os.path.dirname(stored.file),
        )
        looks = [(each, "") for each in dict.fromkeys(directories) if each and os.path.isdir(each)]
        if stored.scope == "flag" and stored.file:
            looks.append((os.path.dirname(stored.file), stored.file))
        for directory, file in looks:
            try:
                engine, hooks, unreadable = self._hooks(directory, stored.dialect, file)
            except HooklineError as problem:
                return f"its configuration cannot be read: {problem}"
            hook = hooks.get(stored.hook)
            if hook is not None:
                return engine, hook
            if stored.file in unreadable:
                return f"{stored.file} cannot be read; when it can, run `hookline jobs retry ID`"
        return f"{stored.file} no longer has this hook, or has changed it"

    def _hooks(
        self, directory: str, dialect: str, file: str
    ) -> "tuple[Engine, Mapping[str, Hook], Sequence[str]]":
        key = directory, dialect, file
        known = self._known.get(key)
        if known is None or time.monotonic() - known[0] > _FRESH_SECONDS:
            engine, hooks, unreadable = self._read(directory, dialect, file)
            by_key = {hook_key(hook): hook for hook in hooks if hook.in_background}
            known = self._known[key] = time.monotonic(), engine, by_key, unreadable
        return known[1:]
