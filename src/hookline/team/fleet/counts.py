"""Count what the hooks of this user did in the last day, from the journal: each line is read once.

The counts are kept by the hour in a file, with the position in the journal up to which they go. So a report
costs as much as what happened since the last one, however long the journal is.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

from hookline.journal.file import journal_path, state_dir
from hookline.journal.reader import records_in, regular_file
from hookline.model.run import Run, has_denied, is_block, would_have_blocked
from hookline.trust.store import replace_file

_HOUR: Final = 3_600
_HOURS: Final = 24
_LONGEST_LINE: Final = 1 << 20
#: Guards in one report, those first that say most about a rollout.
_MOST_GUARDS: Final = 40
_FAILED: Final = frozenset(("failed", "timed_out", "not_started"))
#: Upper bounds in milliseconds by which durations are counted; the last count is of longer ones.
BOUNDS: Final = (1, 3, 10, 30, 100, 300, 1_000, 3_000)


class GuardCounts(Struct, kw_only=True, omit_defaults=True):
    """The counts of one hook."""

    hook: str
    #: The bundle that it is of, and its revision; empty and 0 for a hook of this machine.
    bundle: str = ""
    revision: int = 0
    runs: int = 0
    failed: int = 0
    denied: int = 0
    #: Calls that it would have blocked if it were enforced.
    would_block: int = 0
    #: Runs by their duration, see `BOUNDS`.
    durations: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    def add(self, other: "GuardCounts") -> None:
        self.runs += other.runs
        self.failed += other.failed
        self.denied += other.denied
        self.would_block += other.would_block
        self.durations = [one + more for one, more in zip(self.durations, other.durations, strict=True)]


class LastDay(Struct, frozen=True):
    """Runs of hooks in the last 24 hours."""

    runs: int = 0
    failed: int = 0
    #: Failures that let something pass which a hook should have judged.
    open_passes: int = 0
    #: Records that the journal could not keep.
    lost: int = 0
    #: Agents that asked Hookline.
    agents: tuple[str, ...] = ()
    #: The guards of bundles, and others that would have blocked something.
    guards: tuple[GuardCounts, ...] = ()


class _Hour(Struct):
    runs: int = 0
    failed: int = 0
    open_passes: int = 0
    lost: int = 0
    agents: set[str] = msgspec.field(default_factory=set[str])
    guards: dict[str, GuardCounts] = msgspec.field(default_factory=dict[str, GuardCounts])


class _Kept(Struct):
    """Content of the file."""

    inode: int = 0
    offset: int = 0
    #: By hours since the epoch.
    hours: dict[int, _Hour] = msgspec.field(default_factory=dict[int, _Hour])


def last_day(env: Mapping[str, str], bundles: str = "", now: float | None = None) -> LastDay:
    """Count the runs of the last day. `bundles` is the directory of bundles, by which their guards are known.

    A missing journal has no runs.
    """
    now = time.time() if now is None else now
    file = os.path.join(state_dir(env), "fleet", "counts.json")
    kept = _read(file)
    before = (kept.inode, kept.offset)
    _count(kept, journal_path(env), bundles, now)
    first = int(now) // _HOUR - _HOURS
    kept.hours = {hour: each for hour, each in kept.hours.items() if hour > first}
    if (kept.inode, kept.offset) != before:
        with suppress(OSError):  # then it is counted again
            os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
            replace_file(file, msgspec.json.encode(kept))
    return _summed(list(kept.hours.values()))


def _read(file: str) -> _Kept:
    try:
        with open(file, "rb") as stream:
            return msgspec.json.decode(stream.read(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return _Kept()


def _count(kept: _Kept, journal: str, bundles: str, now: float) -> None:
    """Add what was written since. A full journal is renamed, so the rest of it may be in the former file."""
    current = _inode(journal)
    if kept.inode and kept.inode != current:
        if _inode(f"{journal}.1") == kept.inode:
            _count_file(kept, f"{journal}.1", bundles, now)
        kept.offset = 0
    kept.inode = current
    if current:
        _count_file(kept, journal, bundles, now)


def _count_file(kept: _Kept, path: str, bundles: str, now: float) -> None:
    with suppress(OSError, ValueError), regular_file(path) as stream:
        if os.fstat(stream.fileno()).st_size < kept.offset:
            kept.offset = 0  # it was cut
        stream.seek(kept.offset)
        while (line := stream.readline(_LONGEST_LINE)) and (
            line.endswith(b"\n") or len(line) == _LONGEST_LINE
        ):
            kept.offset += len(line)
            for found in records_in(line, 0):
                at = found.at if isinstance(found, Run) else now
                if now - _HOURS * _HOUR < at <= now + _HOUR:
                    _add(kept.hours.setdefault(int(at) // _HOUR, _Hour()), found, bundles)


def _add(hour: _Hour, found: object, bundles: str) -> None:
    if not isinstance(found, Run):
        hour.lost += 1
        return
    hour.runs += 1
    hour.failed += found.status in _FAILED
    hour.open_passes += found.failed_open
    if found.call.caller:
        hour.agents.add(found.call.caller)
    bundle, revision = _bundle_of(found.source, bundles)
    if not bundle and not would_have_blocked(found):
        return
    key = f"{bundle}\0{revision}\0{found.hook}"
    guard = hour.guards.setdefault(key, GuardCounts(hook=found.hook, bundle=bundle, revision=revision))
    guard.runs += 1
    guard.failed += found.status in _FAILED
    guard.denied += is_block(found)
    guard.would_block += found.mode != "enforce" and has_denied(found)
    guard.durations[_bucket(found.duration_ms)] += 1


def _bundle_of(source: str, bundles: str) -> tuple[str, int]:
    """Return the bundle of a hook and its revision, by the path of its file: NAME/REVISION-DIGEST/hooks.toml."""
    if not bundles or not source.startswith(f"{bundles}/"):
        return "", 0
    parts = source[len(bundles) + 1 :].split("/")
    number = parts[1].partition("-")[0] if len(parts) > 2 else ""
    return (parts[0], int(number)) if number.isdecimal() and number.isascii() else ("", 0)


def _bucket(duration: float) -> int:
    return next((index for index, bound in enumerate(BOUNDS) if duration <= bound), len(BOUNDS))


def _summed(hours: Sequence[_Hour]) -> LastDay:
    guards = sum_of(each for hour in hours for each in hour.guards.values())
    guards.sort(key=lambda each: (-each.would_block, -each.failed, -each.denied, -each.runs, each.hook))
    return LastDay(
        sum(each.runs for each in hours),
        sum(each.failed for each in hours),
        sum(each.open_passes for each in hours),
        sum(each.lost for each in hours),
        tuple(sorted(set[str]().union(*(each.agents for each in hours)))),
        tuple(guards[:_MOST_GUARDS]),
    )


def total_of(days: Sequence[LastDay]) -> LastDay:
    """Add up the days of the users of one machine."""
    return LastDay(
        sum(each.runs for each in days),
        sum(each.failed for each in days),
        sum(each.open_passes for each in days),
        sum(each.lost for each in days),
        tuple(sorted({agent for each in days for agent in each.agents})),
        tuple(sum_of(guard for each in days for guard in each.guards)),
    )


def sum_of(counts: Iterable[GuardCounts]) -> list[GuardCounts]:
    """Add up the counts of each hook of each revision."""
    found: dict[tuple[str, int, str], GuardCounts] = {}
    for each in counts:
        key = (each.bundle, each.revision, each.hook)
        if key not in found:
            found[key] = GuardCounts(hook=each.hook, bundle=each.bundle, revision=each.revision)
        found[key].add(each)
    return list(found.values())


def slowest(durations: Sequence[int], share: float = 0.95) -> int | None:
    """Return the bound in milliseconds that this share of the runs keeps; None without runs, or beyond the last."""
    left = sum(durations) * share
    if not left:
        return None
    for bound, count in zip(BOUNDS, durations, strict=False):
        left -= count
        if left <= 0:
            return bound
    return None


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
