"""A guard sees what it is about behind every option of its program, known or not."""

import pytest

from tests.guards.behind_options import HARMLESS, UNKNOWN, USED, asked, asked_of_files

#: One line of so many runs here, all of them in `python -m bench.soak options`.
EVERY = 9


def test_an_act_is_seen_behind_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    some = list(asked())[::EVERY]
    assert {one.option for one in some} >= {*UNKNOWN}
    missed = [one.line for one in some if one.is_silent and not one.may_be_silent]
    assert missed == [], (
        "a row misses them; or the option makes the program harmless: then name it in HARMLESS"
    )


def test_only_what_is_harmless_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that each exception is needed: a wrong one would hide a miss."""
    monkeypatch.setenv("HOME", "/home/ada")
    silent = {(one.program, one.option) for one in asked() if one.may_be_silent and one.is_silent}
    assert silent == {
        (program, option) for program, options in HARMLESS.items() for option in options.split()
    }


def test_a_file_that_is_the_value_of_an_option_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    missed = [one.line for one in list(asked_of_files())[::EVERY] if one.is_silent and not one.may_be_silent]
    assert missed == [], "a row says that the value is a file, and the guard does not see it"


def test_only_files_that_are_used_otherwise_may_be_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    silent = {(one.program, one.option) for one in asked_of_files() if one.may_be_silent and one.is_silent}
    assert silent == {(program, option) for program, options in USED.items() for option in options.split()}
