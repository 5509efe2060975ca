"""Test a sample of the calls whose answers must not depend on the daemon; `make soak` part resident has them all."""

from collections.abc import Iterator

import pytest

from tests.hook.daemon.daemons import Daemons, SharedResident
from tests.hook.daemon.same_answers import (
    CLIENTS,
    FAILING,
    Http,
    differences,
    failing_cases,
    recorded_cases,
    speaking_hooks,
)
from tests.hook.daemon.same_plays import place_plays, play_differences


def test_recorded_payloads_are_answered_alike(daemon: SharedResident) -> None:
    daemon.write(".hookline/hooks.toml", speaking_hooks())
    sample = recorded_cases(daemon.project)[::9]
    assert len(sample) >= 10
    assert not [each for case in sample for each in differences(daemon, case)]


def test_hooks_that_fail_are_answered_alike(daemon: SharedResident) -> None:
    cases = failing_cases(daemon, FAILING[::6])
    assert not [each for case in cases for each in differences(daemon, case)]


def test_calls_from_other_places_are_answered_alike(daemon: SharedResident) -> None:
    sample = list(place_plays(daemon))[::8]
    assert not [each for play in sample for each in play_differences(daemon, play)]


@pytest.fixture(scope="module")
def with_http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemons]:
    made = Daemons(tmp_path_factory.mktemp("http"))
    made.start("--http", "0")
    yield made
    made.stop()


def http_of(daemons: Daemons) -> Http:
    status = daemons.status()
    assert status is not None
    assert status.http is not None
    return Http(status.http, (daemons.home / ".local/state/hookline/daemon-token").read_text())


def test_by_http_the_verdict_is_the_same(with_http: Daemons) -> None:
    with_http.write(".hookline/hooks.toml", speaking_hooks())
    http = http_of(with_http)
    sample = recorded_cases(with_http.project)[::12]
    assert {case.dialect for case in sample} == set(CLIENTS)
    assert not [each for case in sample for each in differences(with_http, case, http)]
