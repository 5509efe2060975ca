"""Matchers and `if`: what the client tests, the cases that were not recorded as well."""

import json
from typing import Any

import pytest

from hookline import PatternError
from hookline.dialects.claude_code import dialect
from hookline.dialects.claude_code.commands import read_line
from hookline.dialects.claude_code.matchers import read_matcher
from hookline.dialects.claude_code.rules import read_if
from hookline.events import PRE_TOOL_USE, ToolCall, TurnFailure
from hookline.extending import SessionInfo
from hookline.matching.patterns import Patterns
from hookline.shell import ShellReader
from tests.dialects.hooked_agent import HookedAgent
from tests.every import every

PATTERNS, SHELL = Patterns(), ShellReader()


def matches(text: str, subject: str, event: str = "PreToolUse") -> bool:
    matcher = read_matcher(event, text, PATTERNS)
    return matcher is None or matcher.matches(subject)


@every(
    ("text", "subject", "found"),
    [
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Bas.", "BashOutput", True),
        ("Edit, Write", "Write", True),
        ("a-b", "a-b", True),
        ("a-b", "xa-b", False),
        ("mcp__hk__*", "mcp__hk__echo", True),
        ("Task", "Agent", True),
        ("Agent", "Task", False),
        ("^(?!Read$|Grep$)", "Bash", True),
        ("^(?!Read$|Grep$).*", "Read", False),
        ("^(?!Read$|Grep$).*", "ReadAll", True),
        ("^(?=mcp__)(?!.*__(get|list)).*$", "mcp__x__put", True),
        ("^(?=mcp__)(?!.*__(get|list)).*$", "mcp__x__list", False),
        ("^(?=mcp__)(?!.*__(get|list)).*$", "Bash", False),
        (r"^(?![)(]|\)).*", "Bash", True),
    ],
)
def test_what_a_matcher_matches(text: str, subject: str, found: bool) -> None:
    assert matches(text, subject) == found


@pytest.mark.parametrize(
    "text", ["(?<=x)y", r"(a)\1", "(?!Bash).*", "^(?!Read)x|y", "^(?!(?=x)y).*", "x(?=y)"]
)
def test_a_pattern_nobody_can_test_fails_instead_of_never_matching(text: str) -> None:
    with pytest.raises(PatternError):
        matches(text, "Bash")
    entry = {"type": "command", "command": "true"}
    hooks = {"hooks": {"PreToolUse": [{"matcher": text, "hooks": [entry]}]}}
    agent = HookedAgent(
        dialect(env={}), [("/p/.claude/settings.json", "project", json.dumps(hooks))], cwd="/tmp"
    )
    assert [one.code for one in agent.reading.diagnostics] == ["untestable-pattern"]
    outcome = agent.fire("PreToolUse", ToolCall(tool_name="Bash"))
    assert [(run.status, run.failed_open) for run in agent.runs] == [("not_started", True)]
    assert "gave no answer" in outcome.messages[0].text


def test_file_names_and_errors_have_narrower_lists() -> None:
    assert matches(".env|.envrc", ".envrc", "FileChanged")
    assert matches("a,b", "xa,by", "FileChanged")
    assert not matches("a,b", "a", "FileChanged")
    assert matches("a|b", "b", "FileChanged")


def test_a_failure_is_matched_by_the_clients_word() -> None:
    assert matches("authentication_failed", "auth_failed", "StopFailure")
    assert not matches("authentication_failed", "rate_limit", "StopFailure")
    entry = {"type": "command", "command": "cat"}
    hooks = {"hooks": {"StopFailure": [{"matcher": "billing_error", "hooks": [entry]}]}}
    agent = HookedAgent(
        dialect(env={}), [("/p/.claude/settings.json", "project", json.dumps(hooks))], cwd="/tmp"
    )
    agent.fire("StopFailure", TurnFailure(error="billing"))
    agent.fire("StopFailure", TurnFailure(error="server"))
    received = [run for run in agent.runs if run.status == "ok"]
    assert [json.loads(run.stdout)["error"] for run in received] == ["billing_error"]


