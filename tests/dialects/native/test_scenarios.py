import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline.config.engine import Engine
from hookline.config.load import Loader
from hookline.dialects.registry import home_dialect
from hookline.handlers.registry import standard_handlers
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from tests.scenarios import Scenario, payload_document, read_scenario

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
        for line in scenario.fire:
            parsed = home.wire.parse(payload_document(line))
            outcome = await session.dispatch(parsed.event, parsed.payload)
        return outcome, runs


def shown(name: str, outcome: Outcome, runs: list[Run]) -> str:
    if name == "runs":
        # By name: hooks of one lane run side by side, and are recorded as they end.
        return ", ".join(sorted(f"{run.hook} {run.status}" for run in runs))
    value: Any = getattr(outcome, name)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] texts
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_scenario(file: Path, tmp_path: Path):
    scenario = read_scenario(file.read_text())
    scenario.write_to(tmp_path)
    outcome, runs = asyncio.run(fired(scenario, tmp_path))
    found = {name: shown(name, outcome, runs) for name in scenario.outcome}
    assert found == scenario.outcome, scenario.fact


@pytest.mark.parametrize("text", ["", "fact\n-- fire --\nStop\n", "-- fire --\nStop\n-- outcome --\na: b\n"])
def test_a_scenario_that_says_too_little_is_refused(text: str):
    with pytest.raises(ValueError, match="needs"):
        read_scenario(text)
