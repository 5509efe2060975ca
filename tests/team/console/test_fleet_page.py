"""The page of the fleet: a stage beside the rest, and what guards in shadow mode would have blocked."""

import time

import msgspec

from hookline.team.console.views import fleet
from hookline.team.fleet.bundles.report import MachineReport
from hookline.team.fleet.counts import GuardCounts
from hookline.team.fleet.rollout import Gate, StageCounts
from hookline.team.fleet.status import FleetGuard, FleetStatus, MachineStatus, PublishedBundle


def test_a_stage_is_shown_beside_the_rest_with_rates_and_why_it_halted() -> None:
    now = time.time()
    gate = Gate(
        stage=StageCounts(machines=2, runs=200, failed=10, denied=4, would_block=14, p95_ms=30),
        rest=StageCounts(machines=18, runs=1000, failed=1, denied=20, would_block=0, p95_ms=None),
        halts=("5.0% of its runs fail, and 0.1% on the other machines",),
    )
    bundle = PublishedBundle(
        name="base<b>", revision=7, expires=int(now + 86_400), stage=10.0, machines=2, meant=2, gate=gate
    )
    guard = FleetGuard(
        counts=GuardCounts(hook="force-push", runs=90, would_block=14), machines=6, would_block_on=6
    )
    machine = MachineStatus(report=MachineReport(machine="alpha"), seen=now)
    status = FleetStatus(at=now, bundles=(bundle,), machines=(machine,), guards=(guard,))
    page = fleet.body(msgspec.to_builtins(status), "", (), now)
    assert "10 (5.0%)" in page
    assert "1 (0.1%)" in page
    assert "Halted: 5.0% of its runs fail" in page
    assert "force-push: 90 runs, would have blocked 14 calls on 6 machines" in page
    assert "base&lt;b&gt; 7" in page
    assert "base<b>" not in page
