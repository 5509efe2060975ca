"""List the built-in guards, with the calls of past sessions that each of them would have stopped."""

import os
import time
from collections.abc import Mapping

from hookline.cli.commands.guard.report import BuiltinGuard, BuiltinsDocument
from hookline.cli.history import read_history, readable_dialects
from hookline.guards import GUARD_NAMES, RECOMMENDED
from hookline.guards.settings import OPTIONS
from hookline.guards.spec import policy_of
from hookline.history.backtest import BacktestTotals
from hookline.history.engines import Configuration
from hookline.history.sources import find_sources
from hookline.history.workers import ReplayTask

_DAYS = 30
_STOPPING = ("deny", "ask")


async def builtin_guards() -> BuiltinsDocument:
    """Return the guards that come with Hookline, their options, and what they would have stopped."""
    totals = await _past_sessions()
    stopped = _stopped(totals) if totals is not None else dict[str, int]()
    found = tuple(
        BuiltinGuard(
            policy.name,
            policy.title,
            dict(policy.parts),
            dict(policy.more),
            recommended=policy.name in RECOMMENDED,
            would_have_stopped=None if totals is None else stopped.get(policy.name, 0),
        )
        for policy in map(policy_of, GUARD_NAMES)
    )
    sessions, calls = (totals.session_count, _calls(totals)) if totals is not None else (0, 0)
    return BuiltinsDocument(found, dict(OPTIONS), sessions, calls, _DAYS)


async def _past_sessions() -> BacktestTotals | None:
    """Let every built-in guard judge the sessions of the last days; None if there are none."""
    dialects, since = readable_dialects(), time.time() - _DAYS * 86400
    sources = find_sources(list(dialects.values()), os.environ, (), since)
    if not sources.found:
        return None
    rules = tuple((name, f"deny {name}") for name in GUARD_NAMES)
    configuration = Configuration(files=(), rules=rules, keep=False)
    job = ReplayTask(sources=sources.found, configuration=configuration, since=since)
    totals: BacktestTotals = await read_history(job, dialects)
    return totals if totals.session_count else None


def _stopped(totals: BacktestTotals) -> Mapping[str, int]:
    counted = (
        (hook.name, sum(hook.said[word].count for word in _STOPPING if word in hook.said))
        for hook in totals.hooks.values()
    )
    return dict(counted)


def _calls(totals: BacktestTotals) -> int:
    return sum(kinds.get("call", 0) for kinds in totals.recorded_events.values())
