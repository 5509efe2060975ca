from collections.abc import Iterator

import pytest

from tests.cli.run_cli import Workspace, workspace


@pytest.fixture
def where() -> Iterator[Workspace]:
    """A home whose user trusts the project in it, which is empty; its path is equally long every time."""
    with workspace() as made:
        yield made
