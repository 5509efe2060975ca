"""Find the hooks that this machine runs for the fleet: its own of `durable = "fleet"`, by its files and
bundles now.

A job identifies a hook by its definition and carries its payload, never a command. So another machine can
only run something here that this machine's user or administrator has configured.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final

from hookline.config.engine import Engine, hooks_of
from hookline.jobs.stored import StoredCall, fleet_key, goes_to_fleet
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook

#: Seconds for which hooks are cached.
_FRESH: Final = 2.0


class FleetHooks:
    """A finder of the hooks of fleet jobs, in a directory outside all projects."""

    def __init__(self, engine: Engine, directory: str, note: Callable[[str], None]) -> None:
        """Take `engine`, which reads the files of this machine."""
        self._reader = self._engine = engine
        self._folder = directory
        self._note = note
        self._read_at = float("-inf")
        self._hooks: Mapping[str, Hook] = {}

    def __call__(self, stored: StoredCall) -> tuple[Engine, Hook] | str:
        """Return the hook of a job with its engine; or why there is none."""
        hook = self.hooks().get(stored.fleet)
        if hook is None:
            return "this machine no longer has this hook, or has changed it"
        return self._engine, hook

    def hooks(self) -> Mapping[str, Hook]:
        if time.monotonic() - self._read_at > _FRESH:
            try:
                self._read()
            except HooklineError as problem:
                self._note(f"the hooks of this machine cannot be read, so those from before count: {problem}")
            self._read_at = time.monotonic()
        return self._hooks

    def _read(self) -> None:
        self._engine, found, _ = hooks_of(self._reader, self._folder)
        self._hooks = {
            fleet_key(hook): hook
            for hook in found
            if goes_to_fleet(hook) and hook.mode != "off" and hook.broken is None
        }
