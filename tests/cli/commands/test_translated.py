"""Test that `fire` and `explain` show a tool call in each hook's own format."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import InProcess, in_process
from tests.schemas.samples import Checker

SCHEMAS = Path(__file__).parents[3] / "schemas"
#: The answer of a Claude Code hook that puts `echo` before the command.
REWRITE = """
cat <<'END'
{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo rm x", "timeout": 3000}}}
END
"""
CLAUDE = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "sh .claude/rewrite.sh"}]},
            {"matcher": "Write", "hooks": [{"type": "command", "command": "true"}]},
        ]
    }
}
NATIVE = """
[[hooks.PreToolUse]]
matcher = "Edit|Write"
[[hooks.PreToolUse.hooks]]
name = "edits"
command = '''grep -q 'new_string":"secret' && { echo "not that" >&2; exit 2; }; exit 0'''
"""
EDITS = [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": "secret"}]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    here = in_process(tmp_path, monkeypatch, capsys)
    here.write(".claude/settings.json", json.dumps(CLAUDE))
    here.write(".claude/rewrite.sh", REWRITE)
    here.write(".hookline/hooks.toml", NATIVE)
    return here


def document(here: InProcess, command: str, *words: str) -> dict[str, Any]:
    found = json.loads(here.call(command, *words, "--json").stdout)
    schema = json.loads((SCHEMAS / f"cli-{command}.schema.json").read_text())
    assert Checker(schema).mistakes(found) == []
    return found


def hooks(here: InProcess, *words: str) -> dict[str, dict[str, Any]]:
    found = document(here, "explain", *words)
    return {hook["hook"]: hook for lane in found["lanes"] for hook in lane["hooks"]}


def test_matcher_and_condition_are_explained_in_the_terms_of_the_hook(here: InProcess) -> None:
    found = hooks(here, "pre_tool_use", "shell", "cmd=ls", "timeout:=3", "cwd=/etc")
    rewrite, other = found["rewrite.sh"], found["true"]
    assert rewrite["would_run"] is True
    assert rewrite["matcher"]["why"] == 'matcher "Bash" is "Bash"'
    (translated,) = rewrite["translated"]
    assert (translated["tool_name"], translated["tool_input"]) == ("Bash", {"command": "ls", "timeout": 3000})
    assert (translated["cwd"], translated["action"], translated["actions"], translated["lost"]) == (
        "/etc",
        None,
        1,
        [],
    )
    assert other["would_run"] is False
    assert other["matcher"]["why"] == 'matcher "Write" is not "Bash"'


def test_a_call_is_one_of_the_agent_that_is_named(here: InProcess) -> None:
    words = ("PreToolUse", "read_file", "path=a", "offset:=5")
    # Reasonix counts lines from 0.
    (translated,) = hooks(here, *words, "--as", "reasonix")["edits"]["translated"]
    assert translated["tool_input"] == {"file_path": str(here.workspace.project / "a"), "offset": 6}
    assert here.call("explain", *words, "--as", "reasonix").stdout.startswith("PreToolUse (as reasonix)\n")
    ran = here.call("explain", *words, "--as", "reasonics")
    assert (ran.status, "did you mean 'reasonix'?" in ran.stderr) == (1, True)
    ran = here.call("explain", "pre_tool_use", "shell", "cmd=ls", "--as", "reasonix")
    assert (ran.status, "one of docker-agent already" in ran.stderr) == (1, True)


def test_what_is_lost_is_said(here: InProcess) -> None:
    (translated,) = hooks(here, "pre_tool_use", "shell", "cmd=ls", "colour=red")["rewrite.sh"]["translated"]
    assert translated["lost"] == ["colour: it has no meaning elsewhere"]
    text = here.call("explain", "pre_tool_use", "shell", "cmd=ls", "colour=red").stdout
    assert 'Bash {"command": "ls"}; lost: colour: it has no meaning elsewhere' in text


def test_a_call_in_canonical_terms_is_told_as_it_is(here: InProcess) -> None:
    found = hooks(here, "PreToolUse", "Bash", "command=ls")
    assert [hook["translated"] for hook in found.values()] == [[], [], []]
    # A tool of no kind is not translated.
    found = hooks(here, "PreToolUse", "deploy", "to=production")
    assert [hook["translated"] for hook in found.values()] == [[], [], []]


def test_a_rewrite_is_shown_in_the_terms_of_the_caller(here: InProcess) -> None:
    found = document(here, "fire", "pre_tool_use", "shell", "cmd=rm x", "timeout:=3")
    run = found["runs"][0]
    assert (run["translated_tool"], run["translated"]["tool_input"]) == (
        "Bash",
        {"command": "rm x", "timeout": 3000},
    )
    assert found["outcome"]["updated_input"] == {"cmd": "echo rm x", "timeout": 3}
    text = here.call("fire", "pre_tool_use", "shell", "cmd=rm x", "timeout:=3").stdout
    assert '\n      gets Bash {"command": "rm x", "timeout": 3000}\n' in text
    assert '\n  input of shell: {"cmd": "echo rm x", "timeout": 3}\n' in text
    assert "hooks: 1 of 3 ran" in text


def test_a_rewrite_that_cannot_be_put_back_is_shown_as_a_denial(here: InProcess) -> None:
    here.write(".claude/rewrite.sh", REWRITE.replace('"timeout"', '"sandbox"'))
    ran = here.call("fire", "pre_tool_use", "shell", "cmd=rm x")
    assert ran.status == 2
    assert 'rewrite.sh: deny "the rewrite by rewrite.sh cannot be put into the call' in ran.stdout
    assert "has no argument 'sandbox'" in ran.stdout


def test_each_act_of_a_call_is_shown(here: InProcess) -> None:
    words = ("pre_tool_use", "edit_file", "path=a", f"edits:={json.dumps(EDITS)}")
    found = [run for run in document(here, "fire", *words)["runs"] if run["hook"] == "edits"]
    assert [
        (run["translated_tool"], run["translated"]["action"], run["decision"], run["recheck"])
        for run in found
    ] == [
        ("Edit", 1, None, False),
        ("Edit", 2, "deny", False),
    ]
    assert [run["translated"]["tool_input"]["new_string"] for run in found] == ["b", "secret"]
    assert found[0]["translated"]["actions"] == 2
    text = here.call("fire", *words, "--dry-run").stdout
    assert "(action 1 of 2)" in text
    assert "(action 2 of 2)" in text
    assert "dry run  1 of 3 hooks would run" in text


def test_secrets_in_what_a_hook_is_told_are_taken_out(here: InProcess) -> None:
    secret = "ghp_" + "a1B2" * 9
    ran = here.call("explain", "pre_tool_use", "shell", f"cmd=curl -H 'authorization: token {secret}' x")
    assert "gets  " in ran.stdout
    assert secret not in ran.stdout
