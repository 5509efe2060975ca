from pathlib import Path

import pytest

from tests.hook.relay.programs import KINDS, Relay, relay_of


@pytest.fixture(params=KINDS)
def relay(request: pytest.FixtureRequest, tmp_path: Path) -> Relay:
    """Each of the two programs: all that a test says holds for both."""
    return relay_of(request.param, tmp_path / "resident")
