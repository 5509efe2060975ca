"""Test the warnings of `fire` and `explain` about unknown tools and arguments."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import InProcess, in_process

HOOKS = '[[hooks.PreToolUse]]\nhooks = [{ command = "true" }]\n'
TOOL, ARGUMENT = "Hookline knows no agent with a tool called", "has no argument"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    found = in_process(tmp_path, monkeypatch, capsys)
    found.write(".hookline/hooks.toml", HOOKS)
    return found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("PreToolUse Bahs command=ls", f"{TOOL} 'Bahs'; fix: did you mean Bash?"),
        ("PreToolUse Frobnicate x=1", f"{TOOL} 'Frobnicate'"),
        ("PreToolUse Bash cmd=ls", f"Bash {ARGUMENT} 'cmd'; fix: did you mean command?"),
        (
            "PreToolUse Bash command=ls colour=red",
            f"Bash {ARGUMENT} 'colour'; fix: it takes command, description, timeout, run_in_background",
        ),
        ("PreToolUse Read path=x", f"Read {ARGUMENT} 'path'; fix: did you mean file_path?"),
        ("PreToolUse Bash", "Bash is called without command"),
        (
            "--dialect docker-agent pre_tool_use Bash command=ls",
            "Hookline knows no tool of Docker Agent called 'Bash'; fix: did you mean shell?",
        ),
        (
            "--dialect claude-code PreToolUse shell command=ls",
            "Hookline knows no tool of Claude Code called 'shell'; fix: did you mean Bash?",
        ),
        (
            "--dialect reasonix PreToolUse read_file file_path=x",
            f"read_file {ARGUMENT} 'file_path'; fix: did you mean path?",
        ),
    ],
)
def test_it_is_said_with_what_was_meant(here: InProcess, words: str, said: str) -> None:
    ran = here.call("explain", *words.split())
    assert f"warning: {said}\n" in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        "PreToolUse Bash command=ls",
        "PreToolUse Bash command=ls description=x dangerouslyDisableSandbox:=true",
        "PreToolUse Grep pattern=x head_limit:=3",
        "PreToolUse ExitPlanMode plan=x",
        "PreToolUse mcp__github__search q=x",
        "PreToolUse run_shell cmd=ls",
        "PreToolUse apply_patch patch=x",
        "--dialect codewhale tool_call_before exec_shell command=ls",
        "--dialect docker-agent pre_tool_use shell cmd=ls cwd=/",
        "--dialect docker-agent pre_tool_use edit_file path=x edits:=[]",
        "--dialect docker-agent pre_tool_use my_server_tool x=1",
        "--dialect reasonix PreToolUse mcp__a__b x=1",
        "Stop",
        "UserPromptSubmit prompt=hello",
    ],
)
def test_what_agents_do_is_not_doubted(here: InProcess, words: str) -> None:
    assert "warning: " not in here.call("explain", *words.split()).stderr


def test_the_status_of_fire_stays_as_it_is_and_json_has_the_warning(here: InProcess) -> None:
    ran = here.call("fire", "PreToolUse", "Bahs", "command=ls", "--json")
    assert ran.status == 0
    (one,) = json.loads(ran.stdout)["diagnostics"]
    assert (one["severity"], one["code"], one["fix"]) == ("warning", "unknown-tool", "did you mean Bash?")
