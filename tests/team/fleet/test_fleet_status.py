"""Test what `hookline fleet status` makes of reports, workers and published bundles."""

import time
from typing import Any

import msgspec

from hookline.config.bundles.format import BundleScope, ScopeException
from hookline.config.bundles.store import RejectedBundle
from hookline.team.fleet.bundles.report import BundleState, MachineReport
from hookline.team.fleet.bundles.transport import Offered, WorkerSeen
from hookline.team.fleet.counts import GuardCounts, LastDay
from hookline.team.fleet.machine import Presence
from hookline.team.fleet.rollout import judge_stage
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


def said(found: FleetStatus) -> list[str]:
    return [f"{each.level}: {each}" for each in found.problems]


def test_a_fleet_in_which_nothing_is_wrong() -> None:
    found = status()
    assert found.problems == ()
    (published,) = found.bundles
    assert (published.revision, published.machines, published.meant) == (5, 1, 1)


@every(
    ("changes", "problem"),
    [
        ({"at": NOW - 7_200}, "note: alpha: silent for 2 hours"),
        ({"at": NOW - 4 * 86_400}, "warning: alpha: silent for 4 days"),
        (bundled(problem="x was changed"), "error: alpha: the bundle guards 5 is closed: x was changed"),
        (bundled(expires=NOW - 1), "error: alpha: the bundle guards 5 is closed: it has expired"),
        (bundled(revision=4), "error: alpha: has guards 4, and 5 is meant for it"),
        ({"bundles": ()}, "error: alpha: has guards not at all, and 5 is meant for it"),
        ({"refused": (RejectedBundle("expired", "it expired", NOW, "guards", 6),)},
        "error: alpha: refused guards 6: it expired"),
        ({"refused": (RejectedBundle("key", "another key", NOW),)}, "error: alpha: refused a bundle: another key"),
        ({"last_day": LastDay(40, 2, 0)}, "warning: alpha: 2 of 40 runs failed in the last day"),
        ({"last_day": LastDay(40, 0, 3)}, "warning: alpha: 3 times a guard failed open in the last day"),
        ({"last_day": LastDay(40, 0, 0, 1)}, "warning: alpha: 1 records of its journal are damaged or missing"),
        ({"agents": ("Some Agent",), "last_day": LastDay()},
        "error: alpha: its bundles are active, and no agent asks them: run hookline install there"),
        ({"switched_off": {"One": 1}},
         "error: alpha: the settings of a project there switch the hooks of One off: hookline doctor names them"),
        ({"switched_off": {"One": 2}},
         "error: alpha: the settings of 2 projects there switch the hooks of One off: hookline doctor names them"),
        ({"agents": ("One", "Other"), "asking": ("One",)},
        "warning: alpha: Other is there and does not ask Hookline: run hookline install there"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_machine_is_one_line(changes: dict[str, Any], problem: str) -> None:
    found = status(report(**changes))
    assert said(found) == [problem]
    assert found.count("error") == problem.startswith("error")


def test_gaps_of_the_audit_and_reports_that_cannot_be_read_are_said() -> None:
    missing = "alpha: 1,200 runs are missing in the audit"
    assert said(status(gaps={"alpha": 1_200, "beta": 0})) == [f"warning: {missing}"]
    for at, level in ((NOW - 60.0, "warning"), (NOW - 8 * 86_400.0, "note")):
        worker = WorkerSeen(Presence(file="x", pid=1, missing=1_200, missed=at), NOW - 5.0)
        assert said(status(workers={"alpha": worker})) == [f"{level}: {missing}"]
    assert said(status(b"{")) == ["warning: alpha: its report cannot be read; it may be of another version"]


def test_workers_are_machines_too_and_who_has_left_is_not_silent() -> None:
    there, left = Presence(file="x", pid=1, problem="no disk"), Presence(file="", pid=1, problem="no disk")
    found = status(
        report(at=NOW - 7_200),
        workers={"alpha": WorkerSeen(left, NOW - 7_000), "beta": WorkerSeen(there, NOW - 5.0)},
    )
    assert [each.report.machine for each in found.machines] == ["alpha", "beta"]
    assert said(found) == ["error: beta: its worker says: no disk"]


def test_a_problem_that_is_over_is_kept_and_is_not_one_now() -> None:
    over = Presence(file="x", pid=1, last_problem="no disk", last_problem_at=NOW - 60.0, problems=1)
    found = status(workers={"alpha": WorkerSeen(over, NOW - 5.0)})
    assert found.problems == ()
    assert found.machines[0].parts[0].worker == over


def several(root: bytes, **users: bytes) -> FleetStatus:
    """One machine that several use: root takes the bundles, and each user has a worker."""
    reports = {f"alpha={name}": raw for name, raw in users.items()}
    return fleet_status(OFFERS, reports, KEYS, now=NOW, for_all={"alpha": root})


def test_a_machine_of_several_users_is_one_machine() -> None:
    agents = {"agents": ("Some Agent",), "asking": ("Some Agent",)}
    root = report(last_day=LastDay())
    found = several(root, ann=report(**agents), bob=report(**agents, last_day=LastDay(2, 1)))
    (machine,) = found.machines
    assert (machine.report.last_day.runs, machine.report.last_day.failed) == (42, 1)
    assert [each.user for each in machine.parts] == ["", "ann", "bob"]
    assert (found.bundles[0].machines, found.bundles[0].meant) == (1, 1)
    assert said(found) == ["warning: alpha: bob: 1 of 2 runs failed in the last day"]


@every(
    ("root", "ann", "problem"),
    [
        ({"at": NOW - 7_200}, {}, "warning: alpha: root's part: silent for 2 hours"),
        ({}, {"at": NOW - 7_200}, "note: alpha: ann: silent for 2 hours"),
        # What a user who is away saw last is past.
        ({}, {"at": NOW - 7_200, **bundled(revision=4)}, "note: alpha: ann: silent for 2 hours"),
        ({}, bundled(problem="x"), "error: alpha: ann: the bundle guards 5 is closed: x"),
        (bundled(problem="x"), bundled(problem="x"), "error: alpha: the bundle guards 5 is closed: x"),
        ({}, {"at": NOW - 31 * 86_400}, ""),
        ({}, {"machine": "beta"}, ""),  # its key says whose report it is
    ],
)
def test_each_part_of_a_machine_is_judged(root: dict[str, Any], ann: dict[str, Any], problem: str) -> None:
    found = several(report(**root), ann=report(**ann), bob=report())
    assert said(found) == [problem] * bool(problem)
    assert [each.report.machine for each in found.machines] == ["alpha"]


def test_users_without_a_part_of_root_have_bundles_of_their_own() -> None:
    found = fleet_status(
        OFFERS, {"alpha=ann": report(), "alpha=bob": report(**bundled(revision=4))}, KEYS, now=NOW
    )
    assert said(found) == ["error: alpha: bob: has guards 4, and 5 is meant for it"]
    assert found.bundles[0].machines == 0


def test_machines_with_an_older_version_are_one_warning() -> None:
    workers = {
        name: WorkerSeen(Presence(file="x", pid=1, hookline=version), NOW - 5.0)
        for name, version in (("a", "0.9.0"), ("b", "0.10.0"), ("c", "0.9.0"))
    }
    found = fleet_status((), {}, KEYS, workers, now=NOW)
    assert said(found) == ["warning: Hookline 0.9.0 on a, c, and others have 0.10.0"]


def test_machines_that_are_long_gone_are_left_out() -> None:
    found = status(report(at=NOW - 31 * 86_400))
    assert (found.machines, found.gone, found.problems) == ((), ("alpha",), ())


def test_what_others_have_published_is_said_and_an_expired_bundle_too() -> None:
    old = bundle(6, issued=NOW - 9_000, expires=NOW - 5)
    offers = [*OFFERS, Offered("guards.6", key().sign(old)), Offered("guards.7", key(7).sign(bundle(7)))]
    found = fleet_status(offers, {}, KEYS, now=NOW)
    assert [str(each).split(":")[0] for each in found.problems] == [
        "published as guards.7, and every machine refuses it", "guards 6"
    ]  # fmt: skip
    assert fleet_status(offers, {}, None, now=NOW).bundles[0].revision == 7


def test_a_bundle_asks_to_be_renewed_at_half_of_its_life() -> None:
    aged = bundle(5, issued=NOW - 20 * 86_400, expires=NOW + 10 * 86_400)
    found = fleet_status([Offered("guards.5", key().sign(aged))], {}, KEYS, now=NOW)
    assert said(found) == [
        "warning: guards 5: half of its life is over, and it expires in 10 days: hookline fleet renew guards"
    ]


def test_exceptions_are_notes_and_their_machines_are_not_behind() -> None:
    scope = BundleScope(exceptions=(ScopeException("alph*", NOW + 86_400, "the old build"),))
    offers = [
        Offered("guards.5", key().sign(bundle(5, issued=NOW - 3_600, expires=NOW + 86_400, scope=scope)))
    ]
    found = fleet_status(offers, {"alpha": report(bundles=())}, KEYS, now=NOW)
    (note,) = said(found)
    assert note.startswith("note: guards 5: alph* does without it until ")
    assert note.endswith(": the old build")
    assert (found.bundles[0].machines, found.bundles[0].meant) == (0, 0)


def guard(**changes: Any) -> GuardCounts:
    return GuardCounts(hook="no force push", bundle="guards", **changes)


def counted(*guards: GuardCounts) -> dict[str, Any]:
    return {"last_day": LastDay(guards=guards)}


def test_shadow_is_counted_over_the_fleet() -> None:
    reports = {
        name: report(machine=name, **counted(guard(revision=5, runs=10, would_block=count)))
        for name, count in (("alpha", 6), ("beta", 8), ("gamma", 0))
    }
    (found,) = fleet_status(OFFERS, reports, KEYS, now=NOW).guards
    assert (found.counts.would_block, found.would_block_on, found.machines) == (14, 2, 3)


@every(
    ("stage", "rest", "halts"),
    [
        ({"runs": 100, "failed": 1}, {"runs": 100}, ""),
        ({"runs": 100, "failed": 9}, {"runs": 100, "failed": 5}, ""),
        ({"runs": 100, "failed": 9}, {"runs": 100, "failed": 1},
        "9.0% of its runs fail, and 1.0% on the other machines"),
        ({"runs": 10, "failed": 9}, {"runs": 100, "failed": 1}, ""),
        ({"runs": 50, "denied": 20}, {"runs": 80, "denied": 2},
        "40.0% of its calls are denied, and 2.5% on the other machines"),
        ({"runs": 50, "durations": [0] * 6 + [50, 0, 0]}, {"runs": 50, "durations": [50] + [0] * 8},
        "95 of 100 runs take up to 1,000 ms, and 1 ms on the other machines"),
        ({"runs": 50, "durations": [0] * 3 + [50] + [0] * 5}, {"runs": 50, "durations": [50] + [0] * 8}, ""),
    ],
)  # fmt: skip
def test_a_stage_that_does_worse_than_the_rest_halts(
    stage: dict[str, Any], rest: dict[str, Any], halts: str
) -> None:
    staged = bundle(6, issued=NOW - 60, expires=NOW + 86_400, stage=5_000)
    new = BundleState(name="guards", revision=6, issued=NOW, expires=NOW + 86_400)
    reports = [
        MachineReport(machine="a", bundles=(new,), **counted(guard(revision=6, **stage))),
        MachineReport(machine="b", bundles=(IN_FORCE,), **counted(guard(revision=5, **rest))),
    ]
    assert judge_stage(staged, reports).halts == ((halts,) if halts else ())
