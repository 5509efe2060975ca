from collections.abc import Iterator

import pytest

from tests.cli.run_cli import Place, place


@pytest.fixture
def where() -> Iterator[Place]:
    """A home whose user trusts the project in it, which is empty; its path is equally long every time."""
    with place() as made:
        yield made
