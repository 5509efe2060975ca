"""Test jobs of a fleet with a real server: nothing is lost or delivered twice, whatever is killed or wiped."""

from pathlib import Path

import pytest

from tests.jobs.kills import Plan, both, play
from tests.team.fleet.kills import FleetPlayers, stopped_worker
from tests.team.fleet.server import needs_server

pytestmark = [needs_server, pytest.mark.unmeasured]

#: Five kills, one of them with the loss of the server's disk, and a worker that is stopped past its lease.
TURNS = ("host", "worker", "stop", "wipe", "settle", "server")


def test_140_jobs_and_5_kills(tmp_path: Path) -> None:
    """`make soak` plays 10,000 jobs and 50 kills."""
    seen = play(tmp_path / "x", Plan(jobs=140, turns=TURNS, lease=1.5), kind=FleetPlayers)
    assert seen.right, seen
    assert seen.accepted >= 130
    assert seen.kills == len(TURNS)
    assert seen.reruns >= 2, "nothing of a worker that was stopped or killed was run again"


def test_a_worker_that_was_stopped_past_its_lease_settles_nothing(tmp_path: Path) -> None:
    twice = 0
    for attempt in range(3):  # on a busy machine the faulty one may be too late to settle again
        directory = tmp_path / str(attempt)
        directory.mkdir()
        seen, faulty = both(stopped_worker, directory, "settles again")
        assert (seen.lost, seen.told_twice, seen.reruns) == (0, 0, 1), seen
        twice += faulty.told_twice
        if twice:
            break
    assert twice > 0, "else this could not fail"
