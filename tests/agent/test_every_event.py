"""Every event, and every value of its closed vocabulary, is seen in a real run of the command."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from hookline.events import EVENTS
from tests.agent.scenario_runs import events_of, played_once, scenario_names
from tests.agent.shared_directory import shared_place

#: What no run of the command brings yet. It only shrinks: a value that is seen must go from here.
NOT_YET: Mapping[str, frozenset[str]] = {
    # A screen has a picker and a host has an interface; the command line has neither.
    "PreModelSwitch": frozenset({"picker", "sdk", "auto", "resume"}),
    "PostModelSwitch": frozenset({"picker", "sdk", "auto", "resume"}),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Events of all scenarios, with the values of their subjects."""
    shared = shared_place(tmp_path_factory)
    found: dict[str, set[str]] = {}
    # From the end: another worker that plays them one after another comes from the beginning. Each is a process
    # that mostly waits, so a few run at once.
    with ThreadPoolExecutor(3) as pool:
        names = scenario_names()[::-1]
        every = list(pool.map(played_once, names, [shared] * len(names)))
    for played in every:
        for event in events_of(played):
            values = found.setdefault(event["event"], set())
            subject = EVENTS[event["event"]].subject
            if subject is not None and event["payload"].get(subject) is not None:
                values.add(event["payload"][subject])
    return found


def test_every_event_that_is_fired_at_all_is_seen(seen: dict[str, set[str]]) -> None:
    fired = {name for name, row in EVENTS.items() if not row.declared_only}
    assert fired - set(seen) == set()


def test_no_event_is_seen_that_is_said_to_be_only_declared(seen: dict[str, set[str]]) -> None:
    assert {name for name in seen if EVENTS[name].declared_only} == set()


def test_every_value_of_a_closed_vocabulary_is_seen(seen: dict[str, set[str]]) -> None:
    rows = {name: row for name, row in EVENTS.items() if row.subjects and not row.declared_only}
    missing = {name: set(row.subjects) - seen.get(name, set()) for name, row in rows.items()}
    expected = {name: set(NOT_YET.get(name, ())) for name in rows}
    assert missing == expected


def test_nothing_outside_a_closed_vocabulary_is_seen(seen: dict[str, set[str]]) -> None:
    for name, values in seen.items():
        row = EVENTS[name]
        if row.subjects:
            assert values <= set(row.subjects), name
