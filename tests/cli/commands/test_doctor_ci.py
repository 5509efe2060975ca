"""`doctor --ci` knows nothing of a machine but the files of the project, and speaks to the programs of CI."""

import json
import os
import shlex
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import yaml

from hookline.cli.main import run
from tests.cli.doctor_case import DoctorCase
from tests.cli.run_cli import clean_env, command_line

ROOT = Path(__file__).parents[3]
BROKEN = {
    "hooks": {
        "PreToolUse": [{"matcher": "bash", "hooks": [{"type": "command", "command": "nosuchprogram"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "~/bin/mine.sh; $CLAUDE_FILE_PATHS"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/gone, 100%.sh'}]}],
    }
}


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    case = DoctorCase(tmp_path, monkeypatch)
    case.write(".claude/settings.json", json.dumps(BROKEN, indent=2))
    # Of the user of this machine, who is nobody in CI.
    case.write("~/.claude/settings.json", json.dumps(BROKEN))
    monkeypatch.chdir(case.project)
    return case


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = run(["doctor", "--ci", *words])
    return status, capsys.readouterr().out


def test_only_files_of_the_project_count(case: DoctorCase, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = said(capsys, "--json")
    document = json.loads(out)
    assert status == 1
    assert {one["file"] for one in document["found"]} == {str(case.project / ".claude/settings.json")}
    found = sorted(one["code"] for one in document["problems"] if one["severity"] != "note")
    # Neither the program nor the script of a user is looked for.
    assert found == ["command-not-found", "dead-matcher", "unset-variable"]
    assert document["agents"] == []


def test_a_project_without_hooks_passes(
    case: DoctorCase, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert said(capsys, "--cwd", str(tmp_path / "empty"))[0] == 0
    (case.project / ".claude/settings.json").unlink()
    assert said(capsys)[0] == 0


def test_sarif_has_each_finding_with_its_place(case: DoctorCase, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = said(capsys, "--format", "sarif")
    document = json.loads(out)
    (ran,) = document["runs"]
    assert (status, document["version"], ran["tool"]["driver"]["name"]) == (1, "2.1.0", "hookline doctor")
    by_rule = {one["ruleId"]: one for one in ran["results"]}
    place = by_rule["dead-matcher"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": ".claude/settings.json", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 5}
    assert by_rule["dead-matcher"]["level"] == "error"
    assert by_rule["unset-variable"]["level"] == "warning"
    assert {rule["id"] for rule in ran["tool"]["driver"]["rules"]} == set(by_rule)


#: What SARIF 2.1.0 requires of the parts that we write, in its own words: names, types, choices.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_ARTIFACT = {"type": "object", "required": ["uri"], "additionalProperties": False, "properties": {
    "uri": {"type": "string", "pattern": r"^[\w.~:/?#@!$&'()*+,;=%-]+$", "not": {"pattern": "%(?![0-9A-F]{2})"}},
    "uriBaseId": {"type": "string"},
}}  # fmt: skip
_SARIF: dict[str, Any] = {
    "type": "object", "required": ["version", "runs"], "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["tool"], "additionalProperties": False,
            "properties": {
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "tool": {"type": "object", "required": ["driver"], "additionalProperties": False, "properties": {
                    "driver": {"type": "object", "required": ["name"], "additionalProperties": False, "properties": {
                        "name": {"type": "string", "minLength": 1}, "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": {
                            # The descriptions are what GitHub requires beyond the standard.
                            "type": "object", "required": ["id", "shortDescription", "fullDescription"],
                            "additionalProperties": False, "properties": {
                                "id": {"type": "string", "minLength": 1},
                                "shortDescription": _TEXT, "fullDescription": _TEXT,
                                "help": _TEXT,
                            },
                        }},
                    }},
                }},
                "results": {"type": "array", "items": {
                    "type": "object", "required": ["message", "ruleId"], "additionalProperties": False, "properties": {
                        "ruleId": {"type": "string"}, "level": {"enum": ["none", "note", "warning", "error"]},
                        "message": _TEXT,
                        "locations": {"type": "array", "minItems": 1, "items": {
                            "type": "object", "required": ["physicalLocation"], "properties": {"physicalLocation": {
                                "type": "object", "required": ["artifactLocation"], "additionalProperties": False,
                                "properties": {"artifactLocation": _ARTIFACT, "region": {
                                    "type": "object", "required": ["startLine"], "additionalProperties": False,
                                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                                }},
                            }},
                        }},
                        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                    },
                }},
            },
        }},
    },
}  # fmt: skip


@pytest.mark.parametrize("of_machine", [False, True])
def test_sarif_keeps_to_its_standard_for_files_of_every_name(
    of_machine: bool, case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files outside the project have whole addresses; spaces, percent signs and letters are escaped in all."""
    broken = {
        "version": 1,
        "hooks": {"preToolUse": [{"type": "command", "bash": "nosuchprogram"}], "nope": []},
    }
    case.write(".github/hooks/my 100% hook ä.json", json.dumps(broken))
    assert run(["doctor", "--format", "sarif", *(() if of_machine else ("--ci",))]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, _SARIF, format_checker=jsonschema.FormatChecker())
    (ran,) = document["runs"]
    assert {one["ruleId"] for one in ran["results"]} == {
        rule["id"] for rule in ran["tool"]["driver"]["rules"]
    }
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in ran["results"]]
    named = {place["uri"] for place in places if "uriBaseId" in place}
    assert ".github/hooks/my%20100%25%20hook%20%C3%A4.json" in named
    assert all((case.project / unquote(each)).exists() for each in named)
    outside = {place["uri"] for place in places if "uriBaseId" not in place}
    assert bool(outside) == of_machine
    assert all(each.startswith("file:///") for each in outside)


def test_annotations_are_one_line_each_whatever_a_file_says(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = {
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/a\n::error::x'}]}]
        }
    }
    case.write(".claude/settings.local.json", json.dumps(hostile))
    status, out = said(capsys, "--format", "github")
    assert status == 1
    *lines, last = out.splitlines()
    assert {line.partition(" ")[0] for line in lines} == {"::error", "::warning"}
    assert not [line for line in lines if line.startswith("::error::")]
    dead = next(line for line in lines if "title=dead-matcher" in line)
    assert dead.startswith(
        "::error file=.claude/settings.json,line=5,title=dead-matcher%3A.claude/settings.json::"
    )
    assert "100%25.sh" in out
    assert " errors, 1 warning" in last


def test_junit_fails_for_errors_and_skips_warnings(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(".claude/settings.local.json", "{}")
    suite = ET.fromstring(said(capsys, "--format", "junit")[1])[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "1")
    assert [test.get("name") for test in suite if not len(test)] == [".claude/settings.local.json"]
    strict = ET.fromstring(said(capsys, "--format", "junit", "--strict-warnings")[1])[0]
    assert (strict.get("failures"), strict.get("skipped")) == ("3", "0")


def test_only_what_the_baseline_does_not_have_counts(
    case: DoctorCase, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    baseline = tmp_path / "known.json"
    baseline.write_text(said(capsys, "--json")[1])
    status, out = said(capsys, "--baseline", str(baseline))
    assert (status, "0 errors" in out, "in the baseline" in out.splitlines()[-1]) == (0, True, True)
    settings = case.project / ".claude/settings.json"
    group = [{"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/other.sh'}]}]
    # The known ones move to other lines, in another checkout.
    moved = {"model": "x", "hooks": {"SessionEnd": group, **BROKEN["hooks"]}}
    settings.write_text(json.dumps(moved, indent=2))
    baseline.write_text(baseline.read_text().replace(str(case.project), "/elsewhere"))
    status, out = said(capsys, "--baseline", str(baseline), "--json")
    new = [one["hook"] for one in json.loads(out)["problems"] if one["severity"] == "error"]
    assert (status, new) == (1, ["other.sh"])
    baseline.write_text("[]")
    assert run(["doctor", "--ci", "--baseline", str(baseline)]) == 1
    assert "is not a document of hookline doctor --json" in capsys.readouterr().err
    baseline.unlink()
    assert run(["doctor", "--ci", "--baseline", str(baseline)]) == 1
    assert "`hookline doctor --ci --json > FILE` makes one" in capsys.readouterr().err


def test_the_hook_of_pre_commit_runs(case: DoctorCase) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *words = shlex.split(hook["entry"])
    assert (program, hook["language"], hook["pass_filenames"]) == ("hookline", "python", False)
    ran = subprocess.run(
        command_line(words),
        cwd=case.project,
        env=clean_env(case.home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "dead-matcher" in ran.stdout


def test_the_action_passes_its_inputs_as_words(case: DoctorCase, tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    install, check = action["runs"]["steps"]
    assert "$GITHUB_ACTION_PATH" in install["run"]
    assert "${{" not in check["run"]
    shim = case.write("../bin/hookline", f'#!/bin/sh\nexec {shlex.join(command_line([]))} "$@"\n', mode=0o755)
    given = {name: str(each["default"]) for name, each in action["inputs"].items()}
    given |= {"directory": str(case.project), "output": "$(touch hacked) x.sarif", "format": "sarif"}
    variables = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in check["env"].items()
    }
    env = {**clean_env(case.home), **variables, "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", check["run"]],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    assert json.loads((tmp_path / "$(touch hacked) x.sarif").read_text())["version"] == "2.1.0"
    assert not (tmp_path / "hacked").exists()
