from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hook.daemon.daemons import Daemons, SharedResident


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    made = Daemons(tmp_path)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemons]:
    """One that runs for all tests of this process."""
    made = Daemons(tmp_path_factory.mktemp("resident"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def daemon(whole: Daemons, request: pytest.FixtureRequest) -> SharedResident:
    name = "".join(each if each.isalnum() else "-" for each in request.node.name)
    return SharedResident(whole, name)
