import subprocess
import sys
from typing import Any

import pytest

from hookline.events import EventSpec
from hookline.extending import SessionInfo
from hookline.matching.conditions import InMode, explain_match, explain_matcher
from hookline.matching.matchers import parse_matcher
from hookline.matching.patterns import Patterns
from hookline.model import events
from hookline.model import payloads as p
from hookline.model.events import subject_of
from tests.matching.rules_on_calls import SHELL, call

PRE = events.PRE_TOOL_USE


def explained(text: str | None, payload: Any, event: EventSpec[Any] = PRE) -> tuple[bool, str]:
    matcher, condition = parse_matcher(text, Patterns(), SHELL)
    explanation = explain_match(matcher, condition, subject_of(event, payload), event, payload, SessionInfo())
    return explanation.matched, explanation.why


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        (None, "Bash", (True, "it has no matcher and no condition")),
        ("Bash", "Bash", (True, 'matcher "Bash" is "Bash"')),
        ("Bash", "Edit", (False, 'matcher "Bash" is not "Edit"')),
        ("Edit|Write", "Bash", (False, 'matcher "Edit|Write" is a list of names and "Bash" is not in it')),
        ("Edit|Write", "Edit", (True, 'matcher "Edit|Write" is a list of names and "Edit" is in it')),
        ("mcp__*", "Edit", (False, 'matcher "mcp__*" (a name with *) does not match "Edit"')),
        ("mcp__*", "mcp__a", (True, 'matcher "mcp__*" (a name with *) matches "mcp__a"')),
        (
            "Edit.*",
            "Bash",
            (False, 'matcher "Edit.*" is a regular expression and does not match the whole of "Bash"'),
        ),
        (
            "Ba.*",
            "Bash",
            (True, 'matcher "Ba.*" is a regular expression and matches the whole of "Bash"'),
        ),
    ],
)
def test_a_matcher_says_why(text: str | None, tool: str, expected: tuple[bool, str]):
    assert explained(text, call(tool)) == expected


def test_the_first_thing_in_the_way_is_named_else_all_that_let_it():
    assert explained("Bash(git *)", call("Edit")) == (False, 'matcher "Bash" is not "Edit"')
    assert explained("Bash(git *)", call("Bash", command="ls")) == (
        False,
        'if "Bash(git *)": no command of the line is git *',
    )
    matched, why = explained("Bash(git *)", call("Bash", command="git log"))
    assert matched
    assert why == 'matcher "Bash" is "Bash"; if "Bash(git *)": command "git log" is git *'


def test_a_matcher_with_nothing_to_test_says_so():
    assert explained("Bash", p.TurnAnswer(), events.STOP) == (
        False,
        'matcher "Bash" has nothing to test at Stop',
    )
    explanation = explain_match(None, InMode("plan"), None, events.STOP, p.TurnAnswer(), SessionInfo())
    assert not explanation.matched


def test_matchers_of_others_are_explained_too():
    class Own:
        text = "own"

        def matches(self, subject: str) -> bool:
            return subject == "yes"

    assert explain_matcher(Own(), "yes") == 'matcher "own" matches "yes"'
    assert explain_matcher(Own(), "no") == 'matcher "own" does not match "no"'


def test_nothing_heavy_is_loaded_before_it_is_needed():
    code = (
        "import sys\n"
        "from hookline import shell\n"
        "from hookline.matching import conditions, matchers, tool_rules\n"
        "from hookline.matching import patterns\n"
        "shell_reader, table = shell.ShellReader(), patterns.Patterns()\n"
        "matchers.parse_matcher('Bash(git *)|Read', table, shell_reader)\n"
        "print([name for name in ('re2', 'hookline.shell.walk.lines', 'difflib', 'unicodedata', 'yaml')"
        " if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
