"""Test that the page about permissions shows the real decisions."""

import json
import re

import msgspec
import pytest

from hookline.model.outcome import PermissionUpdate, Vote, VoteKind
from hookline.permissions.decide import decide
from hookline.permissions.facts import CallFacts, Category
from hookline.permissions.modes import MODES
from hookline.permissions.settings import permission_settings
from hookline.permissions.state import Permissions
from tests.every import every
from tests.permissions.permission_cases import HERE, PROJECT, bash, call, having, reader, some_call

PAGE = (HERE.parents[1] / "docs/explanation/permissions.md").read_text()
KINDS: dict[str, VoteKind] = {"allow": "allow", "deny": "block", "ask": "ask", "defer": "defer"}


def table(heading: str) -> list[list[str]]:
    """The rows of the table that begins with this cell."""
    _before, _found, after = PAGE.partition(f"| {heading} |")
    lines = after.split("\n\n")[0].split("\n")[2:]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines]


def session() -> Permissions:
    shown = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
    found = permission_settings(json.loads(shown), "settings", reader=reader())
    assert found.problems == ()
    return Permissions(found.rules, root=PROJECT, reader=reader())


def shown_call(text: str) -> CallFacts:
    tool, _blank, argument = text.partition(" ")
    return bash(argument) if tool == "Bash" else call(tool, file_path=argument)


@every(("text", "hook", "decision", "step"), table("call"))
def test_each_call_on_the_page_is_decided_as_shown(text: str, hook: str, decision: str, step: str) -> None:
    found = decide(shown_call(text), session(), Vote(KINDS[hook]) if hook else None)
    assert (found.decision, found.step) == (decision, step)


def test_every_step_of_a_hook_or_a_rule_is_on_the_page() -> None:
    shown = {row[3] for row in table("call")}
    assert shown >= {"deny_rule", "hook_deny", "ask_rule", "hook_ask", "hook_allow", "allow_rule", "default"}


@pytest.mark.parametrize(("mode", "read", "write", "others", "becomes"), table("mode"))
def test_each_mode_on_the_page_does_what_is_shown(
    mode: str, read: str, write: str, others: str, becomes: str
) -> None:
    columns: dict[Category, str] = {"read": read, "write": write}
    columns.update({"run": others, "web": others, "mcp": others, "other": others})
    for category, decision in columns.items():
        assert decide(some_call(category), having(mode=mode)).decision == decision
    asked = decide(bash("make"), having(mode=mode), Vote("ask"))
    assert asked.decision == becomes


def test_every_mode_is_on_the_page() -> None:
    assert [row[0] for row in table("mode")] == list(MODES)


@every(("update", "taken"), table("update"))
def test_each_update_on_the_page_is_taken_or_refused_as_shown(update: str, taken: str) -> None:
    wanted = msgspec.json.decode(update, type=PermissionUpdate)
    assert session().apply(wanted, "PermissionRequest", "x").ok == (taken == "yes")


def test_updates_are_on_the_page_both_ways() -> None:
    assert {row[1] for row in table("update")} == {"yes", "no"}
