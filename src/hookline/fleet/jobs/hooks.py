"""The hooks that this machine runs for the fleet: its own of `durable = "fleet"`, as its files and bundles say now.

A job names a hook by what it is and brings what the hook is told, never what is run. So another machine can only have
something run here that the user or the administrator of this one has configured for it.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final

from hookline.config.engine import Engine, hooks_of
from hookline.jobs.stored import StoredCall, fleet_key, goes_to_fleet
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook

#: Seconds for which what was read counts.
_FRESH: Final = 2.0


class FleetHooks:
    """Finds the hooks of jobs of the fleet, in a folder that no project has."""

    def __init__(self, engine: Engine, folder: str, note: Callable[[str], None]) -> None:
        """`engine` reads the files of this machine."""
        self._reader = self._engine = engine
        self._folder = folder
        self._note = note
        self._read_at = float("-inf")
        self._hooks: Mapping[str, Hook] = {}

    def __call__(self, stored: StoredCall) -> tuple[Engine, Hook] | str:
        """The hook of a job and an engine that has it; or why there is none."""
        hook = self.hooks().get(stored.fleet)
        if hook is None:
            return "this machine has no such hook any more, or not as it was"
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