def holds(rule: str, tool: str = "Bash", home: str = "/home/u", **arguments: Any) -> bool:
    condition = read_if(rule, PATTERNS, SHELL, home)
    call = ToolCall(tool_name=tool, tool_input=arguments)
    return condition is None or bool(condition.holds(PRE_TOOL_USE, call, SessionInfo(cwd="/srv/p")))


@every(
    ("rule", "command", "held"),
    [
        ("Bash(git *)", "ls && git push", True),
        ("Bash(git *)", "ls | git push", True),
        ("Bash(git *)", "(cd x; git push)", True),
        ("Bash(git *)", "if true; then git push; fi", True),
        ("Bash(git *)", "A=1 B='x y' git push", True),
        ("Bash(git *)", 'echo "$(git push)"', True),
        ("Bash(git *)", "echo `git push`", True),
        ("Bash(git *)", "echo 'a; git push'", False),
        ("Bash(git *)", "sudo git push", False),
        ("Bash(git *)", "timeout 5 git push", False),
        ("Bash(git *)", "bash -c 'git push'", False),
        ("Bash(git *)", "gitk", False),
        ("Bash(git*)", "gitk", True),
        ("Bash(rm *)", "/bin/rm -f x", False),
        ("Bash(rm *)", "cat <<EOF\nhello\nEOF", True),
        ("Bash(rm *)", "cat <<< hello", False),
        ("Bash(rm *)", "echo $HOME", False),
        ("Bash(rm *)", "echo $(date)", False),
        ("Bash(rm -rf *)", "echo $(date)", True),
        ("Bash(npm test)", "npm test", True),
        ("Bash(npm test)", "npm test -- x", False),
        ("Bash(rm *)", "x" * 100_000, True),
        ("Bash(rm *)", "$(" * 1000, True),
    ],
)
def test_rules_about_commands(rule: str, command: str, held: bool) -> None:
    assert holds(rule, command=command) == held


@pytest.mark.parametrize(
    ("rule", "tool", "path", "held"),
    [
        ("Edit(src/**)", "Edit", "/srv/p/src/a/b.py", True),
        ("Edit(src/**)", "Write", "/srv/p/src/a/b.py", False),
        ("Edit(src/**)", "Edit", "/srv/p/lib/src/b.py", False),
        ("Edit(**/src/**)", "Edit", "/srv/p/lib/src/b.py", True),
        ("Read(~/**)", "Read", "/home/u/.ssh/id", True),
        ("Read(~/**)", "Read", "/srv/p/x", False),
        ("Read(//etc/**)", "Read", "/etc/passwd", True),
    ],
)
def test_rules_about_files(rule: str, tool: str, path: str, held: bool) -> None:
    assert holds(rule, tool, file_path=path) == held


def test_rules_about_other_tools() -> None:
    assert holds("mcp__hk", "mcp__hk__echo")
    assert holds("Task", "Agent")
    assert holds("WebFetch(domain:x.org)", "WebFetch", url="https://x.org/a")
    assert not holds("WebFetch(domain:x.org)", "WebFetch", url="https://y.org/a")
    assert holds("", "Anything")


@pytest.mark.parametrize("rule", ["*", " ", "bash(git *)", "Bash(git *", "edit", "!Bash"])
def test_rules_that_never_hold_are_refused(rule: str) -> None:
    with pytest.raises(PatternError):
        read_if(rule, PATTERNS, SHELL, "")


@every("line", ["'", '"', "\\", "`", "$(", ")", "a)b", ">", "<<", "&>x", "a &", "A=", "", "\x00"])
def test_a_line_that_is_none_is_cut_without_trouble(line: str) -> None:
    for text in (line, line * 500, f"git {line} x"):
        read_line(text)


def test_why_a_rule_held_is_said() -> None:
    condition: Any = read_if("Bash(git push *)", PATTERNS, SHELL, "")
    info = SessionInfo(cwd="/p")

    def why(tool: str, command: str) -> str:
        return condition.why(PRE_TOOL_USE, ToolCall(tool_name=tool, tool_input={"command": command}), info)

    assert why("Bash", "git push x").endswith("a command of the line is that")
    assert why("Bash", "ls").endswith("no command of the line is that")
    assert "substitution" in why("Bash", "ls $(x)")
    assert "here-document" in why("Bash", "cat <<E\nE")
    assert why("Edit", "").endswith("the tool is Edit, not Bash")
