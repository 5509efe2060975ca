"""Tools that only one agent has, and calls whose arguments are not where they should be."""

from typing import Any

import pytest

from hookline.events import (
    POST_TOOL_USE,
    ToolResult,
)
from tests.engine.translating_hooks import (
    NO,
    PASS,
    Host,
    hook,
    updated,
    where,
)
from tests.every import every

# Tools that only one agent has, and programs with unusual keys


@pytest.mark.parametrize("tool", ["Monitor", "PowerShell"])
def test_a_tool_of_the_hooks_own_agent_keeps_its_name(tool: str):
    assert Host(hook("claude-code", NO, tool)).call(tool, command="rm x").blocked
    assert Host(hook("claude-code", NO, "Bash")).call(tool, command="rm x").blocked
    observer = Host(hook("claude-code", PASS))
    observer.call(tool, command="ls")
    assert observer.translated == [tool]


@every(
    "arguments",
    [
        {"command": "ls", "cmd": "rm x"},
        {"command": "rm x", "cmd": "ls"},
        {"command": None, "cmd": "rm x"},
        {"command": "", "input": "rm x"},
        {"command": 5, "cmd": "rm x"},
        {"command": {"line": "ls"}, "cmd": "rm x", "input": "rm x"},
        {"command": ["rm", "x"]},
        {"command": "ls", "script": {"rm": "x"}, "cmd": ["rm", "x"]},
    ],
)
@every("tool", ["Bash", "run_shell"])
def test_another_key_does_not_hide_a_command(tool: str, arguments: dict[str, Any]):
    for guard in (
        hook("native", NO, condition="Bash(rm *)"),
        hook("claude-code", where("command", "rm x", NO), "Bash"),
        hook("docker-agent", where("cmd", "rm x", NO), "shell"),
    ):
        assert Host(guard).call(tool, **arguments).blocked, guard.name
        assert not Host(guard).call(tool, command="ls", description="rm x").blocked


def test_a_tool_of_the_same_name_in_another_agent_does_not_hide_a_file():
    host = Host(hook("docker-agent", where("path", "/etc/x", NO), "read_file"))
    assert host.call("read_file", file_path="/etc/x", path="ok").blocked
    assert host.call("read_file", file="ok", path="/etc/x").blocked


@pytest.mark.parametrize(
    ("tool", "given", "new"),
    [
        ("Bash", {"cmd": "make"}, {"cmd": "ls"}),
        ("run_shell", {"script": "make", "note": 1}, {"script": "ls", "note": 1}),
        ("run_shell", {"input": ["make"]}, {"input": ["ls"]}),
        ("run_shell", {"command": "make", "cmd": "made"}, {"command": "ls", "cmd": "ls"}),
    ],
)
def test_a_rewrite_goes_into_the_key_that_the_program_uses(tool: str, given: Any, new: dict[str, Any]):
    for dialect in ("native", "claude-code"):
        assert Host(hook(dialect, updated(command="ls"), "Bash")).call(tool, **given).edits[0].value == new


@pytest.mark.parametrize(
    ("caller", "tool", "given"),
    [
        ("docker-agent", "shell", {"cmd": "ls", "Cmd": "rm x"}),
        ("reasonix", "bash", {"command": "ls", "COMMAND": "rm x"}),
        (
            "reasonix",
            "use_capability",
            {"capability_id": "bash", "arguments": {"command": "ls", "Command": "rm x"}},
        ),
    ],
)
def test_a_key_of_another_case_hides_nothing(caller: str, tool: str, given: Any):
    """Their JSON readers find a key whatever its case, and the last one counts."""
    guard = hook("native", NO, condition="Bash(rm *)")
    assert "another case" in (Host(guard, caller=caller).call(tool, **given).reason or "")
    assert not Host(guard, caller="docker-agent").call("shell", cmd="ls", Other="rm x").blocked


@pytest.mark.parametrize("guard", ["write", "write_file", "File", "read_file", "read"])
def test_a_move_is_told_to_hooks_for_any_tool_that_writes_or_reads(guard: str):
    host = Host(hook("codewhale", NO, guard), caller="reasonix")
    assert host.call("move_file", source_path="a", destination_path="b").blocked


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("NotebookEdit", {"notebook_path": "/etc/x", "new_source": ""}),
        ("MultiEdit", {"file_path": "/etc/x", "edits": [{"old_string": "a", "new_string": "b"}]}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: /etc/x\n-a\n+b\n*** End Patch"}),
        ("apply_patch", {"type": "update_file", "path": "/etc/x", "diff": "@@\n-a\n+b"}),
    ],
)
def test_a_rule_about_edits_is_about_all_of_them(tool: str, given: Any):
    assert Host(hook("native", NO, condition="Edit(/etc/**)")).call(tool, **given).blocked
    assert not Host(hook("native", NO, condition="Edit(/usr/**)")).call(tool, **given).blocked


def test_a_programs_own_delete_and_move_are_writes_if_they_are_about_files():
    for guard in (hook("native", NO, condition="Write(/etc/**)"), hook("claude-code", NO, "Write")):
        assert Host(guard).call("Delete", path="/etc/x").blocked
        assert Host(guard).call("Delete", file_path="/etc/x").blocked
        assert Host(guard).call("Move", source="/etc/x", destination="/p/a").blocked
        assert not Host(guard).call("Delete", id=5).blocked
        assert not Host(guard).call("Move", direction="north").blocked


def test_a_search_in_several_directories_is_one_in_each():
    guard = hook("native", NO, condition="Read(/p/secret/**)")
    assert Host(guard).call("grep", pattern="x", path=["/p/a", "/p/secret"]).blocked
    assert Host(guard).call("grep", pattern="x", path="/p/a", directory="/p/secret").blocked
    assert not Host(guard).call("grep", pattern="x", path=["/p/a", "/p/b"]).blocked


def test_who_searches_in_a_file_reads_it():
    guard = hook("native", NO, condition="Read(**/.env)")
    assert Host(guard).call("Grep", pattern="x", path=".env").blocked
    assert Host(guard, caller="docker-agent").call("search_files_content", query="x", path=".env").blocked
    assert not Host(guard).call("Grep", pattern="x", path="/p").blocked
    assert not Host(guard).call("Grep", pattern="x").blocked


def test_a_blank_command_does_not_bring_up_another_one():
    host = Host(hook("native", updated(command=" "), "Bash"), caller="docker-agent")
    assert host.call("shell", cmd="make", command="rm x").blocked


def test_a_call_that_does_nothing_is_not_refused():
    host = Host(hook("claude-code", PASS), hook("native", PASS))
    assert not host.call("read_files", paths=[]).votes
    assert not host.call("fetch", urls=[]).votes
    assert host.translated == ["read_files", "read_files", "fetch", "fetch"]


def test_who_looks_on_is_told_once_of_a_name_that_can_be_read_in_several_ways():
    host = Host(hook("claude-code", PASS, event=POST_TOOL_USE), caller="codewhale")
    host.fire(POST_TOOL_USE, ToolResult(tool_name="mcp_a_b_c", tool_input={}, tool_response="x"))
    assert host.translated == ["mcp__a__b_c"]
    guard = Host(hook("claude-code", NO, "mcp__a_b__.*"), caller="codewhale")
    assert guard.call("mcp_a_b_c").blocked
