"""Test the counts of the last day: each line of the journal is read once, across restarts and a full journal."""

import os
import time
from pathlib import Path

from hookline.journal.file import encoded, journal_path
from hookline.model.run import Called, Run
from hookline.team.fleet.counts import BOUNDS, LastDay, last_day, slowest
from tests.every import every

NOW = time.time()


def machine(directory: Path) -> dict[str, str]:
    env = {"HOME": str(directory)}
    os.makedirs(os.path.dirname(journal_path(env)))
    return env


def write(env: dict[str, str], *runs: Run) -> None:
    with open(journal_path(env), "ab") as file:
        file.writelines(map(encoded, runs))


def test_what_was_counted_is_not_read_again(tmp_path: Path) -> None:
    env = machine(tmp_path)
    assert last_day(env) == LastDay()
    write(env, *(Run(hook="x", at=NOW, call=Called(caller="agent")) for _ in range(3)))
    write(env, Run(hook="x", at=NOW, status="failed", failed_open=True), Run(hook="x", at=NOW - 90_000))
    first = last_day(env)
    assert (first.runs, first.failed, first.open_passes, first.agents) == (4, 1, 1, ("agent",))
    # Damage of what was read is not seen any more.
    with open(journal_path(env), "r+b") as file:
        file.write(b"?" * 40)
    assert last_day(env) == first
    write(env, Run(hook="x", at=NOW))
    assert last_day(env).runs == 5
    with open(journal_path(env), "ab") as file:
        file.write(encoded(Run(hook="x", at=NOW))[:-20])  # half a line, which its writer completes later
    assert last_day(env).runs == 5
    with open(journal_path(env), "ab") as file:
        file.write(encoded(Run(hook="x", at=NOW))[-20:])
    assert last_day(env).runs == 6


def test_the_rest_of_a_full_journal_is_counted(tmp_path: Path) -> None:
    env = machine(tmp_path)
    write(env, Run(hook="x", at=NOW))
    assert last_day(env).runs == 1
    write(env, Run(hook="x", at=NOW))
    os.replace(journal_path(env), f"{journal_path(env)}.1")
    write(env, Run(hook="x", at=NOW))
    assert last_day(env).runs == 3
    os.unlink(f"{journal_path(env)}.1")
    os.unlink(journal_path(env))
    assert last_day(env).runs == 3
    write(env, Run(hook="x", at=NOW))
    assert last_day(env).runs == 4


def test_runs_leave_the_count_after_a_day(tmp_path: Path) -> None:
    env = machine(tmp_path)
    write(env, Run(hook="x", at=NOW))
    assert last_day(env, now=NOW + 1).runs == 1
    assert last_day(env, now=NOW + 90_000).runs == 0


def test_guards_of_bundles_are_counted_by_revision_and_shadow_ones_too(tmp_path: Path) -> None:
    env = machine(tmp_path)
    source = "/place/guards/12-0a1b2c3d4e5f/hooks.toml:3"
    write(
        env,
        Run(hook="g", at=NOW, source=source, decision="deny", duration_ms=2),
        Run(hook="g", at=NOW, source=source, decision="deny", mode="shadow", duration_ms=2),
        Run(hook="own", at=NOW, source="/home/x/hooks.toml:1", decision="deny"),
        Run(hook="watched", at=NOW, source="/home/x/hooks.toml:9", decision="deny", mode="shadow"),
    )
    bundled, watched = sorted(last_day(env, "/place").guards, key=lambda each: each.hook)
    assert (bundled.bundle, bundled.revision, bundled.runs) == ("guards", 12, 2)
    assert (bundled.denied, bundled.would_block, bundled.durations[1]) == (1, 1, 2)
    assert (watched.hook, watched.bundle, watched.would_block) == ("watched", "", 1)


@every(
    ("durations", "bound"),
    [
        ([], None),
        ([0] * 9, None),
        ([100] + [0] * 8, BOUNDS[0]),
        ([94, 6] + [0] * 7, BOUNDS[1]),
        ([0] * 8 + [9], None),
    ],
)
def test_the_time_that_most_runs_keep(durations: list[int], bound: int | None) -> None:
    assert slowest(durations) == bound
