"""Names and patterns of a shell, compared with `fnmatch`."""

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from hookline.matching.name_patterns import LONGEST_NAME, name_fits


@given(st.text("abc.-]![", max_size=6), st.text("ab*?[]!-^c.", max_size=9))
def test_it_says_what_fnmatch_says(name: str, pattern: str) -> None:
    assert name_fits(name, pattern) == fnmatchcase(name, pattern)


def test_a_pattern_that_is_longer_than_names_fits_by_its_stars_alone() -> None:
    assert name_fits(".env", ".e" + "*" * 10_000)
    assert not name_fits(".env", ".e" + "?" * (LONGEST_NAME + 1))
    assert not name_fits(".env", "[" * 100_000)
