"""Test grants, subagents, and suggestions."""

import json
from typing import Any

import msgspec
import pytest

from hookline.model.outcome import PermissionUpdate
from hookline.permissions.decide import decide
from hookline.permissions.facts import CallFacts, call_facts
from hookline.permissions.modes import MODES, mode_of, narrowed
from hookline.permissions.state import Permissions
from hookline.permissions.suggest import suggestions
from tests.every import every
from tests.permissions.permission_cases import HERE, PROJECT, SHELL, bash, call, having, rules, vote

#: what the user granted with "always", the rules that became of it, a call it covers, one it does not
GRANTS: list[tuple[CallFacts, tuple[str, ...], CallFacts, CallFacts]] = [
    (bash("git commit -m x"), ("Bash(git commit:*)",), bash("git commit -m y"), bash("git push")),
    (bash("npm run build"), ("Bash(npm run build:*)",), bash("npm run build -- -w"), bash("npm run deploy")),
    (bash("pytest -q"), ("Bash(pytest:*)",), bash("pytest tests"), bash("python x")),
    (bash("ls && wc -l x"), ("Bash(ls:*)", "Bash(wc:*)"), bash("wc y; ls"), bash("ls; rm x")),
    (bash("rm -r build"), ("Bash(rm -r build)",), bash("rm -r build"), bash("rm -r src")),
    (bash("git -C x log"), ("Bash(git -C x log)",), bash("git -C x log"), bash("git -C y log")),
    (bash("git config core.pager less"), ("Bash(git config core.pager less)",),
     bash("git config core.pager less"), bash("git config core.pager sh")),
    (bash("echo $HOME"), ("Bash(echo:*)",), bash("echo $USER"), bash("git log")),
    (bash("[ -f x ] && make"), ("Bash(make:*)",), bash("make"), bash("ls")),
    (bash("sed -i s/a/b/ x"), ("Bash(sed -i s/a/b/ x)",), bash("sed -i s/a/b/ x"), bash("sed -i s/a/b/ y")),
    (bash("git log $X"), ("Bash, exactly this call",), bash("git log $X"), bash("git log $Y")),
    (bash("echo 'a  b' > x"), ("Bash, exactly this call",), bash("echo 'a  b' > x"), bash("echo 'a b' > x")),
    (bash("rm 'a*'"), ("Bash, exactly this call",), bash("rm 'a*'"), bash("rm 'ab'")),
    (bash("rm ''"), ("Bash, exactly this call",), bash("rm ''"), bash("rm")),
    (call("Write", file_path="a.py", content="1"), ("Write(//proj/a.py)",),
     call("Write", file_path="/proj/a.py", content="2"), call("Write", file_path="b.py")),
    (call("Write", file_path="a[1].py"), ("Write, exactly this call",),
     call("Write", file_path="a[1].py"), call("Write", file_path="a1.py")),
    (call("WebFetch", url="https://example.com/x"), ("WebFetch(domain:example.com)",),
     call("WebFetch", url="https://example.com/y"), call("WebFetch", url="https://example.org/x")),
    (call("mcp__db__query", sql="a"), ("mcp__db__query",), call("mcp__db__query", sql="b"), call("mcp__db__drop")),
    (call("Mystery", x=1), ("Mystery, exactly this call",), call("Mystery", x=1), call("Mystery", x=2)),
]  # fmt: skip


@every(("granted", "texts", "covered", "other"), GRANTS)
def test_a_grant_is_as_narrow_as_is_of_use(
    granted: CallFacts, texts: tuple[str, ...], covered: CallFacts, other: CallFacts
) -> None:
    permissions = having()
    assert decide(granted, permissions).decision == "ask"
    assert permissions.grant(granted.tool_name, granted.tool_input, granted.cwd) == texts
    for facts in (granted, covered):
        assert (decide(facts, permissions).decision, decide(facts, permissions).step) == (
            "allow",
            "session_grant",
        )
    assert decide(other, permissions).decision == "ask"


def test_a_grant_lifts_no_guard() -> None:
    permissions = having(deny=["Bash(git push:*)"], ask=["Bash(npm publish:*)"])
    for command in ("git push", "npm publish"):
        permissions.grant("Bash", {"command": command}, PROJECT)
    assert decide(bash("git push"), permissions).decision == "deny"
    assert decide(bash("npm publish"), permissions).decision == "ask"


def test_this_very_call_is_the_call_in_this_directory() -> None:
    permissions = having()
    permissions.grant("Bash", {"command": "rm $X"}, PROJECT)
    elsewhere = CallFacts("Bash", {"command": "rm $X"}, "run", "/proj/src")
    assert decide(elsewhere, permissions).decision == "ask"


def test_what_cannot_be_written_down_cannot_be_granted() -> None:
    permissions = having()
    endless: dict[str, Any] = {}
    endless["x"] = endless
    assert permissions.grant("Mystery", endless) == ()
    assert permissions.grant("Mystery", {"x": object()}) == ()


def test_a_sub_agent_sees_the_rules_of_its_parent_as_they_are_now() -> None:
    parent = having(allow=["Bash(ls:*)"])
    child = parent.child()
    grandchild = child.child()
    assert decide(bash("ls"), grandchild).decision == "allow"
    parent.add_rules("deny", ["Bash(ls:*)"])
    assert decide(bash("ls"), grandchild).decision == "deny"
    parent.grant("Bash", {"command": "make all"})
    assert decide(bash("make all"), grandchild).decision == "allow"
    parent.grant("Bash", {"command": "echo $X"}, PROJECT)
    assert decide(bash("echo $X"), grandchild).decision == "allow"
    parent.add_directory("/other")
    assert decide(call("Read", file_path="/other/x"), grandchild).decision == "allow"
    parent.set_layer("settings", rules())
    assert len(grandchild.rules) == 1


