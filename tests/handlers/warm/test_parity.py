"""Scripts do the same cold and warm. A sample of them here; all, on every interpreter, in `make soak` (part warm)."""

import asyncio
from pathlib import Path

import pytest

from tests.handlers.warm.parity import Differences, interpreters, scripts


@pytest.mark.unmeasured
def test_scripts_do_the_same_cold_and_warm(tmp_path: Path) -> None:
    every = scripts()
    assert len(every) > 150
    differences = Differences(interpreters()[0], tmp_path, at_once=6)
    sample = [each for each in every[::12] if not each.has("timeout")]
    assert asyncio.run(differences.among(sample)) == []
    assert differences.compared == len(sample)
