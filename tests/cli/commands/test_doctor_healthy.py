"""Test that correct hooks have no findings, except guards that fail open: that is true."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.doctor_case import PATH, DoctorCase, alarms

EXAMPLES = Path(__file__).parents[3] / "examples"
_PROGRAMS = ("jq", "git", "npm", "make")
_SCRIPT = re.compile(r"\.claude/hooks/([\w.-]+)")
QUIET = "#!/bin/sh\ncat > /dev/null\n"


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    case = DoctorCase(tmp_path, monkeypatch, f"{tmp_path}/bin:{PATH}")
    for name in _PROGRAMS:
        case.write(f"../bin/{name}", QUIET, mode=0o755)
    return case


def test_the_example_for_claude_code(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLES / "claude-code", case.project, dirs_exist_ok=True)
    for name in _SCRIPT.findall((case.project / ".claude/settings.json").read_text()):
        case.write(f".claude/hooks/{name}", QUIET, mode=0o755)
    problems = case.problems()
    assert alarms(problems) == []
    # `count` only counts.
    found = [(one.hook, one.severity) for one in problems if one.code == "fails-open"]
    assert found[0] == ("127.0.0.1:8080/judge", "note")
    assert "count" not in dict(found)


def test_the_example_for_gencode(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLES / "gencode", case.project, dirs_exist_ok=True)
    assert alarms(case.problems()) == []


def test_the_example_for_reasonix(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLES / "reasonix", case.project, dirs_exist_ok=True)
    assert alarms(case.problems()) == []


def test_the_example_for_gemini_cli(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLES / "gemini-cli", case.project, dirs_exist_ok=True)
    assert alarms(case.problems()) == []


def test_the_example_for_codewhale(case: DoctorCase) -> None:
    case.write("~/.codewhale/config.toml", (EXAMPLES / "codewhale/config.toml").read_text())
    problems = case.problems()
    # inject-memory adds a date to the prompt: no guard.
    assert alarms(problems) == []


def test_the_example_for_docker_agent(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLES / "docker-agent", case.project, dirs_exist_ok=True)
    case.write("~/hooks/audit.sh", QUIET, mode=0o755)
    problems = case.problems()
    assert 113 in [one.line for one in problems if one.code == "fails-open"]
    assert alarms(problems) == []


NATIVE = """
[[hooks.SessionStart]]
matcher = "startup|resume"
[[hooks.SessionStart.hooks]]
command = "echo On branch main"

[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
name = "no keys"
command = "if grep -q 'BEGIN PRIVATE KEY'; then echo 'that is a key' >&2; exit 2; fi"
timeout = 5

[[hooks.PreToolUse]]
matcher = "Bash(git push *)"
[[hooks.PreToolUse.hooks]]
command = '"$HOOKLINE_PROJECT_DIR"/.hookline/push.sh'
[[hooks.PreToolUse.hooks]]
command = ".hookline/check.py"
args = ["--fast"]
env = { LEVEL = "2", API_TOKEN = "$API_TOKEN" }

[[hooks.PreToolUse]]
matcher = "mcp__*"
[[hooks.PreToolUse.hooks]]
type = "http"
url = "https://hooks.example/judge"
headers = { Authorization = "Bearer ${HOOK_TOKEN}" }
allowedEnvVars = ["HOOK_TOKEN"]

[[hooks.PostToolUse]]
matcher = "Edit|Write"
[[hooks.PostToolUse.hooks]]
command = "python3 .hookline/check.py"
asyncRewake = true
timeout = 900

[[hooks.Stop]]
[[hooks.Stop.hooks]]
command = "test ! -e TODO.now || { echo 'TODO.now is still there' >&2; exit 2; }"

[[hooks.SessionEnd]]
[[hooks.SessionEnd.hooks]]
command = "date >> .hookline/ended.log"
"""
CHECK = """#!/usr/bin/env python3
import json
import sys

call = json.load(sys.stdin)
if "--force" in str(call.get("tool_input")):
    print("no force", file=sys.stderr)
    sys.exit(2)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}))
"""


def test_native_hooks_of_every_kind(case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", NATIVE)
    case.write(".hookline/push.sh", QUIET, mode=0o755)
    case.write(".hookline/check.py", CHECK, mode=0o755)
    assert case.problems() == ()


def test_settings_of_agents_without_any_hook(case: DoctorCase) -> None:
    case.write(".claude/settings.json", '{"permissions": {"allow": ["Bash(ls)"]}}')
    case.write("~/.claude/settings.json", '{"model": "opus", "env": {"API_TOKEN": "f3b1c9d07a5e4f6688aa"}}')
    case.write("~/.codewhale/config.toml", 'model = "x"\n')
    case.write("agent.yaml", "agents:\n  root:\n    model: openai/gpt-5\n    instruction: Help.\n")
    assert alarms(case.problems()) == []


GUARDED = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": %s, "onFailure": "block"}]}]}}'


@pytest.mark.parametrize(
    "command",
    [
        "notify-send-or-not done || osascript -e beep",
        "PATH=$PATH:/opt/tools mytool",
        "check() { grep -q x; }; check",
        "$MY_TOOL --check",
        'x=$(maybe-there 2>/dev/null); test -n \\"$x\\"',
        "cd sub && ./there.sh",
        "command -v maybe-there >/dev/null && maybe-there",
        'eval \\"$CHECK\\"',
        "node -e 'console.log({})'",
        "python3 -m json.tool > /dev/null",
        "python3 - < guard.py",
        "bash -c 'exit 0'",
        "echo no >&2; exit 2",
        "while read -r line; do :; done",
        "[ -f x ] && true",
        "cat <<'END' >&2\\nsome text\\nEND",
    ],
)
def test_in_doubt_nothing_is_said_about_a_command(case: DoctorCase, command: str) -> None:
    case.write(".claude/settings.json", GUARDED % f'"{command}"')
    assert alarms(case.problems()) == []


@pytest.mark.parametrize(
    "script",
    [
        'echo "no force" >&2\nexit 2',
        'echo "noted" >> log.txt',
        'echo "noted" | tee log.txt >/dev/null',
        'say() { echo "words"; }\nx=$(say)',
        'exec > log.txt\necho "words"',
        "# echo words and exit 1\ncat > /dev/null",
        "cat <<END > file\necho words\nEND",
        '{\n  echo "words"\n} >&2',
        'echo \'{"decision": "block", "reason": "x"}\'',
        "jq -e . > /dev/null || exit 1\nexit 2",
        'if true; then\n  echo "words"\nfi > log.txt',
        'for x in a b; do echo "words"; done > log.txt',
        'while read -r x; do\n  echo "words $x"\ndone | sort > log.txt',
        '( echo "words" ) > log.txt',
        'x="$(\n  echo words\n)"',
        'echo "words" \\\n  >&2',
        "python3 -c '\necho words\n'",
    ],
)
def test_in_doubt_nothing_is_said_about_a_script(case: DoctorCase, script: str) -> None:
    case.write("guard.sh", f"#!/bin/sh\n{script}\n", mode=0o755)
    case.write(".claude/settings.json", GUARDED % r'"\"$CLAUDE_PROJECT_DIR\"/guard.sh"')
    assert alarms(case.problems()) == []


def test_a_hook_that_records_in_the_background_guards_nothing(case: DoctorCase) -> None:
    entry = {"type": "command", "command": "cat >> calls.log", "async": True}
    case.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
    assert case.problems() == ()
