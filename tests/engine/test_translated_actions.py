"""Test calls with several actions: denials, allows and rewrites of each, and unreadable ones."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from hookline import Outcome
from hookline.events import (
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    PermissionAsked,
    ToolResult,
)
from hookline.extending import Exited
from tests.engine.translating_hooks import (
    NO,
    OWN,
    PASS,
    Host,
    allowed,
    hook,
    parallel,
    updated,
    where,
)

# One call, several actions


def test_a_call_is_denied_if_one_of_its_acts_is():
    host = Host(hook("native", where("file_path", "/p/b", NO)), caller="codewhale")
    outcome = host.call("multi_tool_use.parallel", tool_uses=parallel("a", "b", "c"))
    assert (outcome.permission, outcome.reason) == ("deny", "not here")
    assert host.translated == ["Read", "Read", "Read"]
    assert [run.status for run in host.runs] == ["ok", "blocked", "ok"]
    assert not host.call("multi_tool_use.parallel", tool_uses=parallel("a", "c")).votes


@pytest.mark.parametrize(
    ("paths", "permission"), [(["a", "a"], "allow"), (["a"], "allow"), (["a", "b"], None), (["b", "a"], None)]
)
def test_an_allow_counts_only_for_every_act(paths: list[str], permission: str | None):
    host = Host(hook("claude-code", where("file_path", "/p/a", allowed())), caller="docker-agent")
    assert host.call("read_multiple_files", paths=paths).permission == permission


def test_an_allow_by_a_hook_that_is_not_asked_about_every_act_does_not_count():
    host = Host(hook("native", allowed(), condition="Read(/p/a)"), caller="docker-agent")
    assert host.call("read_multiple_files", paths=["a"]).permission == "allow"
    assert host.call("read_multiple_files", paths=["a", "b"]).permission is None


def test_an_allow_of_one_act_does_not_hide_that_another_is_asked_about():
    asks = Exited(0, b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}')
    host = Host(hook("native", where("file_path", "/p/a", allowed(), asks)), caller="docker-agent")
    assert host.call("read_multiple_files", paths=["a", "b"]).permission == "ask"


def test_what_a_hook_says_about_every_act_is_said_once():
    said = {"hookEventName": "PreToolUse", "additionalContext": "mind the keys"}
    host = Host(
        hook("native", Exited(0, json.dumps({"hookSpecificOutput": said}).encode())), caller="docker-agent"
    )
    assert host.call("read_multiple_files", paths=["a", "b", "c"]).context == ("mind the keys",)


def test_a_grant_that_comes_with_an_allow_of_one_act_does_not_count():
    rule = {"toolName": "Read", "ruleContent": "/p/a"}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
    decision = {"behavior": "allow", "updatedPermissions": [update]}
    said = {"hookEventName": "PermissionRequest", "decision": decision}
    answer = Exited(0, json.dumps({"hookSpecificOutput": said}).encode())
    grants = hook("claude-code", where("file_path", "/p/a", answer), event=PERMISSION_REQUEST)
    host = Host(grants, caller="docker-agent")

    def asked(*paths: str) -> Outcome:
        made = PermissionAsked(tool_name="read_multiple_files", tool_input={"paths": [*paths]})
        return host.fire(PERMISSION_REQUEST, made)

    assert (asked("a").permission, len(asked("a").permission_updates)) == ("allow", 1)
    assert (asked("a", "b").permission, asked("a", "b").permission_updates) == (None, ())


def test_a_hook_cannot_change_what_the_next_one_is_told():
    def changes(payload: Any) -> Exited:
        payload.tool_input["command"] = "rm -rf /"
        return PASS

    log: list[tuple[str, Any]] = []
    host = Host(hook("native", changes), hook("claude-code", PASS, "Bash", log=log), caller="docker-agent")
    assert host.call("shell", cmd="ls").updated_input is None
    assert [payload.tool_input for _, payload in log] == [{"command": "ls"}]


def test_the_parts_of_a_patch_are_told_as_what_they_do():
    host = Host(hook("claude-code", where("file_path", "/p/.env", NO), "Write"), caller="codewhale")
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: .env\n*** End Patch\n"
    assert host.call("apply_patch", patch=patch).reason == "not here"
    assert host.translated == ["Write"]


# Rewrites


def test_a_rewrite_is_put_into_the_callers_keys_and_units():
    asked = hook("claude-code", updated(command="ls", timeout=7000), "Bash")
    host = Host(asked, caller="docker-agent")
    outcome = host.call("shell", cmd="rm x", timeout=5, cwd="src")
    assert outcome.updated_input == {"cmd": "ls", "timeout": 7, "cwd": "src"}


def test_a_rewrite_by_a_hook_of_another_agent_reaches_a_standard_call():
    answer = Exited(0, b'{"updatedInput": {"command": "ls", "timeout": 3}}')
    outcome = Host(hook("codewhale", answer, "bash")).call(
        "Bash", command="rm x", timeout=1000, description="d"
    )
    assert outcome.updated_input == {"command": "ls", "timeout": 3000, "description": "d"}


def test_each_act_may_be_rewritten():
    def renamed(payload: Any) -> Exited:
        return updated(file_path=payload.tool_input["file_path"] + ".txt")

    host = Host(hook("native", renamed), caller="docker-agent")
    assert host.call("read_multiple_files", paths=["a", "b"]).updated_input == {
        "paths": ["/p/a.txt", "/p/b.txt"]
    }


def test_a_rewrite_that_cannot_be_put_back_is_a_denial_that_says_so():
    host = Host(hook("native", updated(file_path="/p/other", content="x"), "Write"), caller="codewhale")
    outcome = host.call("apply_patch", patch="*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n")
    assert (outcome.permission, outcome.updated_input) == ("deny", None)
    assert outcome.reason == (
        "the rewrite by native cannot be put into the call of apply_patch: it is one part of a patch"
    )
    assert [(run.status, run.decision, run.reason) for run in host.runs] == [
        ("blocked", "deny", outcome.reason)
    ]


def test_an_argument_that_the_caller_does_not_have_is_a_denial():
    host = Host(hook("native", updated(command="ls", run_in_background=True)), tools=OWN)
    outcome = host.call("run_shell", cmd="ls")
    assert outcome.permission == "deny"
    assert "the rewrite by native cannot be put into the call of run_shell" in (outcome.reason or "")


def test_the_next_hook_is_told_what_the_one_before_rewrote():
    log: list[tuple[str, Any]] = []
    first = hook("claude-code", updated(command="echo safe"), "Bash")
    second = hook("codewhale", Exited(0), "bash", log=log)
    outcome = Host(first, second, caller="docker-agent").call("shell", cmd="rm x")
    assert [payload.tool_input for _, payload in log] == [{"command": "echo safe"}]
    assert outcome.updated_input == {"cmd": "echo safe"}


def test_a_guard_is_asked_again_when_another_lane_rewrote_the_call():
    guard = hook("claude-code", where("command", "rm -rf x", NO), "Bash")
    rewriter = hook("codewhale", Exited(0, b'{"updatedInput": {"command": "rm -rf x"}}'), "bash")
    host = Host(guard, rewriter, caller="docker-agent")
    assert host.call("shell", cmd="ls").reason == "not here"
    assert [(run.hook, run.recheck) for run in host.runs] == [
        ("claude-code", False), ("codewhale", False), ("claude-code", True),
    ]  # fmt: skip


def test_a_guard_that_the_first_form_did_not_concern_is_asked_about_the_last():
    guard = hook("native", NO, condition="Bash(rm *)")
    rewriter = hook("codewhale", Exited(0, b'{"updatedInput": {"command": "rm x"}}'), "bash")
    host = Host(guard, rewriter, caller="docker-agent")
    assert host.call("shell", cmd="ls").blocked
    assert [(run.hook, run.recheck) for run in host.runs] == [("codewhale", False), ("native", True)]


# What cannot be read


@pytest.mark.parametrize("arguments", [{"cmd": 3}, {"cmd": ["rm", "x"]}, {}])
def test_a_call_that_cannot_be_read_is_denied_at_a_guard(arguments: Mapping[str, Any]):
    log: list[tuple[str, Any]] = []
    host = Host(hook("claude-code", Exited(0), "Bash", log=log), caller="docker-agent")
    outcome = host.call("shell", **arguments)
    assert outcome.permission == "deny"
    assert "the call of shell cannot be judged by claude-code: " in (outcome.reason or "")
    assert log == []
    assert [run.decision for run in host.runs] == ["deny"]


def test_a_call_that_cannot_be_read_is_told_to_those_who_only_watch():
    log: list[tuple[str, Any]] = []
    watches = hook("claude-code", Exited(0), "Bash", event=POST_TOOL_USE, log=log)
    host = Host(watches, caller="docker-agent")
    host.fire(POST_TOOL_USE, ToolResult(tool_name="shell", tool_input={"cmd": 3}, tool_response="done"))
    assert [(payload.tool_name, payload.tool_response) for _, payload in log] == [("Bash", "done")]


@pytest.mark.parametrize("given", ["everything", [{"recipient_name": 3, "parameters": {}}], [{}]])
def test_a_tool_that_makes_calls_may_be_anything_if_they_cannot_be_read(given: Any):
    host = Host(hook("claude-code", PASS, "Write", "Write(/etc/**)"), caller="codewhale")
    assert host.call("multi_tool_use.parallel", tool_uses=given).blocked
    log: list[tuple[str, Any]] = []
    watches = hook("claude-code", PASS, "Write", event=POST_TOOL_USE, log=log)
    made = ToolResult(tool_name="multi_tool_use.parallel", tool_input={"tool_uses": given}, tool_response="x")
    Host(watches, caller="codewhale").fire(POST_TOOL_USE, made)
    assert log == []


def test_what_comes_after_too_many_acts_may_be_anything():
    uses = [{"recipient_name": "functions.list_dir", "parameters": {"path": "."}}] * 200
    host = Host(hook("claude-code", where("file_path", "/p/key", NO), "Read"), caller="codewhale")
    assert not host.call("multi_tool_use.parallel", tool_uses=uses).blocked
    outcome = host.call("multi_tool_use.parallel", tool_uses=[*uses, *parallel("key")])
    assert outcome.blocked
    assert "it does more than 200 things" in (outcome.reason or "")


def test_a_guard_that_does_not_concern_the_tool_says_nothing_about_a_call_that_cannot_be_read():
    assert not Host(hook("claude-code", NO, "Write"), caller="docker-agent").call("shell", cmd=3).votes


# Who allows what


_MOVED = "rename from ok/a\nrename to ok/b\n"
_CHANGED = "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+x\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "permission"),
    [
        ("apply_patch", {"patch": _MOVED}, "allow"),
        ("apply_patch", {"patch": _MOVED + _CHANGED}, None),
        ("apply_patch", {"patch": _MOVED.replace("from ok/a", "from /etc/a")}, None),
    ],
)
def test_an_allow_for_what_a_move_writes_is_not_one_for_all_of_the_call(
    tool: str, arguments: dict[str, Any], permission: str | None
):
    host = Host(hook("native", allowed(), condition="Write(/p/ok/**)"), caller="codewhale")
    assert host.call(tool, **arguments).permission == permission


@pytest.mark.parametrize("dialect", ["native", "claude-code"])
def test_who_is_not_told_that_a_call_leaves_the_sandbox_cannot_allow_it(dialect: str):
    host = Host(hook(dialect, allowed(), "Bash"), caller="codewhale")
    assert host.call("bash", command="ls").permission == "allow"
    assert host.call("bash", command="ls", sandbox_permissions="use_default").permission == "allow"
    assert host.call("bash", command="ls", sandbox_permissions="require_escalated").permission is None


@pytest.mark.parametrize("dialect", ["native", "claude-code"])
def test_who_allows_a_tool_of_a_server_allows_what_it_does(dialect: str):
    host = Host(hook(dialect, allowed(), "mcp__filesystem__.*"), caller="reasonix")
    assert host.call("mcp__filesystem__write_file", path="a", content="x").permission == "allow"
    assert host.translated == ["mcp__filesystem__write_file"]
    host = Host(hook("native", allowed(), "Write"), caller="reasonix")
    assert host.call("mcp__filesystem__write_file", path="a", content="x").permission is None


def test_a_rewrite_of_a_servers_tool_has_the_keys_that_it_has():
    host = Host(hook("native", updated(path="/p/b"), "mcp__filesystem__.*"), caller="reasonix")
    assert host.call("mcp__filesystem__read_file", path="a").edits[0].value == {"path": "/p/b"}
    host = Host(hook("native", updated(file_path="/p/b"), "Read"), caller="reasonix")
    assert host.call("mcp__filesystem__read_file", path="a", head=3).edits[0].value == {
        "path": "/p/b",
        "head": 3,
    }
