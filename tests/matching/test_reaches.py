"""Lines that really start rm or curl: a guard on that program fires on each, but for what no text can show."""

from functools import cache

import pytest

from bench.shell_sandbox import Sandbox, why_not
from hookline.matching.tool_rules import judge
from tests.matching import reaches
from tests.matching.reaches import NO_TEXT_SHOWS, Reaching
from tests.matching.rules_on_calls import rule

#: One of so many is run in a sandbox by `make test`, all of them by `make soak`.
EVERY = 60
GUARDS = {program: rule(f"Bash({program} *)") for program in ("rm", "curl")}
#: Each family is one case: 3,000 cases would cost more than the judging.
FAMILIES = sorted({entry.family for entry in reaches.corpus()})


@cache
def family(name: str) -> list[Reaching]:
    return [entry for entry in reaches.corpus() if entry.family == name]


def is_silent(entry: Reaching) -> bool:
    return judge(GUARDS[entry.program], "Bash", {"command": entry.line}, "/proj") is False


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != NO_TEXT_SHOWS])
def test_a_guard_fires_on_every_line_of_the_corpus(name: str) -> None:
    assert [entry.line for entry in family(name) if is_silent(entry)] == []


def test_what_no_text_can_show_is_little_and_says_why() -> None:
    hidden = family(NO_TEXT_SHOWS)
    assert all(entry.why for entry in hidden)
    assert 0 < len(hidden) <= len(reaches.corpus()) * 0.02
    assert [entry.line for entry in hidden if not is_silent(entry)] == [], "they belong into another family"


def test_the_corpus_is_large_and_confirmed() -> None:
    entries = reaches.corpus()
    assert len({entry.line for entry in entries}) == len(entries) >= 900
    assert all(entry.program and entry.shells for entry in entries)


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_lines_of_the_corpus_start_the_program_in_a_real_shell() -> None:
    some = reaches.corpus()[::EVERY]
    with Sandbox(workers=2) as sandbox:
        unmoved = [entry.line for entry in some if not sandbox.reaches(entry.line, entry.program, seconds=8)]
    assert not unmoved


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_no_line_blinds_the_sandbox_for_the_next_ones() -> None:
    with Sandbox(workers=1) as sandbox:
        for line in (": > /bin/rm", "ln -sf /bin/true /shims/rm", "echo x > /kept/f", "mv /mark /x; true"):
            assert sandbox.reaches(line, "rm") == ()
            assert sandbox.reaches("grep -q one f && rm y", "rm", seconds=8) == ("bash", "dash")
