from collections.abc import Iterator

import pytest

from tests.cli.run_cli import Place, place


@pytest.fixture
def where() -> Iterator[Place]:
    """An empty home with an empty project; its path is equally long every time."""
    with place() as made:
        yield made
