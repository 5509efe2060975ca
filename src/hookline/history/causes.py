"""Find the likely cause of each missed call from the calls around it and from the settings of its agent."""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from msgspec import Struct

from hookline.checks.switches import switches_of
from hookline.config.install.self_calls import own_entries_marked
from hookline.config.load import Loader
from hookline.dialects.registry import standard_dialects
from hookline.history.coverage import CoverageTotals, CoveredSession, MissedCall
from hookline.model.diagnostics import Diagnostic

Cause = Literal[
    "untrusted", "settings", "flag", "other agent", "installed later", "headless run", "subagent", "directory",
    "tool name", "event", "unknown",
]  # fmt: skip

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


class Explained(Struct, frozen=True):
    """A missed call with its likely cause and the evidence for it."""

    missed: MissedCall
    cause: Cause
    why: str


class Causes:
    """Totals of all sessions, from which causes are inferred."""

    def __init__(
        self, sightings: CoverageTotals, callers: Mapping[str, str], settings: SettingsCache
    ) -> None:
        """Take `callers`: by agent, its name in the journal."""
        self._sightings = sightings
        self._settings = settings
        self._callers = callers
        seen = [each for each in sightings.sessions.values() if each.main or each.subagents]
        self._attended = {each.agent for each in seen if each.headless is False}
        self._projects = {(each.agent, each.began_in) for each in seen}
        self._agents = {each.agent for each in seen}
        #: By agent and project: when a call last reached Hookline.
        self._last: dict[tuple[str, str], float] = {}
        for each in seen:
            place = (each.agent, each.began_in)
            self._last[place] = max(self._last.get(place, 0.0), each.last)
        #: By agent, project, and if a user was there: when sessions reached Hookline, from and to.
        self._reached: dict[tuple[str, str, bool | None], tuple[float, float]] = {}
        for each in seen:
            kind = (each.agent, each.began_in, each.headless)
            first, last = self._reached.get(kind, (each.first, each.last))
            self._reached[kind] = min(first, each.first), max(last, each.last)

    def explained(self) -> list[Explained]:
        missed_calls = sorted(
            self._sightings.missed_calls.values(),
            key=lambda missed: (missed.first, missed.session, missed.tool),
        )
        return [self._explain(missed) for missed in missed_calls]

    def _explain(self, missed: MissedCall) -> Explained:
        for cause, why in self._candidates(missed):
            return Explained(missed, cause, why)
        seen = self._seen_session(missed) is not None
        why = (
            "Hookline was asked about other calls of this session"
            if seen
            else "no call of this session asked Hookline"
        )
        return Explained(missed, "unknown", f"{why}; its settings, as they are now, do not say why")

    def _seen_session(self, missed: MissedCall) -> CoveredSession | None:
        session = self._sightings.sessions.get(f"{missed.agent}:{missed.session}")
        return session if session is not None and (session.main or session.subagents) else None

    def _candidates(self, missed: MissedCall) -> Iterable[tuple[Cause, str]]:
        """Yield the causes that fit, most certain first."""
        if missed.untrusted:
            yield "untrusted", "the hook was there, and had not been trusted"
        if missed.asked and not missed.untrusted:
            yield "installed later", "other hooks ran on these calls, so this one was not there yet"
        yield from self._by_time(missed)
        yield from self._by_settings(missed)
        session = self._seen_session(missed)
        if session is None:
            yield from self._of_unseen_session(missed)
        else:
            yield from _of_seen_session(missed, session)
            yield from self._by_entries(missed)

    def _by_time(self, missed: MissedCall) -> Iterable[tuple[Cause, str]]:
        asked_since = self._sightings.callers.get(self._callers.get(missed.agent, missed.agent))
        if asked_since is None:
            yield from self._by_settings(missed)
            yield from self._by_entries(missed)
            yield "other agent", "this agent has never asked Hookline"
        elif missed.last < asked_since:
            yield "installed later", "this agent asked Hookline for the first time after that"
        first = [self._sightings.hooks[key].record.first for key in missed.hooks]
        if all(first) and missed.last < min(first):
            yield "installed later", "the hook ran for the first time after that"

    def _by_settings(self, missed: MissedCall) -> Iterable[tuple[Cause, str]]:
        """Yield settings that are older than the calls, if no call of the project has reached Hookline since."""
        place = (missed.agent, missed.began_in or missed.cwd)
        for obstacle in self._settings.at(*place).obstacles:
            if self._last.get(place, 0.0) <= obstacle.since <= missed.first:
                yield "settings", obstacle.why

    def _by_flag(self, missed: MissedCall) -> Iterable[tuple[Cause, str]]:
        """Yield the options that switch hooks off, if sessions like this one reached Hookline before and after it."""
        listed = standard_dialects().get(missed.agent)
        flags = listed.flags if listed is not None else ()
        reached = self._reached.get((missed.agent, missed.began_in, missed.headless))
        if flags and reached is not None and reached[0] < missed.first and missed.last < reached[1]:
            here = "sessions here reached Hookline before and after it"
            yield "flag", f"{here}, so it was likely run with {' or '.join(flags)}, which switches hooks off"

    def _by_entries(self, missed: MissedCall) -> Iterable[tuple[Cause, str]]:
        here = self._settings.at(missed.agent, missed.began_in or missed.cwd)
        if here.events and missed.event not in here.events:
            why = f"{here.entry}: Hookline's entries are not for {missed.event}"
            yield "event", f"{why}; fix: hookline install {missed.agent}"

    def _of_unseen_session(self, missed: MissedCall) -> Iterable[tuple[Cause, str]]:
        yield from self._by_flag(missed)
        if missed.headless and missed.agent in self._attended:
            yield "headless run", "no call of this session asked Hookline, and it had no user at a terminal"
        if missed.subagent and missed.agent in self._agents:
            yield "subagent", "no call of this subagent reached Hookline"
        if (missed.agent, missed.began_in) not in self._projects and missed.agent in self._agents:
            yield "directory", f"no session in {missed.began_in or missed.cwd} reached Hookline"
        if missed.headless:
            yield "headless run", "no call of this session asked Hookline, and it had no user at a terminal"
        untrusted = [key for key in missed.hooks if not self._sightings.hooks[key].trusted]
        if untrusted:
            yield "untrusted", self._sightings.hooks[untrusted[0]].why_untrusted


def _of_seen_session(missed: MissedCall, session: CoveredSession) -> Iterable[tuple[Cause, str]]:
    if missed.subagent and not session.subagents:
        yield "subagent", "calls of the main agent reached Hookline, those of subagents did not"
    if missed.cwd not in session.directories and missed.cwd != missed.began_in:
        yield "directory", f"calls in {missed.began_in} reached Hookline, those in {missed.cwd} did not"
    if missed.tool and missed.tool not in session.tools and session.tools:
        yield "tool name", f"calls of other tools reached Hookline, none of {missed.tool} did"
    if not missed.tool and session.main:
        yield "event", f"this session reached Hookline at other events, never at {missed.event}"
