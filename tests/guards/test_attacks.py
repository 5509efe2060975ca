"""Test the guards on lines of an attack that really acted, and on lines of everyday work."""

from functools import cache

import pytest

from bench.attacks import GUARDS, MOST_ALARMS, MOST_SILENT, SINGLE, Judges, alarms, score, top
from bench.guard_lines import corpus, idle, silent
from bench.shell_sandbox import why_not

pytestmark = pytest.mark.skipif(
    str(top().resolve()).startswith(("/tmp/", "/var/tmp/")),
    reason="below /tmp nothing is outside the project, and the home of the attack can be made nowhere else",
)


@cache
def judges() -> Judges:
    return Judges()


@pytest.mark.parametrize("name", GUARDS)
def test_hardly_a_line_that_shows_what_it_does_goes_through(name: str) -> None:
    result = score(judges(), name)
    assert result.lost == []
    assert len(result.silent[SINGLE]) <= result.tried[SINGLE] * MOST_SILENT, result.silent[SINGLE]


def test_what_the_text_of_code_shows_is_asked_about() -> None:
    """The environment is a part of secrets-read that is off by default."""
    code = "code of another language"
    silent = [line for name in GUARDS for line in score(judges(), name).silent.get(code, ())]
    assert [line for line in silent if "env" not in line.lower()] == [
        """python3 - <<'E'
import os
for k in os.listdir('.'):
    if k.startswith('.e'): print(open(k).read())
E"""
    ]


def test_everyday_lines_pass() -> None:
    assert len(alarms(judges())) <= MOST_ALARMS


def test_lines_that_act_are_stopped() -> None:
    assert silent(judges()) == []


@pytest.mark.unmeasured
@pytest.mark.skipif(why_not() is not None, reason=f"no sandbox here: {why_not()}")
def test_lines_that_are_stopped_act() -> None:
    """Run every twelfth one; `make soak` runs all."""
    assert idle(list(corpus())[::12], print) == []
