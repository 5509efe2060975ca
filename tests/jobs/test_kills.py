"""Test that no accepted job is lost, and no wake delivered twice, whichever process is killed, and when."""

from pathlib import Path

import pytest

from tests.jobs.kills import Plan, both, killed_before_seen, play, stopped_past_lease, turns

pytestmark = pytest.mark.unmeasured


def test_120_jobs_and_5_kills(tmp_path: Path) -> None:
    """`make soak` plays 10,000 jobs and 50 kills."""
    seen = play(tmp_path / "x", Plan(jobs=120, turns=turns(5)))
    assert seen.right, seen
    assert seen.overlaps == 0
    assert seen.accepted >= 110
    assert seen.kills >= 5


def test_a_session_is_told_once_although_its_host_was_killed_before_it_said_so(tmp_path: Path) -> None:
    seen, faulty = both(killed_before_seen, tmp_path, "forgets")
    assert seen.right, seen
    assert seen.overlaps == 0
    assert faulty.told_twice == 1, "else this could not fail"


def test_a_process_that_was_stopped_past_its_lease_settles_nothing(tmp_path: Path) -> None:
    seen, faulty = both(stopped_past_lease, tmp_path, "settles again")
    assert (seen.lost, seen.told_twice, seen.reruns) == (0, 0, 1), seen
    assert faulty.told_twice == 1, "else this could not fail"


def test_order_is_kept_over_kills(tmp_path: Path) -> None:
    seen = play(tmp_path / "x", Plan(jobs=40, turns=turns(2), seed=7, order=True))
    assert seen.right, seen
    assert seen.overlaps == 0
