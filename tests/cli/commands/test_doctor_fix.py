"""`doctor --fix` mends what is certain, shows and asks before it writes, and `--undo` restores every byte."""

import json
import re
from pathlib import Path

import pytest

from hookline.cli.main import run
from hookline.config.commands import changing_command
from tests.cli.doctor_case import DoctorCase, alarms

SETTINGS = """{
  "hooks": {
    "PreToolUse": [
      {"matcher": "bash", "hooks": [{"type": "command", "command": "true", "timeout": 10000}]}
    ],
    "preToolUse": [
      {"matcher": "Write", "hooks": [{"type": "command", "command": "true"}]}
    ]
  }
}
"""
MENDED = """{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "timeout": 10}]},
      {
        "matcher": "Write",
        "hooks": [
          {
            "type": "command",
            "command": "true"
          }
        ]
      }
    ]
  }
}
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    case = DoctorCase(tmp_path, monkeypatch)
    case.write("guard.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    return case


def doctor(case: DoctorCase, *words: str) -> int:
    return run(["doctor", "--cwd", str(case.project), *words])


def test_it_shows_the_change_and_writes_only_when_agreed(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    file = case.write(".claude/settings.json", SETTINGS)
    assert doctor(case, "--fix") == 1
    shown = capsys.readouterr().out
    assert '+      {"matcher": "Bash"' in shown.replace("  +", "+")
    assert "run it again with --yes" in shown
    assert file.read_text() == SETTINGS
    assert doctor(case, "--fix", "--yes") == 0
    assert file.read_text() == MENDED
    assert alarms(case.problems()) == []
    backups = list((case.home / ".local/state/hookline/installed/backups").iterdir())
    assert [each.read_text() for each in backups] == [SETTINGS]
    assert doctor(case, "--undo") == 0
    assert file.read_text() == SETTINGS
    capsys.readouterr()
    assert doctor(case, "--undo") == 1
    assert "nothing to undo" in capsys.readouterr().err


def test_scripts_get_their_mode_and_their_line_ends_and_lose_them_again(case: DoctorCase) -> None:
    plain = case.write("plain.sh", "#!/bin/sh\nexit 0\n", mode=0o640)
    windows = case.write("windows.sh", "#!/bin/sh\r\nexit 0\r\n", mode=0o755)
    group = [{"hooks": [{"type": "command", "command": f"./{name}.sh"}]} for name in ("plain", "windows")]
    case.write(".claude/settings.json", json.dumps({"hooks": {"Stop": group}}))
    assert sorted(alarms(case.problems())) == ["bad-interpreter", "not-executable"]
    assert doctor(case, "--fix", "--yes") == 0
    assert alarms(case.problems()) == []
    assert doctor(case, "--undo") == 0
    assert (plain.stat().st_mode & 0o777, windows.read_bytes()) == (0o640, b"#!/bin/sh\r\nexit 0\r\n")


def test_a_file_that_changed_since_is_not_restored(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    file = case.write(".claude/settings.json", SETTINGS)
    doctor(case, "--fix", "--yes")
    file.write_text("{}")
    capsys.readouterr()
    assert doctor(case, "--undo") == 1
    assert "has changed since" in capsys.readouterr().err
    assert file.read_text() == "{}"


def test_nothing_outside_the_project_is_changed_for_it(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = case.write("~/notes.json", SETTINGS)
    before = outside.read_text()
    (case.project / ".claude").mkdir()
    (case.project / ".claude/settings.json").symlink_to(outside)
    script = case.write("~/private.sh", "#!/bin/sh\n", mode=0o600)
    (case.project / "tool.sh").symlink_to(script)
    local = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./tool.sh"}]}]}}
    case.write(".claude/settings.local.json", json.dumps(local))
    doctor(case, "--fix", "--yes")
    assert "outside the project" in capsys.readouterr().err
    assert outside.read_text() == before
    assert script.stat().st_mode & 0o111 == 0


@pytest.mark.parametrize(
    "text",
    [
        # Joined, the first one would allow what the last one does not.
        '{"permissions": {"allow": ["Bash(*)"]}, "permissions": {"deny": ["Read(.env)"]}}',
        '{"hooks": {"PreToolBatch": []}}',
        '{"hooks": {"PreToolUse": [{"matcher": "MultiRead", "hooks": [{"type": "command", "command": "true"}]}]}}',
        '{"hooks": {"Stop": "true"}}',
        "{not json",
    ],
)
def test_what_is_not_certain_is_left_to_the_user(case: DoctorCase, text: str) -> None:
    file = case.write(".claude/settings.json", text)
    doctor(case, "--fix", "--yes")
    assert file.read_text() == text


def test_an_agent_is_asked_before_it_lets_doctor_change_files() -> None:
    for words in (
        "doctor --fix",
        "doctor --fix --yes",
        "doctor --undo",
        "doctor --fi",
        "--cwd x doctor --un",
    ):
        assert changing_command(words.split()) == "doctor", words
    assert changing_command(["doctor", "--json"]) is None


def test_an_entry_that_names_a_hookline_that_is_gone_gets_this_one(case: DoctorCase) -> None:
    command = "/gone/bin/hookline-relay hook --dialect claude-code"
    group = [{"hooks": [{"type": "command", "command": command, "onFailure": "block"}]}]
    file = case.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": group, "Stop": group}}))
    doctor(case, "--fix", "--yes")
    found = json.loads(file.read_text())["hooks"]
    mended = [found[event][0]["hooks"][0]["command"] for event in ("PreToolUse", "Stop")]
    assert mended[0] == mended[1]
    assert mended[0].endswith("hook --dialect claude-code")
    assert "/gone/" not in mended[0]
    assert [one.code for one in case.problems() if one.code == "moved"] == []


def test_a_file_that_nobody_could_read_as_a_difference_is_left_to_its_user(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SETTINGS.rstrip().removesuffix("}") + f', "note": "{"x" * 400_000}"}}'
    file = case.write(".claude/settings.json", text)
    doctor(case, "--fix", "--yes")
    assert "mend it yourself" in capsys.readouterr().err
    assert file.read_text() == text


@pytest.mark.parametrize(
    "bad",
    [
        r'{"command": "curl -s http://127.0.0.1:9/decide \\// /* \"//\" \//"}',
        '{"command": 5}',
        '{"command": "true", "timeout": "5"}',
        '{"command": "true", "timeout": 0}',
        '{"command": "true", "type": "banana"}',
        '{"command": "true", "matcher": "("}',
    ],
)
def test_what_voids_a_whole_file_is_mended(case: DoctorCase, bad: str) -> None:
    """Cursor runs no hook of a file with one entry that it does not take, or with // in a text."""
    text = (
        '{\n  // mine\n  "hooks": {\n    "preToolUse": [{"command": "exit 2"}],\n'
        f'    "postToolUse": [{{"command": "true"}}, {bad}]\n  }}\n}}\n'
    )
    file = case.write(".cursor/hooks.json", text)
    assert doctor(case, "--fix", "--yes") == 0
    # As Cursor reads it: what looks like a comment is cut out wherever it is.
    mended = json.loads(re.sub(r"/\*.*?\*/", "", re.sub(r"//.*", "", file.read_text()), flags=re.DOTALL))
    assert mended["version"] == 1
    assert mended["hooks"]["preToolUse"] == [{"command": "exit 2"}]
    assert mended["hooks"]["postToolUse"][0] == {"command": "true"}
    kept = mended["hooks"]["postToolUse"][1:]
    if "//" in bad:
        assert kept == [json.loads(bad)]
    assert "// mine" in file.read_text()
    assert doctor(case, "--undo") in (0, 1)
    assert file.read_text() == text
