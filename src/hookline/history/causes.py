"""Find the likely cause of each missed call from the calls around it."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from hookline.history.coverage import CoverageTotals, MissedCall, SessionFacts

Cause = Literal[
    "untrusted", "other agent", "installed later", "headless run", "subagent", "directory", "tool name", "event",
    "unknown",
]  # fmt: skip


class Explained(Struct, frozen=True):
    """A missed call with its likely cause and the evidence for it."""

    hole: MissedCall
    cause: Cause
    why: str


class Causes:
    """Totals of all sessions, from which causes are inferred."""

    def __init__(self, sightings: CoverageTotals, callers: Mapping[str, str]) -> None:
        """Take `callers`: by agent, its name in the journal."""
        self._sightings = sightings
        self._callers = callers
        seen = [each for each in sightings.sessions.values() if each.main or each.subagents]
        self._attended = {each.agent for each in seen if each.headless is False}
        self._projects = {(each.agent, each.began_in) for each in seen}
        self._agents = {each.agent for each in seen}

    def explained(self) -> list[Explained]:
        holes = sorted(self._sightings.holes.values(), key=lambda hole: (hole.first, hole.session, hole.tool))
        return [self._explain(hole) for hole in holes]

    def _explain(self, hole: MissedCall) -> Explained:
        for cause, why in self._candidates(hole):
            return Explained(hole, cause, why)
        return Explained(hole, "unknown", "Hookline was asked about other calls of this session")

    def _candidates(self, hole: MissedCall) -> Iterable[tuple[Cause, str]]:
        """Yield the causes that fit, most certain first."""
        if hole.untrusted:
            yield "untrusted", "the hook was there, and had not been trusted"
        if hole.asked and not hole.untrusted:
            yield "installed later", "other hooks ran on these calls, so this one was not there yet"
        yield from self._by_time(hole)
        session = self._sightings.sessions.get(f"{hole.agent}:{hole.session}")
        if session is None or not (session.main or session.subagents):
            yield from self._of_unseen_session(hole)
        else:
            yield from _of_seen_session(hole, session)

    def _by_time(self, hole: MissedCall) -> Iterable[tuple[Cause, str]]:
        asked_since = self._sightings.callers.get(self._callers.get(hole.agent, hole.agent))
        if asked_since is None:
            yield "other agent", "this agent has never asked Hookline"
        elif hole.last < asked_since:
            yield "installed later", "this agent asked Hookline for the first time after that"
        first = [self._sightings.hooks[key].record.first for key in hole.hooks]
        if all(first) and hole.last < min(first):
            yield "installed later", "the hook ran for the first time after that"

    def _of_unseen_session(self, hole: MissedCall) -> Iterable[tuple[Cause, str]]:
        if hole.headless and hole.agent in self._attended:
            yield "headless run", "no call of this session asked Hookline, and it had no user at a terminal"
        if hole.subagent and hole.agent in self._agents:
            yield "subagent", "no call of this subagent reached Hookline"
        if (hole.agent, hole.began_in) not in self._projects and hole.agent in self._agents:
            yield "directory", f"no session in {hole.began_in or hole.cwd} reached Hookline"
        if hole.headless:
            yield "headless run", "no call of this session asked Hookline, and it had no user at a terminal"
        untrusted = [key for key in hole.hooks if not self._sightings.hooks[key].trusted]
        if untrusted:
            yield "untrusted", self._sightings.hooks[untrusted[0]].why_untrusted


def _of_seen_session(hole: MissedCall, session: SessionFacts) -> Iterable[tuple[Cause, str]]:
    if hole.subagent and not session.subagents:
        yield "subagent", "calls of the main agent reached Hookline, those of subagents did not"
    if hole.cwd not in session.directories and hole.cwd != hole.began_in:
        yield "directory", f"calls in {hole.began_in} reached Hookline, those in {hole.cwd} did not"
    if hole.tool and hole.tool not in session.tools and session.tools:
        yield "tool name", f"calls of other tools reached Hookline, none of {hole.tool} did"
    if not hole.tool and session.main:
        yield "event", f"this session reached Hookline at other events, never at {hole.event}"
