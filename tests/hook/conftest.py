from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hook.daemon.daemons import Residents, SharedResident


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Residents]:
    made = Residents(tmp_path)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Residents]:
    """One that runs for all tests of this process."""
    made = Residents(tmp_path_factory.mktemp("resident"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def daemon(whole: Residents, request: pytest.FixtureRequest) -> SharedResident:
    name = "".join(each if each.isalnum() else "-" for each in request.node.name)
    return SharedResident(whole, name)
