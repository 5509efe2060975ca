"""Test what `hookline fleet status` makes of reports, workers and published bundles."""

import time
from typing import Any

import msgspec

from hookline.config.bundles.store import RejectedBundle
from hookline.team.fleet.bundles.report import BundleState, LastDay, MachineReport
from hookline.team.fleet.bundles.transport import Offered, WorkerSeen
from hookline.team.fleet.machine import Presence
from hookline.team.fleet.status import FleetStatus, fleet_status
from tests.every import every
from tests.team.fleet.machines import bundle, key

NOW = int(time.time())
KEYS = {key().id: key().public}
#: Published an hour ago, for a day.
PUBLISHED = bundle(5, issued=NOW - 3_600, expires=NOW + 86_400)
OFFERS = [Offered("guards.5", key().sign(PUBLISHED))]
IN_FORCE = BundleState(name="guards", revision=5, issued=NOW - 3_600, expires=NOW + 86_400)


def bundled(**changes: Any) -> dict[str, Any]:
    return {"bundles": (msgspec.structs.replace(IN_FORCE, **changes),)}


def report(**changes: Any) -> bytes:
    fine = MachineReport(machine="alpha", at=NOW - 30, bundles=(IN_FORCE,), last_day=LastDay(runs=40))
    return msgspec.json.encode(msgspec.structs.replace(fine, **changes))


def status(raw: bytes | None = None, **more: Any) -> FleetStatus:
    return fleet_status(OFFERS, {"alpha": report() if raw is None else raw}, KEYS, now=NOW, **more)


def test_a_fleet_in_which_nothing_is_wrong() -> None:
    found = status()
    assert found.problems == ()
    (published,) = found.bundles
    assert (published.revision, published.machines, published.meant) == (5, 1, 1)


@every(
    ("changes", "problem"),
    [
        ({"at": NOW - 7_200}, "alpha: silent for 2 hours"),
        (bundled(problem="x was changed"), "alpha: the bundle guards 5 is closed: x was changed"),
        (bundled(expires=NOW - 1), "alpha: the bundle guards 5 is closed: it has expired"),
        (bundled(revision=4), "alpha: has guards 4, and 5 is meant for it"),
        ({"bundles": ()}, "alpha: has guards not at all, and 5 is meant for it"),
        ({"refused": (RejectedBundle("expired", "it expired", NOW, "guards", 6),)},
        "alpha: refused guards 6: it expired"),
        ({"refused": (RejectedBundle("key", "another key", NOW),)}, "alpha: refused a bundle: another key"),
        ({"last_day": LastDay(40, 2, 0)}, "alpha: 2 of 40 runs failed in the last day"),
        ({"last_day": LastDay(40, 0, 3)}, "alpha: 3 times a guard failed open in the last day"),
        ({"last_day": LastDay(40, 0, 0, 1)}, "alpha: 1 records of its journal are damaged or missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_machine_is_one_line(changes: dict[str, Any], problem: str) -> None:
    assert status(report(**changes)).problems == (problem,)


def test_gaps_of_the_audit_and_reports_that_cannot_be_read_are_said() -> None:
    assert status(gaps={"alpha": 1_200, "beta": 0}).problems == (
        "alpha: 1,200 runs are missing in the audit",
    )
    assert status(b"{").problems == ("alpha: its report cannot be read; it may be of another version",)


def test_workers_are_machines_too_and_who_has_left_is_not_silent() -> None:
    there, left = Presence(file="x", pid=1, problem="no disk"), Presence(file="", pid=1)
    found = status(
        report(at=NOW - 7_200),
        workers={"alpha": WorkerSeen(left, NOW - 7_000), "beta": WorkerSeen(there, NOW - 5.0)},
    )
    assert [each.report.machine for each in found.machines] == ["alpha", "beta"]
    assert found.problems == ("beta: its worker says: no disk",)


def test_machines_that_are_long_gone_are_left_out() -> None:
    found = status(report(at=NOW - 31 * 86_400))
    assert (found.machines, found.gone, found.problems) == ((), ("alpha",), ())


def test_what_others_have_published_is_said_and_an_expired_bundle_too() -> None:
    old = bundle(6, issued=NOW - 9_000, expires=NOW - 5)
    offers = [*OFFERS, Offered("guards.6", key().sign(old)), Offered("guards.7", key(7).sign(bundle(7)))]
    found = fleet_status(offers, {}, KEYS, now=NOW)
    assert [each.split(":")[0] for each in found.problems] == [
        "published as guards.7, and every machine refuses it", "guards 6"
    ]  # fmt: skip
    assert fleet_status(offers, {}, None, now=NOW).bundles[0].revision == 7
