"""Guards, rules, conditions, the journal and permissions take time in proportion to what a hostile call holds.

With the texts that were found by hand. `make soak` takes those of every pattern, at full length.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.linear.calls import (
    Ask,
    Extent,
    asking,
    slow_calls,
    slow_lines,
    slow_permissions,
    slow_programs,
    slow_redaction,
)

pytestmark = pytest.mark.unmeasured

_SMALL = Extent(text=24_000, line=16_000, words=4_000, texts=0, both=False)


@pytest.fixture
def ask(tmp_path: Path) -> Generator[Ask]:
    with asking(tmp_path) as asked:
        yield asked


def test_long_arguments_of_every_tool(ask: Ask) -> None:
    assert slow_calls(ask, _SMALL) == []


def test_long_lines(ask: Ask) -> None:
    assert slow_lines(ask, _SMALL) == []


@pytest.mark.parametrize("quoted", [True, False])
def test_long_words_of_programs(quoted: bool, ask: Ask) -> None:
    assert slow_programs(ask, _SMALL, quoted=quoted) == []


def test_permissions() -> None:
    assert slow_permissions(_SMALL) == []


def test_redaction() -> None:
    assert slow_redaction(_SMALL) == []
