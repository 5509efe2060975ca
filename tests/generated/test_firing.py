from pathlib import Path

import pytest

from hookline.model.events import EVENTS
from tools.firing_page import fire_points, firing_page, seen_in

ROOT = Path(__file__).parents[2]
PAGE = firing_page(ROOT, EVENTS)


@pytest.mark.parametrize("name", [name for name, event in EVENTS.items() if not event.declared_only])
def test_every_event_that_is_not_only_declared_has_a_line_that_fires_it_and_a_scenario_that_saw_it(name: str):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    _, fired, seen = (cell.strip() for cell in line.strip("|").split("|"))
    assert fired.startswith("[")
    assert seen


@pytest.mark.parametrize("name", [name for name, event in EVENTS.items() if event.declared_only])
def test_an_event_nobody_fires_is_marked_so(name: str):
    assert f"| {name} | declared only |" in PAGE


def test_the_lines_it_names_do_name_the_event():
    for name, places in fire_points(ROOT).items():
        for file, line in places:
            assert f"e.{name}" in (ROOT / file).read_text().splitlines()[line - 1]


def test_a_scenario_it_names_is_there():
    assert all((ROOT / "tests/agent/scenarios" / name).is_dir() for name in seen_in(ROOT).values())
