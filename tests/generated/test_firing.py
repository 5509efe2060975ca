from pathlib import Path

import pytest

from hookline.events import EVENTS
from tests.every import every
from tools.firing_page import seen_in

ROOT = Path(__file__).parents[2]
#: As committed; test_fresh.py proves that this is what the code would write.
PAGE = (ROOT / "docs/reference/firing.md").read_text()


@every("name", [name for name, event in EVENTS.items() if not event.declared_only])
def test_every_event_that_is_not_only_declared_has_a_function_that_fires_it_and_a_scenario(name: str):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    _, fired, seen = (cell.strip() for cell in line.strip("|").split("|"))
    assert fired.startswith("[")
    assert seen


@pytest.mark.parametrize("name", [name for name, event in EVENTS.items() if event.declared_only])
def test_an_event_that_is_not_fired_is_marked_so(name: str):
    assert f"| {name} | declared only |" in PAGE


def test_a_scenario_it_names_is_there():
    assert all((ROOT / "tests/agent/scenarios" / name).is_dir() for name in seen_in(ROOT).values())
