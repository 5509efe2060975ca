"""Doubt about a program is no reason to hold a line up where the program is judged when it starts."""

import pytest

from hookline.events import ToolCall
from hookline.guards.runner import GuardRunner
from hookline.model.session_info import SessionInfo
from hookline.permissions.decide import decide
from hookline.permissions.facts import CallFacts
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions

_DOUBTFUL = "$TOOL build"


def decided(rule: str, line: str, *, guarded: bool) -> str:
    reader = RuleReader()
    rules, problems = RuleSet.parse(["Bash"], (), [rule], reader=reader)
    assert problems == ()
    permissions = Permissions(rules, root="/srv/project", reader=reader)
    facts = CallFacts("Bash", {"command": line}, "run", "/srv/project", guarded=guarded)
    return decide(facts, permissions).decision


def test_a_line_in_doubt_runs_guarded_and_a_certain_one_is_denied() -> None:
    assert decided("Bash(rm *)", _DOUBTFUL, guarded=False) == "deny"
    assert decided("Bash(rm *)", _DOUBTFUL, guarded=True) == "allow"
    assert decided("Bash(rm *)", "true && rm x", guarded=True) == "deny"


@pytest.mark.parametrize("rule", ["Bash(eval *)", "Bash(*secret*)", "Bash(cat * > *)", "Bash(source *)"])
def test_rules_that_no_exec_shows_keep_their_doubt(rule: str) -> None:
    assert decided(rule, _DOUBTFUL, guarded=True) == decided(rule, _DOUBTFUL, guarded=False) == "deny"


@pytest.mark.parametrize(
    ("guard", "line", "passes"),
    [
        ("delete-recursive", "$X -rf build", True),
        ("delete-recursive", "rm -rf build", False),
        ("secrets-read", "sh $SCRIPT", False),
        ("pipe-to-shell", "$TOOL build", False),
    ],
)
def test_guards_over_programs_let_doubt_pass_and_others_do_not(guard: str, line: str, passes: bool) -> None:
    runner, info = (
        GuardRunner(env={"HOME": "/home/ada"}),
        SessionInfo(cwd="/srv/project", project_dir="/srv/project"),
    )
    call = ToolCall(tool_name="Bash", tool_input={"command": line})

    without = runner.decision(guard, (), call, info)
    under = runner.decision(guard, (), call, info, at_exec=True)

    assert without is not None
    assert (under is None) is passes
