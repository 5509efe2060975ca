"""Every scenario, as a real process: what the agent does, and when each event fires."""

import pytest

from tests.agent.scenario_checks import differences
from tests.agent.scenario_runs import played_once, scenario_names
from tests.agent.shared_directory import shared_place


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_comes_to_what_it_says(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    for number, played in enumerate(played_once(name, shared_place(tmp_path_factory)), 1):
        found = differences(played)
        assert not found, f"{name}, play {number}:\n" + "\n".join(found)
