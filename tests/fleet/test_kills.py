"""Jobs of a fleet with a real server: nothing is lost or told twice, whatever is killed, wiped or stopped."""

from pathlib import Path

import pytest

from tests.fleet.kills import FleetPlayers, stopped_worker
from tests.fleet.server import needs_server
from tests.jobs.kills import Plan, both, play

pytestmark = [needs_server, pytest.mark.unmeasured]

#: Five kills, one of them with the loss of the server's disk, and a worker that is stopped past its lease.
TURNS = ("host", "worker", "stop", "wipe", "settle", "server")


def test_500_jobs_and_5_kills(tmp_path: Path) -> None:
    seen = play(tmp_path / "x", Plan(jobs=500, turns=TURNS, lease=1.5), kind=FleetPlayers)
    assert seen.right, seen
    assert seen.accepted >= 490
    assert seen.kills == len(TURNS)
    assert seen.reruns >= 2, "nothing of a worker that was stopped or killed was run again"


def test_a_worker_that_was_stopped_past_its_lease_settles_nothing(tmp_path: Path) -> None:
    seen, faulty = both(stopped_worker, tmp_path, "settles again")
    assert (seen.lost, seen.told_twice, seen.reruns) == (0, 0, 1), seen
    assert faulty.told_twice > 0, "else this could not fail"
