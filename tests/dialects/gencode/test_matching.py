import pytest

from hookline.model import payloads as p
from tests.dialects.gencode.hooks import PAYLOADS, agent_with, agent_with_hooks, bash, prints
from tests.dialects.hooked_agent import lines_and_codes
from tests.every import every

BLOCK = prints(code=2, stderr="no")


def runs(event: str, matcher: str, payload: object) -> bool:
    agent = agent_with_hooks(event, "true", matcher=matcher)
    agent.fire(event, payload)
    return bool(agent.runs)


@every(
    ("matcher", "tool", "wanted"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashTool", False),
        ("Bash.*", "BashTool", True),
        ("Ba.h", "Bash", True),
        ("Ba.h", "MyBash", False),
        ("Ba.h", "BashTool", False),
        ("Edit|Write", "Write", True),
        ("Edit|Write", "WriteAll", False),
        ("bash", "Bash", False),
        ("mcp__.*__read", "mcp__files__read", True),
        ("[", "[", True),
        ("[", "Bash", False),
        ("Edit, Write", "Write", False),
        (" ", "Bash", False),
    ],
)
def test_a_matcher_is_a_regular_expression_for_the_whole_name(matcher: str, tool: str, wanted: bool) -> None:
    assert runs("PreToolUse", matcher, p.ToolCall(tool_name=tool)) is wanted


@pytest.mark.parametrize(
    ("matcher", "command", "wanted"),
    [
        ("Bash(git:*)", "git status", True),
        ("Bash(git:*)", "ls", False),
        ("Edit|Bash(git:*)", "cd x && git push", True),
        ("Edit|Bash(git:*)", "ls", False),
    ],
)
def test_a_tool_pattern_works_as_a_matcher(matcher: str, command: str, wanted: bool) -> None:
    assert runs("PreToolUse", matcher, bash(command)) is wanted


@pytest.mark.parametrize(("command", "wanted"), [("cd x && git status", True), ("cd x && ls", False)])
def test_if_looks_at_every_command_of_a_line(command: str, wanted: bool) -> None:
    agent = agent_with_hooks("PreToolUse", {"command": BLOCK, "if": "Bash(git:*)"})
    assert agent.fire("PreToolUse", bash(command)).blocked is wanted


@pytest.mark.parametrize(
    ("command", "wanted"), [("git push origin", True), ("git status", False), ("hg push origin", False)]
)
def test_a_tool_pattern_and_an_if_must_both_hold(command: str, wanted: bool) -> None:
    agent = agent_with_hooks("PreToolUse", {"command": BLOCK, "if": "Bash(* push *)"}, matcher="Bash(git:*)")
    assert agent.fire("PreToolUse", bash(command)).blocked is wanted


def test_if_on_an_event_without_a_tool_never_runs_and_is_reported() -> None:
    agent = agent_with_hooks("UserPromptSubmit", {"command": BLOCK, "if": "Bash(git:*)"})
    assert [one.code for one in agent.reading.diagnostics] == ["never-runs"]
    assert not agent.fire("UserPromptSubmit", p.Prompt(prompt="git status")).blocked
    assert not agent.runs


@pytest.mark.parametrize(
    "event", ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"]
)
def test_if_is_read_at_every_event_about_a_tool(event: str) -> None:
    agent = agent_with_hooks(
        event, {"command": "true", "if": "Bash(ls:*)"}, {"command": "true", "if": "Read(x)"}
    )
    assert not agent.reading.diagnostics
    agent.fire(event, PAYLOADS[event])
    assert {run.status for run in agent.runs} <= {"ok", "background"}
    assert len({run.run_id for run in agent.runs}) == 1


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "TaskCreated", "TaskCompleted", "CwdChanged"])
def test_a_matcher_where_nothing_can_be_matched_never_runs_and_is_reported(event: str) -> None:
    agent = agent_with(
        f"""{{
  "hooks": {{
    "{event}": [
      {{
        "matcher": "hello",
        "hooks": [{{"command": "true"}}]
      }}
    ]
  }}
}}"""
    )
    assert lines_and_codes(agent.reading.diagnostics) == [(5, "dead-matcher")]
    agent.fire(event, PAYLOADS[event])
    assert not agent.runs


@pytest.mark.parametrize("matcher", ["*", "", ".*"])
def test_a_matcher_that_lets_everything_pass_runs_where_nothing_can_be_matched(matcher: str) -> None:
    agent = agent_with_hooks("Stop", "true", matcher=matcher)
    assert not agent.reading.diagnostics
    agent.fire("Stop", PAYLOADS["Stop"])
    assert len(agent.runs) == 1


MATCHED = {
    "SessionStart": "resume",
    "SessionEnd": "logout",
    "Setup": "maintenance",
    "PreToolUse": "Bash",
    "PermissionRequest": "Bash",
    "PermissionDenied": "Bash",
    "PostToolUse": "Bash",
    "PostToolUseFailure": "Bash",
    "StopFailure": "server",
    "Notification": "idle_prompt",
    "SubagentStart": "explore",
    "SubagentStop": "explore",
    "ConfigChange": "user_settings",
    "InstructionsLoaded": "include",
    "FileChanged": "a.py",
    "PreCompact": "manual",
    "PostCompact": "manual",
    "WorktreeCreate": "fix-1",
    "WorktreeRemove": "/w/fix-1",
}


@every("event", MATCHED)
def test_each_event_matches_its_own_value(event: str) -> None:
    assert runs(event, MATCHED[event], PAYLOADS[event])
    assert not runs(event, "something-else", PAYLOADS[event])


def test_every_other_event_has_nothing_to_match() -> None:
    assert set(PAYLOADS) - set(MATCHED) == {
        "UserPromptSubmit", "Stop", "TaskCreated", "TaskCompleted", "CwdChanged",
    }  # fmt: skip