def test_what_a_sub_agent_is_granted_stays_with_it() -> None:
    parent = having()
    child = parent.child(deny=["Bash(npm:*)"], ask=["Bash(git:*)"], source="agent reviewer")
    child.grant("Bash", {"command": "make all"})
    child.add_directory("/other")
    child.apply(PermissionUpdate("setMode", mode="plan"), "PermissionRequest")
    assert decide(bash("make all"), child).decision == "allow"
    assert decide(bash("make all"), parent).decision == "ask"
    assert decide(bash("npm i"), child).source == "agent reviewer"
    assert decide(bash("git log"), child).step == "ask_rule"
    assert (child.mode, parent.mode, parent.directories) == ("plan", "default", ())


def test_a_sub_agent_is_never_wider_than_its_parent() -> None:
    parent = having()
    child = parent.child(mode="bypass")
    assert (child.mode, decide(bash("make"), child).decision) == ("default", "ask")
    assert decide(call("Read", file_path="/etc/hosts"), child).decision == "ask"
    assert decide(call("Write", file_path=".git/config"), child, vote("allow")).step == "protected"
    parent.set_mode("plan")
    assert decide(call("Write", file_path="a"), child).decision == "deny"
    parent.set_mode("bypass")
    assert decide(bash("make"), child).decision == "allow"
    careful = parent.child(mode="dontAsk")
    assert decide(bash("make"), careful).decision == "deny"
    held = careful.child().apply(PermissionUpdate("setMode", mode="acceptEdits"), "PermissionRequest")
    assert (held.taken, held.why) == (("dontAsk",), "the mode above it still holds: dontAsk")


def test_two_modes_together_are_as_strict_as_both() -> None:
    both = narrowed(MODES["plan"], MODES["dontAsk"])
    assert (both.refuses, both.unanswered) == ({"write"}, "deny")
    for one in MODES.values():
        for other in MODES.values():
            joined = narrowed(one, other)
            assert joined == narrowed(other, one)
            assert joined.runs == one.runs & other.runs
            assert joined.refuses >= one.refuses


@every(
    ("given", "mode"),
    [("default", "default"), ("acceptEdits", "acceptEdits"), ("accept-edits", "acceptEdits"), ("PLAN", "plan"),
     ("bypass", "bypass"), ("bypassPermissions", "bypass"), ("dont_ask", "dontAsk"), ("normal", "default"),
     ("", None), ("auto", None), ("yolo", None)],
)  # fmt: skip
def test_modes_in_the_spellings_of_the_agents(given: str, mode: str | None) -> None:
    assert mode_of(given) == mode


def test_a_mode_nobody_knows_is_an_error_where_a_session_begins() -> None:
    with pytest.raises(ValueError, match="no permission mode is called 'yolo'; there are: plan, dontAsk"):
        Permissions(mode="yolo")
    assert not having().set_mode("yolo")


SUGGESTED: list[tuple[CallFacts, list[dict[str, Any]]]] = [
    (bash("git commit -m x"), [
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "git commit:*"}],
         "behavior": "allow", "destination": "session"}]),
    (call("mcp__db__query"), [
        {"type": "addRules", "rules": [{"toolName": "mcp__db__query"}], "behavior": "allow",
         "destination": "session"}]),
    (call("Write", file_path="a.py"), [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]),
    (call("Write", file_path="/other/a.py"), [
        {"type": "addDirectories", "directories": ["/other"], "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]),
    (call("Read", file_path="/other/a.py"), [
        {"type": "addDirectories", "directories": ["/other"], "destination": "session"}]),
    (call("Grep", pattern="x", path="/other"), [
        {"type": "addDirectories", "directories": ["/other"], "destination": "session"}]),
    (bash("echo $(id)"), [
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "id:*"},
                                       {"toolName": "Bash", "ruleContent": "echo:*"}],
         "behavior": "allow", "destination": "session"}]),
    (bash("git log $(id)"), []),
    (bash(""), []),
    (call("Mystery"), []),
    (call("Read", file_path="/passwd"), []),
]  # fmt: skip


@every(("facts", "offered"), SUGGESTED)
def test_what_is_suggested(facts: CallFacts, offered: list[dict[str, Any]]) -> None:
    assert list(suggestions(facts, (PROJECT,), SHELL)) == offered


@pytest.mark.parametrize("facts", [facts for facts, offered in SUGGESTED if offered])
def test_a_suggestion_handed_back_is_taken_and_ends_the_question(facts: CallFacts) -> None:
    permissions = having()
    assert decide(facts, permissions).decision == "ask"
    for offered in suggestions(facts, permissions.reach(PROJECT), SHELL):
        update = msgspec.convert(offered, PermissionUpdate)
        assert permissions.apply(update, "PermissionRequest", "x").ok
    assert decide(facts, permissions).decision == "allow"


def test_suggestions_have_the_shape_the_client_sends() -> None:
    file = HERE.parent / "dialects/claude_code/recorded/payloads/PermissionRequest.Bash.json"
    payload = json.loads(file.read_text())["payload"]
    recorded = payload["permission_suggestions"][0]
    outside = call_facts("Write", {"file_path": "../.claude/settings.local.json"}, payload["cwd"])
    assert suggestions(outside, (payload["cwd"],))[0] == recorded
