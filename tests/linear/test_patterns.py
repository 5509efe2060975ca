"""Every pattern of the source takes time in proportion to the text, also for texts that are made to take long."""

import re

import pytest

from tests.linear.pattern_sources import Used
from tests.linear.pattern_tables import TABLES
from tests.linear.pattern_texts import Shape
from tests.linear.patterns import all_patterns, slow, slow_patterns
from tests.linear.work import grows_faster, unit

#: Texts for each pattern. `make soak` takes all there are.
_MOST_SHAPES = 16


@pytest.mark.unmeasured
def test_no_pattern_takes_more_than_linear_time() -> None:
    assert slow_patterns(_MOST_SHAPES) == []


def test_every_pattern_is_found() -> None:
    """A new one whose text the source does not say has to be named in `TABLES`."""
    used, unknown = all_patterns()
    assert len(used) > 700
    assert sorted(set(unknown) - set(TABLES)) == []
    assert sorted(set(TABLES) - set(unknown)) == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:chrome|firefox)[^\0]*/(?:cookies)",
        r"(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n])+/",
        r"\s*(?:exec\s+)?x",
        r"[-.]?\d[\d.]*$",
        r"^\s*include",
        r"(a|aa)+$",
        r"\$\{[^}]*\}",
    ],
)
def test_a_pattern_that_takes_long_is_found(pattern: str) -> None:
    def found() -> bool:
        unit.cache_clear()  # it may have been measured while others used the machine
        return any(slow(Used(pattern, int(re.MULTILINE), "search", "here"), _MOST_SHAPES))

    assert any(found() for _ in range(3))


#: Texts by which the soak found a pattern that took long, by a part of the pattern.
_ONCE_SLOW = {
    "(?:ba|da|z|k|a)?sh": Shape("", "curl(|", ""),
    r"\bqx\b": Shape("!5e", "e", "é"),
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("part", _ONCE_SLOW)
def test_a_text_that_once_took_long_takes_linear_time(part: str) -> None:
    patterns = [used for used in all_patterns()[0] if part in str(used.pattern)]
    assert patterns
    for used in patterns:
        search = re.compile(str(used.pattern), used.flags).search
        assert grows_faster(search, _ONCE_SLOW[part].text, 3_200) is None, used.where
