"""Find what an agent's settings say now that keeps it from asking Hookline in a directory."""

import os
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from hookline.checks.switches import switches_of
from hookline.config.install.self_calls import own_entries_marked
from hookline.config.load import Loader
from hookline.model.diagnostics import Diagnostic

#: Findings about every hook of an agent in a directory, and those about the hooks of one file.
_OF_ALL = ("hooks-off", "untrusted-folder")
_OF_ONE_FILE = ("disabled", "unlisted-project")


class Obstacle(Struct, frozen=True):
    """A setting by which an agent does not ask Hookline."""

    why: str
    #: When its file was last changed: it may be younger than a call.
    since: float


class SettingsHere(Struct, frozen=True):
    """Settings of one agent in one directory, as they are now."""

    obstacles: tuple[Obstacle, ...] = ()
    #: The first of Hookline's own entries, and the events that all of them are for.
    entry: str = ""
    events: frozenset[str] = frozenset()


class SettingsCache:
    """Settings of all agents, each read once for each directory."""

    def __init__(self, loader: Loader, env: Mapping[str, str]) -> None:
        self._loader = loader
        self._env = env
        self.at = cache(self._at)

    def _at(self, agent: str, directory: str) -> SettingsHere:
        if agent not in self._loader.names or not os.path.isabs(directory):
            return SettingsHere()
        loaded = self._loader.directory(directory, [agent])
        own = [
            hook for hook in own_entries_marked(loaded.hooks) if hook.calls_hookline and hook.dialect == agent
        ]
        dialect = self._loader.dialect(agent)
        found = [*switches_of(dialect, directory, self._env), *loaded.diagnostics]
        files = {hook.where.file for hook in own}
        obstacles = tuple(_obstacle(each) for each in found if _hinders(each, files))
        events = frozenset(event.name for hook in own for event in dialect.asked_at(hook.event))
        return SettingsHere(obstacles, str(own[0].where) if own else "", events)


def _hinders(finding: Diagnostic, files: set[str]) -> bool:
    """Return True unless entries of Hookline in another file are called all the same."""
    return finding.code in _OF_ALL or (finding.code in _OF_ONE_FILE and files <= {finding.where.file})


def _obstacle(finding: Diagnostic) -> Obstacle:
    fix = f"; fix: {finding.fix}" if finding.fix else ""
    try:
        since = os.stat(finding.where.file).st_mtime
    except OSError:
        since = 0.0
    return Obstacle(f"{finding.where}: {finding.message}{fix}", since)
