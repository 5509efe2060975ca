import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from hookline import Engine, Outcome
from hookline.config.load import Loader
from hookline.dialects.registry import home_dialect
from hookline.extending import Run, standard_handlers
from tests.scenarios import Scenario, parsed_scenario, payload_document, read_scenario

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))


async def fired(scenario: Scenario, directory: Path) -> tuple[Outcome, list[Run]]:
    handlers = standard_handlers()
    home = home_dialect()
    loaded = Loader(home, handlers, env={}).directory(str(directory), [home.name])
    async with Engine(loaded.hooks, handlers=handlers) as engine:
        runs: list[Run] = []
        engine.journal.subscribe(runs.append)
        session = engine.session("s", cwd=str(directory))
        outcome = Outcome()
        for line in scenario.steps:
            parsed = home.wire.parse(payload_document(line))
            outcome = await session.dispatch(parsed.event, parsed.payload)
        return outcome, runs


def shown(name: str, outcome: Outcome, runs: list[Run], directory: Path) -> Any:
    if name == "written":
        return sorted(file.name for file in directory.iterdir())
    if name == "doubts":
        return [run.doubt for run in runs if run.doubt]
    if name == "runs":
        # By name: hooks of one lane run side by side, and are recorded as they end.
        return sorted(f"{run.hook} {run.status}" for run in runs)
    if name == "absent":
        return [each for each in ("permission", "reason") if getattr(outcome, each) is None]
    value: Any = getattr(outcome, name)
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_scenario(file: Path, tmp_path: Path):
    scenario = read_scenario(file)
    scenario.write_to(tmp_path)
    outcome, runs = asyncio.run(fired(scenario, tmp_path))
    found = {name: shown(name, outcome, runs, tmp_path) for name in scenario.expected}
    assert found == scenario.expected, scenario.fact


@pytest.mark.parametrize(
    "text", ["", "fact\n-- do --\nfire Stop\n", "-- do --\nfire Stop\n-- expect --\nblocked = false\n"]
)
def test_a_scenario_that_says_too_little_is_refused(text: str):
    with pytest.raises(ValueError, match="needs"):
        parsed_scenario(text)
